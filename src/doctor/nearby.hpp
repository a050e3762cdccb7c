#pragma once
// Libraries that are on this machine, wherever they lie: the loader does not search here, people do.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "case_file.hpp"

namespace dcuop::doctor {

struct Nearby {
  std::filesystem::path path;
  std::string soname; ///< its DT_SONAME, else its file name
};

/// Files named <stem>.so* in torch, the toolkit, Python's packages, LD_LIBRARY_PATH and the default
/// directories; one a SONAME, in that order.
[[nodiscard]] std::vector<Nearby> libraries_nearby(CaseFile& file, std::string_view stem);

} // namespace dcuop::doctor
