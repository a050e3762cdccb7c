// Origins: which directories asked for which entries, so that `clean OP` means the entries of one checkout.

#include "origins.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/log.hpp"
#include "entry.hpp"
#include "layout.hpp"

namespace dcuop::store {

namespace {

constexpr const char* path_file = "path";

/// A name becomes one part of a path; manifests check it too, but it also comes out of damaged files.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

struct Origin {
  fs::path directory; ///< that asked
  fs::path record;    ///< where that is recorded
};

Digest digest_of_directory(const fs::path& directory) {
  return digest_of(directory.string());
}

std::vector<Origin> origins_below(const fs::path& by_name) {
  std::vector<Origin> origins;
  for (const Digest& key : keys_in(by_name)) {
    const fs::path record = by_name / key.hex();
    const std::optional<std::string> path = read_file(record / path_file);
    // The digest in the name tells a damaged path from the one that was recorded.
    if (path && digest_of(*path) == key) {
      origins.push_back({*path, record});
    }
  }
  std::sort(origins.begin(), origins.end(),
            [](const Origin& a, const Origin& b) { return a.directory < b.directory; });
  return origins;
}

} // namespace

std::map<std::string, std::vector<fs::path>> origins_by_key(const Layout& layout, const std::string& name) {
  std::map<std::string, std::vector<fs::path>> by_key;
  if (is_plain_name(name)) {
    for (const Origin& origin : origins_below(layout.origins() / name)) {
      for (const Digest& key : keys_in(origin.record)) {
        by_key[key.hex()].push_back(origin.directory);
      }
    }
  }
  return by_key;
}

void Store::record_origin(const Entry& entry, const fs::path& directory,
                          const std::string& description) noexcept {
  if (read_only_ || !is_plain_name(entry.name)) {
    return;
  }
  try {
    const fs::path record = Layout(root_).origins() / entry.name / digest_of_directory(directory).hex();
    const fs::path marker = record / entry.key.hex();
    if (access(marker.c_str(), F_OK) == 0) {
      return;
    }
    make_directories(record, directory_mode);
    if (read_file(record / path_file) != directory.string()) {
      write_file_atomic(record / path_file, directory.string());
    }
    write_file_atomic(marker, description);
  } catch (const std::exception& error) {
    log_warning(error.what());
  }
}

std::vector<std::string> Store::descriptions(const std::string& name, const fs::path& directory) const {
  std::set<std::string> found;
  if (is_plain_name(name)) {
    const fs::path record = Layout(root_).origins() / name / digest_of_directory(directory).hex();
    for (const Digest& key : keys_in(record)) {
      found.insert(read_file(record / key.hex()).value_or(""));
    }
  }
  found.erase("");
  return {found.begin(), found.end()};
}

std::vector<fs::path> Store::origins(const Entry& entry) const {
  std::vector<fs::path> directories;
  if (!is_plain_name(entry.name)) {
    return directories;
  }
  for (const Origin& origin : origins_below(Layout(root_).origins() / entry.name)) {
    if (access((origin.record / entry.key.hex()).c_str(), F_OK) == 0) {
      directories.push_back(origin.directory);
    }
  }
  return directories;
}

std::vector<fs::path> Store::origins_of(const std::string& name) const {
  std::vector<fs::path> directories;
  if (is_plain_name(name)) {
    for (Origin& origin : origins_below(Layout(root_).origins() / name)) {
      directories.push_back(std::move(origin.directory));
    }
  }
  return directories;
}

std::vector<Entry> Store::entries_of(const std::string& name, const fs::path& directory) const {
  const Layout layout(root_);
  std::vector<std::pair<std::chrono::system_clock::time_point, Entry>> found;
  for (const auto& [hex, directories] : origins_by_key(layout, name)) {
    const bool asked = directory.empty() ||
                       std::find(directories.begin(), directories.end(), directory) != directories.end();
    const std::optional<Digest> key = asked ? Digest::from_hex(hex) : std::nullopt;
    if (!key) {
      continue;
    }
    const fs::path place = layout.entry(Shelf::entries, *key);
    const std::optional<Manifest> manifest =
        is_real_directory(place) ? read_manifest(place, Shelf::entries, *key) : std::nullopt;
    if (manifest && manifest->name == name) {
      Entry entry = entry_from(*key, place, *manifest);
      found.emplace_back(last_use(Shelf::entries, *key).value_or(entry.built), std::move(entry));
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Entry> entries;
  for (auto& [used, entry] : found) {
    entries.push_back(std::move(entry));
  }
  return entries;
}

} // namespace dcuop::store
