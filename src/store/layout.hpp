#pragma once
// Where everything lies below the root; see store.hpp.

#include <filesystem>
#include <string>

#include "dcuop/store/store.hpp"
#include "dcuop/support/digest.hpp"

namespace dcuop::store {

/// The directory that version 1 of the layout has to itself: a later one stands beside it.
class Layout {
 public:
  explicit Layout(const std::filesystem::path& root) : version_(root / "v1") {}

  [[nodiscard]] const std::filesystem::path& version() const { return version_; }
  [[nodiscard]] std::filesystem::path index() const { return version_ / "index"; }
  [[nodiscard]] std::filesystem::path records(const Digest& request) const;
  [[nodiscard]] std::filesystem::path record(const Digest& request, const Digest& input_set) const;
  [[nodiscard]] std::filesystem::path shelf(Shelf shelf) const;
  [[nodiscard]] std::filesystem::path entry(Shelf shelf, const Digest& key) const;
  [[nodiscard]] std::filesystem::path origins() const { return version_ / "origins"; }
  [[nodiscard]] std::filesystem::path inline_files() const { return version_ / "inline"; }
  [[nodiscard]] std::filesystem::path failures() const { return version_ / "failures"; }
  [[nodiscard]] std::filesystem::path failure(const Digest& request) const {
    return failures() / request.hex();
  }
  [[nodiscard]] std::filesystem::path locks() const { return version_ / "locks"; }
  [[nodiscard]] std::filesystem::path holder(const Digest& request) const;
  [[nodiscard]] std::filesystem::path use() const { return version_ / "use"; }
  [[nodiscard]] std::filesystem::path use_stamp(Shelf shelf, const Digest& key) const;
  [[nodiscard]] std::filesystem::path statistics() const { return version_ / "statistics"; }
  [[nodiscard]] std::filesystem::path memos() const { return version_ / "memo"; }
  /// What `dcuop verify` keeps: <op>/<key of the entry>.json, written by python/dcuop/_verify/_results.py.
  [[nodiscard]] std::filesystem::path results() const { return version_ / "verify"; }
  [[nodiscard]] std::filesystem::path private_directories() const { return version_ / "tmp"; }

 private:
  std::filesystem::path version_;
};

/// Readable to whoever can read the cache: those who load from somebody else's cache say so with a shared lock.
inline constexpr unsigned use_lock_permissions = 0644;

/// Directories below the root: never writable by others, whatever the umask, as the root may be readable by
/// all.
inline constexpr unsigned directory_mode = 0755;
inline constexpr unsigned published_file_mode = 0444;

[[nodiscard]] char letter_of(Shelf shelf); ///< 'e' or 'o'

/// What is remembered about the last verification of an entry.
[[nodiscard]] std::filesystem::path verified_memo(const std::filesystem::path& memo_directory, Shelf shelf,
                                                  const Digest& key);

/// A directory itself, not a symbolic link to one: nothing behind a link is served, moved or removed.
[[nodiscard]] bool is_real_directory(const std::filesystem::path& path);

/// Bytes of the regular files of a tree; links are not followed.
[[nodiscard]] std::uint64_t bytes_below(const std::filesystem::path& directory);

/// Bytes of what is on no shelf: index, origins, memos, logs, private directories.
[[nodiscard]] std::uint64_t bytes_besides_shelves(const Layout& layout);

/// The names in a directory that are keys, sorted.
[[nodiscard]] std::vector<Digest> keys_in(const std::filesystem::path& directory);
/// Every key on a shelf (or of the index), walking its real shard directories.
[[nodiscard]] std::vector<Digest> keys_below(const std::filesystem::path& sharded);

} // namespace dcuop::store
