#pragma once
// The 64 bytes by which the hardware is set up for a kernel, at the symbol "<name>.kd" (AMDGPUUsage, "Kernel
// Descriptor").

#include "dcuop/elf/bundle.hpp"

#include "elf_file.hpp"

namespace dcuop::elf {

/// Sets wgp_mode of the kernels whose metadata left it open.
void read_workgroup_modes(const ElfFile& file, const std::vector<Segment>& segments,
                          std::vector<KernelInfo>& kernels);

} // namespace dcuop::elf
