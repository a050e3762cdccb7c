// Reading everything again, for `dcuop cache verify` and for tests that kill builds.

#include <algorithm>

#include "dcuop/store/store.hpp"
#include "dcuop/support/files.hpp"
#include "entry.hpp"
#include "index.hpp"
#include "layout.hpp"

namespace dcuop::store {

namespace {

/// Files that stand in an entry without being in its manifest.
std::string unlisted_file(const fs::path& directory, const Manifest& manifest) {
  std::error_code error;
  for (fs::recursive_directory_iterator item(directory, error), end; !error && item != end;
       item.increment(error)) {
    const std::string path = item->path().lexically_relative(directory).string();
    const bool listed =
        path == manifest_name || std::any_of(manifest.files.begin(), manifest.files.end(),
                                             [&](const ManifestFile& file) { return file.path == path; });
    if (!listed && item->symlink_status().type() != fs::file_type::directory) {
      return path + " is not in its manifest";
    }
  }
  return {};
}

void verify_shelf(const Layout& layout, Shelf shelf, std::vector<Damage>& damages) {
  const fs::path place = layout.shelf(shelf);
  for (const std::string& shard : list_directory(place)) {
    if (!is_real_directory(place / shard)) {
      damages.push_back({place / shard, "not a directory"});
      continue;
    }
    for (const std::string& name : list_directory(place / shard)) {
      const fs::path directory = place / shard / name;
      const std::optional<Digest> key = Digest::from_hex(name);
      if (!key || layout.entry(shelf, *key) != directory) {
        damages.push_back({directory, "its name is not a key that belongs here"});
        continue;
      }
      const Reading reading = read_whole_entry(directory, shelf, *key);
      std::string damage = reading.manifest ? unlisted_file(directory, *reading.manifest) : reading.damage;
      // Another process may have removed it meanwhile, which is no damage.
      if (!damage.empty() && fs::exists(fs::symlink_status(directory))) {
        damages.push_back({directory, std::move(damage)});
      }
    }
  }
}

void verify_index(const Layout& layout, std::vector<Damage>& damages) {
  for (const Digest& request : keys_below(layout.index())) {
    for (const Digest& input_set : input_sets_of(layout, request)) {
      const fs::path file = layout.record(request, input_set);
      if (!read_record(layout, request, input_set) && fs::exists(fs::symlink_status(file))) {
        damages.push_back({file, "damaged index record"});
      }
    }
  }
}

} // namespace

std::vector<Damage> Store::verify() const {
  const Layout layout(root_);
  std::vector<Damage> damages;
  verify_shelf(layout, Shelf::entries, damages);
  verify_shelf(layout, Shelf::objects, damages);
  verify_index(layout, damages);
  return damages;
}

} // namespace dcuop::store
