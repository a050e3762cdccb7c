#pragma once
// Who works in a directory, and whether somebody might who cannot be seen from here.

#include <filesystem>
#include <string>
#include <vector>

namespace dcuop::doctor {

/// A clause in both languages.
struct Phrase {
  std::string en, zh;
  [[nodiscard]] bool empty() const { return en.empty(); }
};

struct DirectoryUser {
  int pid = 0;
  std::string program; ///< its first words
  std::string how;     ///< "has lock open", "works in it", "names it"
};

struct DirectoryUsers {
  std::vector<DirectoryUser> users;
  Phrase unseen; ///< why there may be others; empty: there are none on this host
};

/// By /proc (below `root`): open files, working directories and command lines; this process is left out. Files
/// are known by device and inode, as a container may see them under another path.
[[nodiscard]] DirectoryUsers users_of(const std::filesystem::path& directory,
                                      const std::filesystem::path& root);

/// Why another host may write there too; empty on a file system that is known to be local.
[[nodiscard]] Phrase why_shared(const std::filesystem::path& directory);
/// The same of statfs(2)'s f_type.
[[nodiscard]] Phrase why_shared(unsigned long file_system_type);

} // namespace dcuop::doctor
