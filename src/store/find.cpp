// Looking up: the stat of every file always, the content when nothing vouches for it yet.

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/log.hpp"
#include "entry.hpp"
#include "host.hpp"
#include "layout.hpp"

namespace dcuop::store {

namespace {

/// One digest stands for "these files, with this stat, were right since this boot". A lost or damaged memo
/// costs hashing the files again.
std::string vouching_text(const Reading& reading) {
  return Hasher().text("boot", this_boot()).digest("identities", reading.identities).finish().hex();
}

bool is_vouched_for(const fs::path& memo, const Reading& reading) {
  return !this_boot().empty() && read_file_prefix(memo, 64) == vouching_text(reading);
}

void vouch_for(const fs::path& memo, const Reading& reading) {
  if (this_boot().empty() || !reading.settled) {
    return;
  }
  try {
    make_directories(memo.parent_path(), directory_mode);
  } catch (const Error&) {
    return; // a read-only cache: the content is read each time
  }
  (void)try_write_file_atomic(memo, vouching_text(reading));
}

} // namespace

std::optional<Entry> Store::find(Shelf shelf, const Digest& key) const {
  const fs::path directory = Layout(root_).entry(shelf, key);
  if (!is_real_directory(directory.parent_path())) {
    return std::nullopt;
  }
  const Reading reading = read_entry(directory, shelf, key);
  std::string damage = reading.damage;
  if (reading.manifest) {
    const fs::path memo = verified_memo(memo_directory_, shelf, key);
    if (!is_vouched_for(memo, reading)) {
      damage = content_damage(directory, *reading.manifest);
      if (damage.empty()) {
        vouch_for(memo, reading);
      }
    }
  }
  if (!damage.empty()) {
    log_warning("damaged cache entry " + directory.string() + ": " + damage);
  }
  return reading.manifest && damage.empty() ? std::optional(entry_from(key, directory, *reading.manifest))
                                            : std::nullopt;
}

std::vector<Entry> Store::list(Shelf shelf) const {
  const Layout layout(root_);
  std::vector<Entry> entries;
  for (const Digest& key : keys_below(layout.shelf(shelf))) {
    const fs::path directory = layout.entry(shelf, key);
    if (!is_real_directory(directory)) {
      continue;
    }
    if (const std::optional<Manifest> manifest = read_manifest(directory, shelf, key)) {
      entries.push_back(entry_from(key, directory, *manifest));
    }
  }
  return entries;
}

} // namespace dcuop::store
