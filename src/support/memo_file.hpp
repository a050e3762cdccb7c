#pragma once
// A memo as it lies on disk: magic, digest of what follows, the version that wrote it and a zero byte, u64 size of the
// value, the value; then a record a witness: flags, identity, content's digest, path and a zero byte. Whatever damaged
// the file, it is not believed.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dcuop/support/memo.hpp"

namespace dcuop {

struct Memo {
  std::string value;
  std::vector<Witness> witnesses;
};

inline constexpr std::string_view memo_magic = "dcuop memo 3\n";

/// No path may have a zero byte in it.
[[nodiscard]] std::string memo_text(const Memo& memo);

/// nullopt for what memo_text() of this version did not write.
[[nodiscard]] std::optional<Memo> memo_from(std::string_view text);

} // namespace dcuop
