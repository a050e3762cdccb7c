#pragma once
// As much of a Python file as the checklist asks for.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dcuop::check {

/// Where comments stand: [begin, end) of each, the # included. Also of TOML, whose strings are near enough.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> python_comments(std::string_view text);
/// The text without comments and docstrings; as long, and with the same lines. Strings that are values stay.
[[nodiscard]] std::string python_code(std::string_view text);
/// Integers that stand in code: 257, 65_537, (1 << 31) as its parts.
[[nodiscard]] std::set<std::int64_t> integers_in(std::string_view code);
/// Whether the word stands in it, not as a part of another.
[[nodiscard]] bool has_word(std::string_view code, std::string_view word);

} // namespace dcuop::check
