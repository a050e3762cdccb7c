#pragma once
// Gathers the files that a toolchain is made of, and the paths on which the gathering depended.

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dcuop/probe/toolchain.hpp"
#include "dcuop/support/environment.hpp"

namespace dcuop::probe {

class Inventory {
 public:
  /// `environment` is that of the compile: its LD_LIBRARY_PATH decides which libraries the tools run with.
  explicit Inventory(const Environment& environment);

  /// A program, with the libraries that it is linked to, or with its helpers when it is a script.
  void add_program(const std::string& role, const std::filesystem::path& program);
  /// Code that a tool loads: a file with the libraries that it is linked to.
  void add_plugin(const std::filesystem::path& plugin) { add_program("tool", plugin); }
  void add_file(const std::string& role, const std::filesystem::path& path);
  void add_file_if_there(const std::string& role, const std::filesystem::path& path);

  /// The answer holds only while what is at `path` (or that nothing is there) stays as it is.
  void watch(const std::filesystem::path& path) { watched_.insert(path); }
  /// The first problem stays.
  void fail(const std::string& problem);

  /// The first program of one of `names` in `directories`; those passed over are watched.
  [[nodiscard]] std::optional<std::filesystem::path>
  find_program(const std::vector<std::string>& names, const std::vector<std::filesystem::path>& directories);

  [[nodiscard]] std::vector<ToolFile> files() const; ///< sorted by role and path
  [[nodiscard]] std::vector<std::filesystem::path> watched() const {
    return {watched_.begin(), watched_.end()};
  }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  void add_libraries_of(const std::filesystem::path& program);

  const Environment& environment_;
  std::vector<std::filesystem::path> library_path_;
  std::vector<ToolFile> files_;
  std::set<std::filesystem::path> known_;
  std::set<std::filesystem::path> watched_;
  std::string problem_;
};

} // namespace dcuop::probe
