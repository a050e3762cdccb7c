#include <algorithm>
#include <array>

#include "compiler_facts.hpp"
#include "dcuop/probe/toolchain.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"
#include "rocm_files.hpp"

namespace dcuop::probe {

namespace {

struct Choice {
  fs::path program;
  std::string origin;
};

/// Any arch that the compiler knows would do: only what the driver says of itself is wanted, and without
/// device libraries it need not have any. gfx906 is known to each HIP compiler since ROCm 2, DTK's too.
const std::vector<std::string> hip_question = {"--offload-arch=gfx906", "-nogpulib", "-c", "-x", "hip"};

std::optional<fs::path> executable(const Machine& machine, const fs::path& path) {
  const auto absolute = absolute_from(path, machine.working_directory);
  return machine.environment.find_program(absolute.string()) ? std::optional(absolute) : std::nullopt;
}

std::optional<fs::path> on_path(const Machine& machine, const std::string& name) {
  const auto program = machine.environment.find_program(name);
  return program ? std::optional(absolute_from(*program, machine.working_directory)) : std::nullopt;
}

/// `value` of the variable `name`: a program's path or its name on PATH.
fs::path program_named_by(const Machine& machine, const std::string& name, const std::string& value) {
  if (value.find('/') == std::string::npos) {
    if (auto program = on_path(machine, value)) {
      return *program;
    }
  } else if (auto program = executable(machine, value)) {
    return *program;
  }
  throw Error(ExitCode::environment, name + "=" + value + " is not a program that can be run",
              "set " + name + " to a compiler's path, or unset it");
}

/// dcc and aicc are DTK's own drivers; on PATH those names may be anybody's.
std::optional<Choice> hip_compiler_in_installations(const Machine& machine,
                                                    std::vector<std::string>& looked_at) {
  for (const auto* name : {"ROCM_PATH", "ROCM_HOME", "HIP_PATH"}) {
    const auto root = machine.environment.get_nonempty(name);
    if (!root) {
      continue;
    }
    const auto directory = below_root(machine.root, absolute_from(*root, machine.working_directory)) / "bin";
    for (const auto* program_name : {"hipcc", "dcc", "aicc"}) {
      if (auto program = executable(machine, directory / program_name)) {
        return Choice{*program, name};
      }
    }
    looked_at.push_back(name + std::string("/bin (") + directory.string() + ")");
  }
  return std::nullopt;
}

Choice choose_hip_compiler(const Machine& machine) {
  if (const auto value = machine.environment.get_nonempty("DCUOP_HIPCC")) {
    return {program_named_by(machine, "DCUOP_HIPCC", *value), "DCUOP_HIPCC"};
  }
  std::vector<std::string> looked_at;
  if (auto choice = hip_compiler_in_installations(machine, looked_at)) {
    return *choice;
  }
  if (auto program = on_path(machine, "hipcc")) {
    return {*program, "hipcc on PATH"};
  }
  looked_at.emplace_back("PATH");
  for (const auto* root : {"/opt/dtk", "/opt/rocm"}) {
    if (auto program = executable(machine, below_root(machine.root, root) / "bin/hipcc")) {
      return {*program, root};
    }
    looked_at.push_back(root + std::string("/bin"));
  }
  throw Error(
      ExitCode::environment, "no HIP compiler: hipcc is not in " + join(looked_at, ", "),
      "source DTK's env.sh, install ROCm's hipcc (Debian: apt-get install hipcc), or set DCUOP_HIPCC");
}

/// Caches and distributors that people put before the compiler. They change nothing of what it makes, and dcuop
/// caches by itself.
bool is_launcher(const std::string& word) {
  static constexpr std::array launchers{"ccache", "sccache", "distcc", "icecc", "buildcache"};
  return std::find(launchers.begin(), launchers.end(), fs::path(word).filename().string()) != launchers.end();
}

/// $CXX as a program. A whole value that is a file is one even with spaces in it.
fs::path program_in_variable(const Machine& machine, const std::string& name, const std::string& value) {
  if (value.find('/') != std::string::npos && executable(machine, value)) {
    return absolute_from(value, machine.working_directory);
  }
  auto words = shell_words(value);
  if (words.size() > 1 && is_launcher(words.front())) {
    words.erase(words.begin());
  }
  if (words.size() > 1) {
    throw Error(ExitCode::usage, name + "=" + value + " holds arguments besides a compiler",
                "set " + name + "=" + words.front() + " and put the flags into the operator's dcuop.toml");
  }
  return program_named_by(machine, name, words.empty() ? value : words.front());
}

Choice choose_host_compiler(const Machine& machine, bool language_c) {
  const std::string variable = language_c ? "CC" : "CXX";
  if (const auto value = machine.environment.get_nonempty(variable)) {
    return {program_in_variable(machine, variable, *value), variable};
  }
  const auto names = language_c ? std::array{"cc", "gcc", "clang"} : std::array{"c++", "g++", "clang++"};
  for (const std::string name : names) {
    if (auto program = on_path(machine, name)) {
      return {*program, name + " on PATH"};
    }
  }
  throw Error(ExitCode::environment,
              "no host compiler: " + join({names.begin(), names.end()}, ", ") + " are not on PATH, and " +
                  variable + " is not set",
              "install one (Debian: apt-get install g++) or set " + variable);
}

Compiler described(const Machine& machine, const Choice& choice, const std::vector<std::string>& question) {
  const auto facts = compiler_facts(machine, choice.program, question);
  return {choice.program, choice.origin, facts.family, facts.version, facts.version_line, {}, facts.target};
}

} // namespace

Compiler find_hip_compiler(const Machine& machine) {
  const auto choice = choose_hip_compiler(machine);
  auto compiler = described(machine, choice, hip_question);
  compiler.hip_version = hip_version_below(installation_roots(choice.program, machine.environment));
  return compiler;
}

Compiler find_host_compiler(const Machine& machine, bool language_c) {
  return described(machine, choose_host_compiler(machine, language_c),
                   {"-c", "-x", language_c ? "c" : "c++"});
}

Compiler host_compiler_of(const Machine& machine, const Compiler& hip_compiler) {
  const auto facts = compiler_facts(machine, hip_compiler.program, hip_question);
  const auto directory = facts.real_compiler.parent_path();
  const auto major = facts.version.substr(0, facts.version.find('.'));
  if (facts.family == Family::clang) {
    for (const auto& name : {std::string("clang++"), "clang++-" + major}) {
      if (const auto program = executable(machine, directory / name)) {
        return described(machine, {*program, "toolchain of " + hip_compiler.program.string()},
                         {"-c", "-x", "c++"});
      }
    }
  }
  throw Error(ExitCode::environment,
              hip_compiler.program.string() + " names no clang++ for host_compiler = \"toolchain\"" +
                  (directory.empty() ? "" : ": there is none in " + directory.string()),
              "set host_compiler = \"system\" in dcuop.toml to use $CXX or c++");
}

} // namespace dcuop::probe
