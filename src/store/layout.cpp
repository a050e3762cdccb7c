#include "layout.hpp"

#include <sys/stat.h>

#include <system_error>

#include "dcuop/support/files.hpp"

namespace dcuop::store {

namespace {

fs::path sharded(const fs::path& directory, const Digest& key) {
  const std::string hex = key.hex();
  return directory / hex.substr(0, 2) / hex;
}

} // namespace

fs::path Layout::records(const Digest& request) const {
  return sharded(index(), request);
}

fs::path Layout::record(const Digest& request, const Digest& input_set) const {
  return records(request) / (input_set.hex() + ".json");
}

fs::path Layout::shelf(Shelf shelf) const {
  return version_ / (shelf == Shelf::entries ? "entries" : "objects");
}

fs::path Layout::entry(Shelf on, const Digest& key) const {
  return sharded(shelf(on), key);
}

fs::path Layout::holder(const Digest& request) const {
  return locks() / "holders" / (request.hex() + ".json");
}

fs::path Layout::use_stamp(Shelf shelf, const Digest& key) const {
  return use() / (letter_of(shelf) + key.hex());
}

char letter_of(Shelf shelf) {
  return shelf == Shelf::entries ? 'e' : 'o';
}

fs::path verified_memo(const fs::path& memo_directory, Shelf shelf, const Digest& key) {
  return memo_directory / "verified" / (letter_of(shelf) + key.hex());
}

bool is_real_directory(const fs::path& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::uint64_t bytes_below(const fs::path& directory) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator item(directory, error), end; !error && item != end;
       item.increment(error)) {
    struct stat status {};
    if (lstat(item->path().c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      bytes += static_cast<std::uint64_t>(status.st_size);
    }
  }
  return bytes;
}

std::uint64_t bytes_besides_shelves(const Layout& layout) {
  std::uint64_t bytes = 0;
  for (const std::string& name : list_directory(layout.version())) {
    const fs::path directory = layout.version() / name;
    const bool is_counted_elsewhere =
        directory == layout.shelf(Shelf::entries) || directory == layout.shelf(Shelf::objects);
    if (!is_counted_elsewhere && is_real_directory(directory)) {
      bytes += bytes_below(directory);
    }
  }
  return bytes;
}

std::vector<Digest> keys_in(const fs::path& directory) {
  std::vector<Digest> keys;
  for (const std::string& name : list_directory(directory)) {
    const std::optional<Digest> key = Digest::from_hex(name);
    if (key && key->hex() == name) {
      keys.push_back(*key);
    }
  }
  return keys;
}

std::vector<Digest> keys_below(const fs::path& sharded) {
  std::vector<Digest> keys;
  for (const std::string& shard : list_directory(sharded)) {
    if (!is_real_directory(sharded / shard)) {
      continue;
    }
    for (const Digest& key : keys_in(sharded / shard)) {
      if (key.hex().starts_with(shard)) {
        keys.push_back(key);
      }
    }
  }
  return keys;
}

} // namespace dcuop::store
