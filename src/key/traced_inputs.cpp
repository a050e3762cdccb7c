// Inputs from what the kernel saw. A compiler's result is a function of its command and of what it was told about files:
// their contents, their names in directories, what is not there, where links lead. All of that is recorded.

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <unistd.h>

#include "asked_names.hpp"
#include "dcuop/key/collect_inputs.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"
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
    for (const fs::path& object : part.objects) {
      generated_.push_back(object);
      generated_.push_back(fs::weakly_canonical(object, ignored));
    }
    checkout_ = {base.directory, fs::weakly_canonical(base.directory, ignored)};
    workspace_ = fs::weakly_canonical(base.workspace, ignored);
    for (const std::string& directory : split(base.program_path, ':')) {
      program_directories_.push_back(tidy(directory));
    }
    first_program_directory_ = program_directories_.empty() ? "" : program_directories_.front();
  }

  Collected collect(const Trace& trace) {
    for (const FileAccess& access : trace.accesses) {
      if (access.was_written) {
        written_.insert(access.path);
        written_in_.insert(split_last(tidy(access.path)).first);
      }
      if (access.was_read && access.first && access.first->is_regular()) {
        read_in_.insert(split_last(tidy(access.path)).first);
      }
    }
    for (const FileAccess& access : trace.accesses) {
      if (!is_kernels(access.path)) {
        take(access);
      }
    }
    finish();
    collected_.is_complete = trace.is_complete;
    return std::move(collected_);
  }

 private:
  [[nodiscard]] static bool is_kernels(const std::string& path) {
    const std::string normal = fs::path(path).lexically_normal().string();
    return !normal.starts_with("/dev/shm/") && // a file system like others
           std::any_of(no_inputs.begin(), no_inputs.end(), [&](std::string_view prefix) {
             return path.starts_with(prefix) || normal.starts_with(prefix);
           });
  }

  void take(const FileAccess& access) {
    const std::string path = portable(access);
    const fs::path absolute = base_.absolute(path);
    const std::optional<FileIdentity> now = identity_of(absolute);
    const bool is_unchanged = access.first && now == access.first; // what only tried to write did not
    if (is_generated(absolute) || (access.was_written && !is_unchanged)) {
      take_own(access, path, now);
      return;
    }
    const bool is_directory = now && now->is_directory();
    if (is_directory && !access.was_read && leads_to_own_places(absolute)) {
      return;
    }
    if (is_directory && access.was_read && !lies_below(absolute, base_.workspace) &&
        !read_in_.contains(path)) {
      return; // a driver that looks for its toolchain, which the request has asked it for: see probe::ask_driver
    }
    note_ways(access, path, now);
    if (access.was_read && now) {
      take_content(access, path, *now);
      return;
    }
    if (found_in(now) != found_in(access.first)) {
      collected_.changed.push_back(path);
    }
    ask(path, found_in(now));
  }

  /// What the build made itself is no input: temporary files, logs. But a link that it made leads to one, and what it
  /// makes when that is missing, and leaves there, is one from now on, as is a directory that it lists.
  void take_own(const FileAccess& access, const std::string& path, const std::optional<FileIdentity>& now) {
    if (access.was_read && !access.real.empty() && !is_generated(access.real) &&
        !written_.contains(access.real) && !is_kernels(access.real)) {
      FileAccess behind = access;
      behind.path = fs::path(access.real).lexically_relative(checkout_[1]).string();
      behind.is_relative = lies_below(access.real, workspace_);
      behind.path = behind.is_relative ? behind.path : access.real;
      behind.real.clear();
      behind.was_written = false;
      take(behind);
    } else if (now && !is_generated(base_.absolute(path))) {
      const bool is_made_when_missing =
          access.was_asked_first && !access.first && !access.was_appended && now->is_regular();
      if (is_made_when_missing || (access.was_read && now->is_directory())) {
        take_content(access, path, *now);
      }
    }
  }

  /// What else the way to it depends on.
  void note_ways(const FileAccess& access, const std::string& path, const std::optional<FileIdentity>& now) {
    const fs::path absolute = base_.absolute(path);
    const auto note = [&](Question question) {
      LookUp look_up{question, path, {}};
      look_up.answer = answer_now(look_up, base_);
      collected_.set.look_ups.push_back(std::move(look_up));
    };
    std::error_code error;
    const bool is_link = fs::is_symlink(fs::symlink_status(absolute, error));
    if (is_link && access.link_was_read) {
      note(Question::link);
    }
    if (is_link && (!now || !access.was_read)) {
      note(Question::what_is_there);
    }
    if (now && access.may_run_was_asked) {
      note(Question::may_run);
    }
    if (!access.is_relative) {
      const auto [directory, name] = split_last(path);
      if (directory == first_program_directory_) {
        LookUp program{Question::program, name, {}};
        program.answer = answer_now(program, base_);
        collected_.set.look_ups.push_back(std::move(program));
      } else if (starts_at_home(absolute)) {
        collected_.set.look_ups.push_back({Question::home, "HOME", base_.home});
      }
    }
  }

  [[nodiscard]] bool starts_at_home(const fs::path& path) const {
    return base_.home.size() > 1 && lies_below(path, base_.home) && !lies_below(path, base_.workspace) &&
           !leads_to_own_places(path) &&
           std::none_of(program_directories_.begin(), program_directories_.end(),
                        [&](const std::string& directory) { return lies_below(path, directory); });
  }

  [[nodiscard]] bool is_generated(const fs::path& path) const {
    const fs::path normal = path.lexically_normal();
    return std::any_of(generated_.begin(), generated_.end(),
                       [&](const fs::path& generated) { return lies_below(normal, generated); });
  }

  /// The op's own directory, the build's, or one above: where the checkout and the cache lie does not matter.
  [[nodiscard]] bool leads_to_own_places(const fs::path& directory) const {
    const auto leads_to = [&](const fs::path& place) { return lies_below(place, directory); };
    return std::any_of(generated_.begin(), generated_.end(), leads_to) ||
           std::any_of(checkout_.begin(), checkout_.end(), leads_to);
  }

  void take_content(const FileAccess& access, const std::string& path, const FileIdentity& now) {
    const bool is_own = access.was_written || (now.is_directory() && written_in_.contains(tidy(access.path)));
    if (access.first != now && !is_own) {
      collected_.changed.push_back(path);
    }
    const std::optional<Digest> content = memo_.digest(base_.absolute(path));
    if (!content) {
      collected_.unreadable.push_back(path);
      return;
    }
    collected_.set.inputs.push_back({path, *content, 1});
    const auto [place, is_new] = names_of_.try_emplace({now.device, now.inode}, path);
    if (!is_new && now.is_regular()) {
      collected_.set.look_ups.push_back({Question::same_file, path, place->second});
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
        LookUp dangling{Question::what_is_there, directory, {}};
        dangling.answer = answer_now(dangling, base_);
        collected_.set.look_ups.push_back(std::move(dangling));
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
      return std::tie(a.question, a.subject, a.answer) < std::tie(b.question, b.subject, b.answer);
    });
    set.look_ups.erase(std::unique(set.look_ups.begin(), set.look_ups.end()), set.look_ups.end());
    // The names first, then the answers again: what appears in between is seen by one of the two.
    DigestMemo fresh{fs::path{}};
    for (const auto& [directory, names] : asked_) {
      set.directories.push_back({directory, names_digest(base_.absolute(directory), fresh), std::nullopt});
    }
    for (const auto& [directory, names] : asked_) {
      const std::vector<std::string> present = list_directory(base_.absolute(directory));
      const bool may_be_listed = ::access(base_.absolute(directory).c_str(), R_OK) == 0;
      for (const auto& [name, found] : names) {
        const std::string first = name.substr(0, name.find('/'));
        const bool may_differ = found != Found::nothing || !may_be_listed ||
                                std::binary_search(present.begin(), present.end(), first);
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
  std::set<std::string> written_;    ///< as they were written
  std::set<std::string> written_in_; ///< directories
  std::set<std::string> read_in_;    ///< directories of files that were read
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> names_of_; ///< an input by device and inode
  std::vector<fs::path> generated_;              ///< the private build directory, a link's objects
  std::array<fs::path, 2> checkout_;             ///< the op's directory
  fs::path workspace_;                           ///< without links
  std::vector<std::string> program_directories_; ///< of PATH
  std::string first_program_directory_;          ///< where each search on PATH begins
};

} // namespace

Collected collect_traced(const Part& part, const Trace& trace, const PathBase& base, DigestMemo& memo) {
  return Collector(part, base, memo).collect(trace);
}

Collected unite(Collected&& traced, Collected&& reported, const PathBase& base) {
  Collected united = std::move(traced);
  const std::vector<std::string> parts = united.set.parts;
  united.set = merge({united.set, reported.set}, base);
  united.set.parts = parts;
  for (Input& input : united.set.inputs) {
    input.readers = 1;
  }
  united.unreadable.insert(united.unreadable.end(), reported.unreadable.begin(), reported.unreadable.end());
  united.changed.insert(united.changed.end(), reported.changed.begin(), reported.changed.end());
  return united;
}

} // namespace dcuop::key
