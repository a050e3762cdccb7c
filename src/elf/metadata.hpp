#pragma once
// The metadata note of a code object: a MessagePack map (AMDGPUUsage, "Code Object V3 Metadata" on).

#include <string>
#include <string_view>

#include "dcuop/elf/bundle.hpp"

namespace dcuop::elf {

/// Fills metadata_target and kernels. Returns what is wrong with the note; empty when it was read.
[[nodiscard]] std::string read_metadata(std::string_view note, CodeObject& into);

} // namespace dcuop::elf
