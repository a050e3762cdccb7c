// dcuop env: every fact about this machine, with where it was read.
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "report_text.hpp"
#include "saved_machine.hpp"

#include "dcuop/doctor/doctor.hpp"
#include "dcuop/support/json_text.hpp"

namespace dcuop::cli {
namespace {

nlohmann::json to_json(const probe::Rocminfo& told) {
  auto agents = nlohmann::json::array();
  for (const auto& agent : told.agents) {
    agents.push_back({{"name", agent.name},
                      {"marketing_name", agent.marketing_name},
                      {"vendor", agent.vendor},
                      {"device_type", agent.device_type},
                      {"uuid", agent.uuid},
                      {"node", agent.node},
                      {"compute_units", agent.compute_units},
                      {"wavefront", agent.wavefront},
                      {"isas", agent.isas}});
  }
  return {
      {"runtime_version", told.runtime_version}, {"problem", told.problem}, {"agents", std::move(agents)}};
}

/// Whether builds see what compilers read, or believe depfiles.
doctor::FactLine tracing(Context& context) {
  Command command;
  command.argv = {"/bin/true"};
  command.trace = true;
  if (::access("/bin/true", X_OK) != 0) {
    return {"build inputs", "unknown", "no /bin/true to try ptrace with"};
  }
  const bool is_permitted = context.machine().processes.run(command).trace.has_value();
  return {"build inputs", is_permitted ? "as the kernel sees them" : "from depfiles (docs/known-gaps.md)",
          is_permitted
              ? "ptrace is permitted"
              : "ptrace is not permitted; in a container: --cap-add=SYS_PTRACE, or another seccomp profile"};
}

ExitCode run(Context& context, const SavedMachine& saved) {
  const auto rocminfo = rocminfo_of(context, saved);
  const auto known = doctor::gather_facts(machine_of(context, saved), context.python_wish(), rocminfo);
  auto facts = doctor::fact_lines(known);
  if (!saved.root) {
    facts.push_back(tracing(context));
  }
  if (!context.json()) {
    ReportStyle style;
    style.home = context.environment.get("HOME").value_or("");
    print_facts(context.terminal, facts, style);
    return ExitCode::ok;
  }
  auto list = nlohmann::json::array();
  for (const auto& [name, value, origin] : facts) {
    list.push_back({{"name", name}, {"value", value}, {"origin", origin}});
  }
  nlohmann::json document = {{"schema", 1}, {"facts", std::move(list)}};
  if (known.devices.rocminfo) {
    document["rocminfo"] = to_json(*known.devices.rocminfo);
  }
  context.terminal.answer(json_text(document, 2));
  return ExitCode::ok;
}

} // namespace

void add_env(Commands& commands) {
  const Subcommand command =
      commands.add("env", "Print what is known of this machine, and from where",
                   "  dcuop env\n"
                   "  dcuop env --python /usr/bin/python3\n"
                   "  dcuop env --json\n"
                   "  dcuop env --rocminfo saved.txt   devices as a saved output tells them\n"
                   "  dcuop env --root /mnt/image      a saved machine, an unpacked container image");
  auto saved = std::make_shared<SavedMachine>();
  add_saved_machine_options(command, *saved);
  commands.run(command, [saved](Context& context) { return run(context, *saved); });
}

} // namespace dcuop::cli
