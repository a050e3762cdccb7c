#pragma once
// The texts of /proc/<pid>: proc(5).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dcuop/support/environment.hpp"

namespace dcuop::doctor {

/// A line of /proc/<pid>/maps.
struct Mapping {
  bool executable = false;
  std::uint64_t device = 0; ///< as makedev(3) puts it together
  std::uint64_t inode = 0;
  std::string path; ///< with " (deleted)"; empty: anonymous
};
/// nullopt for a line that is none.
[[nodiscard]] std::optional<Mapping> parse_mapping(std::string_view line);

/// Mappings that are the program or a library, one a file, in order. Data files, shared memory, memfds and device
/// memory are left out.
[[nodiscard]] std::vector<Mapping> mapped_code(std::string_view maps);

/// "A=b\0C=d\0".
[[nodiscard]] Environment parse_environ(std::string_view text);

/// The value of "Name:\tvalue" in /proc/<pid>/status; empty: there is none.
[[nodiscard]] std::string status_field(std::string_view status, std::string_view name);

} // namespace dcuop::doctor
