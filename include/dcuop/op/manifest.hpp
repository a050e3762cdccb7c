#pragma once
// dcuop.toml -> Op. One table of keys drives reading, the unknown-key errors and the documentation.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/op/op.hpp"

namespace dcuop::op {

/// Every key of dcuop.toml, for `dcuop.toml.example`, its test and "did you mean".
struct KeyInfo {
  std::string section; ///< "op", "build", "backend" (each of its tables), "workspace"
  std::string name;
  std::string type; ///< "string", "integer", "boolean", "array of strings", "table of arrays of strings"
  std::string default_value;
  std::string meaning;      ///< one sentence
  bool in_defaults = false; ///< may stand in the root's [defaults] too
  bool cuda_only = false;   ///< of "backend": in [backend.cuda] alone
};
[[nodiscard]] const std::vector<KeyInfo>& manifest_keys();

/// Reads an op's manifest, as one backend sees it. What its [build] does not set comes from the [defaults] of the nearest
/// workspace root above, when there is one; what its [backend.<name>] does not set, from [build], but for archs, the
/// flags of device code and the host compiler. A list that is set replaces the other. Throws Error(usage) with
/// "file:line:column: error: ..." for syntax, unknown keys (with the nearest valid one), wrong types, missing
/// sources, bad names and target ids, and flags that a manifest may not use. The file is shown relative to
/// the process's working directory when it lies below it.
[[nodiscard]] Op read_op(const std::filesystem::path& manifest, Backend backend = Backend::hip);

/// Those that the manifest has tables for, hip first. Throws Error(usage) for what is no manifest.
[[nodiscard]] std::vector<Backend> backends_of(const std::filesystem::path& manifest);

/// The workspace: the nearest directory upwards from `start` whose dcuop.toml has [workspace].
struct Workspace {
  std::filesystem::path root;
  std::vector<std::filesystem::path> members; ///< op directories (absolute), globs expanded, sorted
};
[[nodiscard]] std::optional<Workspace> find_workspace(const std::filesystem::path& start);

/// Its [workspace] members as they are written, which may name what is not there yet.
struct WorkspaceMembers {
  std::filesystem::path root;
  std::vector<std::string> patterns;
};
[[nodiscard]] std::optional<WorkspaceMembers> find_workspace_members(const std::filesystem::path& start);

/// The ops that a command's arguments name, in their order, each once: op directories (a workspace's root
/// stands for all its members), manifests, or names of workspace members; a path that is an op goes before a
/// name. Without arguments the op one stands in, else all of the workspace. Throws Error(usage): nothing
/// found, unknown name (with the nearest), a name that two members share.
[[nodiscard]] std::vector<Op> select_ops(const std::vector<std::string>& arguments,
                                         const std::filesystem::path& working_directory,
                                         Backend backend = Backend::hip);

/// Their manifests, of which nothing but [op]'s name and [workspace] was read: for those who choose a backend by an op.
[[nodiscard]] std::vector<std::filesystem::path>
select_manifests(const std::vector<std::string>& arguments, const std::filesystem::path& working_directory);

} // namespace dcuop::op
