#include "selection.hpp"

#include <CLI/CLI.hpp>

#include "dcuop/op/manifest.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::cli {

void add_selection(CLI::App* subcommand, Selection& selection) {
  subcommand->add_option(
      "OP", selection.ops,
      "Op directories, or names in the workspace (default: the op one stands in, else all)");
  subcommand->add_option("--arch", selection.archs, "Offload archs, e.g. gfx906,gfx936, or native")
      ->delimiter(',')
      ->allow_extra_args(false) // "--arch gfx906 affine" names an op
      ->type_name("A[,B]");
}

Prepared prepare(Context& context, const Selection& selection) {
  Prepared prepared;
  prepared.ops = op::select_ops(selection.ops, context.working_directory);
  const probe::Machine machine = context.machine();
  prepared.facts = key::gather_facts(machine, prepared.ops,
                                     {context.python_wish(), selection.archs, context.config.list("arch")});
  for (const op::Op& op : prepared.ops) {
    prepared.requests.push_back(key::make_request(op, prepared.facts, machine));
  }
  return prepared;
}

std::string facts_line(const key::Facts& facts, const Environment& environment) {
  std::vector<std::string> parts;
  if (!facts.archs.archs.empty()) {
    parts.push_back("arch " + join(facts.archs.archs, ", ") + " (" + facts.archs.origin + ")");
  }
  if (facts.hip_compiler) {
    parts.push_back(facts.hip_compiler->program.filename().string() + " " + facts.hip_compiler->hip_version);
  } else if (facts.cxx_compiler) {
    parts.push_back(facts.cxx_compiler->program.filename().string() + " " + facts.cxx_compiler->version);
  }
  if (facts.torch) {
    parts.push_back("torch " + key::needed(facts.torch).summary() + " (" +
                    shortened(key::needed(facts.python).executable, environment) + ")");
  }
  return join(parts, " · ");
}

} // namespace dcuop::cli
