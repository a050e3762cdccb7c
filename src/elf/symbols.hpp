#pragma once
// .dynsym with its symbol versions (.gnu.version, .gnu.version_r, .gnu.version_d).

#include "dynamic.hpp"

namespace dcuop::elf {

/// Fills symbols, version_needs, version_definitions and has_version_section. Throws Error(usage) when the
/// tables cannot be a linker's work.
void read_symbols(const ElfFile& file, const Dynamic& dynamic, Image& image);

} // namespace dcuop::elf
