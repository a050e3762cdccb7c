// Publishing: everything is written, durable and read-only before one rename(2) makes it visible.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "dcuop/store/prune.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/log.hpp"
#include "dcuop/support/steps.hpp"
#include "entry.hpp"
#include "layout.hpp"
#include "placing.hpp"
#include "private_directory.hpp"

namespace dcuop::store {

namespace {

/// What a private directory holds, relative to it.
struct Content {
  std::vector<std::string> files;       ///< sorted
  std::vector<std::string> directories; ///< the deepest last
};

[[noreturn]] void cannot(const std::string& what, const fs::path& path, int error) {
  throw Error(ExitCode::environment,
              "cannot " + what + " " + path.string() + ": " + std::generic_category().message(error));
}

Content content_of(const fs::path& directory) {
  Content content;
  std::error_code error;
  for (fs::recursive_directory_iterator item(directory, error), end; !error && item != end;
       item.increment(error)) {
    const std::string path = item->path().lexically_relative(directory).string();
    switch (item->symlink_status().type()) {
    case fs::file_type::directory:
      content.directories.push_back(path);
      break;
    case fs::file_type::regular:
      content.files.push_back(path);
      break;
    default:
      throw Error(ExitCode::failed, "cannot publish " + item->path().string() +
                                        ": it is neither a regular file nor a directory");
    }
  }
  if (error) {
    throw Error(ExitCode::environment, "cannot read " + directory.string() + ": " + error.message());
  }
  // A manifest that an earlier attempt left is written anew.
  std::erase(content.files, manifest_name);
  std::sort(content.files.begin(), content.files.end());
  std::sort(content.directories.begin(), content.directories.end());
  return content;
}

/// Makes a file what it will stay, and says what that is.
ManifestFile settle_file(const fs::path& directory, const std::string& path) {
  const fs::path absolute = directory / path;
  struct stat status {};
  if (lstat(absolute.c_str(), &status) != 0) {
    cannot("read", absolute, errno);
  }
  constexpr mode_t executable = 0111;
  if (chmod(absolute.c_str(), published_file_mode | (status.st_mode & executable)) != 0) {
    cannot("make read-only", absolute, errno);
  }
  const std::optional<std::string> sha256 = sha256_of_file(absolute);
  if (!sha256 || lstat(absolute.c_str(), &status) != 0) {
    cannot("read", absolute, errno);
  }
  sync_path(absolute);
  return {path, static_cast<std::uint64_t>(status.st_size), *sha256};
}

void write_manifest(const fs::path& directory, const std::string& text) {
  const fs::path path = directory / manifest_name;
  write_file_atomic(path, text);
  if (chmod(path.c_str(), published_file_mode) != 0) {
    cannot("make read-only", path, errno);
  }
  sync_path(path);
}

void settle_directories(const fs::path& directory, const Content& content) {
  std::vector<fs::path> paths{directory};
  for (const std::string& path : content.directories) {
    paths.push_back(directory / path);
  }
  // The deepest first: a directory is durable after what it holds.
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    if (chmod(path->c_str(), directory_mode) != 0) {
      cannot("change the mode of", *path, errno);
    }
    sync_path(*path);
  }
}

Manifest complete(const fs::path& directory, Shelf shelf, const Publication& publication) {
  const Content content = content_of(directory);
  Manifest manifest;
  manifest.name = publication.name;
  manifest.artifact = publication.artifact;
  manifest.facts_json = publication.facts_json;
  manifest.built = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  if (!std::binary_search(content.files.begin(), content.files.end(), publication.artifact)) {
    throw Error(ExitCode::failed,
                "there is no " + publication.artifact + " to publish for " + publication.name);
  }
  for (const std::string& path : content.files) {
    reach_step();
    manifest.files.push_back(settle_file(directory, path));
  }
  write_manifest(directory, manifest_text(shelf, publication.key, manifest));
  reach_step();
  settle_directories(directory, content);
  return manifest;
}

/// The rename has happened: a failure here costs at most the entry's life after a power cut, and it would
/// then be found damaged or absent.
void sync_after(const fs::path& directory) {
  try {
    sync_path(directory);
  } catch (const Error& error) {
    log_warning(error.what());
  }
}

std::string artifact_digest(const Manifest& manifest) {
  const auto found = std::find_if(manifest.files.begin(), manifest.files.end(),
                                  [&](const ManifestFile& file) { return file.path == manifest.artifact; });
  return found == manifest.files.end() ? std::string() : found->sha256;
}

/// Takes an entry with other bytes out of the way, to where it is swept when nobody uses it any more.
void give_way(const fs::path& root, Shelf shelf, const Publication& publication, const Manifest& ours) {
  const fs::path target = Layout(root).entry(shelf, publication.key);
  const Reading there = read_entry(target, shelf, publication.key);
  if (!there.manifest || artifact_digest(*there.manifest) == artifact_digest(ours)) {
    return;
  }
  log_warning(publication.name +
              ": the same command and inputs gave other bytes before. The new ones replace them; " +
              "the compiler is not deterministic, or it reads what dcuop cannot see");
  const fs::path directory = Layout(root).private_directories();
  const fs::path aside =
      directory / kept_name(shelf, publication.key, reserve_private_name(root).path().filename());
  if (const int error = rename_directory(target, aside); error != 0 && error != ENOENT) {
    cannot("replace", target, error);
  }
}

Entry noted(const Store& store, Entry entry) {
  record_addition(store, entry.size);
  return entry;
}

} // namespace

Entry Store::publish(Shelf shelf, PrivateDirectory&& directory, const Publication& publication) {
  require_writable();
  const Manifest manifest = complete(directory.path(), shelf, publication);
  const fs::path target = Layout(root_).entry(shelf, publication.key);
  reach_step();
  if (publication.replace) {
    give_way(root_, shelf, publication, manifest);
  }
  const Placing placing = place_directory(root_, shelf, publication.key, directory.path(), rename_directory);
  switch (placing.placed) {
  case Placed::ours:
    reach_step();
    directory.keep();
    sync_after(target.parent_path());
    return noted(*this, entry_from(publication.key, target, manifest));
  case Placed::theirs:
    (void)PrivateDirectory(std::move(directory));
    return entry_from(publication.key, target, *placing.manifest);
  case Placed::invisible:
    break;
  }
  return noted(*this,
               entry_from(publication.key, keep(shelf, publication.key, std::move(directory)), manifest));
}

fs::path Store::keep(Shelf shelf, const Digest& key, PrivateDirectory&& directory) {
  fs::path kept = directory.path();
  if (kept.parent_path() == Layout(root_).private_directories()) {
    kept = kept.parent_path() / kept_name(shelf, key, kept.filename().string());
    if (const int error = rename_directory(directory.path(), kept); error != 0) {
      cannot("keep", directory.path(), error);
    }
  }
  directory.keep();
  return kept;
}

} // namespace dcuop::store
