// DCU201 to DCU209: what DT_NEEDED asks for.
#include <algorithm>
#include <functional>
#include <map>

#include "checks.hpp"
#include "nearby.hpp"
#include "symbol_names.hpp"

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

using elf::Library;
using finding::Finding;
using finding::Values;

std::string_view toolkit_of(std::string_view runtime_stem) {
  return runtime_stem == "libgalaxyhip" ? "DTK" : "ROCm";
}

std::string torch_text(const CaseFile& file) {
  return file.facts.torch ? file.facts.torch->summary() : "(none)";
}

/// Directories that were searched in vain, from the candidates that were passed over.
std::string searched_text(const Library& library) {
  constexpr std::string_view no_file = ": no such file";
  std::vector<std::string> places = {"the libraries already loaded"};
  for (const auto& candidate : library.rejected) {
    if (candidate.ends_with(no_file)) {
      const std::filesystem::path where = candidate.substr(0, candidate.size() - no_file.size());
      // hwcaps variants (glibc-hwcaps/x86-64-v3) of one directory are the same place to people.
      auto directory = where.parent_path();
      if (directory.parent_path().filename() == "glibc-hwcaps") {
        directory = directory.parent_path().parent_path();
      }
      if (std::find(places.begin(), places.end(), directory.string()) == places.end()) {
        places.push_back(directory.string());
      }
    }
  }
  places.emplace_back("ld.so.cache");
  return join(places, ", ");
}

std::vector<std::string> passed_over(const Library& library) {
  std::vector<std::string> result;
  std::copy_if(library.rejected.begin(), library.rejected.end(), std::back_inserter(result),
               [](const std::string& candidate) { return !candidate.ends_with(": no such file"); });
  return result;
}

std::string names_of(const std::vector<const Library*>& libraries) {
  std::vector<std::string> names;
  std::transform(libraries.begin(), libraries.end(), std::back_inserter(names),
                 [](const Library* library) { return library->name; });
  return join(names, ", ");
}

std::string names_of(const std::vector<Nearby>& libraries) {
  std::vector<std::string> names;
  std::transform(libraries.begin(), libraries.end(), std::back_inserter(names),
                 [](const Nearby& library) { return library.soname; });
  return join(names, ", ");
}

/// What is missing, by why.
struct Missing {
  std::vector<const Library*> cuda, torch_hip, torch, others;
};

Missing sorted_out(const CaseFile& file) {
  Missing missing;
  const auto& torch = file.facts.torch;
  for (const auto* library : file.missing()) {
    const auto family = library_family(library->name);
    const auto stem = library_stem(library->name);
    const bool hip_half = stem == "libc10_hip" || stem == "libtorch_hip";
    const bool only_missing =
        passed_over(*library).empty(); // else a candidate was damaged: that is the cause
    if (only_missing && family == LibraryFamily::cuda && (!torch || torch->cuda.empty())) {
      missing.cuda.push_back(library);
    } else if (only_missing && family == LibraryFamily::torch && !torch) {
      missing.torch.push_back(library);
    } else if (only_missing && hip_half && torch && !torch->is_hip()) {
      missing.torch_hip.push_back(library);
    } else {
      missing.others.push_back(library);
    }
  }
  return missing;
}

void report_cuda(CaseFile& file, const std::vector<const Library*>& libraries, Findings& findings) {
  if (libraries.empty()) {
    return;
  }
  auto finding = file.finding("DCU203", {{"libraries", names_of(libraries)}});
  finding.evidence.push_back({"wanted by", file.chain_to(*libraries.front())});
  finding.evidence.push_back({"offered", "torch " + torch_text(file)});
  if (file.device_code.has_cuda_fatbin) {
    finding.evidence.push_back({"also", "a section .nv_fatbin with NVIDIA device code"});
  }
  finding.fix =
      "install the package's DTK (+das...dtk) or ROCm wheel, or build it from source with dcuop build";
  finding.chinese.fix = "安装该软件包的 DTK（+das...dtk）或 ROCm wheel，或用 dcuop build 从源码编译";
  findings.push_back(std::move(finding));
}

void report_torch(CaseFile& file, const Missing& missing, Findings& findings) {
  if (!missing.torch.empty()) {
    const auto python =
        file.facts.python ? file.facts.python->executable.string() : "no Python was found, so it";
    auto finding = file.finding("DCU207", {{"libraries", names_of(missing.torch)}, {"python", python}});
    finding.evidence.push_back({"wanted by", file.chain_to(*missing.torch.front())});
    finding.evidence.push_back({"asked", file.facts.torch_problem});
    finding.fix = "dcuop doctor " + file.path.string() + " --python PATH   (the Python that has torch)";
    finding.chinese.fix = "dcuop doctor " + file.path.string() + " --python PATH   （装有 torch 的 Python）";
    findings.push_back(std::move(finding));
  }
  if (const auto& torch = file.facts.torch; torch && !missing.torch_hip.empty()) {
    auto finding =
        file.finding("DCU204", {{"libraries", names_of(missing.torch_hip)}, {"torch", torch_text(file)}});
    finding.evidence.push_back({"wanted by", file.chain_to(*missing.torch_hip.front())});
    finding.evidence.push_back({"offered", torch->library_dir.string() + " has no HIP library"});
    finding.fix =
        "install the DTK (+das...dtk) or ROCm wheel of torch, or name the Python that has it: --python PATH";
    finding.chinese.fix =
        "安装 torch 的 DTK（+das...dtk）或 ROCm wheel，或指定装有它的 Python：--python PATH";
    findings.push_back(std::move(finding));
  }
}

/// What lies there in the place of the library, where its first bytes tell.
std::string what_lies_at(const CaseFile& file, const std::filesystem::path& path) {
  const auto identity = elf::identify(path);
  if (identity.kind == elf::FileKind::lfs_pointer) {
    return path.string() + " is a Git LFS pointer: git lfs pull";
  }
  if (identity.kind == elf::FileKind::empty) {
    return path.string() + " is empty";
  }
  if (identity.kind != elf::FileKind::elf) {
    return {};
  }
  if (identity.elf_class != file.interpreter.elf_class) {
    return path.string() + " is a " + std::to_string(identity.elf_class) + "-bit library";
  }
  return identity.machine == file.interpreter.machine
             ? std::string{}
             : path.string() + " is for " + elf::machine_name(identity.machine);
}

/// Directories of the RUNPATH or RPATH by which `library` is wanted that are not there: as in a build that was
/// moved or installed.
void add_lost_directories(CaseFile& file, const Library& library, Finding& finding) {
  const auto* wanting = library.wanted_by.empty() ? nullptr : file.pool.read(library.wanted_by);
  if (wanting == nullptr) {
    return;
  }
  const bool newer = !wanting->runpath.empty();
  for (const auto& part : split(newer ? wanting->runpath : wanting->rpath, ':')) {
    if (part.starts_with("/") && !identity_of(part)) {
      finding.evidence.push_back({"searched", (newer ? "RUNPATH " : "RPATH ") + part + " of " +
                                                  wanting->path.filename().string() +
                                                  ", which does not exist"});
      return; // one tells it; a long list of them is a tool's default
    }
  }
}

Finding damaged(CaseFile& file, const Library& library, const std::vector<std::string>& why) {
  auto finding = file.finding("DCU206", {{"library", library.name}});
  finding.evidence.push_back({"wanted by", file.chain_to(library)});
  for (const auto& candidate : why) {
    finding.evidence.push_back({"rejected", candidate});
    if (auto what = what_lies_at(file, candidate.substr(0, candidate.find(": "))); !what.empty()) {
      finding.evidence.push_back({"so", std::move(what)});
    }
  }
  finding.fix = "install the package that owns it again";
  finding.chinese.fix = "重新安装其所属的软件包";
  return finding;
}

/// The HIP runtime of the other vendor, when it alone is here.
std::vector<Nearby> other_runtime(CaseFile& file, std::string_view stem) {
  if (stem != "libamdhip64" && stem != "libgalaxyhip") {
    return {};
  }
  return libraries_nearby(file, stem == "libamdhip64" ? "libgalaxyhip" : "libamdhip64");
}

Finding off_path(CaseFile& file, const Library& library, const Nearby& there) {
  auto finding = file.finding("DCU209", {{"library", library.name}, {"path", there.path.string()}});
  if (there.path.filename() != library.name) {
    finding.evidence.push_back(
        {"so", "its file name is not its SONAME " + there.soname + ": the link is missing"});
  }
  finding.fix = finding.chinese.fix =
      "export LD_LIBRARY_PATH=" + there.path.parent_path().string() + "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}";
  return finding;
}

Finding other_vendor(CaseFile& file, const Library& library, const std::vector<Nearby>& installed) {
  const auto stem = library_stem(library.name);
  const auto theirs = library_stem(installed.front().soname);
  auto finding = file.finding("DCU205", {{"library", library.name},
                                         {"candidates", names_of(installed)},
                                         {"built", std::string(toolkit_of(stem))},
                                         {"installed", std::string(toolkit_of(theirs))}});
  finding.evidence.push_back({"nearby", installed.front().path.string()});
  file.fix_by_building(finding);
  return finding;
}

Finding other_version(CaseFile& file, const Library& library, const std::vector<Nearby>& candidates) {
  auto finding = file.finding("DCU202", {{"library", library.name}, {"candidates", names_of(candidates)}});
  for (const auto& candidate : candidates) {
    finding.evidence.push_back({"nearby", file.described(candidate.path)});
  }
  file.fix_by_building(finding);
  return finding;
}

Finding nowhere(CaseFile& file, const Library& library) {
  auto finding = file.finding("DCU201", {{"library", library.name}});
  const auto family = library_family(library.name);
  if (family == LibraryFamily::hip_runtime || family == LibraryFamily::rocm) {
    finding.fix =
        "source /opt/dtk/env.sh (DCU), or install ROCm; then export LD_LIBRARY_PATH=DIR of " + library.name;
    finding.chinese.fix =
        "source /opt/dtk/env.sh（DCU），或安装 ROCm；然后 export LD_LIBRARY_PATH=" + library.name +
        " 所在目录";
  } else {
    finding.fix =
        "install the package that has " + library.name + ", or export LD_LIBRARY_PATH=DIR where it lies";
    finding.chinese.fix = "安装含有 " + library.name + " 的软件包，或 export LD_LIBRARY_PATH=其所在目录";
  }
  return finding;
}

Finding explained(CaseFile& file, const Library& library) {
  if (const auto why = passed_over(library); !why.empty()) {
    return damaged(file, library, why);
  }
  const auto stem = library_stem(library.name);
  const auto nearby = libraries_nearby(file, stem);
  const auto same = std::find_if(nearby.begin(), nearby.end(), [&library](const Nearby& candidate) {
    return candidate.soname == library.name || candidate.path.filename() == library.name;
  });
  Finding finding;
  if (library_family(library.name) == LibraryFamily::python) {
    finding = file.finding("DCU208", {{"library", library.name},
                                      {"python", file.facts.python ? file.facts.python->version : "(none)"}});
    file.fix_by_building(finding);
  } else if (same != nearby.end()) {
    finding = off_path(file, library, *same);
  } else if (!nearby.empty()) {
    finding = other_version(file, library, nearby);
  } else if (const auto runtime = other_runtime(file, stem); !runtime.empty()) {
    finding = other_vendor(file, library, runtime);
  } else {
    finding = nowhere(file, library);
  }
  finding.evidence.insert(finding.evidence.begin(), {"wanted by", file.chain_to(library)});
  finding.evidence.push_back({"searched", searched_text(library)});
  add_lost_directories(file, library, finding);
  return finding;
}

/// Libraries of one toolkit that are missing for one reason are one cause.
void report_others(CaseFile& file, const std::vector<const Library*>& libraries, Findings& findings) {
  std::map<std::string, std::size_t> place_of; // rule and family -> index in findings
  for (const auto* library : libraries) {
    auto finding = explained(file, *library);
    auto family = library_family(library->name);
    family = family == LibraryFamily::rocm ? LibraryFamily::hip_runtime : family;
    const auto group =
        finding.rule +
        (family == LibraryFamily::other ? library->name : std::to_string(static_cast<int>(family)));
    const auto [known, is_new] = place_of.emplace(group, findings.size());
    if (is_new) {
      findings.push_back(std::move(finding));
    } else {
      findings[known->second].evidence.push_back({"also", finding.cause});
    }
  }
}

void check_missing(CaseFile& file, Findings& findings) {
  const auto missing = sorted_out(file);
  report_cuda(file, missing.cuda, findings);
  report_torch(file, missing, findings);
  report_others(file, missing.others, findings);
}

void check_damaged(CaseFile& file, Findings& findings) {
  for (const auto& library : file.closure.libraries) {
    if (!library.path.empty() && !library.problem.empty()) {
      findings.push_back(damaged(file, library, {library.path.string() + ": " + library.problem}));
    }
  }
}

} // namespace

std::vector<Check> library_checks() {
  return {{{"DCU201", "DCU202", "DCU203", "DCU204", "DCU205", "DCU207", "DCU208", "DCU209"}, check_missing},
          {{"DCU206"}, check_damaged}};
}

} // namespace dcuop::doctor
