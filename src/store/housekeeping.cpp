// Keeping house: removing, counting, and removing what leads nowhere. None of it can fail a build.

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <set>
#include <system_error>

#include "dcuop/store/statistics.hpp"
#include "dcuop/store/store.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/log.hpp"
#include "index.hpp"
#include "layout.hpp"
#include "origins.hpp"
#include "private_directory.hpp"

namespace dcuop::store {

namespace {

using std::chrono::system_clock;

constexpr std::chrono::hours failure_age{24 * 7};
/// A memo that nobody wrote or (as far as the file system tells) read for so long: of a host or container that
/// is gone, or of an op that nobody builds. Asking again costs well below a second.
constexpr std::chrono::hours memo_age{24 * 30};
constexpr std::chrono::hours result_age{24 * 30};
/// What write_file_atomic() calls a file before it is complete.
constexpr std::chrono::hours torn_write_age{1};
constexpr std::string_view temporary_prefix = ".dcuop-tmp-";

bool is_older_than(const fs::path& path, system_clock::duration age) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    return false;
  }
  return age.count() == 0 || system_clock::from_time_t(status.st_mtim.tv_sec) + age < system_clock::now();
}

/// Renames an entry into a private directory, which deletes it. False when there was nothing to rename.
bool rename_away(const fs::path& root, const fs::path& entry) {
  if (!is_real_directory(entry.parent_path())) {
    return false;
  }
  PrivateDirectory doomed = reserve_private_name(root);
  if (::rename(entry.c_str(), doomed.path().c_str()) == 0) {
    return true;
  }
  const int error = errno;
  if (error == ENOENT || error == ESTALE) {
    return false;
  }
  throw Error(ExitCode::environment,
              "cannot remove " + entry.string() + ": " + std::generic_category().message(error));
}

std::uint64_t remove_file(const fs::path& path) {
  return unlink(path.c_str()) == 0 ? 1 : 0;
}

/// A writer that was killed left it: a live one needs milliseconds, on whatever host it is.
bool is_torn_write(const fs::path& file) {
  return file.filename().string().starts_with(temporary_prefix) && is_older_than(file, torn_write_age);
}

/// Files below `directory`, three levels deep at most, without following links.
std::uint64_t prune_torn_writes(const fs::path& directory, int depth = 3) {
  std::uint64_t removed = 0;
  for (const std::string& name : list_directory(directory)) {
    const fs::path path = directory / name;
    if (is_torn_write(path)) {
      removed += remove_file(path);
    } else if (depth > 1 && is_real_directory(path)) {
      removed += prune_torn_writes(path, depth - 1);
    }
  }
  return removed;
}

bool was_read_within(const fs::path& path, system_clock::duration age) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 &&
         system_clock::from_time_t(status.st_atim.tv_sec) + age >= system_clock::now();
}

/// Memos of all hosts: containers often have a name of their own each, and leave a directory behind.
std::uint64_t prune_memos(const fs::path& directory, int depth = 3) {
  std::uint64_t removed = 0;
  for (const std::string& name : list_directory(directory)) {
    const fs::path path = directory / name;
    if (is_real_directory(path)) {
      removed += depth > 1 ? prune_memos(path, depth - 1) : 0;
      (void)rmdir(path.c_str()); // fails unless it is empty
    } else if (is_older_than(path, memo_age) && !was_read_within(path, memo_age)) {
      removed += remove_file(path);
    }
  }
  return removed;
}

bool leads_somewhere(const Layout& layout, const Digest& key) {
  return is_real_directory(layout.entry(Shelf::entries, key)) ||
         is_real_directory(layout.entry(Shelf::objects, key));
}

std::uint64_t prune_index(const Layout& layout, system_clock::duration leftover_age) {
  std::uint64_t removed = 0;
  for (const Digest& request : keys_below(layout.index())) {
    const fs::path directory = layout.records(request);
    for (const std::string& name : list_directory(directory)) {
      const fs::path file = directory / name;
      if (is_torn_write(file)) {
        removed += remove_file(file);
        continue;
      }
      const std::optional<Digest> input_set =
          name.ends_with(".json") ? Digest::from_hex(fs::path(name).stem().string()) : std::nullopt;
      const std::optional<Digest> key =
          input_set ? read_record_key(layout, request, *input_set) : std::nullopt;
      if ((!key || !leads_somewhere(layout, *key)) && is_older_than(file, leftover_age)) {
        removed += remove_file(file);
      }
    }
    (void)rmdir(directory.c_str()); // fails unless it is empty
  }
  return removed;
}

std::uint64_t prune_origins(const Layout& layout, system_clock::duration leftover_age) {
  std::uint64_t removed = 0;
  for (const std::string& name : list_directory(layout.origins())) {
    for (const Digest& origin : keys_in(layout.origins() / name)) {
      const fs::path record = layout.origins() / name / origin.hex();
      const std::vector<Digest> keys = keys_in(record);
      std::size_t left = keys.size();
      for (const Digest& key : keys) {
        const fs::path marker = record / key.hex();
        if (!is_real_directory(layout.entry(Shelf::entries, key)) && is_older_than(marker, leftover_age)) {
          left -= remove_file(marker);
        }
      }
      if (left == 0 && is_older_than(record / "path", leftover_age)) {
        removed += remove_file(record / "path");
        (void)rmdir(record.c_str());
      }
    }
    (void)rmdir((layout.origins() / name).c_str());
  }
  return removed;
}

/// Files that were placed for an op that is no entry's origin (any more).
std::uint64_t prune_inline_files(const Layout& layout, system_clock::duration leftover_age) {
  std::uint64_t removed = 0;
  std::set<fs::path> origins;
  for (const std::string& name : list_directory(layout.origins())) {
    for (const auto& [key, directories] : origins_by_key(layout, name)) {
      origins.insert(directories.begin(), directories.end());
    }
  }
  for (const Digest& digest : keys_in(layout.inline_files())) {
    const fs::path directory = layout.inline_files() / digest.hex();
    if (!origins.contains(directory) && is_older_than(directory, leftover_age)) {
      removed += remove_tree(directory).empty() ? 1 : 0;
    }
  }
  return removed;
}

/// "<shelf letter><key>" files of things that are gone: use stamps and verification memos.
std::uint64_t prune_lettered(const Layout& layout, const fs::path& directory,
                             system_clock::duration leftover_age) {
  std::uint64_t removed = 0;
  for (const std::string& name : list_directory(directory)) {
    const std::optional<Digest> key =
        name.empty() ? std::nullopt : Digest::from_hex(std::string_view(name).substr(1));
    const fs::path file = directory / name;
    if (key && !leads_somewhere(layout, *key) && is_older_than(file, leftover_age)) {
      removed += remove_file(file);
    }
  }
  return removed;
}

/// The entry's results, which are named after the op too.
void remove_results(const Layout& layout, const Digest& key) {
  for (const std::string& op : list_directory(layout.results())) {
    const fs::path directory = layout.results() / op;
    if (is_real_directory(directory) && remove_file(directory / (key.hex() + ".json")) > 0) {
      (void)rmdir(directory.c_str()); // fails unless it is empty
    }
  }
}

/// Results of entries that are not here: those of another cache, from which a build was served, are compared with for
/// a while.
std::uint64_t prune_results(const Layout& layout, system_clock::duration leftover_age) {
  const system_clock::duration age = leftover_age.count() == 0 ? leftover_age : result_age;
  std::uint64_t removed = 0;
  for (const std::string& op : list_directory(layout.results())) {
    const fs::path directory = layout.results() / op;
    if (!is_real_directory(directory)) {
      continue;
    }
    for (const std::string& name : list_directory(directory)) {
      const fs::path file = directory / name;
      const bool is_torn = name.starts_with('.') && name.ends_with(".tmp");
      const std::optional<Digest> key =
          name.ends_with(".json") ? Digest::from_hex(file.stem().string()) : std::nullopt;
      const bool is_gone = key && !is_real_directory(layout.entry(Shelf::entries, *key));
      if (is_torn ? is_older_than(file, leftover_age) : is_gone && is_older_than(file, age)) {
        removed += remove_file(file);
      }
    }
    (void)rmdir(directory.c_str());
  }
  return removed;
}

std::uint64_t prune_failures(const Layout& layout, system_clock::duration age) {
  std::uint64_t removed = 0;
  for (const Digest& request : keys_in(layout.failures())) {
    const fs::path directory = layout.failure(request);
    if (is_real_directory(directory) && is_older_than(directory, age)) {
      removed += remove_tree(directory).empty() ? 1 : 0;
    }
  }
  return removed;
}

/// Records of holders that were killed. One that has been at the same step for that long loses its record too,
/// which is for display only; its lock it keeps.
std::uint64_t prune_holders(const Layout& layout) {
  std::uint64_t removed = 0;
  const fs::path holders = layout.locks() / "holders";
  for (const std::string& name : list_directory(holders)) {
    if (is_older_than(holders / name, failure_age)) {
      removed += remove_file(holders / name);
    }
  }
  return removed;
}

} // namespace

bool Store::remove(Shelf shelf, const Digest& key) {
  require_writable();
  const Layout layout(root_);
  std::optional<FileLock> lock;
  try {
    make_directories(use_lock_file().parent_path(), directory_mode);
    lock = FileLock::try_acquire(use_lock_file(), lock_offset(key), FileLock::Mode::exclusive,
                                 use_lock_permissions);
  } catch (const Error& error) {
    log_warning(std::string("not removed, as nothing tells whether it is in use: ") + error.what());
  }
  if (!lock) {
    return false;
  }
  if (rename_away(root_, layout.entry(shelf, key))) {
    (void)remove_file(layout.use_stamp(shelf, key));
    (void)remove_file(verified_memo(memo_directory_, shelf, key));
    if (shelf == Shelf::entries) {
      remove_results(layout, key);
    }
  }
  return true;
}

Usage Store::usage() const {
  const Layout layout(root_);
  Usage usage;
  const auto count = [&](Shelf shelf, std::uint64_t& things, std::uint64_t& bytes) {
    for (const Digest& key : keys_below(layout.shelf(shelf))) {
      const fs::path directory = layout.entry(shelf, key);
      if (is_real_directory(directory)) {
        ++things;
        bytes += bytes_below(directory);
      }
    }
  };
  count(Shelf::entries, usage.entries, usage.entry_bytes);
  count(Shelf::objects, usage.objects, usage.object_bytes);
  for (const Digest& request : keys_below(layout.index())) {
    usage.index_records += input_sets_of(layout, request).size();
  }
  usage.other_bytes = bytes_besides_shelves(layout);
  return usage;
}

std::uint64_t Store::prune_leftovers(std::chrono::seconds minimum_age) noexcept {
  if (read_only_) {
    return 0;
  }
  try {
    const Layout layout(root_);
    std::uint64_t removed = prune_index(layout, minimum_age) + prune_origins(layout, minimum_age);
    removed +=
        prune_failures(layout, minimum_age.count() == 0 ? minimum_age : failure_age) + prune_holders(layout);
    removed += prune_inline_files(layout, minimum_age);
    removed += prune_results(layout, minimum_age);
    removed += prune_lettered(layout, layout.use(), minimum_age);
    removed += prune_lettered(layout, memo_directory_ / "verified", minimum_age);
    for (const fs::path& directory :
         {layout.origins(), layout.memos(), layout.failures(), layout.locks(), layout.statistics()}) {
      removed += prune_torn_writes(directory);
    }
    removed += prune_memos(layout.memos());
    fold_answered(*this);
    return removed + static_cast<std::uint64_t>(sweep_private_directories());
  } catch (const std::exception& error) {
    log_warning(error.what());
    return 0;
  }
}

} // namespace dcuop::store
