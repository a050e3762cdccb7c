#pragma once
// The sources that dcuop superkernel check judges, and plan asks.

#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "dcuop/check/superkernel.hpp"

namespace dcuop::cli {

/// Directories, or single sources, as one request. Throws Error(usage).
[[nodiscard]] check::SuperKernelRequest superkernel_request(const Context& context,
                                                            const std::vector<std::string>& targets,
                                                            std::optional<superkernel::Product> product);

} // namespace dcuop::cli
