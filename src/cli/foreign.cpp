#include "foreign.hpp"

#include <nlohmann/json.hpp>

#include "dcuop/op/new_op.hpp"
#include "dcuop/op/proposal.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::cli {

namespace {

constexpr std::chrono::seconds longest_reading{20};

/// What a setup.py says is Python, so an interpreter takes it apart: its own parser, nothing of the package is run
/// (-I -S: no site, no directory of the package on sys.path).
void read_setup(op::ForeignExtension& extension, Context& context) {
  const fs::path setup = extension.directory / "setup.py";
  if (!identity_of(setup)) {
    return;
  }
  try {
    const probe::Python python = probe::find_python(context.machine(), context.python_wish());
    Command command;
    command.argv = {python.executable.string(),      "-I",          "-S", "-c",
                    std::string(op::setup_reader()), setup.string()};
    command.environment = context.environment;
    command.limit = longest_reading;
    const ProcessResult result = context.processes.run(command);
    if (result.ok()) {
      extension.setup = result.output;
      return;
    }
    const std::vector<std::string> said = split(result.diagnostics, '\n');
    extension.problem = result.timed_out ? "it takes too long"
                        : said.empty()   ? "Python ended with " + std::to_string(result.exit_code)
                                         : said.back() + " (Python " + python.version + ")";
  } catch (const Error& error) {
    extension.problem = error.what();
  }
}

void print(const op::Proposal& proposal, const fs::path& manifest, bool written, Context& context) {
  Terminal& terminal = context.terminal;
  if (context.json()) {
    terminal.answer(json_text(
        {{"schema", 1},
         {"name", proposal.name},
         {"manifest", proposal.manifest},
         {"path", manifest.string()},
         {"written", written},
         {"remarks", proposal.remarks},
         {"other_extensions", proposal.others},
         {"refusal", proposal.refusal.empty() ? nlohmann::json() : nlohmann::json(proposal.refusal)}},
        2));
    return;
  }
  if (written) {
    terminal.answer(shortened(manifest, context.environment));
  } else {
    terminal.answer(trimmed(proposal.manifest));
  }
  if (!proposal.refusal.empty()) {
    terminal.remark(terminal.styled_error("warning:", Style::yellow) +
                    " as it stands dcuop refuses this: " + proposal.refusal);
  }
  terminal.remark(written
                      ? counted(proposal.remarks.size(), "remark") + " in its comments; then: dcuop build " +
                            shell_quoted({relative_below(manifest.parent_path(), context.working_directory)})
                      : "--write puts it into " + shortened(manifest, context.environment));
}

} // namespace

ExitCode propose_manifest(const ForeignRequest& request, Context& context) {
  op::ForeignExtension extension;
  extension.directory = absolute_from(request.directory, context.working_directory);
  if (extension.directory.filename().empty()) { // "DIR/"
    extension.directory = extension.directory.parent_path();
  }
  const std::optional<FileIdentity> identity = identity_of(extension.directory);
  if (!identity || !identity->is_directory()) {
    throw Error(ExitCode::usage,
                "--from-cuda: " + request.directory + (identity ? " is no directory" : " does not exist"),
                "name the directory of the extension, where its setup.py is");
  }
  const fs::path manifest = extension.directory / "dcuop.toml";
  if (request.write && fs::exists(fs::symlink_status(manifest))) {
    throw Error(ExitCode::usage,
                shortened(manifest, context.environment) + " exists, and is not written over",
                "compare with what dcuop new --from-cuda prints without --write");
  }
  extension.name = request.name;
  extension.archs = request.archs;
  op::check_archs(extension.archs);
  read_setup(extension, context);
  const op::Proposal proposal = op::propose(extension);
  if (request.write) {
    write_file_atomic(manifest, proposal.manifest);
  }
  print(proposal, manifest, request.write, context);
  return ExitCode::ok;
}

} // namespace dcuop::cli
