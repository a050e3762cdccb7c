#pragma once
// Every file that a build read, by content, and every name that it asked for, by what was there. Paths below the op's
// workspace are kept relative to the op, so that a moved checkout is a hit.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/support/digest.hpp"
#include "dcuop/support/memo.hpp"

namespace dcuop::key {

/// Where relative input paths are taken from.
struct PathBase {
  std::filesystem::path directory; ///< the op's, absolute
  std::filesystem::path workspace; ///< absolute; what lies below is kept relative to `directory`
  std::string program_path;        ///< the compilers' PATH
  std::string home;                ///< their HOME
  /// Lexically normal.
  [[nodiscard]] std::string portable(const std::filesystem::path& path) const;
  /// As it is written: behind a link ".." does not lead to where the path's text says.
  [[nodiscard]] std::filesystem::path absolute(const std::string& portable_path) const;
};

struct Input {
  std::string path; ///< portable
  Digest content;
  std::uint64_t readers = 0; ///< bit i: read by part i of InputSet::parts; parts from 63 on share bit 63
  bool operator==(const Input&) const = default;
};

/// What is at a path, links followed.
enum class Found : char {
  nothing = '-',
  file = 'f',
  directory = 'd',
  other = 'o',
  changed = '!', ///< two parts of a build found different things: no answer is this
};
[[nodiscard]] Found found_at(const std::filesystem::path& path);

/// A directory in which names were asked for, or could have been.
struct WatchedDirectory {
  std::string path;            ///< portable
  std::optional<Digest> names; ///< of its entries' names and kinds; nullopt: it does not exist
  /// When nobody saw which names were asked for (the compiler was not traced): of those of its names that an include
  /// or a link of this build could mean.
  std::optional<Digest> relevant;
  bool operator==(const WatchedDirectory&) const = default;
};

/// A question whose answer no directory's names give.
enum class Question : char {
  what_is_there = 't', ///< through links: "nothing", "file", ...
  link = 'l',          ///< where a symbolic link points to
  may_run = 'x',       ///< "yes" or "no"
  same_file = '=',     ///< a path that is the same file; compilers read such a header once only
  program = 'p',       ///< the path of a program that was looked for on PATH by this name
  home = 'h',          ///< the value of HOME, which a path began with
};

struct LookUp {
  Question question = Question::what_is_there;
  std::string subject; ///< a path (portable), or a program's name
  std::string answer;
  bool operator==(const LookUp&) const = default;
};

/// What the answer is now.
[[nodiscard]] std::string answer_now(const LookUp& look_up, const PathBase& base);

/// How files compare with what a set recorded.
struct Comparison {
  std::vector<Input> changed;        ///< inputs with other content, or gone
  std::vector<LookUp> answers;       ///< other answers: what they were
  std::vector<std::string> shadowed; ///< directories whose relevant names changed: a dependency pass must say
  /// Answers that are as recorded although the names in their directory changed. That it has the same names again
  /// later says nothing of them: "sub/a.h" appears in a directory that has "sub" without a trace in the directory.
  std::vector<LookUp> asked_again;
  bool relevant_again = false; ///< the same of a directory's relevant names, links followed
  [[nodiscard]] bool unchanged() const { return changed.empty() && answers.empty() && shadowed.empty(); }
  [[nodiscard]] bool only_compiler_can_tell() const {
    return changed.empty() && answers.empty() && !shadowed.empty();
  }
};

struct InputSet {
  std::vector<std::string> parts;            ///< the units, then "link"
  std::vector<Input> inputs;                 ///< sorted by path, unique
  std::vector<WatchedDirectory> directories; ///< sorted by path, unique
  std::vector<LookUp> look_ups;              ///< sorted, unique
  std::string asked;                         ///< the names asked for in the directories: see asked_names.hpp
  std::string program_path;                  ///< while it is PATH, programs need no second look

  // Where the compiler was not traced:
  std::vector<std::string> probed_names; ///< path components of __has_include arguments, sorted
  Digest answers; ///< which of the probed names the watched directories hold: what __has_include was answered

  /// Of the inputs' paths and contents, and of all answers but "nothing": where something appears, this has it.
  [[nodiscard]] Digest digest() const;
  /// Of everything; names the index record.
  [[nodiscard]] Digest record_digest() const;
  [[nodiscard]] std::vector<std::string> readers_of(const Input& input) const;
};

/// `first_only` stops at the first difference (a look-up); explain wants all.
[[nodiscard]] Comparison compare(const InputSet& set, const PathBase& base, DigestMemo& memo,
                                 bool first_only);

/// The union of several parts' sets.
[[nodiscard]] InputSet merge(const std::vector<InputSet>& sets, const PathBase& base);

[[nodiscard]] std::string to_json_text(const InputSet& set);
/// nullopt for text that is not such JSON.
[[nodiscard]] std::optional<InputSet> input_set_from_json_text(const std::string& text);

} // namespace dcuop::key
