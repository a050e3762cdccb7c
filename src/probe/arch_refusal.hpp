#pragma once
// What to say when a compiler does not know an arch.

#include "dcuop/probe/driver_report.hpp"
#include "dcuop/probe/toolchain.hpp"

namespace dcuop::probe {

/// Throws Error(usage), with the compiler's own line and what to do, when the report refuses an offload arch.
void refuse_unknown_arch(const Compiler& compiler, const DriverReport& report);

} // namespace dcuop::probe
