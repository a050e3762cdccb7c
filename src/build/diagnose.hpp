#pragma once
// Why did a compile or link fail? The first error with its place, and a cause when it is known.

#include <string>

#include "compile.hpp"
#include "dcuop/build/job_slots.hpp"
#include "dcuop/store/store.hpp"

namespace dcuop::build {

/// message: several lines, the first being "op_kernel.hip (gfx906)"'s place and error; hint: what to do.
[[nodiscard]] store::Failure describe_failure(const key::Request& request, const FailedCommand& failed,
                                              const Limits& limits);

} // namespace dcuop::build
