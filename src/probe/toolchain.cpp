#include "dcuop/probe/toolchain.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "arch_refusal.hpp"
#include "compiler_facts.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/memo.hpp"
#include "dcuop/support/text.hpp"
#include "memo_values.hpp"
#include "rocm_files.hpp"
#include "toolchain_inventory.hpp"
#include "wrapper_scripts.hpp"

namespace dcuop::probe {

namespace {

struct Request {
  const Machine& machine;
  const Compiler& compiler;
  const std::vector<std::string>& arguments;
  const Environment& environment;
};

struct Inspection {
  Toolchain toolchain;
  std::vector<fs::path> witnesses;
};

/// Leaves MemoStore::recall without anything remembered: the cause of a problem may be gone at the next call.
struct Unidentified {
  Toolchain toolchain;
};

bool is_hip(const Request& request) {
  static constexpr std::array<std::string_view, 3> wrappers = {"hipcc", "dcc", "aicc"};
  const auto name = request.compiler.program.filename().string();
  return !request.compiler.hip_version.empty() ||
         std::find(wrappers.begin(), wrappers.end(), name) != wrappers.end() ||
         std::any_of(request.arguments.begin(), request.arguments.end(),
                     [](const std::string& argument) { return argument == "hip" || argument == "-xhip"; });
}

bool names_offload_arch(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument.starts_with("--offload-arch") || argument.starts_with("--amdgpu-target") ||
           argument.starts_with("--cuda-gpu-arch");
  });
}

/// Program directories in the order in which GCC searches them: its own, then PATH.
std::vector<fs::path> search_directories(const Request& request, const DriverReport& report) {
  auto directories = report.program_path;
  for (const auto& part : split(request.environment.get("PATH").value_or(""), ':')) {
    directories.emplace_back(part);
  }
  for (auto& directory : directories) {
    directory = absolute_from(directory, request.machine.working_directory);
  }
  return directories;
}

/// The linker that collect2 starts (gcc/collect2.cc): "real-ld", "collect-ld" or ld in GCC's own directories,
/// then ld on PATH; ld.NAME for -fuse-ld=NAME.
void add_collect2_linker(const Request& request, const DriverReport& report, const DriverStep& step,
                         Inventory& inventory) {
  constexpr std::string_view chooser = "-fuse-ld=";
  std::string name = "ld";
  for (const auto& word : step.argv) {
    if (word.starts_with(chooser)) {
      name = "ld." + word.substr(chooser.size());
    }
  }
  const auto own = inventory.find_program({"real-ld", "collect-ld"}, report.program_path);
  const auto linker = own ? own : inventory.find_program({name}, search_directories(request, report));
  if (linker) {
    inventory.add_program("linker", *linker);
  } else {
    inventory.fail(name + ", which collect2 would start, is not on PATH");
  }
}

/// Link-time optimisation runs GCC's lto-wrapper, which runs the driver again, which runs lto1.
void add_link_time_optimiser(const Request& request, const DriverReport& report, Inventory& inventory) {
  const bool wanted = std::any_of(request.arguments.begin(), request.arguments.end(),
                                  [](const std::string& argument) { return argument.starts_with("-flto"); });
  if (!wanted) {
    return;
  }
  if (const auto optimiser = inventory.find_program({"lto1"}, report.program_path)) {
    inventory.add_program("compiler", *optimiser);
  }
}

void add_step(const Request& request, const DriverReport& report, const DriverStep& step,
              Inventory& inventory) {
  const auto& name = step.argv.front();
  const auto program = name.find('/') == std::string::npos
                           ? inventory.find_program({name}, search_directories(request, report))
                           : std::optional(absolute_from(name, request.machine.working_directory));
  if (!program) {
    inventory.fail(name + ", which the driver would start, is not on PATH");
    return;
  }
  inventory.add_program(std::string(role_of(step)), *program);
  if (program->filename() == "collect2") {
    add_collect2_linker(request, report, step, inventory);
    add_link_time_optimiser(request, report, inventory);
  }
  for (const auto& bitcode : bitcode_of(step)) {
    inventory.add_file("bitcode", absolute_from(bitcode, request.machine.working_directory));
    inventory.watch(absolute_from(bitcode, request.machine.working_directory).parent_path());
  }
  for (const auto& plugin : plugins_of(step)) {
    inventory.add_plugin(absolute_from(plugin, request.machine.working_directory));
  }
}

/// What is called, and the driver behind it. Comes after the steps: clang's driver is its own cc1.
void add_drivers(const Request& request, const DriverReport& report, Inventory& inventory) {
  inventory.add_program(is_script(request.compiler.program) ? "wrapper" : "driver", request.compiler.program);
  if (report.collect_gcc.empty()) {
    return;
  }
  if (report.collect_gcc.is_absolute()) {
    inventory.add_program("driver", report.collect_gcc);
  } else if (const auto driver = request.environment.find_program(report.collect_gcc.string())) {
    inventory.add_program("driver", absolute_from(*driver, request.machine.working_directory));
  }
}

void add_installation(const Request& request, Inventory& inventory) {
  if (!is_hip(request)) {
    return;
  }
  const auto roots = installation_roots(request.compiler.program, request.environment);
  for (const auto& path : wrapper_information_files(roots)) {
    inventory.add_file_if_there("script", path);
  }
  for (const auto& path : wrapper_decision_paths(roots)) {
    inventory.watch(path);
  }
}

/// Files that change a driver without a flag, those that would if they appeared, and the places from which it
/// chose one of several.
void add_configuration(const DriverReport& report, Inventory& inventory) {
  for (const auto& path : report.configuration_files) {
    inventory.add_file("script", path);
  }
  if (!report.installed_dir.empty()) {
    for (const auto* name : {"clang.cfg", "clang++.cfg"}) {
      inventory.watch(report.installed_dir / name);
      inventory.watch(report.installed_dir / (report.target + "-" + name));
    }
    inventory.watch(report.installed_dir / (report.target + ".cfg"));
  }
  for (const auto& directory : report.program_path) {
    inventory.watch(directory / "specs");
  }
  for (const auto& installation : gcc_installations(report)) {
    inventory.watch(installation.parent_path());
  }
}

/// Of roles, names and contents. The resource directory's and the GCC installation's versions stand for the
/// search directories that follow from them.
Digest identity_of_toolchain(const DriverReport& report, const std::vector<ToolFile>& files) {
  Hasher hasher;
  if (const auto* step = host_compile_step(report)) {
    hasher.text("resource directory",
                fs::path(option_of(*step, "-resource-dir").value_or("")).filename().string());
  }
  for (const auto& installation : gcc_installations(report)) {
    hasher.text("GCC installation",
                (installation.parent_path().filename() / installation.filename()).string());
  }
  using Part = std::tuple<std::string, std::string, Digest>;
  std::vector<Part> parts;
  parts.reserve(files.size());
  for (const auto& file : files) {
    parts.emplace_back(file.role, file.path.filename().string(), file.content);
  }
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  for (const auto& [role, name, content] : parts) {
    hasher.text("role", role).text("name", name).digest("content", content);
  }
  return hasher.finish();
}

Inspection inspect(const Request& request) {
  const auto [report, problem, listed] =
      ask_driver(request.machine, request.compiler.program, request.arguments, request.environment);
  refuse_unknown_arch(request.compiler, report);

  Inspection inspection;
  inspection.toolchain.problem = problem;
  if (!problem.empty()) {
    return inspection;
  }
  Inventory inventory(request.environment);
  for (const auto& step : report.steps) {
    add_step(request, report, step, inventory);
  }
  add_drivers(request, report, inventory);
  add_installation(request, inventory);
  add_configuration(report, inventory);

  inspection.toolchain.files = inventory.files();
  if (asks_for_native_cpu(request.arguments, request.environment)) {
    inspection.toolchain.resolved_cpu = resolved_cpu(report);
  }
  inspection.toolchain.identity = identity_of_toolchain(report, inspection.toolchain.files);
  inspection.toolchain.problem = inventory.problem();
  inspection.witnesses = inventory.watched();
  inspection.witnesses.insert(inspection.witnesses.end(), listed.begin(), listed.end());
  return inspection;
}

Toolchain recalled_or_inspected(const Request& request) {
  const auto ask = [&] {
    auto inspection = inspect(request);
    if (!inspection.toolchain.problem.empty()) {
      throw Unidentified{std::move(inspection.toolchain)};
    }
    return Answer{memo_text(inspection.toolchain), std::move(inspection.witnesses)};
  };
  try {
    const auto question =
        driver_question(request.machine, request.compiler.program, request.arguments, request.environment);
    auto remembered = toolchain_from(request.machine.memos.recall("toolchain", question, ask));
    return remembered ? std::move(*remembered) : inspect(request).toolchain;
  } catch (const Unidentified& unidentified) {
    return unidentified.toolchain;
  }
}

} // namespace

Toolchain resolve_toolchain(const Machine& machine, const Compiler& compiler,
                            const std::vector<std::string>& arguments, const Environment& environment) {
  const Request request{machine, compiler, arguments, environment};
  Toolchain toolchain;
  if (is_hip(request) && !names_offload_arch(arguments)) {
    // hipcc would ask rocm_agent_enumerator, and compile for gfx803 when that fails.
    toolchain.problem =
        compiler.program.string() + " is called without --offload-arch, so it would guess one";
  } else {
    toolchain = recalled_or_inspected(request);
  }
  toolchain.compiler = compiler;
  return toolchain;
}

} // namespace dcuop::probe
