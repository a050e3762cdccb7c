// DCU6xx: what a running process has loaded. The main flow is examine_process().
#include "dcuop/doctor/live.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "case_file.hpp"
#include "checks.hpp"
#include "symbol_names.hpp"

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

using finding::Severity;

/// What the checks of a process look at.
struct LiveCase {
  const LiveProcess& process;
  const EnvironmentFacts& facts;
  const LiveQuestion& question;
  const probe::Machine& machine; ///< with the process' environment and root
  ImagePool pool;
  std::vector<LoadedLibrary> loaded;
};

finding::Finding make(const LiveCase& live, std::string_view rule, finding::Values values) {
  values.emplace("process", "pid " + std::to_string(live.process.pid));
  auto made = finding::make_finding(rule, values);
  made.subject = "pid " + std::to_string(live.process.pid);
  return made;
}

/// "libgomp-d22c30c5.so.1" -> "libgomp": wheels carry copies with a hash in the name (auditwheel).
std::string plain_stem(const LoadedLibrary& library) {
  const auto name = library.file.path.filename().string();
  std::string stem(library_stem(name));
  const auto dash = stem.rfind('-');
  if (dash != std::string::npos && stem.size() - dash == 9 &&
      std::all_of(stem.begin() + static_cast<std::ptrdiff_t>(dash) + 1, stem.end(),
                  [](unsigned char character) { return std::isxdigit(character) != 0; })) {
    stem.resize(dash);
  }
  return stem.starts_with("libpython") ? "libpython" : stem;
}

std::string with_soname(const LoadedLibrary& library) {
  const auto name = library.file.path.filename().string();
  return library.file.path.string() +
         (library.soname.empty() || library.soname == name ? "" : " (" + library.soname + ")");
}

std::string names_of(const std::vector<const LoadedLibrary*>& libraries) {
  std::set<std::string> names;
  for (const auto* library : libraries) {
    names.insert(library->file.path.filename().string());
  }
  return join({names.begin(), names.end()}, ", ");
}

void show(finding::Finding& finding, const std::vector<const LoadedLibrary*>& libraries,
          const char* label = "loaded") {
  constexpr std::size_t shown = 8;
  for (std::size_t i = 0; i < std::min(libraries.size(), shown); ++i) {
    finding.evidence.push_back({label, with_soname(*libraries[i])});
  }
  if (libraries.size() > shown) {
    finding.evidence.push_back({label, counted(libraries.size() - shown, "more file")});
  }
}

using Copies = std::vector<const LoadedLibrary*>;

/// What a variable that puts libraries on the path has to do with it.
void blame_environment(const LiveCase& live, finding::Finding& finding) {
  for (const char* name : {"LD_PRELOAD", "LD_LIBRARY_PATH"}) {
    if (const auto value = live.process.environment.get_nonempty(name)) {
      finding.evidence.push_back({"set", std::string(name) + "=" + *value});
    }
  }
}

void check_runtimes(LiveCase& live, Findings& findings) {
  Copies runtimes;
  for (const auto& library : live.loaded) {
    if (library_family(library.file.path.filename().string()) == LibraryFamily::hip_runtime) {
      runtimes.push_back(&library);
    }
  }
  if (runtimes.size() < 2) {
    return;
  }
  auto finding = make(live, "DCU601", {{"count", std::to_string(runtimes.size())}});
  show(finding, runtimes);
  for (const auto* runtime : runtimes) {
    std::vector<std::string> users;
    for (const auto& library : live.loaded) {
      const auto* image = live.pool.read(library.file.here);
      const bool needs =
          image != nullptr && library.file.on_disk == OnDisk::same &&
          std::find(image->needed.begin(), image->needed.end(), runtime->soname) != image->needed.end();
      if (needs) {
        users.push_back(library.file.path.filename().string());
      }
    }
    if (users.size() > 4) {
      const auto rest = users.size() - 4;
      users.resize(4);
      users.push_back(counted(rest, "other"));
    }
    if (!users.empty()) {
      finding.evidence.push_back({"wanted by", runtime->soname + ": " + join(users, ", ")});
    }
  }
  blame_environment(live, finding);
  finding.fix =
      "have one runtime: take the toolkit out of LD_LIBRARY_PATH where torch brings its own libamdhip64, or "
      "build the operator for the runtime that torch is linked to (dcuop build OP); then restart";
  finding.chinese.fix =
      "只保留一个运行时：若 torch 自带 libamdhip64，把工具包从 LD_LIBRARY_PATH 中去掉；或针对 torch "
      "链接的运行时编译算子（dcuop build OP）；然后重启进程";
  findings.push_back(std::move(finding));
}

/// Libraries with state of their own, of which two copies do not see each other.
constexpr std::array<std::string_view, 16> one_a_process = {
    "libstdc++", "libc10",       "libc10_hip",    "libc10_cuda",     "libtorch",         "libtorch_cpu",
    "libpython", "libtorch_hip", "libtorch_cuda", "libtorch_python", "libhsa-runtime64", "libamd_comgr",
    "librccl",   "libamd_smi",   "librocm_smi64", "libgomp"};

void check_copies(LiveCase& live, Findings& findings) {
  std::map<std::string, Copies> by_stem;
  for (const auto& library : live.loaded) {
    auto stem = plain_stem(library);
    if (std::find(one_a_process.begin(), one_a_process.end(), stem) != one_a_process.end()) {
      by_stem[std::move(stem)].push_back(&library);
    }
  }
  for (const auto& [stem, copies] : by_stem) {
    if (copies.size() < 2) {
      continue;
    }
    auto finding = make(live, "DCU602", {{"library", stem}, {"count", std::to_string(copies.size())}});
    // Two OpenMP or SMI libraries cost threads or a crash at exit; the others cost types, memory and devices.
    const bool mild = stem == "libgomp" || stem == "librocm_smi64" || stem == "libamd_smi";
    finding.severity = mild ? Severity::warning : Severity::error;
    show(finding, copies);
    blame_environment(live, finding);
    finding.fix = "find who brings the second one (readelf -d, LD_DEBUG=libs) and leave one; then restart";
    finding.chinese.fix = "找出是谁带来了第二份（readelf -d、LD_DEBUG=libs），只保留一份；然后重启进程";
    findings.push_back(std::move(finding));
  }
}

void check_disk(LiveCase& live, Findings& findings) {
  Copies replaced, deleted;
  for (const auto& library : live.loaded) {
    if (library.file.on_disk == OnDisk::replaced) {
      replaced.push_back(&library);
    } else if (library.file.on_disk == OnDisk::deleted) {
      deleted.push_back(&library);
    }
  }
  const auto pid = std::to_string(live.process.pid);
  if (!replaced.empty()) {
    auto finding = make(live, "DCU603", {{"files", names_of(replaced)}});
    show(finding, replaced, "file");
    finding.evidence.push_back({"so", replaced.front()->file.changed});
    finding.fix = "restart the process (pid " + pid + "); a reload inside it keeps the old code";
    finding.chinese.fix = "重启进程（pid " + pid + "）；在进程内重新加载仍是旧代码";
    findings.push_back(std::move(finding));
  }
  if (!deleted.empty()) {
    auto finding = make(live, "DCU604", {{"files", names_of(deleted)}});
    show(finding, deleted, "file");
    finding.fix = "build or install them again, then restart the process (pid " + pid + ")";
    finding.chinese.fix = "重新编译或安装，然后重启进程（pid " + pid + "）";
    findings.push_back(std::move(finding));
  }
}

/// DTK brings libraries of CUDA's names for its own devices (/opt/dtk/cuda).
bool is_dtks(const std::filesystem::path& path) {
  return std::any_of(path.begin(), path.end(),
                     [](const auto& part) { return part.string().starts_with("dtk"); });
}

void check_mixture(LiveCase& live, Findings& findings) {
  Copies cuda, hip;
  bool cuda_torch = false;
  for (const auto& library : live.loaded) {
    const auto name = library.file.path.filename().string();
    const auto family = library_family(name);
    if (family == LibraryFamily::cuda && !is_dtks(library.file.path)) {
      cuda.push_back(&library);
      cuda_torch = cuda_torch || name.starts_with("libtorch_cuda") || name.starts_with("libc10_cuda");
    } else if (family == LibraryFamily::hip_runtime || name.starts_with("libtorch_hip") ||
               name.starts_with("libc10_hip")) {
      hip.push_back(&library);
    }
  }
  if (cuda.empty() || hip.empty()) {
    return;
  }
  auto finding = make(live, "DCU605", {{"cuda", names_of(cuda)}, {"hip", names_of(hip)}});
  finding.severity = cuda_torch ? Severity::error : Severity::warning;
  show(finding, cuda);
  show(finding, hip);
  finding.fix = "install the DTK (+das...dtk) or ROCm wheel of every package that brings CUDA's libraries; "
                "then restart";
  finding.chinese.fix = "对每个带来 CUDA 库的软件包，安装其 DTK（+das...dtk）或 ROCm wheel；然后重启进程";
  findings.push_back(std::move(finding));
}

/// Device code against the devices that the process sees, with the checks of a file.
void check_device_code(LiveCase& live, Findings& findings) {
  for (const auto& library : live.loaded) {
    if (library.targets.empty()) {
      continue;
    }
    Question question;
    question.file = library.file.here;
    question.archs = live.question.archs;
    CaseFile file(question, live.facts, live.machine);
    if (file.image == nullptr) {
      continue;
    }
    file.device_code = elf::read_device_code(*file.image);
    Findings found;
    for (const auto& check : device_checks()) {
      check.apply(file, found);
    }
    for (auto& one : found) {
      if (one.rule == "DCU305") {
        continue; // said once, in the headline
      }
      one.subject = library.file.path.string();
      one.evidence.insert(one.evidence.begin(), {"loaded", library.file.path.string()});
      findings.push_back(std::move(one));
    }
  }
}

/// The variables that pick devices, as the process was started with them; the rest of the machine is `doctor`'s.
void check_selection(LiveCase& live, Findings& findings) {
  constexpr std::array<std::string_view, 4> wanted = {"DCU409", "DCU410", "DCU418", "DCU419"};
  const Question nothing;
  CaseFile machine(nothing, live.facts, live.machine);
  for (const auto& check : environment_checks()) {
    const bool is_wanted =
        std::any_of(check.rules.begin(), check.rules.end(), [&wanted](std::string_view rule) {
          return std::find(wanted.begin(), wanted.end(), rule) != wanted.end();
        });
    if (is_wanted) {
      check.apply(machine, findings);
    }
  }
}

struct LiveCheck {
  int rules = 1;
  void (*apply)(LiveCase& live, Findings& findings) = nullptr;
};
// In the order in which causes outrank each other.
constexpr std::array checks = {LiveCheck{1, check_runtimes}, LiveCheck{1, check_copies},
                               LiveCheck{1, check_mixture},  LiveCheck{9, check_device_code},
                               LiveCheck{2, check_disk},     LiveCheck{4, check_selection}};

/// torch's and the toolkit's own libraries hold gigabytes of device code, and are not what was built here.
bool worth_unpacking(const elf::Image& image) {
  const auto family = library_family(image.path.filename().string());
  return family == LibraryFamily::other && image.section(".hip_fatbin") != nullptr;
}

/// One file is loaded once, whatever its names; read as far as its content still is what was mapped.
std::vector<LoadedLibrary> libraries_of(const LiveProcess& process, ImagePool& pool) {
  std::vector<LoadedLibrary> loaded;
  for (std::size_t i = 0; i < process.files.size(); ++i) {
    LoadedLibrary library;
    library.file = process.files[i];
    library.soname = library.file.path.filename().string();
    if (library.file.on_disk == OnDisk::same) {
      if (const auto* image = pool.read(library.file.here)) {
        library.soname = image->soname.empty() ? library.soname : image->soname;
        library.is_module =
            std::any_of(image->symbols.begin(), image->symbols.end(), [](const elf::Symbol& symbol) {
              return symbol.defined && symbol.name.starts_with("PyInit_");
            });
        if (worth_unpacking(*image)) {
          library.targets = elf::read_device_code(*image).targets();
        }
      }
    }
    loaded.push_back(std::move(library));
  }
  return loaded;
}

std::string program_version(const LiveProcess& process) {
  for (const auto& file : process.files) {
    const auto name = file.path.filename().string();
    for (const std::string_view prefix : {"libpython", "python"}) {
      const auto rest =
          name.starts_with(prefix) ? std::string_view(name).substr(prefix.size()) : std::string_view{};
      if (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest[0])) != 0) {
        return std::string(rest.substr(0, rest.find(".so")));
      }
    }
  }
  return {};
}

probe::Python python_of(const LiveProcess& process) {
  probe::Python python;
  python.executable =
      process.other_mounts ? process.root / process.executable.relative_path() : process.executable;
  python.origin = "/proc/" + std::to_string(process.pid) + "/exe";
  python.version = program_version(process);
  python.implementation = python.version.empty() ? "" : "cpython";
  return python;
}

probe::Machine machine_of(const LiveProcess& process, const probe::Machine& machine) {
  return {machine.processes,
          process.environment_known ? process.environment : machine.environment,
          machine.memos,
          machine.working_directory,
          process.other_mounts ? process.root : machine.root,
          machine.is_saved};
}

std::string device_words(const LiveCase& live, bool zh) {
  const bool any = std::any_of(live.loaded.begin(), live.loaded.end(),
                               [](const LoadedLibrary& library) { return !library.targets.empty(); });
  if (!any) {
    return zh ? "其中没有算子的 HIP 设备代码" : "no operator with HIP device code among them";
  }
  if (live.question.archs.empty() && live.facts.devices.devices.empty()) {
    return zh ? "它看不到设备，因此未判断能否启动：--arch ARCH 可判断"
              : "it sees no device, so launch was not judged: --arch ARCH judges it";
  }
  return zh ? "设备代码适合其设备" : "their device code fits its devices";
}

std::string headline_of(const LiveCase& live, const LiveReport& report, finding::LanguageOfText language) {
  const bool zh = language == finding::LanguageOfText::zh;
  const auto title = live.process.title();
  const auto first = report.findings.begin();
  if (first != report.findings.end() && first->severity != Severity::note) {
    const auto summary = words_of(*first, language).summary;
    const auto about =
        first->subject.starts_with('/') ? std::filesystem::path(first->subject).filename().string() : "";
    if (zh) {
      return title + (about.empty() ? "：" : " 中的 " + about + "：") + summary + "。";
    }
    return title + ": " + (about.empty() ? "" : about + ": ") + summary + ".";
  }
  const auto modules = std::count_if(live.loaded.begin(), live.loaded.end(),
                                     [](const LoadedLibrary& library) { return library.is_module; });
  const auto files = std::to_string(live.loaded.size());
  if (zh) {
    return title + "：没有发现错误（已加载 " + files + " 个文件，其中 " + std::to_string(modules) +
           " 个扩展模块；" + device_words(live, true) + "）";
  }
  return title + ": no error found (" + counted(live.loaded.size(), "file") + " loaded, " +
         counted(static_cast<std::uint64_t>(modules), "extension module") + "; " + device_words(live, false) +
         ")";
}

std::vector<FactLine> fact_lines_of(const LiveCase& live) {
  const auto& process = live.process;
  const auto proc = "/proc/" + std::to_string(process.pid);
  std::vector<FactLine> lines = {
      {"process", process.command_line, proc + "/cmdline"},
      {"executable", process.executable.string(), proc + "/exe"},
      {"user", process.user_name, proc + "/status"},
      {"state", process.state, proc + "/status"},
      {"mounts", process.other_mounts ? "another mount namespace: a container" : "this program's",
       proc + "/ns/mnt"}};
  if (live.facts.torch) {
    lines.push_back({"torch", live.facts.torch->summary(), live.facts.torch->package.string()});
  }
  constexpr std::array names = {"LD_LIBRARY_PATH",
                                "LD_PRELOAD",
                                "HIP_VISIBLE_DEVICES",
                                "ROCR_VISIBLE_DEVICES",
                                "CUDA_VISIBLE_DEVICES",
                                "HSA_OVERRIDE_GFX_VERSION",
                                "ROCM_PATH",
                                "HIP_PATH",
                                "PYTORCH_ROCM_ARCH",
                                "TORCH_EXTENSIONS_DIR",
                                "VIRTUAL_ENV",
                                "CONDA_PREFIX"};
  for (const char* name : names) {
    if (const auto value = process.environment.get(name)) {
      lines.push_back({name, value->empty() ? "\"\"" : *value, "as the process was started"});
    }
  }
  if (!process.environment_known) {
    lines.push_back({"environment", "unknown", proc + "/environ cannot be read"});
  }
  for (std::size_t i = 0; i < live.facts.devices.devices.size(); ++i) {
    const auto& device = live.facts.devices.devices[i];
    lines.push_back({"device " + std::to_string(i), device.target_id, device.source});
  }
  if (live.facts.devices.devices.empty()) {
    lines.push_back({"devices", "none", join(live.facts.devices.sources, "; ")});
  }
  for (const auto& library : live.loaded) {
    auto value = with_soname(library);
    value += library.targets.empty() ? "" : ", device code for " + join(library.targets, ", ");
    const auto state = library.file.on_disk == OnDisk::same ? std::string{} : to_string(library.file.on_disk);
    lines.push_back({library.is_module ? "module" : "library", value, state});
  }
  return lines;
}

} // namespace

EnvironmentFacts facts_of(const LiveProcess& process, const probe::Machine& machine) {
  EnvironmentFacts facts;
  const auto there = machine_of(process, machine);
  facts.python = python_of(process);
  for (const auto& file : process.files) {
    // .../site-packages/torch/lib/libtorch_cpu.so
    if (file.path.filename() == "libtorch_cpu.so" && file.on_disk != OnDisk::deleted) {
      facts.python->search_path = {file.here.parent_path().parent_path().parent_path()};
    }
  }
  try {
    facts.torch = probe::find_torch(there, *facts.python);
  } catch (const std::exception& fault) {
    facts.torch_problem = fault.what();
  }
  // rocminfo would run with that environment (PATH, LD_PRELOAD): only where it could have been run anyway.
  const bool own = process.user == ::geteuid() && !process.other_mounts;
  facts.devices = probe::find_devices(there, own);
  return facts;
}

LiveReport examine_process(const LiveProcess& process, const LiveQuestion& question,
                           const probe::Machine& machine) {
  const auto facts = facts_of(process, machine);
  const auto there = machine_of(process, machine);
  LiveCase live{process, facts, question, there, ImagePool(there.root), {}};
  live.loaded = libraries_of(process, live.pool);
  LiveReport report;
  for (const auto& check : checks) {
    check.apply(live, report.findings);
    report.checks += check.rules;
  }
  finding::sort_findings(report.findings);
  report.headline = headline_of(live, report, finding::LanguageOfText::en);
  report.headline_chinese = headline_of(live, report, finding::LanguageOfText::zh);
  report.facts = fact_lines_of(live);
  if (!question.file.empty()) {
    Question about;
    about.file = absolute_from(question.file, question.working_directory);
    if (process.other_mounts) {
      about.file = process.root / about.file.relative_path();
    }
    about.archs = question.archs;
    for (const auto& file : process.files) {
      if (file.on_disk == OnDisk::same) {
        about.loaded.push_back(file.here);
      }
    }
    report.file = diagnose(about, facts, there);
  }
  report.loaded = std::move(live.loaded);
  return report;
}

} // namespace dcuop::doctor
