#pragma once
// dcuop doctor --pid and --message: what a running process has loaded, what a pasted message tells.

#include <string>
#include <vector>

#include "command.hpp"

namespace dcuop::cli {

struct EvidenceRequest {
  int pid = 0;                    ///< --pid; 0: not asked
  std::string message;            ///< --message: a file, or "-"; empty: not asked
  std::string file;               ///< a library besides; empty: none
  std::vector<std::string> archs; ///< --arch, canonical
  bool sarif = false;
};

/// Adds --pid and --message; `into` must live as long.
void add_evidence_options(const Subcommand& subcommand, EvidenceRequest& into);
/// `failed` when a finding is an error.
[[nodiscard]] ExitCode run_process(Context& context, const EvidenceRequest& request);
/// `failed` when the message holds a failure, known or not, that the file here does not contradict.
[[nodiscard]] ExitCode run_message(Context& context, const EvidenceRequest& request);

} // namespace dcuop::cli
