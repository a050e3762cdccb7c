#pragma once
// The subcommands of `dcuop superkernel`: a file each, cmd_superkernel_<name>.cpp, listed in cmd_superkernel.cpp.

namespace CLI {
class App;
}

namespace dcuop::cli {

struct Commands;

void add_superkernel_plan(Commands& commands, CLI::App& group);
void add_superkernel_check(Commands& commands, CLI::App& group);

} // namespace dcuop::cli
