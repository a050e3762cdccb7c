#pragma once
// [build] sources: patterns expanded, each file looked for, its language told by its extension.

#include <filesystem>
#include <optional>
#include <vector>

#include "dcuop/op/op.hpp"
#include "dcuop/support/toml_file.hpp"

namespace dcuop::op {

/// Where sources are looked for; both absolute.
struct SourceBase {
  std::filesystem::path directory;
  std::filesystem::path workspace_root;
};

struct SourceList {
  std::vector<Source> sources;
  std::vector<TomlPlace> places; ///< where each was named
};

/// `name` is how a complaint calls the key. Throws Error(usage): no such file (with the nearest), an unknown extension, a path that is absolute or
/// outside the workspace, the same file twice.
[[nodiscard]] SourceList read_sources(const TomlFile& file, const TomlNode& node, const std::string& name,
                                      const SourceBase& base);

/// By the extension, .cu being HIP; nullopt for what is no source.
[[nodiscard]] std::optional<Language> language_of(const std::filesystem::path& path);

} // namespace dcuop::op
