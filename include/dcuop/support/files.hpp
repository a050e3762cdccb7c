#pragma once
// Files: identity by stat, whole reads, durable atomic writes, private directories.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dcuop {

namespace fs = std::filesystem;

/// What stat(2) says of a file; equal identities mean that the content was not touched in between
/// (a write changes ctime, which no user call can set). Times in nanoseconds since the epoch.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  std::uint32_t mode = 0; ///< st_mode, type bits included
  std::uint32_t owner = 0;

  [[nodiscard]] bool is_directory() const;
  [[nodiscard]] bool is_regular() const;
  bool operator==(const FileIdentity&) const = default;
};

/// Follows symbolic links; nullopt when there is nothing there (or no permission to know).
[[nodiscard]] std::optional<FileIdentity> identity_of(const fs::path& path);

/// Of what the path itself names: a link's own. nullopt as above.
[[nodiscard]] std::optional<FileIdentity> link_identity_of(const fs::path& path);

/// The content of a regular file (of /proc and /sys too); nullopt when it is none or cannot be read.
[[nodiscard]] std::optional<std::string> read_file(const fs::path& path);
/// The first `limit` bytes at most.
[[nodiscard]] std::optional<std::string> read_file_prefix(const fs::path& path, std::size_t limit);

/// Writes a unique temporary file beside `path`, checks the close, renames it over `path`, removes it on
/// failure. Throws Error(environment). `durable` also fsyncs the file and its directory.
void write_file_atomic(const fs::path& path, std::string_view content, bool durable = false);

/// As write_file_atomic, but false instead of an exception: for memos and statistics, which never fail a
/// build.
[[nodiscard]] bool try_write_file_atomic(const fs::path& path, std::string_view content) noexcept;

/// fsync of a file or directory; throws Error(environment).
void sync_path(const fs::path& path);

/// mkdir -p with `mode` for the directories it makes; throws Error(environment) naming the one that failed.
void make_directories(const fs::path& path, unsigned mode = 0777);

/// Removes a tree, as far as it can, on network file systems too (renamed-away names, ESTALE and ENOENT are
/// success). Returns what could not be removed.
std::vector<fs::path> remove_tree(const fs::path& path) noexcept;

/// Names in a directory, sorted; empty when it cannot be read.
[[nodiscard]] std::vector<std::string> list_directory(const fs::path& path);

/// The same with what each name is itself, links not followed: "lib/d", "op.h/-", "current/l", "socket/?".
[[nodiscard]] std::vector<std::string> list_names_and_kinds(const fs::path& path);

/// Lexically absolute and normal, without resolving symbolic links; relative ones are taken from `base`.
[[nodiscard]] fs::path absolute_from(const fs::path& path, const fs::path& base);

/// `path` relative to `base` ("." for `base` itself) when it lies below it, else unchanged. Lexically, as
/// below.
[[nodiscard]] fs::path relative_below(const fs::path& path, const fs::path& base);
/// True for `base` itself too.
[[nodiscard]] bool lies_below(const fs::path& path, const fs::path& base);

/// Where `path` lies in the tree `root`. Links are followed as if `root` were "/", so that none leads out of
/// it; what does not exist is kept as written. A path below `root` is taken as such. With "/", the path
/// itself.
[[nodiscard]] fs::path inside(const fs::path& root, const fs::path& path);
/// Whether `path` is written as one of the tree `root`: unlike lies_below, whatever ".." it has behind that.
[[nodiscard]] bool is_named_below(const fs::path& path, const fs::path& root);
/// As inside() for what is written as one of the tree, else the path itself.
[[nodiscard]] fs::path followed_in(const fs::path& root, const fs::path& path);

} // namespace dcuop
