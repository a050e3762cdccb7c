// DCU408, DCU414 to DCU417: the DTK or ROCm around the process.
#include <algorithm>
#include <map>
#include <set>

#include "check_machine.hpp"
#include "symbol_names.hpp"

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

using finding::Severity;

void check_dtk(CaseFile& file, Findings& findings) {
  const auto& torch = file.facts.torch;
  const auto& rocm = file.facts.rocm;
  if (!torch || !rocm || torch->dtk.empty() || !rocm->is_dtk || rocm->version.empty()) {
    return;
  }
  // torch's tag has year and month; the toolkit may add a patch ("25.04.1").
  const bool same = rocm->version == torch->dtk || rocm->version.starts_with(torch->dtk + ".") ||
                    torch->dtk.starts_with(rocm->version + ".");
  if (!same) {
    auto finding = file.finding(
        "DCU408", {{"torch", torch->dtk}, {"installed", rocm->version}, {"root", rocm->root.string()}});
    finding.evidence.push_back({"torch", torch->version});
    finding.evidence.push_back({"file", rocm->version_source});
    finding.fix = "install the torch wheel tagged for DTK " + rocm->version + ", or load DTK " + torch->dtk;
    finding.chinese.fix = "安装面向 DTK " + rocm->version + " 的 torch wheel，或加载 DTK " + torch->dtk;
    findings.push_back(std::move(finding));
  }
}

const probe::Rocm* dtk_of(const CaseFile& file) {
  if (file.facts.rocm && file.facts.rocm->is_dtk) {
    return &*file.facts.rocm;
  }
  const auto& installed = file.facts.toolkits.installed;
  const auto found =
      std::find_if(installed.begin(), installed.end(), [](const probe::Rocm& rocm) { return rocm.is_dtk; });
  return found == installed.end() ? nullptr : &*found;
}

/// The driver's user-space half: the HSA runtime is there, and not in the toolkit.
void check_hyhal(CaseFile& file, Findings& findings) {
  const auto& host = file.facts.host;
  const auto* dtk = dtk_of(file);
  const bool there = !host.hyhal.empty() && !host.hyhal_empty;
  const auto* kfd = host.node("/dev/kfd");
  const bool has_device = kfd != nullptr && kfd->exists;
  if (dtk == nullptr || there || (!host.container.there() && !has_device)) {
    return;
  }
  const auto what = host.hyhal_empty ? host.hyhal.string() + " is empty" : "/opt/hyhal is missing";
  const auto zh = host.hyhal_empty ? host.hyhal.string() + " 为空" : "/opt/hyhal 不存在";
  auto finding = file.finding("DCU414", {{"what", what}, {"what:zh", zh}, {"root", dtk->root.string()}});
  // A container without a device builds; it does not launch.
  finding.severity = has_device ? Severity::warning : Severity::note;
  if (identity_of(probe::inside(file.machine.root, dtk->root / ".hyhal"))) {
    finding.evidence.push_back({"nearby", (dtk->root / ".hyhal").string()});
  }
  if (host.container.there()) {
    finding.evidence.push_back({"so", "not mounted into this " + host.container.kind + " container (" +
                                          host.container.evidence + ")"});
    finding.fix = "start the container with: -v /opt/hyhal:/opt/hyhal:ro";
    finding.chinese.fix = "启动容器时加：-v /opt/hyhal:/opt/hyhal:ro";
  } else {
    finding.fix = "install the driver package that has /opt/hyhal";
    finding.chinese.fix = "安装提供 /opt/hyhal 的驱动包";
  }
  findings.push_back(std::move(finding));
}

void check_sourced(CaseFile& file, Findings& findings) {
  const auto& uses = file.facts.toolkits;
  const auto* dtk = dtk_of(file);
  if (dtk == nullptr || uses.sets_root() || uses.sets_library_path() || uses.in_loader_configuration) {
    return;
  }
  auto finding = file.finding("DCU415", {{"root", dtk->root.string()}, {"version", dtk->version}});
  finding.evidence.push_back({"asked",
                              "ROCM_PATH, ROCM_HOME and HIP_PATH are not set; neither LD_LIBRARY_PATH "
                              "nor /etc/ld.so.conf names it"});
  finding.fix = finding.chinese.fix = "source " + dtk->root.string() + "/env.sh";
  findings.push_back(std::move(finding));
}

/// A variable into nowhere, or variables into two toolkits.
void check_mixed(CaseFile& file, Findings& findings) {
  const auto& toolkits = file.facts.toolkits;
  std::map<std::string, std::string> versions; // of each root
  std::vector<std::string> gone;
  for (const auto& use : toolkits.uses) {
    if (use.root.empty()) {
      gone.push_back(use.variable + "=" + use.value.string());
    } else {
      versions.emplace(use.root.string(), use.version);
    }
  }
  if (gone.empty() && versions.size() < 2) {
    return;
  }
  std::vector<std::string> names;
  for (const auto& [root, version] : versions) {
    names.push_back(version + " (" + root + ")");
  }
  const auto what =
      gone.empty() ? "the environment mixes " + join(names, " and ") : join(gone, ", ") + " does not exist";
  const auto zh = gone.empty() ? "环境混用了 " + join(names, " 与 ") : join(gone, ", ") + " 不存在";
  auto finding = file.finding("DCU416", {{"what", what}, {"what:zh", zh}});
  std::set<std::string> said;
  for (const auto& use : toolkits.uses) {
    const auto row = use.variable + ": " + use.value.string() +
                     (use.root.empty() ? " does not exist" : " is " + use.version);
    if (said.insert(row).second) {
      finding.evidence.push_back({"set", row});
    }
  }
  for (const auto& rocm : toolkits.installed) {
    finding.evidence.push_back(
        {"nearby", rocm.root.string() + " is " + (rocm.is_dtk ? "DTK " : "ROCm ") + rocm.version});
  }
  finding.fix = "start a new shell and source one toolkit's env.sh (or load one module)";
  finding.chinese.fix = "新开一个 shell，只 source 一个工具包的 env.sh（或只加载一个 module）";
  findings.push_back(std::move(finding));
}

bool is_runtime(std::string_view soname) {
  const auto family = library_family(soname);
  return family == LibraryFamily::hip_runtime || family == LibraryFamily::rocm;
}

/// Files of the process and of this load by SONAME stem; a file is known by where it really is.
std::map<std::string, std::set<std::string>> runtimes_of(const CaseFile& file) {
  std::map<std::string, std::set<std::string>> files;
  const auto add = [&files](const std::string& soname, const std::filesystem::path& path) {
    if (!path.empty() && is_runtime(soname)) {
      files[std::string(library_stem(soname))].insert(real_path(path).string());
    }
  };
  for (const auto& path : file.process.files()) {
    add(path.filename().string(), path);
  }
  for (const auto& library : file.closure.libraries) {
    add(library.name, library.path);
  }
  return files;
}

void check_copies(CaseFile& file, Findings& findings) {
  if (file.image == nullptr) {
    return;
  }
  for (const auto& [stem, paths] : runtimes_of(file)) {
    if (paths.size() < 2) {
      continue;
    }
    auto finding = file.finding("DCU417", {{"library", stem}, {"count", std::to_string(paths.size())}});
    for (const auto& path : paths) {
      finding.evidence.push_back({"offered", file.described(path)});
    }
    for (const auto& library : file.closure.libraries) {
      if (!library.path.empty() && library_stem(library.name) == stem &&
          library.found_by != elf::FoundBy::already_loaded) {
        finding.evidence.push_back({"wanted by", file.chain_to(library) + " (" + library.name + " by " +
                                                     elf::to_string(library.found_by) + ")"});
      }
    }
    file.fix_by_building(finding);
    findings.push_back(std::move(finding));
  }
}

} // namespace

std::vector<Check> toolkit_checks() {
  return {{{"DCU408"}, check_dtk},
          {{"DCU414"}, check_hyhal},
          {{"DCU415"}, check_sourced},
          {{"DCU416"}, check_mixed},
          {{"DCU417"}, check_copies}};
}

} // namespace dcuop::doctor
