#include "dcuop/support/environment.hpp"

#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "dcuop/support/text.hpp"

namespace dcuop {

namespace {

bool is_executable_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

} // namespace

Environment Environment::of_this_process() {
  std::map<std::string, std::string> variables;
  for (char** line = environ; line != nullptr && *line != nullptr; ++line) {
    const std::string_view entry(*line);
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos && equals > 0) {
      // The first of two lines of one name is the one that getenv(3) sees.
      variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
    }
  }
  return Environment(std::move(variables));
}

void AskedVariables::note_name(std::string_view name) {
  const std::lock_guard guard(mutex_);
  asked_.names.emplace(name);
}

void AskedVariables::note_prefix(std::string_view prefix) {
  const std::lock_guard guard(mutex_);
  asked_.prefixes.emplace(prefix);
}

void AskedVariables::note_all() {
  const std::lock_guard guard(mutex_);
  asked_.all = true;
}

AskedVariables::Asked AskedVariables::taken() const {
  const std::lock_guard guard(mutex_);
  return asked_;
}

std::optional<std::string> Environment::get(std::string_view name) const {
  if (asked_) {
    asked_->note_name(name);
  }
  const auto found = variables_.find(std::string(name));
  return found == variables_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> Environment::get_nonempty(std::string_view name) const {
  std::optional<std::string> value = get(name);
  return value && !value->empty() ? value : std::nullopt;
}

std::map<std::string, std::string> Environment::starting_with(std::string_view prefix) const {
  if (asked_) {
    asked_->note_prefix(prefix);
  }
  std::map<std::string, std::string> found;
  for (auto place = variables_.lower_bound(std::string(prefix));
       place != variables_.end() && place->first.starts_with(prefix); ++place) {
    found.insert(*place);
  }
  return found;
}

std::vector<std::string> Environment::as_lines() const {
  if (asked_) {
    asked_->note_all();
  }
  std::vector<std::string> lines;
  lines.reserve(variables_.size());
  for (const auto& [name, value] : variables_) {
    std::string& line = lines.emplace_back(name);
    line += '=';
    line += value;
  }
  return lines;
}

std::optional<std::string> Environment::find_program(std::string_view name) const {
  if (name.empty()) {
    return std::nullopt;
  }
  if (name.find('/') != std::string_view::npos) {
    return is_executable_file(std::string(name)) ? std::optional(std::string(name)) : std::nullopt;
  }
  for (const std::string& directory : split(get("PATH").value_or(""), ':')) {
    // A relative entry would let whatever directory one stands in choose the program.
    if (directory.front() != '/') {
      continue;
    }
    std::string candidate = directory;
    candidate += '/';
    candidate += name;
    if (is_executable_file(candidate)) {
      return candidate;
    }
  }
  return std::nullopt;
}

} // namespace dcuop
