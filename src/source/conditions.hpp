#pragma once
// Preprocessor conditions: their value in a configuration, and the names that it hangs on.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dcuop/source/mask.hpp"

namespace dcuop::source {

/// What a condition asked for that no configuration had decided.
struct Asked {
  std::set<std::string> names;       ///< "__has_include(<x.h>)" and other calls are names too
  std::vector<std::int64_t> numbers; ///< that stand beside them
};

/// The value of `#if text`; a name that is not in `macros` counts as not defined, and is added to `asked`.
[[nodiscard]] bool condition_holds(std::string_view text, const Macros& macros, Asked& asked);

/// An integer literal of C++, with its suffix and digit separators.
[[nodiscard]] std::optional<std::int64_t> integer_literal(std::string_view text);

} // namespace dcuop::source
