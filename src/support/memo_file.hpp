#pragma once
// A memo as it lies on disk: the digest of the JSON, a newline, and the JSON. Whatever damaged the file, it is
// not believed.

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

[[nodiscard]] std::string memo_text(const Memo& memo);

/// nullopt for what memo_text() of this version did not write.
[[nodiscard]] std::optional<Memo> memo_from(std::string_view text);

} // namespace dcuop
