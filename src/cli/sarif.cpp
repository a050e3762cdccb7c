#include "sarif.hpp"

#include <nlohmann/json.hpp>

#include "dcuop/support/json_text.hpp"

namespace dcuop::cli {

void add_sarif_option(const Subcommand& subcommand, bool& into) {
  // Said once is enough: the program's --help would name each subcommand's.
  subcommand.flag("--sarif", into, "The findings as SARIF 2.1.0 on stdout")
      .excludes_quietly(subcommand.program().named("--json"));
}

void answer_sarif(Context& context, const std::vector<finding::Finding>& findings) {
  context.terminal.answer(json_text(finding::to_sarif(findings, DCUOP_VERSION), 2));
}

} // namespace dcuop::cli
