#pragma once
// Every file that a compile read, by content, and the directories in which a new file could have been found
// instead. Paths below the op's workspace are kept relative to the op, so that a moved checkout is a hit.

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dcuop/support/digest.hpp"
#include "dcuop/support/memo.hpp"

namespace dcuop::key {

/// Where relative input paths are taken from.
struct PathBase {
  std::filesystem::path directory; ///< the op's, absolute
  std::filesystem::path workspace; ///< absolute; what lies below is kept relative to `directory`
  [[nodiscard]] std::string portable(const std::filesystem::path& path) const;
  [[nodiscard]] std::filesystem::path absolute(const std::string& portable_path) const;
};

struct Input {
  std::string path; ///< portable
  Digest content;
  bool operator==(const Input&) const = default;
};

/// A directory on the search path (or below it, where an include names a subdirectory). `names` digests those of
/// its entries that could satisfy an include of this build; absent directories are watched as absent.
struct WatchedDirectory {
  std::string path; ///< portable
  std::optional<Digest> names;
  bool operator==(const WatchedDirectory&) const = default;
};

class InputSet {
 public:
  std::vector<Input> inputs;                 ///< sorted by path, unique
  std::vector<WatchedDirectory> directories; ///< sorted by path, unique
  std::vector<std::string> probed_names;     ///< __has_include arguments found in the inputs, sorted

  /// Of paths and contents of the inputs; not of the directories, which never change the bytes by themselves.
  [[nodiscard]] Digest digest() const;

  /// How the files compare with what this set recorded.
  struct Comparison {
    std::vector<std::string> changed;      ///< inputs with other content
    std::vector<std::string> missing;      ///< inputs that are gone
    std::vector<std::string> shadowed;     ///< directories whose relevant names changed: a dependency pass must say
    [[nodiscard]] bool inputs_unchanged() const { return changed.empty() && missing.empty(); }
  };
  /// `first_only` stops at the first changed input (a look-up); explain wants all.
  [[nodiscard]] Comparison compare(const PathBase& base, DigestMemo& memo, bool first_only) const;
};

[[nodiscard]] nlohmann::json to_json(const InputSet& set);
[[nodiscard]] InputSet input_set_from_json(const nlohmann::json& json);

/// What one compiler pass said: its depfile's prerequisites and its search directories (-v).
struct PassReport {
  std::vector<std::filesystem::path> files;              ///< absolute
  std::vector<std::filesystem::path> search_directories; ///< absolute, those that do not exist too
};

/// Make-rule syntax as gcc, clang, ld and lld write it (\-escapes for space and #, $$, continuation lines).
/// Relative paths are taken from `directory`. Throws Error(failed) for text that is not a rule.
[[nodiscard]] std::vector<std::filesystem::path> parse_depfile(std::string_view text, const std::filesystem::path& directory);
/// The lists between "search starts here" and "End of search list", and the "ignoring nonexistent directory" ones.
[[nodiscard]] std::vector<std::filesystem::path> parse_search_directories(std::string_view diagnostics,
                                                                         const std::filesystem::path& directory);

/// The union of passes, digested now. Files below `ignored` (the private build directory) are left out.
/// `not_read`: paths that could not be read are returned there (then the result must not be cached).
[[nodiscard]] InputSet collect_inputs(const std::vector<PassReport>& passes, const PathBase& base, DigestMemo& memo,
                                      const std::filesystem::path& ignored, std::vector<std::filesystem::path>& not_read);

/// What makes a build uncacheable when it stands in an input: ".incbin", "__DATE__" is the compiler's to say.
[[nodiscard]] std::vector<std::string> uncacheable_content(const InputSet& set, const PathBase& base);

} // namespace dcuop::key
