#pragma once
// read_image with a choice of depth: a search for libraries needs no symbols.

#include "dcuop/elf/image.hpp"

namespace dcuop::elf {

enum class Depth { dynamic_table, symbols };

/// With Depth::dynamic_table: no sections, symbols, versions or build id.
[[nodiscard]] Image read_image(const std::filesystem::path& path, Depth depth);

} // namespace dcuop::elf
