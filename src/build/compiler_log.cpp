#include "compiler_log.hpp"

#include "dcuop/support/text.hpp"

namespace dcuop::build {

std::string diagnostics_for_people(const std::string& diagnostics) {
  std::string kept;
  bool in_list = false;
  for (const std::string& line : split(diagnostics, '\n')) {
    const bool starts_list = line.find("search starts here:") != std::string::npos;
    const bool ends_list = line.starts_with("End of search list.");
    const auto is = [&](std::string_view prefix) { return line.starts_with(prefix); };
    const bool talk =
        starts_list || ends_list || in_list || is(" \"/") || is(" /") || is("ignoring ") || is("Target: ") ||
        is("Thread model: ") || is("InstalledDir: ") || is("Found ") || is("Selected ") || is("Candidate ") ||
        is("clang -cc1 version ") || is("Using built-in specs") || is("COLLECT_") || is("OFFLOAD_TARGET") ||
        is("Configured with:") || is("Supported LTO") || is("gcc version ") || is("GNU C") ||
        is("\tcompiled by GNU") || is("GGC heuristics") || is("Compiler executable checksum") ||
        is("COMPILER_PATH=") || is("LIBRARY_PATH=") || is("GNU assembler version") || is("warning: ") ||
        is("Debian clang version") || is("clang version ") || is("AMD clang version") || is("hipcc-cmd:");
    in_list = (in_list || starts_list) && !ends_list;
    if (!talk) {
      kept += line + "\n";
    }
  }
  return kept;
}

std::string log_of(const std::vector<std::string>& argv, const ProcessResult& process) {
  return "$ " + shell_quoted(argv) + "\n" + process.output + diagnostics_for_people(process.diagnostics);
}

} // namespace dcuop::build
