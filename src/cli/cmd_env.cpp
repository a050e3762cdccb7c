// dcuop env: every fact about this machine, with where it was read.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "report_text.hpp"

#include "dcuop/doctor/doctor.hpp"
#include "dcuop/support/json_text.hpp"

namespace dcuop::cli {
namespace {

ExitCode run(Context& context) {
  const auto facts = doctor::fact_lines(doctor::gather_facts(context.machine(), context.python_wish()));
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
  const nlohmann::json document = {{"schema", 1}, {"facts", std::move(list)}};
  context.terminal.answer(json_text(document, 2));
  return ExitCode::ok;
}

} // namespace

void add_env(Commands& commands) {
  auto* command = commands.add("env", "Print what is known of this machine, and from where",
                               "  dcuop env\n"
                               "  dcuop env --python /usr/bin/python3\n"
                               "  dcuop env --json");
  commands.run(command, run);
}

} // namespace dcuop::cli
