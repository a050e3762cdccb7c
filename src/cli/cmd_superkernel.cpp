// dcuop superkernel: several operators of an Ascend device fused into one launch.

#include "command.hpp"
#include "superkernel_group.hpp"

namespace dcuop::cli {

void add_superkernel(Commands& commands) {
  const Subcommand group = commands.add(
      "superkernel",
      "Plan a fused scope of Ascend operators (SuperKernel) before it hangs, check their sources",
      "  dcuop superkernel plan scope.toml    which operators hang in a scope, and what mends them\n"
      "  dcuop superkernel check ops/         faults that the operators' sources show");
  group.require_subcommand();
  add_superkernel_plan(commands, group);
  add_superkernel_check(commands, group);
}

} // namespace dcuop::cli
