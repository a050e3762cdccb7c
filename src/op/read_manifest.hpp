#pragma once
// The tables of a manifest, wherever they came from, as an Op.

#include <filesystem>

#include "dcuop/op/op.hpp"
#include "dcuop/support/toml_file.hpp"

namespace dcuop::op {

/// An op whose manifest is `file`, which check_manifest() let through. The workspace is looked for from `directory`.
[[nodiscard]] Op op_of(const TomlFile& file, const std::filesystem::path& directory,
                       Backend backend = Backend::hip);

/// [op] and [build] of an op that belongs to no workspace.
[[nodiscard]] Op read_tables(const TomlFile& file);

} // namespace dcuop::op
