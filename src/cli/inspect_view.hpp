#pragma once
// An inspection for people. The JSON is inspect_json's.

#include <vector>

#include "cooperative.hpp"
#include "inspection.hpp"

namespace dcuop {
class Environment;
class Terminal;
} // namespace dcuop

namespace dcuop::cli {

void print_inspection(Terminal& terminal, const Inspection& inspection, const Environment& environment);
void print_launch(Terminal& terminal, const Grid& grid, const std::vector<LaunchVerdict>& verdicts);
void print_comparison(Terminal& terminal, const Comparison& comparison);

} // namespace dcuop::cli
