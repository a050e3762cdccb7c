#pragma once
// Faults of an operator that its sources show, before it is built or run.

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dcuop/finding/finding.hpp"

namespace dcuop::check {

struct Request {
  std::filesystem::path directory;                 ///< absolute; what places are shown relative to
  std::vector<std::filesystem::path> files;        ///< absolute: C++, HIP and Python
  std::vector<std::filesystem::path> include_dirs; ///< absolute
  std::vector<std::string> archs;                  ///< that it is built for; none: any DCU
  std::filesystem::path manifest;                  ///< its dcuop.toml; empty: it has none
  bool release = false;                            ///< the checklist of a release too
  unsigned threads = 1;
};

/// A demand on a release, met when it has no finding.
struct ChecklistItem {
  finding::Text text;
  std::vector<std::string> rules; ///< whose findings show that it is not met
  bool is_met = false;
};

struct Report {
  std::filesystem::path directory;
  std::vector<finding::Finding> findings; ///< by severity, then by file and line
  std::vector<ChecklistItem> checklist;   ///< empty unless asked for
  std::size_t files = 0;                  ///< that were read, headers elsewhere not counted
  std::size_t functions = 0;
  std::size_t allowed = 0; ///< findings that the sources allow, with a reason
  double understood = 1;   ///< the part of the sources' bytes that the parser could place
};

/// What lies in a directory and is C++, HIP or Python by its extension, and what there cannot be looked at (links that
/// lead nowhere, directories that cannot be listed), which a report then says. Build trees, virtual environments and
/// hidden directories are passed over. Sorted. Throws Error(usage) when there are more than 20,000.
[[nodiscard]] std::vector<std::filesystem::path> source_files(const std::filesystem::path& directory);

/// Reads files and nothing else; runs nothing.
[[nodiscard]] Report check(const Request& request);

[[nodiscard]] nlohmann::json to_json(const Report& report);

} // namespace dcuop::check
