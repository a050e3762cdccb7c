#pragma once
// What a compiler or linker says about the files that it read and the places where it looked.

#include <filesystem>
#include <string_view>
#include <vector>

namespace dcuop::key {

/// What one pass said: its depfile's prerequisites and its search directories (-v).
struct PassReport {
  std::vector<std::filesystem::path> files; ///< absolute, as written: ".." is not resolved
  std::vector<std::filesystem::path>
      search_directories;                ///< absolute, as written; those that do not exist, too
  std::vector<std::string> sought_names; ///< names that were looked for besides: "libfoo.so" for -lfoo
};

/// The prerequisites of a make rule as gcc, clang, ld and lld write it: backslash escapes for space and '#',
/// "$$", continuation lines. Relative paths are taken from `directory`. Empty for a text without a rule.
[[nodiscard]] std::vector<std::filesystem::path> parse_depfile(std::string_view text,
                                                               const std::filesystem::path& directory);

/// The same from a linker's --dependency-file. GNU ld 2.40 does not escape blanks, but every linker writes one
/// prerequisite a line.
[[nodiscard]] std::vector<std::filesystem::path> parse_link_depfile(std::string_view text,
                                                                    const std::filesystem::path& directory);

/// From -v: the lists between "search starts here" and "End of search list", and the directories that were
/// ignored because they do not exist (they would be searched if somebody made them).
[[nodiscard]] std::vector<std::filesystem::path>
parse_search_directories(std::string_view diagnostics, const std::filesystem::path& directory);

/// From -v of a link: the -L directories of the linker's command line, in order.
[[nodiscard]] std::vector<std::filesystem::path>
parse_library_directories(std::string_view diagnostics, const std::filesystem::path& directory);

} // namespace dcuop::key
