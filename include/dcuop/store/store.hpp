#pragma once
// The cache on disk. Correctness rests on private directories and rename(2), never on a lock; locks only save
// work. Nothing here knows what a compiler is.
//
// clang-format off
//   <root>/v1/index/ab/<request>/<input set>.json   immutable; one per known input set of a request
//   <root>/v1/entries/ab/<entry>/                   artifacts, components.json, build.log, manifest.json (last)
//   <root>/v1/objects/ab/<key>/                     the same for one translation unit
//   <root>/v1/origins/<name>/<digest of directory>/ `path`, and one file per entry that it asked for: empty,
//                    or what described the op, when no dcuop.toml did
//   <root>/v1/inline/<digest of the files>/         sources that a program handed over as text
//   <root>/v1/failures/<request>/                   error.json, build.log of a failed build
//   <root>/v1/locks/                                lock files (never unlinked) and the records of their holders
//   <root>/v1/use/                                  the use lock; last-use stamps
//   <root>/v1/statistics/                           counters
//   <root>/v1/memo/<host>/                          memos of this machine
//   <root>/v1/tmp/<host>-<boot>-<pid>-<random>/     private directories
// clang-format on
//
// Records and manifests carry a digest of themselves and of their place, so that a torn, flipped or misplaced
// one reads as if it were absent.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/support/digest.hpp"
#include "dcuop/support/lock.hpp"

namespace dcuop::store {

enum class Shelf { entries, objects };

/// A published directory whose files are what its manifest says.
struct Entry {
  Digest key;
  std::filesystem::path directory;
  std::string artifact; ///< the file that it is for, e.g. "affine.cpython-311-x86_64-linux-gnu.so"
  std::string name;     ///< op name
  std::chrono::system_clock::time_point built;
  std::uint64_t size = 0; ///< bytes of all files
  /// What the builder wanted kept beside it (arch, torch summary, ...): a JSON object.
  std::string facts_json;
  [[nodiscard]] std::filesystem::path artifact_path() const { return directory / artifact; }
};

/// An immutable record: request + this input set -> key. `input_set_json` is the caller's.
struct IndexRecord {
  Digest key;
  std::string input_set_json;
};

/// A directory that only this process writes. Removed in the destructor unless published.
class PrivateDirectory {
 public:
  PrivateDirectory(std::filesystem::path path, std::optional<FileLock> lock);
  ~PrivateDirectory();
  PrivateDirectory(PrivateDirectory&&) noexcept;
  PrivateDirectory& operator=(PrivateDirectory&&) noexcept;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void keep() { path_.clear(); } ///< someone else owns the files now

 private:
  std::filesystem::path path_;
  std::optional<FileLock> lock_;
};

/// What is to be published: the files of a private directory.
struct Publication {
  Digest key;
  std::string name;     ///< op name
  std::string artifact; ///< file name inside the directory
  std::string facts_json = "{}";
  bool replace = false; ///< a published one with another artifact gives way, with a warning
};

/// Who holds a build lock; for display only, never for a decision.
struct Holder {
  std::string host;
  std::int64_t pid = 0;
  std::string container; ///< "" outside one
  std::chrono::system_clock::time_point since;
  std::string activity; ///< "compiling affine"
  std::chrono::system_clock::time_point activity_since;
};

/// Held while a request is being built. Its holder's record is removed with it.
class BuildLock {
 public:
  /// `lock` is empty on a file system without locks: the build goes on, others may build the same.
  BuildLock(std::optional<FileLock> lock, std::filesystem::path holder_file);
  ~BuildLock();
  BuildLock(BuildLock&&) noexcept;
  BuildLock& operator=(BuildLock&&) noexcept;
  /// What the holder does from now on, for waiters' display. Never throws.
  void say(const std::string& activity) noexcept;

 private:
  std::optional<FileLock> lock_;
  std::filesystem::path holder_file_;
  std::chrono::system_clock::time_point since_;
};

struct Failure {
  std::string message, hint;
  int exit_code = 1;
  std::filesystem::path log;
  std::chrono::system_clock::time_point when;
};

struct Usage {
  std::uint64_t entries = 0, objects = 0, index_records = 0;
  std::uint64_t entry_bytes = 0, object_bytes = 0, other_bytes = 0;
};

struct Damage {
  std::filesystem::path path;
  std::string what; ///< "affine.so: 173 of 177440 bytes", "manifest.json is missing"
};

/// The entry whose artifact `file` is, in whatever cache that lies, by the manifest beside it; content not verified.
[[nodiscard]] std::optional<Entry> entry_with(const std::filesystem::path& file);

class Store {
 public:
  /// Makes what is missing (mode 0700). Throws Error(environment) when it cannot be made, is owned by
  /// somebody else, or is writable by group or others (with the reason and the fix). A root that cannot be
  /// written but can be read is opened read-only.
  [[nodiscard]] static Store open(const std::filesystem::path& root);
  /// Somebody else's store, read-only: accepted when its owner is root or one of `trusted_owners` (user ids)
  /// and nobody else can write it; Error(environment) otherwise. What is learnt about it is kept in
  /// `memo_directory`.
  [[nodiscard]] static Store open_shared(const std::filesystem::path& root,
                                         const std::vector<std::uint32_t>& trusted_owners,
                                         const std::filesystem::path& memo_directory);

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] bool read_only() const { return read_only_; }
  /// Of this host.
  [[nodiscard]] const std::filesystem::path& memo_directory() const { return memo_directory_; }
  /// Answers that processes recall without dcuop: recall/layout.hpp. Of all hosts: one is in what is asked.
  [[nodiscard]] std::filesystem::path answer_directory() const;
  /// Touched at each use of an entry, as far as a minute tells apart; of what was never used it is not there.
  [[nodiscard]] std::filesystem::path use_stamp(Shelf shelf, const Digest& key) const;
  /// What hits write: when entries were used, how often, and memos, which hold as long as other files do.
  [[nodiscard]] std::vector<std::filesystem::path> written_by_hits() const;

  // Index ---------------------------------------------------------------------------------------------------
  /// Newest first; records that cannot be read are left out.
  [[nodiscard]] std::vector<IndexRecord> records(const Digest& request) const;
  /// The newest one that `fits`; older ones are not even read then.
  [[nodiscard]] std::optional<IndexRecord>
  find_record(const Digest& request, const std::function<bool(const IndexRecord&)>& fits) const;
  void add_record(const Digest& request, const Digest& input_set, const IndexRecord& record);

  // Entries and objects -------------------------------------------------------------------------------------
  /// nullopt when it is not there or is damaged. Sizes are checked always, content at first use per boot and
  /// whenever a stat changed.
  [[nodiscard]] std::optional<Entry> find(Shelf shelf, const Digest& key) const;
  [[nodiscard]] PrivateDirectory private_directory() const;
  /// Writes manifest.json, fsyncs, renames into place. When another process was first, its entry is verified
  /// and returned; if that is damaged it is moved aside (after a second read) and ours takes its place. If
  /// the winner's directory is not visible (NFS), the files stay in a private directory, which is swept after
  /// a day when nobody uses it, and the Entry is there. `directory` is given up on success only: when this
  /// throws (Error(environment): full disk, read-only cache), the caller still has the files.
  [[nodiscard]] Entry publish(Shelf shelf, PrivateDirectory&& directory, const Publication& publication);
  /// For a result that must not be published: its files outlive this process, and are swept after a day unless they
  /// are in use. A directory outside of the cache is only kept. Returns where the files are.
  [[nodiscard]] std::filesystem::path keep(Shelf shelf, const Digest& key, PrivateDirectory&& directory);
  [[nodiscard]] std::vector<Entry> list(Shelf shelf) const; ///< manifests only, content not verified
  /// `directory` asked for this entry; `description` is for an op that no file in it describes. Never fails a build.
  void record_origin(const Entry& entry, const std::filesystem::path& directory,
                     const std::string& description = {}) noexcept;
  [[nodiscard]] std::vector<std::filesystem::path> origins(const Entry& entry) const;
  /// Every directory that has asked for an entry of this name.
  [[nodiscard]] std::vector<std::filesystem::path> origins_of(const std::string& name) const;
  /// What those of its ops that have no manifest were described by, each once, for the entries that are still there.
  [[nodiscard]] std::vector<std::string> descriptions(const std::string& name,
                                                      const std::filesystem::path& directory) const;
  /// A directory of the cache with these files (text by relative path) and no others, for sources that are on no
  /// disk: the same one for the same files. prune_leftovers() removes those that are no entry's origin. Throws
  /// Error(environment).
  [[nodiscard]] std::filesystem::path place_files(const std::map<std::string, std::string>& files);
  /// Entries that `directory` asked for, newest use first; those of all its origins when `directory` is
  /// empty.
  [[nodiscard]] std::vector<Entry> entries_of(const std::string& name,
                                              const std::filesystem::path& directory) const;

  // Use -----------------------------------------------------------------------------------------------------
  void stamp_use(Shelf shelf, const Digest& key) noexcept;
  [[nodiscard]] std::optional<std::chrono::system_clock::time_point> last_use(Shelf shelf,
                                                                              const Digest& key) const;
  /// A shared lock that keeps clean and eviction off; others may hold it too. Take it before find(). nullopt
  /// while the entry is being removed, and where nothing can be locked.
  [[nodiscard]] std::optional<FileLock> lock_for_use(const Digest& key) const;
  /// True also where that cannot be told (no locks on this file system).
  [[nodiscard]] bool in_use(const Digest& key) const;
  [[nodiscard]] std::filesystem::path use_lock_file() const;
  [[nodiscard]] static std::uint64_t lock_offset(const Digest& key); ///< below 2^62

  // Build locks and failures --------------------------------------------------------------------------------
  /// nullopt when another holder has it. Throws Error(environment) on a read-only store.
  [[nodiscard]] std::optional<BuildLock> try_lock_build(const Digest& request, const std::string& activity);
  /// Who said last that he holds it: ask after try_lock_build() refused.
  [[nodiscard]] std::optional<Holder> build_holder(const Digest& request) const;
  /// The log's text is kept beside it. Never throws; returns where the log is.
  std::filesystem::path record_failure(const Digest& request, const Failure& failure,
                                       const std::string& log) noexcept;
  [[nodiscard]] std::optional<Failure> last_failure(const Digest& request) const;
  void forget_failure(const Digest& request) noexcept;

  // Keeping house -------------------------------------------------------------------------------------------
  /// Removes an entry, its index records stay (they lead nowhere and are skipped). False when it is in use.
  bool remove(Shelf shelf, const Digest& key);
  [[nodiscard]] Usage usage() const;
  /// Reads every file of every entry, object and index record again.
  [[nodiscard]] std::vector<Damage> verify() const;
  /// Removes what leads nowhere: index records and origins of entries that are gone, their stamps, results
  /// of `dcuop verify` on them, failures older than a week; then sweep_private_directories(). Returns how many things it removed. What was
  /// written since `minimum_age` before now may belong to a build that is at work, and stays; with 0 nothing
  /// does, failures neither.
  std::uint64_t prune_leftovers(std::chrono::seconds minimum_age = std::chrono::hours(1)) noexcept;
  /// Removes private directories whose owner is gone: own lock free, of this boot, or of an earlier one of
  /// this host and untouched for a day.
  int sweep_private_directories() noexcept;

 private:
  Store(std::filesystem::path root, std::filesystem::path memo_directory, bool read_only);
  void require_writable() const;
  std::filesystem::path root_;
  std::filesystem::path memo_directory_;
  bool read_only_ = false;
};

} // namespace dcuop::store
