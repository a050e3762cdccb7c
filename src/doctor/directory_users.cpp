#include "directory_users.hpp"

#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

struct FileSystem {
  unsigned long type;
  const char* name;
};
// statfs(2), linux/magic.h, and the file systems' own headers.
constexpr unsigned long overlay = 0x794c7630;
constexpr std::array local_file_systems = {
    FileSystem{0xef53, "ext4"},      FileSystem{0x58465342, "xfs"},   FileSystem{0x9123683e, "btrfs"},
    FileSystem{0x01021994, "tmpfs"}, FileSystem{overlay, "overlay"},  FileSystem{0x2fc12fc1, "zfs"},
    FileSystem{0xf2f52010, "f2fs"},  FileSystem{0x858458f6, "ramfs"}, FileSystem{0xca451a4e, "bcachefs"},
    FileSystem{0x3153464a, "jfs"},
};
constexpr std::array network_file_systems = {
    FileSystem{0x6969, "NFS"},        FileSystem{0x0bd00bd0, "Lustre"}, FileSystem{0x47504653, "GPFS"},
    FileSystem{0x00c36400, "CephFS"}, FileSystem{0x19830326, "BeeGFS"}, FileSystem{0xff534d42, "CIFS"},
    FileSystem{0xfe534d42, "SMB"},    FileSystem{0x517b, "SMB"},        FileSystem{0x65735546, "FUSE"},
    FileSystem{0x01021997, "9p"},     FileSystem{0x5346414f, "AFS"},    FileSystem{0x01161970, "GFS2"},
    FileSystem{0x7461636f, "OCFS2"},  FileSystem{0xaad7aaea, "PanFS"},
};

template <std::size_t size>
const char* name_in(const std::array<FileSystem, size>& known, unsigned long type) {
  const auto found =
      std::find_if(known.begin(), known.end(), [type](const FileSystem& one) { return one.type == type; });
  return found == known.end() ? nullptr : found->name;
}

/// f_type is signed and 64 bits wide, the magic numbers have 32.
std::optional<unsigned long> type_of(const fs::path& path) {
  struct statfs status {};
  if (::statfs(path.c_str(), &status) != 0) {
    return std::nullopt;
  }
  return static_cast<unsigned long>(status.f_type) & 0xffffffffUL;
}

using FileNumber = std::pair<std::uint64_t, std::uint64_t>;

/// The directory and all in it.
struct Content {
  fs::path directory;
  std::set<FileNumber> numbers;
  std::set<std::string> names;
  std::set<std::uint32_t> owners;
};

void take(const fs::path& path, Content& content) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    content.numbers.emplace(status.st_dev, status.st_ino);
    content.names.insert(path.filename().string());
    content.owners.insert(status.st_uid);
  }
}

Content content_of(const fs::path& directory) {
  Content content{directory, {}, {}, {}};
  take(directory, content);
  std::error_code fault;
  for (auto at = fs::recursive_directory_iterator(directory, fault);
       !fault && at != fs::recursive_directory_iterator(); at.increment(fault)) {
    take(at->path(), content);
  }
  return content;
}

/// Whether a link of /proc/<pid>/ leads to one of the files. The name first: stat(2) of somebody's file on a dead
/// NFS server would hang.
std::optional<std::string> file_behind(const fs::path& link, const Content& content) {
  std::error_code fault;
  std::string name = fs::read_symlink(link, fault).filename().string();
  if (constexpr std::string_view deleted = " (deleted)"; name.ends_with(deleted)) {
    name.resize(name.size() - deleted.size());
  }
  if (fault || !content.names.contains(name)) {
    return std::nullopt;
  }
  const auto identity = identity_of(link);
  return identity && content.numbers.contains({identity->device, identity->inode}) ? std::optional(name)
                                                                                   : std::nullopt;
}

/// Whether a command line has the directory, or a path below it, as a word or a part of one.
bool names(const std::string& command_line, const std::string& directory) {
  for (auto at = command_line.find(directory); at != std::string::npos;
       at = command_line.find(directory, at + 1)) {
    const std::size_t end = at + directory.size();
    if (end == command_line.size() ||
        std::string_view("/\0 \"':", 6).find(command_line[end]) != std::string::npos) {
      return true;
    }
  }
  return false;
}

/// Real, effective, saved and file system user of a process.
std::set<std::uint32_t> users_in(const std::string& status) {
  std::set<std::uint32_t> users;
  for (const auto& line : split(status, '\n')) {
    if (line.starts_with("Uid:")) {
      for (const auto& word : split(line.substr(4), '\t')) {
        std::uint32_t user = 0;
        if (std::from_chars(word.data(), word.data() + word.size(), user).ec == std::errc{}) {
          users.insert(user);
        }
      }
    }
  }
  return users;
}

/// They run as their user, hide their open files (PR_SET_DUMPABLE), and never run Python.
bool keeps_secrets(const fs::path& process) {
  constexpr std::array<std::string_view, 9> known = {"(sd-pam)",   "sshd", "sshd-session", "ssh-agent",
                                                     "gpg-agent",  "su",   "sudo",         "gnome-keyring-d",
                                                     "fusermount3"};
  const auto name = read_file(process / "comm").value_or("");
  return std::find(known.begin(), known.end(), trimmed(name)) != known.end();
}

std::string words_of(std::string command_line) {
  std::replace(command_line.begin(), command_line.end(), '\0', ' ');
  return cut_to_width(trimmed(command_line), 60);
}

class Scan {
 public:
  Scan(Content content, const fs::path& root) : content_(std::move(content)), proc_(root / "proc") {}

  DirectoryUsers run() {
    find_blind_spots();
    for (const auto& name : list_directory(proc_)) {
      int pid = 0;
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
      if (error == std::errc{} && end == name.data() + name.size() && pid != ::getpid()) {
        look_at(pid, proc_ / name);
      }
    }
    return std::move(result_);
  }

 private:
  void find_blind_spots() {
    const auto me = ::geteuid();
    if (me != 0 && content_.owners != std::set<std::uint32_t>{me}) {
      result_.unseen = {"files of it belong to another user, whose processes only root can look into",
                        "其中有其他用户的文件，只有 root 能查看该用户的进程"};
    }
    std::error_code fault;
    // PROC_PID_INIT_INO of linux/proc_ns.h: every process of the host is seen.
    const bool whole_host = fs::read_symlink(proc_ / "self/ns/pid", fault) == "pid:[4026531836]";
    // A container's own overlay is nobody else's; a volume may be used by processes that it does not see.
    const auto here = identity_of(content_.directory);
    const auto top = identity_of("/");
    const bool own = here && top && here->device == top->device && type_of(content_.directory) == overlay;
    if (!whole_host && !own) {
      result_.unseen = {"this container does not see the processes outside of it",
                        "本容器看不到容器外的进程"};
    }
  }

  /// Only its owner's processes, and root's children of them, can have made these files.
  [[nodiscard]] bool may_be_user(const fs::path& process) const {
    if (::geteuid() == 0) {
      return true;
    }
    const auto users = users_in(read_file(process / "status").value_or(""));
    return users.empty() || std::any_of(users.begin(), users.end(),
                                        [this](auto user) { return content_.owners.contains(user); });
  }

  void look_at(int pid, const fs::path& process) {
    if (!may_be_user(process)) {
      return;
    }
    const auto command_line = read_file(process / "cmdline").value_or("");
    const auto add = [&](std::string how) {
      result_.users.push_back({pid, words_of(command_line), std::move(how)});
    };
    std::error_code fault;
    for (auto at = fs::directory_iterator(process / "fd", fault); !fault && at != fs::directory_iterator();
         at.increment(fault)) {
      if (const auto name = file_behind(at->path(), content_)) {
        add("has " + *name + " open");
        return;
      }
    }
    const bool gone = fault == std::errc::no_such_file_or_directory || fault == std::errc::no_such_process;
    if (fault && !gone && !keeps_secrets(process)) {
      result_.unseen = {"the open files of pid " + std::to_string(pid) + " cannot be read",
                        "无法读取 pid " + std::to_string(pid) + " 打开的文件"};
    }
    if (file_behind(process / "cwd", content_)) {
      add("works in it");
    } else if (names(command_line, content_.directory.string())) {
      add("names it");
    }
  }

  Content content_;
  fs::path proc_;
  DirectoryUsers result_;
};

} // namespace

DirectoryUsers users_of(const fs::path& directory, const fs::path& root) {
  return Scan(content_of(directory), root).run();
}

Phrase why_shared(const fs::path& directory) {
  const auto type = type_of(directory);
  return type ? why_shared(*type) : Phrase{"its file system is unknown", "其文件系统未知"};
}

Phrase why_shared(unsigned long file_system_type) {
  if (name_in(local_file_systems, file_system_type) != nullptr) {
    return {};
  }
  std::string name;
  if (const char* known = name_in(network_file_systems, file_system_type)) {
    name = known;
  } else {
    std::array<char, 32> text{};
    static_cast<void>(std::snprintf(text.data(), text.size(), "type 0x%lx", file_system_type));
    name = text.data();
  }
  return {"it is on a file system (" + name + ") that another host may use too",
          "它位于其他主机也可能使用的文件系统（" + name + "）上"};
}

} // namespace dcuop::doctor
