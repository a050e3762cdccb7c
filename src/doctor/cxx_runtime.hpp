#pragma once
// The copies of libstdc++ that a process here could have: the first one loaded is everybody's.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "case_file.hpp"

namespace dcuop::doctor {

struct CxxRuntime {
  std::filesystem::path path;
  std::string newest; ///< "GLIBCXX_3.4.30"
  std::string why;    ///< of the one that is taken: "torch has loaded it already"
  bool is_conda = false;
};

struct CxxLack {
  CxxRuntime winner;
  std::vector<std::string> versions; ///< that it lacks, the newest first
  std::vector<CxxRuntime> better;    ///< copies here that have them all
};

/// What `image` wants of libstdc++ and the process' copy has not; nullopt: nothing.
[[nodiscard]] std::optional<CxxLack> lack_of_cxx_runtime(CaseFile& file, const elf::Image& image);

} // namespace dcuop::doctor
