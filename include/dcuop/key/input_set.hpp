#pragma once
// Every file that a build read, by content, and the directories in which a new file could be found instead.
// Paths below the op's workspace are kept relative to the op, so that a moved checkout is a hit.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/key/compiler_report.hpp"
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
  std::uint64_t readers = 0; ///< bit i: read by part i of InputSet::parts; parts from 63 on share bit 63
  bool operator==(const Input&) const = default;
};

/// A directory on a search path (or below one, where an include names a subdirectory).
struct WatchedDirectory {
  std::string path;            ///< portable
  std::optional<Digest> names; ///< of all its entries' names; nullopt: it does not exist
  Digest relevant;             ///< of those names that an include or link of this build could mean
  bool operator==(const WatchedDirectory&) const = default;
};

/// How files compare with what a set recorded.
struct Comparison {
  std::vector<Input> changed;        ///< inputs with other content, or gone
  std::vector<std::string> shadowed; ///< directories whose relevant names changed: a dependency pass must say
  [[nodiscard]] bool unchanged() const { return changed.empty() && shadowed.empty(); }
};

struct InputSet {
  std::vector<std::string> parts;            ///< the units, then "link"
  std::vector<Input> inputs;                 ///< sorted by path, unique
  std::vector<WatchedDirectory> directories; ///< sorted by path, unique
  std::vector<std::string> probed_names;     ///< path components of __has_include arguments, sorted

  /// Which of the probed names the watched directories hold: what __has_include was answered.
  Digest answers;

  /// Of the inputs' paths and contents, and the answers. Directories never change the bytes by themselves.
  [[nodiscard]] Digest digest() const;
  /// Of everything; names the index record.
  [[nodiscard]] Digest record_digest() const;
  [[nodiscard]] std::vector<std::string> readers_of(const Input& input) const;
};

/// `first_only` stops at the first changed input (a look-up); explain wants all.
[[nodiscard]] Comparison compare(const InputSet& set, const PathBase& base, DigestMemo& memo,
                                 bool first_only);

/// The union of the passes that built `part`, digested now. Files below `generated` (the private build directory)
/// are left out. Large files (libraries) are asked of `memo`.
struct Collected {
  InputSet set;
  std::vector<std::string> unreadable; ///< files that could not be read: the result must not be cached then
};
[[nodiscard]] Collected collect_inputs(const std::string& part, const std::vector<PassReport>& passes,
                                       const PathBase& base, const std::filesystem::path& generated,
                                       DigestMemo& memo);
/// The union of several parts' sets.
[[nodiscard]] InputSet merge(const std::vector<InputSet>& sets, const PathBase& base);

/// The first input whose ctime is not before `since_ns` (nanoseconds since the epoch): the compiler may have
/// read it before or after that change, so the result must not be published. "" when there is none.
[[nodiscard]] std::string changed_since(const InputSet& set, const PathBase& base, std::int64_t since_ns);

[[nodiscard]] std::string to_json_text(const InputSet& set);
/// nullopt for text that is not such JSON.
[[nodiscard]] std::optional<InputSet> input_set_from_json_text(const std::string& text);

} // namespace dcuop::key
