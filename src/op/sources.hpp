#pragma once
// [build] sources: patterns expanded, each file looked for, its language told by its extension.

#include <filesystem>
#include <optional>
#include <vector>

#include "dcuop/op/op.hpp"
#include "dcuop/op/toml_file.hpp"

namespace dcuop::op {

/// Where sources are looked for; both absolute.
struct SourceBase {
  std::filesystem::path directory;
  std::filesystem::path workspace_root;
};

/// Throws Error(usage): no such file (with the nearest), an unknown extension, a path that is absolute or
/// outside the workspace, the same file twice.
[[nodiscard]] std::vector<Source> read_sources(const TomlFile& file, const TomlNode& node,
                                               const SourceBase& base);

/// By the extension; nullopt for what is no source.
[[nodiscard]] std::optional<Language> language_of(const std::filesystem::path& path);

} // namespace dcuop::op
