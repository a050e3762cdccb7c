#include "dcuop/probe/cuda.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <tuple>

#include <nlohmann/json.hpp>

#include "compiler_facts.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/temporary_directory.hpp"
#include "dcuop/support/text.hpp"
#include "memo_values.hpp"
#include "rocm_files.hpp"
#include "toolchain_inventory.hpp"

namespace dcuop::probe {

namespace {

using nlohmann::json;

constexpr std::chrono::seconds dryrun_limit{60};

/// What `nvcc --dryrun` says: the variables of its profile, worked out, and the commands that it would run.
struct Dryrun {
  std::map<std::string, std::string> variables; ///< "TOP", "CICC_PATH", "PATH"
  std::vector<std::string> programs;            ///< first words, each once: "cudafe++", "$CICC_PATH/cicc"
  std::string version;                          ///< "13.0.88"
  std::string problem;
};

/// One word of a list that nvcc prints: "-I/usr/local/cuda/bin/../include", with the quotes.
std::vector<fs::path> directories_in(const std::string& list, std::string_view option) {
  std::vector<fs::path> directories;
  const std::vector<std::string> words = shell_words(list);
  for (std::size_t index = 0; index < words.size(); ++index) {
    if (words[index] == option && index + 1 < words.size()) {
      directories.push_back(fs::path(words[++index]).lexically_normal());
    } else if (words[index].starts_with(option) && words[index].size() > option.size()) {
      directories.push_back(fs::path(words[index].substr(option.size())).lexically_normal());
    }
  }
  return directories;
}

std::string number_behind(const std::string& text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string::npos) {
    return {};
  }
  const std::size_t start = at + name.size();
  return text.substr(start, text.find_first_not_of("0123456789", start) - start);
}

/// Lines are "#$ NAME=VALUE" and, behind these, "#$ COMMAND".
Dryrun parse_dryrun(const std::string& text) {
  constexpr std::string_view mark = "#$ ";
  Dryrun dryrun;
  for (const std::string& line : split(text, '\n')) {
    if (!line.starts_with(mark)) {
      continue;
    }
    const std::string said = line.substr(mark.size());
    const std::size_t equals = said.find('=');
    const bool is_variable = equals != std::string::npos && equals > 0 &&
                             std::all_of(said.begin(), said.begin() + static_cast<std::ptrdiff_t>(equals),
                                         [](char c) { return c == '_' || (c >= 'A' && c <= 'Z'); });
    if (is_variable) {
      dryrun.variables[said.substr(0, equals)] = said.substr(equals + 1);
      continue;
    }
    const std::vector<std::string> words = shell_words(said);
    const bool is_known =
        words.empty() || words.front() == "rm" ||
        std::find(dryrun.programs.begin(), dryrun.programs.end(), words.front()) != dryrun.programs.end();
    if (!is_known) {
      dryrun.programs.push_back(words.front());
    }
    if (dryrun.version.empty()) {
      const std::string major = number_behind(said, "-D__CUDACC_VER_MAJOR__=");
      dryrun.version = major.empty() ? ""
                                     : major + "." + number_behind(said, "-D__CUDACC_VER_MINOR__=") + "." +
                                           number_behind(said, "-D__CUDACC_VER_BUILD__=");
    }
  }
  return dryrun;
}

Dryrun ask_nvcc(const Machine& machine, const fs::path& nvcc, const Compiler& host,
                const Environment& environment) {
  const TemporaryDirectory directory(environment);
  const fs::path source = directory.path() / "unit.cu";
  write_file_atomic(source, "");
  Command command;
  command.argv = {nvcc.string(),
                  "-ccbin",
                  host.program.string(),
                  "--dryrun",
                  "-c",
                  "-o",
                  (directory.path() / "unit.o").string(),
                  source.string()};
  command.working_directory = machine.working_directory;
  command.environment = environment;
  command.environment.set("TMPDIR", directory.path().string());
  command.limit = dryrun_limit;
  const ProcessResult result = machine.processes.run(command);
  Dryrun dryrun = parse_dryrun(result.diagnostics + "\n" + result.output);
  if (!result.ok() || dryrun.version.empty() || dryrun.variables["TOP"].empty()) {
    const std::vector<std::string> lines = split(result.diagnostics + "\n" + result.output, '\n');
    const auto fault = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find("fatal") != std::string::npos || line.find("error") != std::string::npos;
    });
    dryrun.problem = nvcc.string() + " does not answer --dryrun: " +
                     (result.timed_out       ? "no answer within " + human_duration(dryrun_limit)
                      : fault != lines.end() ? *fault
                      : lines.empty()        ? "exit code " + std::to_string(result.exit_code)
                                             : lines.back());
  }
  return dryrun;
}

/// None of an nvcc that has not the option (before 11.0).
std::vector<std::string> known_archs(const Machine& machine, const fs::path& nvcc,
                                     const Environment& environment) {
  Command command;
  command.argv = {nvcc.string(), "--list-gpu-code"};
  command.working_directory = machine.working_directory;
  command.environment = environment;
  command.limit = dryrun_limit;
  const ProcessResult result = machine.processes.run(command);
  std::vector<std::string> archs = result.ok() ? split(result.output, '\n') : std::vector<std::string>{};
  std::erase_if(archs, [](const std::string& arch) { return !arch.starts_with("sm_"); });
  return archs;
}

/// Programs by the PATH that nvcc's profile makes; `words` as nvcc prints them.
std::optional<fs::path> program_of(const Dryrun& dryrun, const Environment& environment,
                                   const std::string& word) {
  constexpr std::string_view cicc = "$CICC_PATH";
  std::string name = word;
  if (name.starts_with(cicc)) {
    const auto found = dryrun.variables.find("CICC_PATH");
    name = (found == dryrun.variables.end() ? "" : found->second) + name.substr(cicc.size());
  }
  const std::optional<std::string> program = environment.find_program(name);
  return program ? std::optional(fs::path(*program)) : std::nullopt;
}

/// That of what nvcc starts.
Environment environment_of(const Dryrun& dryrun, const Environment& environment) {
  Environment changed = environment;
  if (const auto path = dryrun.variables.find("PATH"); path != dryrun.variables.end()) {
    changed.set("PATH", path->second);
  }
  if (const auto libraries = dryrun.variables.find("LD_LIBRARY_PATH"); libraries != dryrun.variables.end()) {
    changed.set("LD_LIBRARY_PATH", libraries->second);
  }
  return changed;
}

struct Choice {
  fs::path program;
  std::string origin;
};

std::optional<fs::path> executable(const Machine& machine, const fs::path& path) {
  const fs::path absolute = absolute_from(path, machine.working_directory);
  return machine.environment.find_program(absolute.string()) ? std::optional(absolute) : std::nullopt;
}

Choice choose_nvcc(const Machine& machine) {
  if (const auto value = machine.environment.get_nonempty("DCUOP_NVCC")) {
    const bool is_name = value->find('/') == std::string::npos;
    const auto program = is_name ? machine.environment.find_program(*value) : std::optional(*value);
    if (program && executable(machine, *program)) {
      return {absolute_from(*program, machine.working_directory), "DCUOP_NVCC"};
    }
    throw Error(ExitCode::environment, "DCUOP_NVCC=" + *value + " is not a program that can be run",
                "set DCUOP_NVCC to an nvcc's path, or unset it");
  }
  std::vector<std::string> looked_at;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto root = machine.environment.get_nonempty(name)) {
      const fs::path directory =
          below_root(machine.root, absolute_from(*root, machine.working_directory)) / "bin";
      if (auto program = executable(machine, directory / "nvcc")) {
        return {*program, name};
      }
      looked_at.push_back(name + std::string("/bin (") + directory.string() + ")");
    }
  }
  if (const auto program = machine.environment.find_program("nvcc")) {
    return {absolute_from(*program, machine.working_directory), "nvcc on PATH"};
  }
  looked_at.emplace_back("PATH");
  constexpr const char* usual = "/usr/local/cuda";
  if (auto program = executable(machine, below_root(machine.root, usual) / "bin/nvcc")) {
    return {*program, usual};
  }
  looked_at.push_back(usual + std::string("/bin"));
  throw Error(ExitCode::environment, "no CUDA compiler: nvcc is not in " + join(looked_at, ", "),
              "install the CUDA toolkit, or set CUDA_HOME or DCUOP_NVCC");
}

Digest question_of(const Machine& machine, const fs::path& nvcc, const Compiler& host,
                   const Environment& environment) {
  return driver_question(machine, nvcc, {"-ccbin", host.program.string()}, environment);
}

json texts(const std::vector<fs::path>& paths) {
  json list = json::array();
  for (const fs::path& path : paths) {
    list.push_back(escaped_bytes(path.string()));
  }
  return list;
}

std::string memo_text(const CudaCompiler& cuda) {
  return json_text({{"version", cuda.compiler.version},
                    {"include_dirs", texts(cuda.include_dirs)},
                    {"library_dir", escaped_bytes(cuda.library_dir.string())},
                    {"archs", cuda.archs}});
}

std::optional<CudaCompiler> cuda_from(const std::string& text) {
  try {
    const json value = json_from(text);
    CudaCompiler cuda;
    cuda.compiler.version = value.at("version").get<std::string>();
    for (const json& directory : value.at("include_dirs")) {
      cuda.include_dirs.emplace_back(unescaped_bytes(directory.get<std::string>()));
    }
    cuda.library_dir = unescaped_bytes(value.at("library_dir").get<std::string>());
    cuda.archs = value.at("archs").get<std::vector<std::string>>();
    return cuda;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

/// Of an nvcc that answered. Witnesses are what it went by.
Answer facts_of(const Dryrun& dryrun, const fs::path& nvcc, const Compiler& host,
                std::vector<std::string>&& archs) {
  const auto variable = [&](const char* name) {
    const auto found = dryrun.variables.find(name);
    return found == dryrun.variables.end() ? std::string() : found->second;
  };
  CudaCompiler cuda;
  cuda.compiler.version = dryrun.version;
  cuda.archs = std::move(archs);
  cuda.include_dirs = directories_in(variable("INCLUDES"), "-I");
  const std::vector<fs::path> more = directories_in(variable("SYSTEM_INCLUDES"), "-isystem");
  cuda.include_dirs.insert(cuda.include_dirs.end(), more.begin(), more.end());
  std::vector<fs::path> witnesses = {nvcc, host.program, fs::path(variable("_HERE_")) / "nvcc.profile"};
  for (const fs::path& directory : directories_in(variable("LIBRARIES"), "-L")) {
    const fs::path runtime = directory / "libcudart.so";
    witnesses.push_back(runtime);
    if (cuda.library_dir.empty() && identity_of(runtime)) {
      cuda.library_dir = directory;
    }
  }
  return {memo_text(cuda), std::move(witnesses)};
}

void add_host(const Toolchain& host, Toolchain& toolchain) {
  toolchain.files.insert(toolchain.files.end(), host.files.begin(), host.files.end());
  const auto by_role = [](const ToolFile& a, const ToolFile& b) {
    return std::tie(a.role, a.path) < std::tie(b.role, b.path);
  };
  std::sort(toolchain.files.begin(), toolchain.files.end(), by_role);
  toolchain.files.erase(
      std::unique(toolchain.files.begin(), toolchain.files.end(),
                  [](const ToolFile& a, const ToolFile& b) { return a.role == b.role && a.path == b.path; }),
      toolchain.files.end());
  toolchain.resolved_cpu = host.resolved_cpu;
  toolchain.identity = Hasher().digest("nvcc", toolchain.identity).digest("host", host.identity).finish();
  if (toolchain.problem.empty()) {
    toolchain.problem = host.problem;
  }
}

/// nvcc's own part, and the PATH and LD_LIBRARY_PATH that the host compiler is started with.
struct Inspected {
  Toolchain toolchain;
  std::string path, library_path;
};

Inspected inspect(const Dryrun& dryrun, const CudaCompiler& cuda, const Environment& environment,
                  std::vector<fs::path>& witnesses) {
  const Environment changed = environment_of(dryrun, environment);
  Inventory inventory(changed);
  inventory.add_program("driver", cuda.compiler.program);
  const auto here = dryrun.variables.find("_HERE_");
  if (here != dryrun.variables.end()) {
    inventory.add_file_if_there("script", fs::path(here->second) / "nvcc.profile");
  }
  // The host compiler, which is asked by itself, is all that nvcc names by a path.
  for (const std::string& word : dryrun.programs) {
    if (word.starts_with('/')) {
      continue;
    }
    if (const auto program = program_of(dryrun, changed, word)) {
      const std::string name = program->filename().string();
      inventory.add_program(name == "cicc" || name == "cudafe++" ? "compiler"
                            : name == "ptxas"                    ? "assembler"
                                                                 : "tool",
                            program->lexically_normal());
    } else {
      inventory.fail(word + ", which nvcc would start, is not on its PATH");
    }
  }
  if (const auto libraries = dryrun.variables.find("NVVMIR_LIBRARY_DIR");
      libraries != dryrun.variables.end()) {
    const fs::path directory = fs::path(libraries->second).lexically_normal();
    inventory.watch(directory);
    for (const std::string& name : list_directory(directory)) {
      inventory.add_file_if_there("bitcode", directory / name);
    }
  }
  Inspected inspected;
  inspected.toolchain.files = inventory.files();
  inspected.toolchain.problem = inventory.problem();
  Hasher hasher;
  for (const ToolFile& file : inspected.toolchain.files) {
    hasher.text("role", file.role)
        .text("name", file.path.filename().string())
        .digest("content", file.content);
  }
  inspected.toolchain.identity = hasher.finish();
  inspected.path = changed.get("PATH").value_or("");
  inspected.library_path = changed.get("LD_LIBRARY_PATH").value_or("");
  witnesses = inventory.watched();
  return inspected;
}

std::string memo_text(const Inspected& inspected) {
  return json_text({{"toolchain", memo_text(inspected.toolchain)},
                    {"path", escaped_bytes(inspected.path)},
                    {"library_path", escaped_bytes(inspected.library_path)}});
}

std::optional<Inspected> inspected_from(const std::string& text) {
  try {
    const json value = json_from(text);
    std::optional<Toolchain> toolchain = toolchain_from(value.at("toolchain").get<std::string>());
    return toolchain ? std::optional(Inspected{std::move(*toolchain),
                                               unescaped_bytes(value.at("path").get<std::string>()),
                                               unescaped_bytes(value.at("library_path").get<std::string>())})
                     : std::nullopt;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

/// Nothing is remembered of an nvcc that did not answer: the cause may be gone at the next call.
struct NoAnswer {
  std::string problem;
};

} // namespace

CudaCompiler find_cuda_compiler(const Machine& machine, const Compiler& host) {
  const Choice choice = choose_nvcc(machine);
  const fs::path temporary(machine.environment.get_nonempty("TMPDIR").value_or("/tmp"));
  const Environment environment = compile_environment(machine.environment, temporary);
  const auto ask = [&] {
    const Dryrun dryrun = ask_nvcc(machine, choice.program, host, environment);
    if (!dryrun.problem.empty()) {
      throw Error(ExitCode::environment, dryrun.problem,
                  "another nvcc: CUDA_HOME or DCUOP_NVCC; another host compiler: CXX");
    }
    return facts_of(dryrun, choice.program, host, known_archs(machine, choice.program, environment));
  };
  const Digest question = question_of(machine, choice.program, host, environment);
  std::optional<CudaCompiler> cuda = cuda_from(machine.memos.recall("cuda", question, ask));
  if (!cuda) {
    cuda = cuda_from(ask().value);
  }
  const std::string version = cuda->compiler.version;
  cuda->compiler = {choice.program, choice.origin, Family::nvcc, version, "nvcc " + version, {}, {}};
  return *cuda;
}

Toolchain resolve_cuda_toolchain(const Machine& machine, const CudaCompiler& cuda, const Compiler& host,
                                 const std::vector<std::string>& host_arguments,
                                 const Environment& environment) {
  const auto ask = [&] {
    const Dryrun dryrun = ask_nvcc(machine, cuda.compiler.program, host, environment);
    std::vector<fs::path> witnesses;
    Inspected inspected;
    if (dryrun.problem.empty()) {
      inspected = inspect(dryrun, cuda, environment, witnesses);
    }
    const std::string problem = dryrun.problem.empty() ? inspected.toolchain.problem : dryrun.problem;
    if (!problem.empty()) {
      throw NoAnswer{problem};
    }
    return Answer{memo_text(inspected), std::move(witnesses)};
  };
  Toolchain toolchain;
  try {
    const Digest question = question_of(machine, cuda.compiler.program, host, environment);
    std::optional<Inspected> inspected =
        inspected_from(machine.memos.recall("cuda-toolchain", question, ask));
    if (!inspected) {
      inspected = inspected_from(ask().value);
    }
    toolchain = std::move(inspected->toolchain);
    Environment changed = environment;
    changed.set("PATH", inspected->path);
    changed.set("LD_LIBRARY_PATH", inspected->library_path);
    std::vector<std::string> arguments = host_arguments;
    arguments.insert(arguments.end(), {"-x", "c++", "-c"});
    add_host(resolve_toolchain(machine, host, arguments, changed), toolchain);
  } catch (const NoAnswer& no_answer) {
    toolchain.problem = no_answer.problem;
  }
  toolchain.compiler = cuda.compiler;
  return toolchain;
}

} // namespace dcuop::probe
