// Inputs from what the kernel saw. A compiler's result is a function of its command and of what it was told about files:
// their contents, their names in directories, what is not there, where links lead. All of that is recorded.

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "asked_names.hpp"
#include "dcuop/key/collect_inputs.hpp"
#include "dcuop/support/files.hpp"
#include "input_list.hpp"

namespace dcuop::key {

namespace {

/// What does not decide what a compiler makes: the kernel's own files; the loader's cache, which leads to libraries that
/// are inputs themselves; message texts, whose language is scrubbed from the environment.
constexpr auto no_inputs = std::to_array<std::string_view>(
    {"/proc/", "/sys/", "/dev/", "/etc/ld.so.cache", "/usr/lib/locale/", "/usr/share/locale/",
     "/usr/share/zoneinfo/", "/usr/share/locale-langpack/", "/etc/localtime", "/etc/nsswitch.conf",
     "/etc/passwd", "/etc/group"});

/// Without "./", "//" and a slash at the end. ".." stays: behind a link it does not lead to where the text says.
std::string tidy(std::string_view path) {
  std::string tidied = path.starts_with('/') ? "/" : "";
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view component = path.substr(0, end);
    if (!component.empty() && component != ".") {
      tidied.append(tidied.empty() || tidied.ends_with('/') ? "" : "/").append(component);
    }
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return tidied.empty() ? "." : tidied;
}

std::pair<std::string, std::string> split_last(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    return {".", path};
  }
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

Found found_in(const std::optional<FileIdentity>& identity) {
  if (!identity) {
    return Found::nothing;
  }
  return identity->is_regular() ? Found::file : identity->is_directory() ? Found::directory : Found::other;
}

class Collector {
 public:
  Collector(const Part& part, const PathBase& base, DigestMemo& memo)
      : part_(part), base_(base), memo_(memo) {
    collected_.set.parts = {part.name};
    std::error_code ignored; // the second name is the one that realpath(3) and the kernel give
    generated_ = {part.generated, fs::weakly_canonical(part.generated, ignored)};
    checkout_ = {base.directory, fs::weakly_canonical(base.directory, ignored)};
  }

  Collected collect(const std::vector<FileAccess>& accesses) {
    for (const FileAccess& access : accesses) {
      if (access.was_written) {
        written_in_.insert(split_last(tidy(access.path)).first);
      }
    }
    for (const FileAccess& access : accesses) {
      if (matters(access)) {
        take(access);
      }
    }
    finish();
    return std::move(collected_);
  }

 private:
  [[nodiscard]] bool matters(const FileAccess& access) const {
    if (access.was_written) {
      return false; // its own: a temporary file, a log
    }
    if (access.is_relative) {
      return true;
    }
    const fs::path path = fs::path(access.path).lexically_normal();
    const bool is_none = !path.native().starts_with("/dev/shm/") && // a file system like others
                         std::any_of(no_inputs.begin(), no_inputs.end(), [&](std::string_view prefix) {
                           return access.path.starts_with(prefix) || path.native().starts_with(prefix);
                         });
    return !is_none && !lies_below(path, generated_[0]) && !lies_below(path, generated_[1]) &&
           std::find(part_.objects.begin(), part_.objects.end(), path) == part_.objects.end();
  }

  void take(const FileAccess& access) {
    const std::string path = portable(access);
    const fs::path absolute = base_.absolute(path);
    const std::optional<FileIdentity> now = identity_of(absolute);
    const bool is_directory = now && now->is_directory();
    if (is_directory && !access.was_read && leads_to_own_places(absolute)) {
      return;
    }
    std::error_code error;
    const bool is_link = fs::is_symlink(fs::symlink_status(absolute, error));
    if (is_link && (access.link_was_read || !now || !access.was_read)) {
      collected_.set.look_ups.push_back({path, answer_at(absolute, access.link_was_read)});
    }
    if (is_directory && access.was_read && !lies_below(absolute, base_.workspace)) {
      return; // a driver that looks for its toolchain, which the request has asked it for: see probe::ask_driver
    }
    if (access.was_read && now) {
      take_content(access, path, *now);
      return;
    }
    if (found_in(now) != found_in(access.first)) {
      collected_.changed.push_back(path);
    }
    ask(path, found_in(now));
  }

  /// The op's own directory, the build's, or one above: where the checkout and the cache lie does not matter.
  [[nodiscard]] bool leads_to_own_places(const fs::path& directory) const {
    const auto leads_to = [&](const fs::path& place) { return lies_below(place, directory); };
    return std::any_of(generated_.begin(), generated_.end(), leads_to) ||
           std::any_of(checkout_.begin(), checkout_.end(), leads_to) ||
           std::any_of(part_.objects.begin(), part_.objects.end(), leads_to);
  }

  void take_content(const FileAccess& access, const std::string& path, const FileIdentity& now) {
    if (access.first != now && !(now.is_directory() && written_in_.contains(tidy(access.path)))) {
      collected_.changed.push_back(path);
    }
    const std::optional<Digest> content = memo_.digest(base_.absolute(path));
    if (content) {
      collected_.set.inputs.push_back({path, *content, 1});
    } else {
      collected_.unreadable.push_back(path);
    }
  }

  /// An absolute path within the workspace that was only looked up comes from realpath(3); one that was read stands so
  /// in a source or a flag, and means that very file wherever the checkout is.
  [[nodiscard]] std::string portable(const FileAccess& access) const {
    return access.is_relative || access.was_read ? tidy(access.path) : base_.portable(tidy(access.path));
  }

  /// Notes the answer in the nearest directory that exists: as long as it has not even the first component's name,
  /// nothing is there.
  void ask(const std::string& path, Found found) {
    auto [directory, name] = split_last(path);
    while (!exists(directory) && directory != "/" && directory != ".") {
      std::error_code error;
      if (fs::is_symlink(fs::symlink_status(base_.absolute(directory), error))) {
        collected_.set.look_ups.push_back({directory, answer_at(base_.absolute(directory), false)});
      }
      auto [above, last] = split_last(directory);
      name = last.append("/").append(name);
      directory = std::move(above);
    }
    asked_[directory][name] = found;
  }

  bool exists(const std::string& directory) {
    const auto [place, is_new] = existing_.try_emplace(directory, false);
    if (is_new) {
      place->second = found_at(base_.absolute(directory)) == Found::directory;
    }
    return place->second;
  }

  void finish() {
    InputSet& set = collected_.set;
    sort_inputs(set.inputs);
    std::sort(set.look_ups.begin(), set.look_ups.end(), [](const LookUp& a, const LookUp& b) {
      return std::tie(a.path, a.found) < std::tie(b.path, b.found);
    });
    set.look_ups.erase(std::unique(set.look_ups.begin(), set.look_ups.end()), set.look_ups.end());
    // The names first, then the answers again: what appears in between is seen by one of the two.
    DigestMemo fresh{fs::path{}};
    for (const auto& [directory, names] : asked_) {
      set.directories.push_back({directory, names_digest(base_.absolute(directory), fresh), std::nullopt});
    }
    for (const auto& [directory, names] : asked_) {
      const std::vector<std::string> present = list_directory(base_.absolute(directory));
      for (const auto& [name, found] : names) {
        const std::string first = name.substr(0, name.find('/'));
        const bool may_differ =
            found != Found::nothing || std::binary_search(present.begin(), present.end(), first);
        if (may_differ && found_at(base_.absolute(path_in(directory, name))) != found) {
          collected_.changed.push_back(path_in(directory, name));
        }
      }
    }
    set.asked = packed(asked_);
  }

  const Part& part_;
  const PathBase& base_;
  DigestMemo& memo_;
  Collected collected_;
  AskedNames asked_;
  std::map<std::string, bool> existing_;
  std::set<std::string> written_in_;
  std::array<fs::path, 2> generated_; ///< the private build directory
  std::array<fs::path, 2> checkout_;  ///< the op's directory
};

} // namespace

Collected collect_traced(const Part& part, const std::vector<FileAccess>& accesses, const PathBase& base,
                         DigestMemo& memo) {
  return Collector(part, base, memo).collect(accesses);
}

} // namespace dcuop::key
