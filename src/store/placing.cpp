#include "placing.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <system_error>
#include <thread>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/log.hpp"
#include "layout.hpp"
#include "private_directory.hpp"

namespace dcuop::store {

namespace {

using namespace std::chrono_literals;

// NFS clients remember for up to a minute that a name does not exist. Waiting that long for a copy of what we
// hold already helps nobody, so only the short cases (a lookup in flight, a rename being replayed) are waited
// for.
constexpr int attempts = 5;
constexpr std::chrono::milliseconds pause_between = 40ms;

bool is_taken(int error) {
  return error == EEXIST || error == ENOTEMPTY || error == ENOTDIR;
}

[[noreturn]] void refuse(const fs::path& from, const fs::path& to, int error) {
  throw Error(
      ExitCode::environment,
      "cannot rename " + from.string() + " to " + to.string() + ": " + std::generic_category().message(error),
      "free space or permissions in the cache, or choose another with --cache-dir or DCUOP_CACHE_DIR");
}

bool is_absent(const Reading& reading) {
  return !reading.manifest && reading.damage.empty();
}

/// Another look settles whether it is damaged or only half visible yet.
Reading read_twice(const fs::path& target, Shelf shelf, const Digest& key) {
  Reading reading = read_whole_entry(target, shelf, key);
  if (!reading.manifest) {
    std::this_thread::sleep_for(pause_between);
    reading = read_whole_entry(target, shelf, key);
  }
  return reading;
}

/// Takes what was read as damaged out of the way. Another publisher may have put a whole entry there since,
/// so it is read again where nobody else can exchange it, and put back when it is one.
void move_aside(const fs::path& root, const fs::path& target, Shelf shelf, const Digest& key) {
  const PrivateDirectory aside = reserve_private_name(root);
  if (::rename(target.c_str(), aside.path().c_str()) != 0) {
    if (errno != ENOENT) {
      refuse(target, aside.path(), errno);
    }
    return;
  }
  if (read_whole_entry(aside.path(), shelf, key).manifest) {
    (void)rename_directory(aside.path(), target); // when it fails, somebody's newer one is there: as good
  }
}

/// Ours in the place of what was read as damaged, in one step, so that nobody finds the place empty. False where the file
/// system or the kernel cannot (NFS; https://man7.org/linux/man-pages/man2/rename.2.html, RENAME_EXCHANGE).
bool exchange(const fs::path& root, const fs::path& directory, const fs::path& target) {
  if (::renameat2(AT_FDCWD, directory.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) != 0) {
    return false;
  }
  const PrivateDirectory aside = reserve_private_name(root);
  (void)::rename(directory.c_str(),
                 aside.path().c_str()); // and removed; else it is a leftover, which prune knows
  return true;
}

} // namespace

int rename_directory(const fs::path& from, const fs::path& to) {
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

Placing place_directory(const fs::path& root, Shelf shelf, const Digest& key, const fs::path& directory,
                        const RenameDirectory& rename) {
  const fs::path target = Layout(root).entry(shelf, key);
  for (int attempt = 1; attempt <= attempts; ++attempt) {
    make_directories(target.parent_path(), directory_mode);
    const int error = rename(directory, target);
    if (error == 0) {
      return {Placed::ours, std::nullopt};
    }
    // A rename whose reply was lost is replayed by the client, and then finds that its source is gone.
    const bool replayed = error == ENOENT && access(directory.c_str(), F_OK) != 0;
    if (!is_taken(error) && !replayed) {
      refuse(directory, target, error);
    }
    const Reading winner = read_twice(target, shelf, key);
    if (winner.manifest) {
      return {replayed ? Placed::ours : Placed::theirs, winner.manifest};
    }
    if (replayed) {
      refuse(directory, target, error);
    }
    if (is_absent(winner)) {
      std::this_thread::sleep_for(pause_between * attempt);
      continue;
    }
    log_warning("damaged cache entry " + target.string() + ": " + winner.damage + "; it is replaced");
    if (exchange(root, directory, target)) {
      return {Placed::ours, std::nullopt};
    }
    move_aside(root, target, shelf, key);
  }
  return {Placed::invisible, std::nullopt};
}

} // namespace dcuop::store
