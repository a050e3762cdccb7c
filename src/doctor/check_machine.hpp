#pragma once
// The parts of environment_checks(), one a subject.

#include <vector>

#include "checks.hpp"

namespace dcuop::doctor {

/// Device nodes, drivers, and the variables that pick or rename devices.
[[nodiscard]] std::vector<Check> access_checks();
[[nodiscard]] std::vector<Check> selection_checks();
/// DTK and ROCm: what is mounted, sourced and mixed.
[[nodiscard]] std::vector<Check> toolkit_checks();
/// What the process may map, and which libstdc++ it has. With a file alone.
[[nodiscard]] std::vector<Check> process_checks();

/// Whether an error of the devices is one here: for the machine itself, or a file with code for them.
[[nodiscard]] bool launch_matters(const CaseFile& file);

} // namespace dcuop::doctor
