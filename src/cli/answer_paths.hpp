#pragma once
// The paths that an answer depends on, from what the kernel saw of the process that gave it.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "dcuop/recall/layout.hpp"
#include "dcuop/support/process.hpp"

namespace dcuop::cli {

/// Thrown for what whoever recalls the answer could not compare.
struct NotComparable {
  std::string what;
};

class AnswerPaths {
 public:
  /// `here`: where the process ran. `start`: when it started, ns of CLOCK_REALTIME. What lies below one of `passed_over`
  /// is no dependency.
  AnswerPaths(std::filesystem::path here, std::int64_t start, std::vector<std::filesystem::path> passed_over);

  /// Throws NotComparable.
  void add(const FileAccess& access);

  /// False when a path changed too shortly before the start for its identity to be trusted.
  [[nodiscard]] bool are_settled() const { return settled_; }
  /// Files of the kernel, whose identity does not tell what they say: null where nothing is, else the text, the sorted
  /// names, {"link": target}, or true for what was only looked up.
  [[nodiscard]] const nlohmann::json& kernel_files() const { return kernel_files_; }
  /// The number and the records of recall/layout.hpp.
  [[nodiscard]] std::string records() const;

 private:
  using Names = std::map<std::pair<std::string, recall::Kind>, recall::Identity>;

  [[nodiscard]] bool is_passed_over(const std::filesystem::path& path) const;
  void add_kernels(const FileAccess& access, const std::filesystem::path& path);
  void add_file(const FileAccess& access, const std::filesystem::path& path);
  void add_record(const std::filesystem::path& path, recall::Kind kind,
                  const std::optional<FileIdentity>& identity);

  std::filesystem::path here_;
  std::int64_t start_;
  std::vector<std::filesystem::path> passed_over_;
  bool settled_ = true;
  std::uint32_t count_ = 0;
  std::map<std::string, Names> directories_;
  nlohmann::json kernel_files_ = nlohmann::json::object();
};

} // namespace dcuop::cli
