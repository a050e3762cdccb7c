// dcuop superkernel: several operators of an Ascend device fused into one launch.
#include <CLI/CLI.hpp>

#include "command.hpp"
#include "superkernel_group.hpp"

namespace dcuop::cli {

void add_superkernel(Commands& commands) {
  CLI::App* const group = commands.add(
      "superkernel", "Plan a fused scope of Ascend operators (SuperKernel) before it hangs",
      "  dcuop superkernel plan scope.toml    which operators hang in a scope, and what mends them");
  group->require_subcommand(1);
  add_superkernel_plan(commands, *group);
}

} // namespace dcuop::cli
