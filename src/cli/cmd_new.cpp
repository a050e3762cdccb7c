// dcuop new: the directory of a new op, or a dcuop.toml for an extension that was written for CUDA.

#include <algorithm>
#include <iterator>
#include <optional>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "dcuop/op/manifest.hpp"
#include "dcuop/op/new_op.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/text.hpp"
#include "foreign.hpp"
#include "placed_files.hpp"

namespace dcuop::cli {

namespace {

constexpr const char* examples =
    "  dcuop new fused_relu                        in a workspace where its members are, else here\n"
    "  dcuop new fused_relu --kind torch-library --arch gfx936\n"
    "  dcuop new --from-cuda ~/src/their_kernels   a dcuop.toml for it, on stdout; --write puts it there";

struct NewRequest {
  std::string name;
  std::string kind = "pybind";
  std::optional<std::string> directory;
  std::vector<std::string> archs;
  bool force = false;
  std::optional<std::string> from_cuda;
  bool write = false;
};

/// Whether the workspace around a new op finds it.
struct Membership {
  fs::path root;
  bool is_member = false;
  std::string line;    ///< what [workspace] would have to say, where it does not
  std::string problem; ///< why nobody can tell
};

op::Kind kind_of(const std::string& text) {
  for (const op::Kind kind : {op::Kind::pybind_module, op::Kind::torch_library, op::Kind::plain}) {
    if (text == op::to_string(kind)) {
      return kind;
    }
  }
  const std::optional<std::string> near = nearest(text, {"pybind", "torch-library", "plain"});
  throw Error(ExitCode::usage, "--kind must be one of pybind, torch-library, plain, not '" + text + "'" +
                                   (near ? "; did you mean '" + *near + "'?" : ""));
}

/// "gfx906,gfx936" as --arch of `build` takes them.
std::vector<std::string> archs_of(const NewRequest& request) {
  std::vector<std::string> archs;
  for (const std::string& list : request.archs) {
    for (const std::string& arch : split(list, ';')) {
      archs.emplace_back(trimmed(arch));
    }
  }
  return archs;
}

/// Directories in which `members` looks for ops: those of "ops/*".
std::vector<fs::path> homes_of(const op::WorkspaceMembers& workspace) {
  std::vector<fs::path> homes;
  for (const std::string& pattern : workspace.patterns) {
    const fs::path path(pattern);
    const bool is_plain = path.parent_path().string().find_first_of("*?[") == std::string::npos;
    if (path.filename() == "*" && is_plain) {
      homes.push_back(absolute_from(path.parent_path(), workspace.root));
    }
  }
  return homes;
}

fs::path home_of_new_ops(const NewRequest& request, const Context& context) {
  const fs::path& here = context.working_directory;
  if (request.directory) {
    return absolute_from(*request.directory, here);
  }
  const std::optional<op::WorkspaceMembers> workspace = op::find_workspace_members(here);
  const std::vector<fs::path> homes = workspace ? homes_of(*workspace) : std::vector<fs::path>();
  return homes.empty() || std::find(homes.begin(), homes.end(), here) != homes.end() ? here : homes.front();
}

bool is_same(const fs::path& one, const fs::path& other) {
  std::error_code error;
  return fs::equivalent(one, other, error);
}

/// Two ops of one name could not be told apart by it.
void check_namesakes(const fs::path& directory, const std::string& name) {
  std::optional<fs::path> namesake;
  try {
    namesake = op::select_ops({name}, directory.parent_path()).front().directory;
  } catch (const Error&) {
    return; // there is none, or what is there is for `build` to complain of
  }
  if (!is_same(*namesake, directory)) {
    throw Error(ExitCode::usage, "the workspace has an op called '" + name + "' in " + namesake->string(),
                "choose another name");
  }
}

std::optional<Membership> membership_of(const fs::path& directory) {
  const std::optional<op::WorkspaceMembers> workspace = op::find_workspace_members(directory);
  if (!workspace) {
    return std::nullopt;
  }
  Membership membership{workspace->root, false, {}, {}};
  try {
    const std::optional<op::Workspace> found = op::find_workspace(directory);
    membership.is_member =
        found && std::any_of(found->members.begin(), found->members.end(),
                             [&](const fs::path& member) { return is_same(member, directory); });
  } catch (const Error& error) {
    membership.problem = error.what();
  }
  if (!membership.is_member) {
    std::vector<std::string> patterns = workspace->patterns;
    patterns.push_back(relative_below(directory, workspace->root).generic_string());
    membership.line = "members = [\"" + join(patterns, "\", \"") + "\"]";
  }
  return membership;
}

nlohmann::json to_json(const std::optional<Membership>& membership) {
  if (!membership) {
    return nullptr;
  }
  nlohmann::json json = {{"root", membership->root.string()}, {"is_member", membership->is_member}};
  json["members_line"] = membership->line.empty() ? nlohmann::json() : nlohmann::json(membership->line);
  return json;
}

void warn_of_outsider(const Membership& membership, Context& context) {
  const std::string manifest = shortened(membership.root / "dcuop.toml", context.environment);
  context.terminal.remark(context.terminal.styled_error("warning:", Style::yellow) + " " +
                          (membership.problem.empty()
                               ? manifest + " does not have it among its members; its line would be"
                               : membership.problem + "; the line of " + manifest + " would be"));
  context.terminal.remark("  " + membership.line);
}

/// As one would type it here.
std::string typed(const fs::path& path, const Context& context) {
  return shell_quoted({relative_below(path, context.working_directory).string()});
}

ExitCode make_op(const NewRequest& request, Context& context) {
  const op::NewOp wanted{request.name, kind_of(request.kind), archs_of(request)};
  op::check_new_op(wanted);
  const fs::path directory = home_of_new_ops(request, context) / wanted.name;
  check_namesakes(directory, wanted.name);
  const std::vector<op::NewFile> files = op::files_of(wanted);
  place_files(directory, files, request.force);

  const std::optional<Membership> membership = membership_of(directory);
  const std::string where = typed(directory, context);
  const std::string arch = op::read_op(directory / "dcuop.toml").archs.front();
  const std::vector<std::string> commands = {"dcuop build " + where + " --arch " + arch,
                                             "python3 -m pytest " + where};
  if (context.json()) {
    std::vector<std::string> names;
    std::transform(files.begin(), files.end(), std::back_inserter(names),
                   [](const op::NewFile& file) { return file.path; });
    context.terminal.answer(json_text({{"schema", 1},
                                       {"op",
                                        {{"name", wanted.name},
                                         {"kind", op::to_string(wanted.kind)},
                                         {"directory", directory.string()},
                                         {"files", names}}},
                                       {"workspace", to_json(membership)},
                                       {"next", commands}},
                                      2));
    return ExitCode::ok;
  }
  context.terminal.answer(shortened(directory, context.environment));
  if (membership && !membership->is_member) {
    warn_of_outsider(*membership, context);
  }
  const std::string binding = wanted.kind == op::Kind::plain ? "binding.py" : "binding.cpp";
  context.terminal.remark("  " + commands[0] + "      (where its device is: without --arch)");
  context.terminal.remark("  " + commands[1]);
  context.terminal.remark(
      "  it computes y = x * scale + bias: your kernel goes into op_kernel.hip, what it demands into " +
      binding + ", what it computes into reference.py");
  return ExitCode::ok;
}

ExitCode run(const NewRequest& request, Context& context) {
  if (request.from_cuda) {
    if (request.force || request.directory) {
      throw Error(ExitCode::usage, "--from-cuda goes with neither --dir nor --force",
                  "--write puts the proposal into " + *request.from_cuda + ", never over a dcuop.toml");
    }
    return propose_manifest({*request.from_cuda, request.name, archs_of(request), request.write}, context);
  }
  if (request.write) {
    throw Error(ExitCode::usage, "--write goes with --from-cuda", "leave it out: a new op is always written");
  }
  if (request.name.empty()) {
    throw Error(ExitCode::usage, "a new op needs a name", "for example: dcuop new fused_relu");
  }
  return make_op(request, context);
}

} // namespace

void add_new(Commands& commands) {
  auto request = std::make_shared<NewRequest>();
  const Subcommand subcommand = commands.add(
      "new", "Write the directory of a new op, or propose a dcuop.toml for a CUDA extension", examples);
  subcommand.option("NAME", request->name, "What the op and its module are called");
  subcommand.option("--kind", request->kind, "pybind, torch-library or plain").shows_default();
  subcommand.option("--dir", request->directory, "Where to make it: DIR/NAME");
  subcommand
      .option("--arch", request->archs, "Target ids that its kernel is for (default: those of ops/affine)")
      .one_list()
      .type_name("A[,B]");
  subcommand.flag("--force", request->force, "Write over files of the same names");
  subcommand.option("--from-cuda", request->from_cuda,
                    "Propose a dcuop.toml for the extension in DIR, from its setup.py and sources");
  subcommand.flag("--write", request->write, "Put the proposal into DIR, where there is none");
  commands.run(subcommand, [request](Context& context) { return run(*request, context); });
}

} // namespace dcuop::cli
