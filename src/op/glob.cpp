#include "glob.hpp"

#include <algorithm>
#include <string>
#include <system_error>

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

std::vector<fs::path> directories_at_any_depth(const fs::path& top) {
  std::vector<fs::path> found = {top};
  for (std::size_t next = 0; next < found.size(); ++next) {
    const fs::path directory = found[next];
    for (const std::string& name : list_directory(directory)) {
      if (!name.starts_with('.') && is_real_directory(directory / name)) {
        found.push_back(directory / name);
      }
    }
  }
  return found;
}

std::vector<fs::path> one_step(const fs::path& directory, const std::string& component) {
  if (component == "**") {
    return directories_at_any_depth(directory);
  }
  if (is_pattern(component)) {
    return matching_names(directory, component);
  }
  return {directory / component};
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
    std::vector<fs::path> deeper;
    for (const fs::path& directory : found) {
      const std::vector<fs::path> step = one_step(directory, component.string());
      deeper.insert(deeper.end(), step.begin(), step.end());
    }
    found = std::move(deeper);
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
