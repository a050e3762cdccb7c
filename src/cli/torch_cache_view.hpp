#pragma once
// dcuop doctor --torch-extensions: torch's own JIT cache.

#include "command.hpp"

#include "dcuop/doctor/torch_extensions.hpp"

namespace dcuop::cli {

/// Examines, fixes when asked to, prints. `failed` while a finding of severity error stands.
[[nodiscard]] ExitCode run_torch_extensions(Context& context, const doctor::TorchCacheQuestion& question,
                                            bool sarif);

} // namespace dcuop::cli
