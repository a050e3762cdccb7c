#pragma once
// A memo: an answer that was expensive to get, kept with the files that it was read from ("witnesses").
// It is valid while each witness is what it was: same identity, or same content. So a probe that had to
// start a process once answers with stat calls alone until something that it depends on changes.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/support/digest.hpp"
#include "dcuop/support/files.hpp"

namespace dcuop {

struct Witness {
  std::filesystem::path path;
  std::optional<FileIdentity> identity; ///< nullopt: the path must not exist
  std::optional<Digest> content;        ///< of a regular file; a directory's: names and kinds of its entries
  bool settled =
      false; ///< an equal identity means equal content: it did not change just now, nor in the future
};

/// What is there now. Content is read for regular files and directories.
[[nodiscard]] Witness witness_of(const std::filesystem::path& path);

/// An answer and its witnesses.
struct Answer {
  std::string value; ///< usually JSON; the memo does not look inside
  std::vector<std::filesystem::path> witnesses;
};

class MemoStore {
 public:
  /// `directory` may not exist yet, and may be unwritable: then nothing is remembered. An empty path
  /// remembers nothing at all.
  explicit MemoStore(std::filesystem::path directory);

  /// The remembered value for (`subject`, `question`) if its witnesses hold, else what `ask` says, which is
  /// then remembered. `subject` names the kind (a file name: [a-z0-9-]+); `question` is a digest of all that
  /// `ask` depends on besides files. `ask` may throw; nothing is remembered then.
  /// A witness that changed less than two seconds ago is not trusted by identity the next time, as a second
  /// write could fall into the same clock tick.
  [[nodiscard]] std::string recall(const std::string& subject, const Digest& question,
                                   const std::function<Answer()>& ask) const;

 private:
  std::filesystem::path directory_;
};

/// Content digests of files, remembered by (device, inode, size, mtime, ctime).
/// One file on disk; loaded lazily, saved by save() when anything was learnt. A damaged file is none. A file
/// that changed less than two seconds ago is read anew each time. Not thread-safe.
class DigestMemo {
 public:
  explicit DigestMemo(std::filesystem::path file);
  ~DigestMemo();
  DigestMemo(DigestMemo&&) noexcept;
  DigestMemo& operator=(DigestMemo&&) noexcept;

  /// nullopt when the file is not there or cannot be read. A directory's digest is that of its
  /// entries' names and kinds.
  /// Fastest when asked in the order of the paths.
  [[nodiscard]] std::optional<Digest> digest(const std::filesystem::path& path);
  /// Writes what was learnt, atomically; false (and nothing lost) when it cannot.
  bool save();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A value that was worked out from thousands of paths, and holds while each is what it was, by identity alone. One
/// binary file, read where it lies: asking costs little more than the stat calls. Not thread-safe.
class IdentityMemo {
 public:
  /// `question` is a digest of all that the value depends on besides the paths.
  IdentityMemo(std::filesystem::path file, const Digest& question);

  /// nullopt when it is not known, a path is no longer what it was, or the file is damaged.
  [[nodiscard]] std::optional<std::string> recall() const;
  /// Before the value is worked out: what changes meanwhile is then a change.
  void look_at(const std::vector<std::filesystem::path>& paths);
  /// What was worked out since look_at(). Nothing is remembered when one of the paths changed too shortly before for its
  /// identity to be trusted, or cannot be trusted at all (/proc). Never throws.
  void remember(const std::string& value) noexcept;

 private:
  std::filesystem::path file_;
  Digest question_;
  std::string seen_; ///< records of what was looked at; empty: nothing to be remembered
};

} // namespace dcuop
