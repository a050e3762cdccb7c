#pragma once
// A dcuop.toml before its values are read: its tables are known ones, and so are the keys in them.

#include <filesystem>
#include <optional>
#include <vector>

#include "dcuop/op/op.hpp"
#include "dcuop/support/toml_file.hpp"

namespace dcuop::op {

inline constexpr const char* manifest_name = "dcuop.toml";

/// Throws Error(usage) also for tables and keys that dcuop.toml does not have.
[[nodiscard]] TomlFile read_manifest_file(const std::filesystem::path& path);

/// What read_manifest_file() checks.
void check_manifest(const TomlFile& file);

/// Those that it has tables for, hip first.
[[nodiscard]] std::vector<Backend> backends_in(const TomlFile& manifest);

/// False for a file that only opens a workspace.
[[nodiscard]] bool describes_op(const TomlFile& manifest);
[[nodiscard]] bool opens_workspace(const TomlFile& manifest);

/// The dcuop.toml in `directory`, when there is one.
[[nodiscard]] std::optional<std::filesystem::path> manifest_in(const std::filesystem::path& directory);

/// The nearest dcuop.toml with [workspace], from `start` upwards.
[[nodiscard]] std::optional<TomlFile> nearest_workspace_file(const std::filesystem::path& start);

} // namespace dcuop::op
