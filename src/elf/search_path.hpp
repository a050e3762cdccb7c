#pragma once
// The directories that ld.so searches: RPATH, RUNPATH and LD_LIBRARY_PATH with their tokens expanded, the
// system's own, and glibc-hwcaps below each (ld.so(8)).

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dcuop::elf {

/// glibc-hwcaps subdirectory names that this CPU can use, best first.
[[nodiscard]] std::vector<std::string> usable_hwcaps(std::uint16_t machine);

class SearchPaths {
 public:
  SearchPaths(std::filesystem::path root, std::uint16_t machine);

  /// $ORIGIN, $LIB and $PLATFORM, with or without braces; other tokens stay as they are. What does not begin with
  /// $ORIGIN is rooted.
  [[nodiscard]] std::filesystem::path expand(std::string_view text,
                                             const std::filesystem::path& origin) const;

  /// The directories of a DT_RPATH or DT_RUNPATH; an empty element is the working directory.
  [[nodiscard]] std::vector<std::filesystem::path> split(std::string_view list,
                                                         const std::filesystem::path& origin) const;

  /// The place in `root` of a path as it is named there.
  [[nodiscard]] std::filesystem::path rooted(const std::filesystem::path& path) const;
  /// The same with its links followed: to be read.
  [[nodiscard]] std::filesystem::path real(const std::filesystem::path& rooted) const;

  /// The trusted directories of `root`, in the order of the distributions' glibc.
  [[nodiscard]] std::vector<std::filesystem::path> default_directories() const;

  /// Files of that name which are there, hwcaps subdirectories first.
  [[nodiscard]] std::vector<std::filesystem::path> candidates(const std::filesystem::path& directory,
                                                              const std::string& name);

  [[nodiscard]] const std::vector<std::string>& hwcaps() const { return hwcaps_; }

 private:
  bool directory_exists(const std::filesystem::path& directory);

  std::filesystem::path root_;
  std::uint16_t machine_;
  std::vector<std::string> hwcaps_;
  std::map<std::filesystem::path, bool> directories_;
};

} // namespace dcuop::elf
