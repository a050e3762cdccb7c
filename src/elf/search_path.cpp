#include "search_path.hpp"

#include <array>
#include <utility>

#include <elf.h>

#include "dcuop/support/files.hpp"

namespace dcuop::elf {

namespace fs = std::filesystem;

namespace {

std::string_view multiarch(std::uint16_t machine) {
  return machine == EM_AARCH64 ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
}

/// The token at the start of `text` ("$ORIGIN" or "${ORIGIN}") that names `name`; its length, or 0.
std::size_t token_length(std::string_view text, std::string_view name) {
  const std::string braced = std::string("${").append(name).append("}");
  if (text.starts_with(braced)) {
    return braced.size();
  }
  const std::string bare = std::string("$").append(name);
  if (!text.starts_with(bare)) {
    return 0;
  }
  const char next = text.size() > bare.size() ? text[bare.size()] : '/';
  const bool goes_on = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') ||
                       (next >= '0' && next <= '9') || next == '_';
  return goes_on ? 0 : bare.size();
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error)); // a dangling link too: it is rejected with a reason
}

} // namespace

std::vector<std::string> usable_hwcaps(std::uint16_t machine) {
  std::vector<std::string> usable;
#if defined(__x86_64__)
  if (machine != EM_X86_64) {
    return usable;
  }
  __builtin_cpu_init();
  // The features that tell the levels apart (x86-64 psABI); a CPU that has these has the rest of its level.
  const bool v2 = __builtin_cpu_supports("ssse3") != 0 && __builtin_cpu_supports("sse4.2") != 0 &&
                  __builtin_cpu_supports("popcnt") != 0;
  const bool v3 = v2 && __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
                  __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                  __builtin_cpu_supports("avx512cd") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                  __builtin_cpu_supports("avx512vl") != 0;
  for (const auto& [supported, name] :
       {std::pair{v4, "x86-64-v4"}, std::pair{v3, "x86-64-v3"}, std::pair{v2, "x86-64-v2"}}) {
    if (supported) {
      usable.emplace_back(name);
    }
  }
#else
  static_cast<void>(machine);
#endif
  return usable;
}

SearchPaths::SearchPaths(fs::path root, std::uint16_t machine)
    : root_(std::move(root)), machine_(machine), hwcaps_(usable_hwcaps(machine)) {}

fs::path SearchPaths::rooted(const fs::path& path) const {
  return root_ != "/" && path.is_absolute() && !is_named_below(path, root_) ? root_ / path.relative_path()
                                                                            : path;
}

fs::path SearchPaths::real(const fs::path& rooted) const {
  return followed_in(root_, rooted);
}

fs::path SearchPaths::expand(std::string_view text, const fs::path& origin) const {
  // $LIB is what the distribution built its glibc with.
  const bool debian = is_there(real(root_ / "lib" / multiarch(machine_)));
  const std::string lib = debian ? std::string("lib/").append(multiarch(machine_)) : "lib64";
  const std::string platform = machine_ == EM_AARCH64 ? "aarch64" : "x86_64";
  const std::array<std::pair<std::string_view, std::string>, 3> tokens = {
      {{"ORIGIN", origin.string()}, {"LIB", lib}, {"PLATFORM", platform}}};
  const bool is_own = token_length(text, "ORIGIN") > 0;
  std::string expanded;
  while (!text.empty()) {
    std::size_t length = 0;
    if (text.front() == '$') {
      for (const auto& [name, value] : tokens) {
        length = token_length(text, name);
        if (length > 0) {
          expanded += value;
          break;
        }
      }
    }
    if (length == 0) {
      expanded += text.front();
      length = 1;
    }
    text.remove_prefix(length);
  }
  return is_own ? fs::path(expanded) : rooted(expanded);
}

std::vector<fs::path> SearchPaths::split(std::string_view list, const fs::path& origin) const {
  std::vector<fs::path> directories;
  while (!list.empty()) {
    const std::size_t end = list.find(':');
    const std::string_view element = list.substr(0, end);
    directories.push_back(element.empty() ? fs::path(".") : expand(element, origin));
    list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
  }
  return directories;
}

std::vector<fs::path> SearchPaths::default_directories() const {
  const std::string_view triple = multiarch(machine_);
  return {root_ / "lib" / triple, root_ / "usr/lib" / triple, root_ / "lib64", root_ / "usr/lib64",
          root_ / "lib",          root_ / "usr/lib"};
}

std::vector<fs::path> SearchPaths::candidates(const fs::path& directory, const std::string& name) {
  std::vector<fs::path> found;
  if (!directory_exists(directory)) {
    return found;
  }
  const auto has = [this](const fs::path& path) {
    return is_there(real(path.parent_path()) / path.filename());
  };
  if (!hwcaps_.empty() && directory_exists(directory / "glibc-hwcaps")) {
    for (const std::string& hwcap : hwcaps_) {
      if (const fs::path path = directory / "glibc-hwcaps" / hwcap / name; has(path)) {
        found.push_back(path);
      }
    }
  }
  if (const fs::path path = directory / name; has(path)) {
    found.push_back(path);
  }
  return found;
}

bool SearchPaths::directory_exists(const fs::path& directory) {
  const auto known = directories_.find(directory);
  if (known != directories_.end()) {
    return known->second;
  }
  std::error_code error;
  return directories_.emplace(directory, fs::is_directory(real(directory), error)).first->second;
}

} // namespace dcuop::elf
