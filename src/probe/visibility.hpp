#pragma once
// The variables that hide devices from a process. Private to the probe layer.

#include <string>
#include <vector>

#include "dcuop/support/environment.hpp"
#include "kfd.hpp"

namespace dcuop::probe {

/// ROCR_VISIBLE_DEVICES, as the HSA runtime (and so rocminfo) applies it. Says in `into` what it hid.
void hide_from_rocr(const Environment& environment, std::vector<NumberedDevice>& devices, Devices& into);

/// HIP_VISIBLE_DEVICES, or CUDA_VISIBLE_DEVICES in its place, which HIP applies to what ROCr left.
void hide_from_hip(const Environment& environment, std::vector<NumberedDevice>& devices, Devices& into);

} // namespace dcuop::probe
