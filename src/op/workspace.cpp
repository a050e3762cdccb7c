#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "dcuop/op/manifest.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"
#include "glob.hpp"
#include "manifest_file.hpp"

namespace dcuop::op {

namespace {

/// The manifests that arguments stand for, in order, each once.
class Selection {
 public:
  explicit Selection(fs::path working_directory) : here_(std::move(working_directory)) {}

  void add_where_one_stands();
  void add(const std::string& argument);
  [[nodiscard]] const std::vector<fs::path>& manifests() const { return manifests_; }

 private:
  void add_manifest(const fs::path& manifest);
  void add_members(const fs::path& root);
  void add_described(const fs::path& manifest);
  void add_name(const std::string& name);
  [[nodiscard]] std::vector<fs::path> members_called(const std::string& name) const;
  [[nodiscard]] std::map<std::string, std::vector<fs::path>> member_names() const;
  [[noreturn]] void fail_path(const std::string& argument, const fs::path& path) const;
  [[noreturn]] void fail_name(const std::string& name) const;

  fs::path here_;
  std::vector<fs::path> manifests_;
};

std::vector<fs::path> members_of(const TomlFile& file);

} // namespace

std::vector<Op> select_ops(const std::vector<std::string>& arguments, const fs::path& working_directory,
                           Backend backend) {
  const std::vector<fs::path> manifests = select_manifests(arguments, working_directory);
  std::vector<Op> ops;
  ops.reserve(manifests.size());
  std::transform(manifests.begin(), manifests.end(), std::back_inserter(ops),
                 [backend](const fs::path& manifest) { return read_op(manifest, backend); });
  return ops;
}

std::vector<fs::path> select_manifests(const std::vector<std::string>& arguments,
                                       const fs::path& working_directory) {
  Selection selection(fs::absolute(working_directory).lexically_normal());
  if (arguments.empty()) {
    selection.add_where_one_stands();
  }
  for (const std::string& argument : arguments) {
    selection.add(argument);
  }
  return selection.manifests();
}

std::optional<Workspace> find_workspace(const fs::path& start) {
  const std::optional<TomlFile> file = nearest_workspace_file(fs::absolute(start).lexically_normal());
  if (!file) {
    return std::nullopt;
  }
  return Workspace{file->path().parent_path(), members_of(*file)};
}

std::optional<WorkspaceMembers> find_workspace_members(const fs::path& start) {
  const std::optional<TomlFile> file = nearest_workspace_file(fs::absolute(start).lexically_normal());
  if (!file) {
    return std::nullopt;
  }
  WorkspaceMembers members{file->path().parent_path(), {}};
  if (const TomlNode* node = file->root().find("workspace")->find("members")) {
    for (const TomlNode& item : file->texts_of(*node, "'members' in [workspace]")) {
      members.patterns.push_back(item.text);
    }
  }
  return members;
}

namespace {

// A symbolic link to a member is that member again, by a second name.
std::vector<fs::path> without_aliases(const std::vector<fs::path>& members) {
  std::vector<fs::path> kept;
  std::copy_if(members.begin(), members.end(), std::back_inserter(kept), [&](const fs::path& member) {
    std::error_code error;
    return !fs::is_symlink(member, error) ||
           std::none_of(members.begin(), members.end(), [&](const fs::path& other) {
             return other != member && !fs::is_symlink(other, error) && fs::equivalent(member, other, error);
           });
  });
  return kept;
}

std::vector<fs::path> members_of(const TomlFile& file) {
  const fs::path root = file.path().parent_path();
  const TomlNode* members = file.root().find("workspace")->find("members");
  if (members == nullptr) {
    file.fail(file.root().find("workspace")->place, "[workspace] has no members",
              "add to it: members = [\"ops/*\"]");
  }
  std::vector<fs::path> found;
  if (describes_op(file)) {
    found.push_back(root);
  }
  for (const TomlNode& item : file.texts_of(*members, "'members' in [workspace]")) {
    const fs::path path = absolute_from(item.text, root);
    if (!lies_below(path, root) && path != root) {
      file.fail(item.place, "member '" + item.text + "' lies outside of the workspace",
                "the root's dcuop.toml stands above all its members");
    }
    if (!is_pattern(item.text) && !identity_of(path)) {
      const std::optional<std::string> near =
          nearest(path.filename().string(), list_directory(path.parent_path()));
      file.fail(item.place, "member '" + item.text + "' does not exist" +
                                (near ? "; did you mean '" + *near + "'?" : ""));
    }
    const std::vector<fs::path> matches =
        identity_of(path) ? std::vector{path} : expand_pattern(root, item.text);
    std::copy_if(matches.begin(), matches.end(), std::back_inserter(found),
                 [](const fs::path& directory) { return manifest_in(directory).has_value(); });
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return without_aliases(found);
}

// What a member is called, for look-ups: one that cannot be read answers to its directory's name, so that a
// fault in it hinders nobody who asked for another.
std::string called(const fs::path& member) {
  try {
    const TomlFile file = TomlFile::read(member / manifest_name);
    const TomlNode* section = file.root().find("op");
    const TomlNode* name = section == nullptr ? nullptr : section->find("name");
    if (name != nullptr && name->type == TomlNode::Type::text) {
      return name->text;
    }
  } catch (const Error&) {
    return member.filename().string();
  }
  return member.filename().string();
}

void Selection::add_where_one_stands() {
  for (fs::path directory = here_;; directory = directory.parent_path()) {
    if (const std::optional<fs::path> manifest = manifest_in(directory)) {
      add_described(*manifest);
      return;
    }
    if (directory == directory.parent_path()) {
      throw Error(ExitCode::usage, "no dcuop.toml in " + here_.string() + " or above it",
                  "name an op's directory, or write a dcuop.toml (dcuop.toml.example shows every key)");
    }
  }
}

void Selection::add(const std::string& argument) {
  const fs::path path = absolute_from(argument, here_);
  const std::optional<FileIdentity> identity = identity_of(path);
  const bool is_path = argument.find('/') != std::string::npos || argument == "." || argument == "..";
  if (!argument.empty() && identity && identity->is_directory() && manifest_in(path)) {
    add_described(*manifest_in(path));
  } else if (!argument.empty() && identity && identity->is_regular() && path.extension() == ".toml") {
    add_described(path);
  } else if (is_path) {
    fail_path(argument, path);
  } else {
    add_name(argument);
  }
}

void Selection::add_described(const fs::path& manifest) {
  if (describes_op(read_manifest_file(manifest))) {
    add_manifest(manifest);
  } else {
    add_members(manifest.parent_path());
  }
}

void Selection::add_members(const fs::path& root) {
  const std::optional<Workspace> workspace = find_workspace(root);
  if (!workspace || workspace->members.empty()) {
    throw Error(ExitCode::usage, "the workspace " + shown_path(root).string() + " has no ops",
                "its members are directories with a dcuop.toml");
  }
  for (const fs::path& member : workspace->members) {
    add_manifest(member / manifest_name);
  }
}

void Selection::add_name(const std::string& name) {
  const std::vector<fs::path> found = members_called(name);
  if (found.empty()) {
    fail_name(name);
  }
  if (found.size() > 1) {
    std::vector<std::string> shown;
    std::transform(found.begin(), found.end(), std::back_inserter(shown),
                   [](const fs::path& member) { return shown_path(member).string(); });
    throw Error(ExitCode::usage,
                counted(found.size(), "op") + " of this workspace are called '" + name +
                    "': " + join(shown, ", "),
                "name the directory instead");
  }
  add_manifest(found.front() / manifest_name);
}

// The same op can be named in several ways, through a symbolic link too.
void Selection::add_manifest(const fs::path& manifest) {
  const bool known = std::any_of(manifests_.begin(), manifests_.end(), [&](const fs::path& other) {
    std::error_code error;
    return fs::equivalent(other, manifest, error);
  });
  if (!known) {
    manifests_.push_back(manifest);
  }
}

std::map<std::string, std::vector<fs::path>> Selection::member_names() const {
  std::map<std::string, std::vector<fs::path>> names;
  if (const std::optional<Workspace> workspace = find_workspace(here_)) {
    for (const fs::path& member : workspace->members) {
      names[called(member)].push_back(member);
    }
  }
  return names;
}

std::vector<fs::path> Selection::members_called(const std::string& name) const {
  const std::map<std::string, std::vector<fs::path>> names = member_names();
  const auto found = names.find(name);
  return found == names.end() ? std::vector<fs::path>{} : found->second;
}

void Selection::fail_path(const std::string& argument, const fs::path& path) const {
  const std::optional<FileIdentity> identity = identity_of(path);
  if (identity && !identity->is_directory()) {
    throw Error(ExitCode::usage, "'" + argument + "' is neither an op's directory nor a dcuop.toml");
  }
  if (identity) {
    throw Error(ExitCode::usage, "'" + argument + "' is not an op: it has no dcuop.toml",
                "dcuop.toml.example shows every key");
  }
  std::vector<std::string> ops = list_directory(path.parent_path());
  std::erase_if(ops, [&](const std::string& name) { return !manifest_in(path.parent_path() / name); });
  const std::optional<std::string> near = nearest(path.filename().string(), ops);
  const std::string suggestion =
      near ? "; did you mean '" + shown_path(path.parent_path() / *near).string() + "'?" : "";
  throw Error(ExitCode::usage, "no such op: '" + argument + "' does not exist" + suggestion);
}

void Selection::fail_name(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& [known, members] : member_names()) {
    names.push_back(known);
  }
  const std::string what = "no op is called '" + name + "'";
  if (const std::optional<std::string> near = nearest(name, names)) {
    throw Error(ExitCode::usage, what + "; did you mean '" + *near + "'?");
  }
  throw Error(ExitCode::usage, what,
              names.empty() ? "there is no workspace here, and no directory of that name with a dcuop.toml"
                            : "the workspace has: " + join(names, ", "));
}

} // namespace

} // namespace dcuop::op
