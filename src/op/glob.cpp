#include "glob.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include <fnmatch.h>

#include "dcuop/support/files.hpp"

namespace dcuop::op {

namespace {

std::vector<fs::path> matching_names(const fs::path& directory, const std::string& pattern) {
  std::vector<fs::path> found;
  for (const std::string& name : list_directory(directory)) {
    if (fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) == 0) {
      found.push_back(directory / name);
    }
  }
  return found;
}

bool is_real_directory(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(path, error));
}

/// `tops` and what lies below them, each once, however many of them lie in one another.
std::vector<fs::path> directories_at_any_depth(const std::vector<fs::path>& tops) {
  std::set<fs::path> seen(tops.begin(), tops.end());
  std::vector<fs::path> found(seen.begin(), seen.end());
  for (std::size_t next = 0; next < found.size(); ++next) {
    const fs::path directory = found[next];
    for (const std::string& name : list_directory(directory)) {
      fs::path below = directory / name;
      if (!name.starts_with('.') && is_real_directory(below) && seen.insert(below).second) {
        found.push_back(std::move(below));
      }
    }
  }
  return found;
}

std::vector<fs::path> one_step(const std::vector<fs::path>& directories, const std::string& component) {
  if (component == "**") {
    return directories_at_any_depth(directories);
  }
  std::vector<fs::path> found;
  for (const fs::path& directory : directories) {
    if (!is_pattern(component)) {
      found.push_back(directory / component);
      continue;
    }
    std::vector<fs::path> names = matching_names(directory, component);
    std::move(names.begin(), names.end(), std::back_inserter(found));
  }
  return found;
}

/// Directories by one path each: links that lead in a circle would double what is found at each step.
void drop_aliases(std::vector<fs::path>& directories) {
  std::stable_partition(directories.begin(), directories.end(), is_real_directory);
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::erase_if(directories, [&](const fs::path& directory) {
    const std::optional<FileIdentity> identity = identity_of(directory);
    return !identity || !seen.emplace(identity->device, identity->inode).second;
  });
}

} // namespace

bool is_pattern(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}

std::vector<fs::path> expand_pattern(const fs::path& base, const fs::path& pattern) {
  std::vector<fs::path> found = {base};
  for (const fs::path& component : pattern) {
    if (component.empty() || component == ".") {
      continue;
    }
    drop_aliases(found);
    found = one_step(found, component.string());
  }
  std::erase_if(found, [](const fs::path& path) { return !identity_of(path); });
  for (fs::path& path : found) {
    path = path.lexically_normal();
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

} // namespace dcuop::op
