#pragma once
// Is what the linker made what was asked for? Looked at before it is published; nothing of it is run.

#include <filesystem>
#include <string>

#include "dcuop/key/request.hpp"

namespace dcuop::build {

/// "" when it is; else one sentence that says what is wrong.
[[nodiscard]] std::string fault_of_artifact(const key::Request& request,
                                            const std::filesystem::path& artifact);

} // namespace dcuop::build
