#include "entry.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "record_time.hpp"
#include "sealed.hpp"

namespace dcuop::store {

namespace {

using nlohmann::json;
using std::chrono::system_clock;

// A manifest lists a handful of files; anything near this is not one.
constexpr std::size_t manifest_limit = std::size_t{16} << 20U;

// A second write can fall into the same tick of the file system's clock and leave the stat as it was; two
// seconds cover FAT and older NFS servers.
constexpr std::int64_t settling_ns = 2'000'000'000;

Digest place_of(Shelf shelf, const Digest& key) {
  return Hasher()
      .text("kind", "manifest")
      .number("shelf", static_cast<std::uint64_t>(shelf))
      .digest("key", key)
      .finish();
}

std::optional<struct stat> stat_of_regular(const fs::path& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  return status;
}

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Digests identities, and remembers the newest change.
class IdentityHasher {
 public:
  void add(const std::string& path, const struct stat& status) {
    hasher_.text("path", path)
        .number("device", status.st_dev)
        .number("inode", status.st_ino)
        .number("size", static_cast<std::uint64_t>(status.st_size))
        .number("mtime", static_cast<std::uint64_t>(nanoseconds(status.st_mtim)))
        .number("ctime", static_cast<std::uint64_t>(nanoseconds(status.st_ctim)));
    newest_ = std::max({newest_, nanoseconds(status.st_ctim), nanoseconds(status.st_mtim)});
  }
  [[nodiscard]] Digest digest() const { return hasher_.finish(); }
  [[nodiscard]] bool settled() const {
    const auto now =
        std::chrono::duration_cast<std::chrono::nanoseconds>(system_clock::now().time_since_epoch());
    return newest_ + settling_ns < now.count();
  }

 private:
  Hasher hasher_;
  std::int64_t newest_ = 0;
};

bool stays_inside(const std::string& path) {
  const fs::path relative = path;
  return !path.empty() && relative.is_relative() && path.find('\0') == std::string::npos &&
         std::none_of(relative.begin(), relative.end(),
                      [](const fs::path& part) { return part == "." || part == ".." || part.empty(); });
}

std::optional<ManifestFile> file_from(const json& value) {
  if (!value.is_object() || !value.contains("path") || !value.contains("size") || !value.contains("sha256") ||
      !value["path"].is_string() || !value["size"].is_number_unsigned() || !value["sha256"].is_string()) {
    return std::nullopt;
  }
  ManifestFile file{value["path"], value["size"], value["sha256"]};
  if (!stays_inside(file.path) || file.path == manifest_name) {
    return std::nullopt;
  }
  return file;
}

std::optional<Manifest> manifest_from(const json& value) {
  const auto is_text = [&](const char* name) { return value.contains(name) && value[name].is_string(); };
  if (!value.is_object() || !is_text("name") || !is_text("artifact") || !value.contains("built") ||
      !value["built"].is_number_unsigned() || !value.contains("files") || !value["files"].is_array() ||
      !value.contains("facts") || !value["facts"].is_object()) {
    return std::nullopt;
  }
  Manifest manifest;
  manifest.name = value["name"];
  manifest.artifact = value["artifact"];
  manifest.facts_json = json_text(value["facts"]);
  manifest.built = time_from_milliseconds(value["built"].get<std::uint64_t>());
  for (const json& item : value["files"]) {
    std::optional<ManifestFile> file = file_from(item);
    if (!file) {
      return std::nullopt;
    }
    manifest.files.push_back(std::move(*file));
  }
  const bool has_artifact =
      std::any_of(manifest.files.begin(), manifest.files.end(),
                  [&](const ManifestFile& file) { return file.path == manifest.artifact; });
  return has_artifact ? std::optional(std::move(manifest)) : std::nullopt;
}

std::optional<Manifest> parsed_manifest(const std::string& text, Shelf shelf, const Digest& key) {
  const std::optional<std::string_view> payload = unseal(place_of(shelf, key), text);
  if (!payload) {
    return std::nullopt;
  }
  return manifest_from(shallow_json(*payload));
}

} // namespace

std::string manifest_text(Shelf shelf, const Digest& key, const Manifest& manifest) {
  const json facts = json_or_discarded(manifest.facts_json);
  if (!facts.is_object()) {
    throw Error(ExitCode::failed, "the facts of " + manifest.name + " are not a JSON object");
  }
  json files = json::array();
  for (const ManifestFile& file : manifest.files) {
    files.push_back({{"path", file.path}, {"size", file.size}, {"sha256", file.sha256}});
  }
  const auto built = std::chrono::duration_cast<std::chrono::milliseconds>(manifest.built.time_since_epoch());
  const json value = {{"key", key.hex()},       {"name", manifest.name}, {"artifact", manifest.artifact},
                      {"built", built.count()}, {"facts", facts},        {"files", files}};
  try {
    return seal(place_of(shelf, key), json_text(value));
  } catch (const json::type_error&) {
    throw Error(ExitCode::failed, "a file name of " + manifest.name + " is not UTF-8");
  }
}

Reading read_entry(const fs::path& directory, Shelf shelf, const Digest& key) {
  Reading reading;
  struct stat status {};
  if (lstat(directory.c_str(), &status) != 0) {
    return reading;
  }
  if (!S_ISDIR(status.st_mode)) {
    reading.damage = "not a directory";
    return reading;
  }
  IdentityHasher identities;
  const fs::path manifest_path = directory / manifest_name;
  const std::optional<struct stat> manifest_status = stat_of_regular(manifest_path);
  if (!manifest_status) {
    reading.damage = std::string(manifest_name) + " is missing";
    return reading;
  }
  identities.add(manifest_name, *manifest_status);
  std::optional<Manifest> manifest = read_manifest(directory, shelf, key);
  if (!manifest) {
    reading.damage = std::string(manifest_name) + " is damaged";
    return reading;
  }
  for (const ManifestFile& file : manifest->files) {
    const std::optional<struct stat> file_status = stat_of_regular(directory / file.path);
    if (!file_status) {
      reading.damage = file.path + " is missing";
      return reading;
    }
    if (static_cast<std::uint64_t>(file_status->st_size) != file.size) {
      reading.damage = file.path + ": " + std::to_string(file_status->st_size) + " of " +
                       std::to_string(file.size) + " bytes";
      return reading;
    }
    identities.add(file.path, *file_status);
  }
  reading.manifest = std::move(manifest);
  reading.identities = identities.digest();
  reading.settled = identities.settled();
  return reading;
}

std::optional<Manifest> read_manifest(const fs::path& directory, Shelf shelf, const Digest& key) {
  const std::optional<std::string> text = read_file_prefix(directory / manifest_name, manifest_limit);
  return text ? parsed_manifest(*text, shelf, key) : std::nullopt;
}

std::string content_damage(const fs::path& directory, const Manifest& manifest) {
  for (const ManifestFile& file : manifest.files) {
    const std::optional<std::string> sha256 = sha256_of_file(directory / file.path);
    if (!sha256) {
      return file.path + " cannot be read";
    }
    if (*sha256 != file.sha256) {
      return file.path + ": its content is not what was published (SHA-256 differs)";
    }
  }
  return {};
}

Reading read_whole_entry(const fs::path& directory, Shelf shelf, const Digest& key) {
  Reading reading = read_entry(directory, shelf, key);
  if (reading.manifest) {
    reading.damage = content_damage(directory, *reading.manifest);
    if (!reading.damage.empty()) {
      reading.manifest.reset();
    }
  }
  return reading;
}

Entry entry_from(const Digest& key, const fs::path& directory, const Manifest& manifest) {
  Entry entry{key, directory, manifest.artifact, manifest.name, manifest.built, 0, manifest.facts_json};
  for (const ManifestFile& file : manifest.files) {
    entry.size += file.size;
  }
  return entry;
}

std::optional<Entry> entry_with(const fs::path& file) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  const fs::path directory = real.parent_path();
  const std::optional<Digest> key = Digest::from_hex(directory.filename().string());
  const std::optional<Manifest> manifest =
      error || !key ? std::nullopt : read_manifest(directory, Shelf::entries, *key);
  return manifest && manifest->artifact == real.filename()
             ? std::optional(entry_from(*key, directory, *manifest))
             : std::nullopt;
}

} // namespace dcuop::store
