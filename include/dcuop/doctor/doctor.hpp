#pragma once
// Why does this file not load, or not launch, on this machine? Facts and an artifact in, findings out.
// Nothing of the operator is run.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dcuop/elf/bundle.hpp"
#include "dcuop/finding/finding.hpp"
#include "dcuop/probe/devices.hpp"
#include "dcuop/probe/host.hpp"
#include "dcuop/probe/machine.hpp"
#include "dcuop/probe/python.hpp"
#include "dcuop/probe/toolchain.hpp"
#include "dcuop/probe/toolkit_uses.hpp"
#include "dcuop/probe/torch.hpp"

namespace dcuop::doctor {

/// Everything known of this machine; absent ones say why.
struct EnvironmentFacts {
  std::optional<probe::Python> python;
  std::string python_problem;
  std::optional<probe::Torch> torch;
  std::string torch_problem;
  std::optional<probe::Compiler> hip_compiler;
  std::string hip_compiler_problem;
  std::optional<probe::Compiler> host_compiler;
  std::string host_compiler_problem;
  std::optional<probe::Rocm> rocm;
  std::string rocm_problem;
  probe::Devices devices;
  probe::Host host;
  probe::ToolkitUses toolkits;
  std::filesystem::path saved_root; ///< of a saved machine (--root); empty: this machine
  bool saved_user_space = false;    ///< Python, torch and libraries are those of saved_root
};
/// Never throws for what the machine is like: see the *_problem members. Of a saved machine nothing is
/// started: its Python is read from its files, its compilers are not asked. One without user space
/// (probe::process_root) is judged with this machine's Python, torch and host compiler. `rocminfo` is taken
/// instead of running that.
[[nodiscard]] EnvironmentFacts
gather_facts(const probe::Machine& machine, const probe::PythonWish& wish,
             const std::optional<probe::SavedRocminfo>& rocminfo = std::nullopt);
/// Name, value and origin of each fact, for `dcuop env` and the report's environment section.
struct FactLine {
  std::string name, value, origin;
};
[[nodiscard]] std::vector<FactLine> fact_lines(const EnvironmentFacts& facts);

/// How the file is to be loaded.
enum class Use {
  guess,         ///< a Python module when the file looks like one
  python_module, ///< import
  library,       ///< torch.ops.load_library, ctypes, dlopen
};

struct Question {
  std::filesystem::path file; ///< the .so; empty: the environment alone
  /// Of `dcuop build`, as a shell takes it, for the fixes; empty: they say OP, see finding::name_operator().
  std::string build_argument;
  std::vector<std::string> archs; ///< --arch: judged instead of the visible devices
  std::string module_name; ///< the name it will be imported by; empty: the file's stem up to the first '.'
  Use use = Use::guess;
  std::string built_with; ///< the build record in a line ("torch 1.13.1 cpu, python 3.11.2"); empty: unknown
  /// What a running process has loaded, its program first: instead of what a Python here would load. May be empty.
  std::vector<std::filesystem::path> loaded;
};

enum class Verdict { loads, loads_cannot_launch, does_not_load, environment_only };
[[nodiscard]] std::string to_string(Verdict verdict); ///< "loads", "loads_cannot_launch", ...: for programs

struct Report {
  Verdict verdict = Verdict::environment_only;
  std::string headline;                   ///< one sentence: verdict and root cause
  std::string headline_chinese;           ///< the same
  std::vector<finding::Finding> findings; ///< sorted
  std::vector<FactLine> facts;
  int checks = 0; ///< how many rules were applied
};

/// Never throws for what the file is like: that is a finding.
[[nodiscard]] Report diagnose(const Question& question, const EnvironmentFacts& facts,
                              const probe::Machine& machine);
[[nodiscard]] nlohmann::json to_json(const Report& report);

} // namespace dcuop::doctor
