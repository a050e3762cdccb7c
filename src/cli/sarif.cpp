#include "sarif.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "dcuop/support/json_text.hpp"

namespace dcuop::cli {

void add_sarif_option(CLI::App& subcommand, bool& into) {
  CLI::App* program = subcommand.get_parent();
  while (program->get_parent() != nullptr) {
    program = program->get_parent();
  }
  CLI::Option* const json = program->get_option("--json");
  CLI::Option* const sarif =
      subcommand.add_flag("--sarif", into, "The findings as SARIF 2.1.0 on stdout")->excludes(json);
  json->remove_excludes(sarif); // said once is enough: the program's --help would name each subcommand's
}

void answer_sarif(Context& context, const std::vector<finding::Finding>& findings) {
  context.terminal.answer(json_text(finding::to_sarif(findings, DCUOP_VERSION), 2));
}

} // namespace dcuop::cli
