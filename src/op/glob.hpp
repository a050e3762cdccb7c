#pragma once
// File name patterns of manifests: '*', '?', '[...]' within one name, "**" for any depth of directories.

#include <filesystem>
#include <string_view>
#include <vector>

namespace dcuop::op {

[[nodiscard]] bool is_pattern(std::string_view text);

/// What is there and matches `pattern`, taken from `base`: absolute when `base` is, lexically normal, sorted,
/// each once. Hidden names match only a pattern that begins with a dot; "**" enters no hidden directory and
/// follows no symbolic link, which could lead in a circle.
[[nodiscard]] std::vector<std::filesystem::path> expand_pattern(const std::filesystem::path& base,
                                                                const std::filesystem::path& pattern);

} // namespace dcuop::op
