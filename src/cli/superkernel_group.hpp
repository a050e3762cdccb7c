#pragma once
// The subcommands of `dcuop superkernel`: a file each, cmd_superkernel_<name>.cpp, listed in cmd_superkernel.cpp.

namespace dcuop::cli {

struct Commands;
class Subcommand;

void add_superkernel_plan(Commands& commands, const Subcommand& group);
void add_superkernel_check(Commands& commands, const Subcommand& group);

} // namespace dcuop::cli
