#pragma once
// The tables of a manifest, wherever they came from, as an Op.

#include "dcuop/op/op.hpp"
#include "dcuop/op/toml_file.hpp"

namespace dcuop::op {

/// [op] and [build] of an op that belongs to no workspace.
[[nodiscard]] Op read_tables(const TomlFile& file);

} // namespace dcuop::op
