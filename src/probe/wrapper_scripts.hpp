#pragma once
// Compilers that are scripts: hipcc is Perl that runs hipcc.pl, which uses hipvars.pm, and so on.

#include <filesystem>
#include <vector>

namespace dcuop::probe {

/// Text and executable by its "#!" line.
[[nodiscard]] bool is_script(const std::filesystem::path& path);

/// Scripts in the directory of `script` (and of the file that it links to) whose name it mentions outside of
/// comments, with or without .pl, .pm, .py or .sh, and those that they mention in turn. Sorted; not `script`.
/// It finds too many rather than too few: a false one costs a rebuild when it changes.
[[nodiscard]] std::vector<std::filesystem::path> helper_scripts(const std::filesystem::path& script);

} // namespace dcuop::probe
