#include "live_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <set>
#include <system_error>
#include <utility>

#include "dcuop/doctor/live.hpp"
#include "dcuop/support/accounts.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

constexpr std::string_view deleted_mark = " (deleted)";

std::optional<std::uint64_t> number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty() ? std::optional(value)
                                                                                   : std::nullopt;
}

/// The next blank-separated field, taken off.
std::string_view take_field(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const auto field = line.substr(0, line.find(' '));
  line.remove_prefix(field.size());
  return field;
}

/// seq_file writes a newline in a name as "\012", and nothing else so.
std::string unescaped(std::string_view text) {
  constexpr std::string_view newline = "\\012";
  std::string plain(text);
  for (auto at = plain.find(newline); at != std::string::npos; at = plain.find(newline, at + 1)) {
    plain.replace(at, newline.size(), "\n");
  }
  return plain;
}

/// Something with a name in a file system, rather than memory that has got one.
bool is_file(const std::string& path) {
  constexpr std::array<std::string_view, 5> memory = {"/memfd:", "/dev/", "/SYSV", "/[aio]",
                                                      "/anon_hugepage"};
  return path.starts_with('/') &&
         std::none_of(memory.begin(), memory.end(),
                      [&path](std::string_view prefix) { return path.starts_with(prefix); });
}

bool looks_like_library(std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  const auto at = name.find(".so");
  return at != std::string_view::npos &&
         (at + 3 == name.size() || name[at + 3] == '.' || name[at + 3] == ' ');
}

std::string user_name(std::uint32_t user) {
  return account_name(accounts_in("/etc/passwd"), user);
}

std::filesystem::path link_target(const std::filesystem::path& link) {
  std::error_code fault;
  auto target = std::filesystem::read_symlink(link, fault);
  return fault ? std::filesystem::path{} : target;
}

[[noreturn]] void refuse_absent(int pid) {
  const auto name = "process " + std::to_string(pid);
  // hidepid=2 (proc(5)) hides others' processes; kill(2) does not.
  if (pid > 0 && ::kill(pid, 0) != 0 && errno == EPERM) {
    throw Error(ExitCode::environment,
                name + " belongs to another user, and /proc is mounted hidepid: it is hidden",
                "sudo dcuop doctor --pid " + std::to_string(pid));
  }
  throw Error(
      ExitCode::usage, "there is no " + name,
      "list them: ps -ef | grep python. A process in a container has another number inside than outside");
}

[[noreturn]] void refuse_unreadable(const LiveProcess& process, const std::string& what, int fault) {
  const auto me = ::geteuid();
  const auto pid = std::to_string(process.pid);
  const auto why = std::string(std::strerror(fault));
  if (process.user != me) {
    throw Error(ExitCode::environment,
                what + " of " + process.title() + " cannot be read: it belongs to " + process.user_name +
                    ", this is " + user_name(me) + " (" + why + ")",
                "as its owner or root: sudo dcuop doctor --pid " + pid);
  }
  throw Error(
      ExitCode::environment,
      what + " of " + process.title() + " cannot be read though it is this user's: " + why,
      "it was started with other rights (setuid, capabilities), has made itself undumpable, or runs in "
      "another user namespace (a rootless container); as root, outside of containers: sudo dcuop doctor "
      "--pid " +
          pid);
}

/// A whole file of /proc with its errno, which tells "not allowed" from "gone".
std::string read_or_refuse(const LiveProcess& process, const std::filesystem::path& directory,
                           const char* name) {
  errno = 0;
  if (const auto text = read_file(directory / name)) {
    return *text;
  }
  const int descriptor = ::open((directory / name).c_str(), O_RDONLY | O_CLOEXEC);
  int fault = errno;
  if (descriptor >= 0) { // it opens, but a read failed: the process ended in between
    static_cast<void>(::close(descriptor));
    fault = ESRCH;
  }
  if (fault == ENOENT || fault == ESRCH) {
    refuse_absent(process.pid);
  }
  refuse_unreadable(process, (directory / name).string(), fault);
}

bool on_overlay(const std::filesystem::path& path) {
  struct statfs status {};
  constexpr auto overlay = 0x794c7630UL; // linux/magic.h
  return ::statfs(path.c_str(), &status) == 0 &&
         (static_cast<unsigned long>(status.f_type) & 0xffffffffUL) == overlay;
}

/// Of overlayfs and btrfs stat(2) gives other device numbers than maps, and of a copied-up overlay file another
/// inode: there the kernel's " (deleted)" alone is believed.
OnDisk compared(const LoadedFile& file, std::string& changed) {
  struct stat status {};
  if (::stat(file.here.c_str(), &status) != 0) {
    return errno == ENOENT || errno == ENOTDIR ? OnDisk::deleted : OnDisk::unknown;
  }
  if (status.st_ino == file.inode || on_overlay(file.here)) {
    return OnDisk::same;
  }
  changed = "inode " + std::to_string(file.inode) + " is mapped, " + std::to_string(status.st_ino) +
            " is there" +
            (status.st_dev == file.device ? "" : ", on another file system: a mount may lie over it");
  return OnDisk::replaced;
}

LoadedFile loaded_file(const Mapping& mapping, const LiveProcess& process) {
  LoadedFile file;
  file.device = mapping.device;
  file.inode = mapping.inode;
  const auto place = [&process](const std::string& path) {
    return process.other_mounts ? process.root / std::filesystem::path(path).relative_path()
                                : std::filesystem::path(path);
  };
  struct stat status {};
  // A file may be named so; the mark is the kernel's when nothing has that name.
  const bool marked =
      mapping.path.ends_with(deleted_mark) && ::stat(place(mapping.path).c_str(), &status) != 0;
  file.path = marked ? mapping.path.substr(0, mapping.path.size() - deleted_mark.size()) : mapping.path;
  file.here = place(file.path.string());
  if (!marked) {
    file.on_disk = compared(file, file.changed);
    return file;
  }
  if (::stat(file.here.c_str(), &status) == 0) {
    file.on_disk = OnDisk::replaced;
    file.changed = "the mapped file (inode " + std::to_string(file.inode) + ") was removed; inode " +
                   std::to_string(status.st_ino) + " has its name now";
  } else {
    file.on_disk = OnDisk::deleted;
  }
  return file;
}

void read_identity(LiveProcess& process, const std::filesystem::path& directory) {
  const auto status = read_file(directory / "status").value_or("");
  if (status.empty()) {
    refuse_absent(process.pid);
  }
  process.state = status_field(status, "State");
  const auto users = split(status_field(status, "Uid"), '\t'); // real, effective, saved, file system
  process.user = users.size() > 1 ? static_cast<std::uint32_t>(number(users[1], 10).value_or(0)) : 0;
  process.user_name = user_name(process.user);
  auto words = read_file(directory / "cmdline").value_or("");
  std::replace(words.begin(), words.end(), '\0', ' ');
  if (trimmed(words).empty()) {
    words = status_field(status, "Name");
  }
  process.command_line = cut_to_width(trimmed(words), 60);
}

void read_surroundings(LiveProcess& process, const std::filesystem::path& directory,
                       const std::filesystem::path& proc) {
  auto executable = link_target(directory / "exe").string();
  if (executable.ends_with(deleted_mark)) {
    executable.resize(executable.size() - deleted_mark.size());
  }
  process.executable = executable;
  if (const auto text = read_file(directory / "environ")) {
    process.environment = parse_environ(*text);
    process.environment_known = true;
  }
  const auto mine = link_target(proc / "self/ns/mnt");
  const auto theirs = link_target(directory / "ns/mnt");
  process.other_mounts = !mine.empty() && !theirs.empty() && mine != theirs;
  if (process.other_mounts) {
    process.root = directory / "root";
  }
}

} // namespace

std::string to_string(OnDisk on_disk) {
  switch (on_disk) {
  case OnDisk::same:
    return "same";
  case OnDisk::replaced:
    return "replaced";
  case OnDisk::deleted:
    return "deleted";
  case OnDisk::unknown:
    break;
  }
  return "unknown";
}

std::string LiveProcess::title() const {
  return "pid " + std::to_string(pid) + (command_line.empty() ? "" : " (" + command_line + ")");
}

std::optional<Mapping> parse_mapping(std::string_view line) {
  // 7f1c2d000000-7f1c2d021000 r-xp 00001000 fe:01 1835045                    /usr/lib/libfoo.so.1
  Mapping mapping;
  const auto addresses = take_field(line);
  const auto permissions = take_field(line);
  const auto offset = take_field(line);
  const auto device = take_field(line);
  const auto inode = number(take_field(line), 10);
  const auto colon = device.find(':');
  if (addresses.find('-') == std::string_view::npos || permissions.size() != 4 || !number(offset, 16) ||
      !inode || colon == std::string_view::npos) {
    return std::nullopt;
  }
  const auto major_number = number(device.substr(0, colon), 16);
  const auto minor_number = number(device.substr(colon + 1), 16);
  if (!major_number || !minor_number) {
    return std::nullopt;
  }
  mapping.executable = permissions[2] == 'x';
  mapping.device = makedev(static_cast<unsigned>(*major_number), static_cast<unsigned>(*minor_number));
  mapping.inode = *inode;
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  mapping.path = unescaped(line);
  return mapping;
}

std::vector<Mapping> mapped_code(std::string_view maps) {
  std::vector<Mapping> all;
  std::set<std::pair<std::string, std::uint64_t>> code;
  for (const auto& line : split(maps, '\n')) {
    auto mapping = parse_mapping(line);
    if (mapping && mapping->inode != 0 && is_file(mapping->path)) {
      if (mapping->executable || looks_like_library(mapping->path)) {
        code.emplace(mapping->path, mapping->inode);
      }
      all.push_back(std::move(*mapping));
    }
  }
  std::vector<Mapping> once;
  for (auto& mapping : all) {
    if (code.erase({mapping.path, mapping.inode}) > 0) {
      once.push_back(std::move(mapping));
    }
  }
  return once;
}

Environment parse_environ(std::string_view text) {
  std::map<std::string, std::string> variables;
  for (const auto& line : split(text, '\0')) {
    if (const auto equals = line.find('='); equals != std::string::npos && equals > 0) {
      variables.emplace(line.substr(0, equals), line.substr(equals + 1));
    }
  }
  return Environment(std::move(variables));
}

std::string status_field(std::string_view status, std::string_view name) {
  for (const auto& line : split(status, '\n')) {
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ':') {
      return std::string(trimmed(std::string_view(line).substr(name.size() + 1)));
    }
  }
  return {};
}

LiveProcess read_live_process(int pid, const std::filesystem::path& proc) {
  LiveProcess process;
  process.pid = pid;
  const auto directory = proc / std::to_string(pid);
  if (pid <= 0 || !identity_of(directory)) {
    refuse_absent(pid);
  }
  read_identity(process, directory);
  if (process.state.starts_with('Z')) {
    throw Error(ExitCode::environment,
                process.title() + " has ended and waits to be reaped: it has nothing loaded",
                "what it said before it ended can be judged: dcuop doctor --message LOG");
  }
  const auto maps = read_or_refuse(process, directory, "maps");
  read_surroundings(process, directory, proc);
  for (const auto& mapping : mapped_code(maps)) {
    process.files.push_back(loaded_file(mapping, process));
  }
  if (process.files.empty()) {
    throw Error(ExitCode::environment,
                process.title() + " has no file loaded: it is a kernel thread, or has just ended",
                "name the process that runs Python: ps -ef | grep python");
  }
  std::stable_partition(process.files.begin(), process.files.end(),
                        [&process](const LoadedFile& file) { return file.path == process.executable; });
  return process;
}

} // namespace dcuop::doctor
