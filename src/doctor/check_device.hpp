#pragma once

#include <string>
#include <vector>

#include "case_file.hpp"

namespace dcuop::doctor {

/// Whether there is HIP device code that could be judged.
[[nodiscard]] bool has_hip_code(const CaseFile& file);
/// --arch, else the visible AMD and Hygon devices; each once.
[[nodiscard]] std::vector<std::string> judged_devices(const CaseFile& file);

} // namespace dcuop::doctor
