// dcuop superkernel plan: what a described scope becomes, before anything is compiled.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "report_text.hpp"
#include "sarif.hpp"
#include "scalar_buffers.hpp"
#include "superkernel_group.hpp"
#include "superkernel_sources.hpp"
#include "superkernel_view.hpp"

#include "dcuop/superkernel/plan.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::cli {
namespace {

struct PlanRequest {
  std::string scope;
  std::optional<std::string> svg;
  std::vector<std::string> sources;
  bool simulate = false;
  bool sarif = false;
};

/// Where the picture goes. Only a picture is overwritten: --svg scope.toml would lose the scope.
fs::path picture_of(const Context& context, const std::string& name) {
  if (name.empty()) {
    throw Error(ExitCode::usage, "--svg has no file name", "give it one: --svg timeline.svg");
  }
  const fs::path path = absolute_from(name, context.working_directory);
  const auto identity = identity_of(path);
  if (!identity) {
    return path;
  }
  const auto old = identity->is_regular() ? read_file_prefix(path, 4096) : std::nullopt;
  if (!old || (!old->empty() && old->find("<svg") == std::string::npos)) {
    throw Error(ExitCode::usage,
                path.string() + (identity->is_directory() ? " is a directory"
                                                          : " is there and is no SVG: it is not overwritten"),
                "give --svg the name of a new file, or of a picture");
  }
  return path;
}

void write_timeline(Context& context, const PlanRequest& request, const superkernel::Scope& scope,
                    const superkernel::Plan& plan, const superkernel::Simulation& simulation) {
  const fs::path path = picture_of(context, *request.svg);
  const auto language = context.chinese() ? finding::LanguageOfText::zh : finding::LanguageOfText::en;
  write_file_atomic(path, superkernel::timeline_svg(scope, plan, simulation, language));
  context.terminal.remark(
      "timeline: " + shortened(path, context.environment) +
      (simulation.has_all_times ? "" : " (to no scale: not every operator has times_us)"));
}

/// ": reads x; writes y; gm.tensors says which buffers these are".
std::string buffers_text(const ScalarBuffers& found, const superkernel::Operator& op) {
  if (found.reads.empty() && found.writes.empty()) {
    return "; gm.reads and gm.writes say which option helps";
  }
  std::vector<std::string> parts;
  for (const auto& [verb, names] : {std::pair("reads ", found.reads), std::pair("writes ", found.writes)}) {
    if (!names.empty()) {
      parts.push_back(verb + join({names.begin(), names.end()}, ", "));
    }
  }
  if (!op.gm.unplaced.empty()) {
    parts.emplace_back("gm.tensors says which buffers these are");
  }
  return ": " + join(parts, "; ");
}

/// What the file leaves open is asked of the operators' sources.
superkernel::Scope scope_of(Context& context, const PlanRequest& request) {
  const fs::path file = absolute_from(request.scope, context.working_directory);
  if (request.sources.empty()) {
    return superkernel::read_scope(file);
  }
  superkernel::Scope scope = superkernel::read_scope(file, superkernel::KernelTypes::from_sources);
  const check::SuperKernelRequest sources =
      superkernel_request(context, request.sources, scope.platform.product);
  const check::FilledScope filled = check::fill_from_sources(sources, scope);
  auto buffers = fill_buffers(sources, filled, scope);
  for (const auto& one : filled.read) {
    context.terminal.remark(one.op + ": " + one.kernel);
  }
  for (const auto& one : filled.scalars) {
    const auto op = std::find_if(scope.operators.begin(), scope.operators.end(),
                                 [&](const auto& candidate) { return candidate.name == one.op; });
    context.terminal.remark(one.op + ": scalars of global memory in a loop (" + one.kernel + ")" +
                            buffers_text(buffers[one.op], *op));
  }
  for (const std::string& doubt : filled.doubts) {
    context.terminal.remark(doubt + ": a SyncAll() or flag there is not in the plan");
  }
  for (const std::string& name : filled.unread) {
    context.terminal.remark(name + ": the sources have no kernel of that name, or several");
  }
  return scope;
}

ExitCode run_plan(Context& context, const PlanRequest& request) {
  const superkernel::Scope scope = scope_of(context, request);
  const superkernel::Plan plan = superkernel::make_plan(scope);
  std::optional<superkernel::Simulation> simulation;
  if (request.simulate || request.svg) {
    simulation =
        superkernel::simulate(scope, request.svg ? superkernel::Detail::timeline : superkernel::Detail::runs);
  }
  if (request.svg) {
    write_timeline(context, request, scope, plan, *simulation);
  }
  const superkernel::Simulation* shown = request.simulate ? &*simulation : nullptr;
  if (request.sarif) {
    answer_sarif(context, plan.findings);
  } else if (context.json()) {
    context.terminal.answer(json_text(superkernel::to_json(scope, plan, shown), 2));
  } else {
    const ReportStyle style{context.chinese() ? finding::LanguageOfText::zh : finding::LanguageOfText::en,
                            context.terminal.options().verbose, context.environment.get("HOME").value_or("")};
    print_plan(context.terminal, scope, plan, style);
    if (shown != nullptr) {
      print_simulation(context.terminal, scope, plan, *shown, style.language);
    }
  }
  return finding::has_error(plan.findings) ? ExitCode::failed : ExitCode::ok;
}

constexpr const char* footer =
    "Examples:\n"
    "  dcuop superkernel plan scope.toml               launch, verdicts, fixes, options, what it saves\n"
    "  dcuop superkernel plan scope.toml --simulate    who waits for whom\n"
    "  dcuop superkernel plan scope.toml --svg t.svg   cores by time, as a picture\n"
    "  dcuop superkernel plan scope.toml --sources ops what the scope leaves open, from the kernels below "
    "ops\n"
    "  dcuop superkernel plan scope.toml --json        the fields are in docs/json.md\n"
    "\n"
    "docs/superkernel.example.toml has every key of a scope. Exit 1: an operator waits for ever or computes\n"
    "what is wrong, or the back end does not build the scope. Nothing is run on a device.";

} // namespace

void add_superkernel_plan(Commands& commands, const Subcommand& group) {
  auto request = std::make_shared<PlanRequest>();
  const Subcommand plan =
      group.subcommand("plan", "Launch, verdict and fix of each operator, options, savings");
  plan.footer(footer);
  plan.option("SCOPE", request->scope, "The scope's description, e.g. scope.toml").required().type_name("");
  plan.flag("--simulate", request->simulate, "Run the cores as state machines: who waits for whom");
  plan.text_option(
          "--svg", [request](const std::string& name) { request->svg = name; },
          "Write the simulated timeline as a picture")
      .type_name("FILE");
  plan.option("--sources", request->sources,
              "Directories of the operators: what the scope leaves open is read from their kernels")
      .type_name("DIR");
  add_sarif_option(plan, request->sarif);
  commands.run(plan, [request](Context& context) { return run_plan(context, *request); });
}

} // namespace dcuop::cli
