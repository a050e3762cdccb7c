#pragma once
// As much of a Python file as the checklist asks for.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace dcuop::check {

/// The text without comments and docstrings; as long, and with the same lines. Strings that are values stay.
[[nodiscard]] std::string python_code(std::string_view text);
/// Integers that stand in code: 257, 65_537, (1 << 31) as its parts.
[[nodiscard]] std::set<std::int64_t> integers_in(std::string_view code);
/// Whether the word stands in it, not as a part of another.
[[nodiscard]] bool has_word(std::string_view code, std::string_view word);

} // namespace dcuop::check
