// DCU422: another libtorch in the place of torch's own. DCU420, DCU220: a library that torch has loaded first is too old
// for a file that brings its own.
#include <algorithm>
#include <set>

#include "checks.hpp"

#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

using finding::Severity;

bool same_build(const elf::Image* a, const elf::Image* b) {
  return a != nullptr && b != nullptr && !a->build_id.empty() && a->build_id == b->build_id;
}

/// The first symbol that the mixture does not have: of what the foreign libraries want, then of what torch's do.
std::string lack_of(CaseFile& file, const std::vector<const Shadow*>& foreign) {
  auto scope = file.process.global;
  scope.insert(scope.end(), file.process.torch_images.begin(), file.process.torch_images.end());
  std::vector<const elf::Image*> wanting;
  for (const auto* shadow : foreign) {
    if (const auto* image = file.pool.read(shadow->taken)) {
      wanting.push_back(image);
    }
  }
  wanting.insert(wanting.end(), file.process.torch_images.begin(), file.process.torch_images.end());
  for (const auto* image : wanting) {
    if (const auto unbound = elf::unbound_symbols(*image, scope); !unbound.empty()) {
      return elf::demangled(unbound.front().symbol.name);
    }
  }
  return {};
}

void check_shadows(CaseFile& file, Findings& findings) {
  std::vector<const Shadow*> foreign;
  for (const auto& shadow : file.process.shadows) {
    if (!same_build(file.pool.read(shadow.own), file.pool.read(shadow.taken))) {
      foreign.push_back(&shadow);
    }
  }
  if (foreign.empty()) {
    return;
  }
  const auto& first = *foreign.front();
  const auto lack = lack_of(file, foreign);
  auto finding = file.finding("DCU422", {{"taken", first.taken.string()},
                                         {"own", first.own.string()},
                                         {"lack", lack.empty() ? "" : ", and " + lack + " is undefined"},
                                         {"lack:zh", lack.empty() ? "" : "，且 " + lack + " 未定义"}});
  finding.severity = lack.empty() ? Severity::warning : Severity::error;
  for (const auto* shadow : foreign) {
    finding.evidence.push_back({"offered", shadow->taken.string() + ", found by " +
                                               elf::to_string(shadow->found_by) + ", in the place of " +
                                               shadow->own.string()});
  }
  finding.fix = "take " + first.taken.parent_path().string() + " out of LD_LIBRARY_PATH";
  finding.chinese.fix = "从 LD_LIBRARY_PATH 中去掉 " + first.taken.parent_path().string();
  findings.push_back(std::move(finding));
}

/// Found beside the file or by its RUNPATH: another one than torch may have loaded. What LD_LIBRARY_PATH and the
/// default directories lead to is the same for both.
bool brings_its_own(const elf::Library& library) {
  return !library.path.empty() &&
         (library.found_by == elf::FoundBy::rpath || library.found_by == elf::FoundBy::runpath);
}

/// torch's library of that SONAME, when it is another file.
const elf::Image* loaded_instead(CaseFile& file, const Process& process, const elf::Library& library) {
  for (const auto& path : process.torch) {
    const auto* image = file.pool.read(path);
    if (image != nullptr && image->soname == library.name && real_path(path) != real_path(library.path)) {
      return image;
    }
  }
  return nullptr;
}

std::vector<std::string> lacking(const CaseFile& file, const std::string& soname, const elf::Image& offered) {
  std::set<std::string> nodes;
  for (const auto& newcomer : file.newcomers) {
    for (const auto& need : newcomer.image->version_needs) {
      if (need.file == soname) {
        nodes.insert(need.versions.begin(), need.versions.end());
      }
    }
  }
  for (const auto& node : offered.version_definitions) {
    nodes.erase(node);
  }
  return {nodes.begin(), nodes.end()};
}

void report_older(CaseFile& file, const elf::Library& own, const elf::Image& older,
                  const std::vector<std::string>& nodes, Findings& findings) {
  const bool cxx_runtime = own.name == "libstdc++.so.6";
  auto finding = file.finding(cxx_runtime ? "DCU420" : "DCU220", {{"winner", older.path.string()},
                                                                  {"library", own.name},
                                                                  {"path", older.path.string()},
                                                                  {"versions", join(nodes, ", ")},
                                                                  {"better", own.path.string()}});
  finding.evidence.push_back({"wanted by", file.chain_to(own)});
  finding.evidence.push_back({"offered", older.path.string() + ": torch has loaded it already"});
  finding.evidence.push_back({"so", "it loads without torch, or when it is imported before torch"});
  finding.fix = finding.chinese.fix = "LD_PRELOAD=" + own.path.string() + " python ...";
  findings.push_back(std::move(finding));
}

/// The first copy of a library that a process loads is the one for all:
/// https://github.com/pytorch/pytorch/issues/115138
void check_after_torch(CaseFile& file, Findings& findings) {
  const auto& libraries = file.closure.libraries;
  const bool possible = file.facts.torch && !file.uses_torch && file.question.loaded.empty() &&
                        std::any_of(libraries.begin(), libraries.end(), brings_its_own);
  if (!possible) {
    return;
  }
  std::optional<Process>
      process; // reading torch's libraries takes long: only when there is something to compare
  for (const auto& library : libraries) {
    const auto* own = brings_its_own(library) ? file.pool.read(library.path) : nullptr;
    if (own == nullptr || own->version_definitions.empty()) {
      continue;
    }
    if (!process) {
      process = file.process_with_torch();
    }
    const auto* older = loaded_instead(file, *process, library);
    if (older == nullptr || older->version_definitions.empty()) {
      continue;
    }
    if (const auto nodes = lacking(file, library.name, *older); !nodes.empty()) {
      report_older(file, library, *older, nodes, findings);
    }
  }
}

} // namespace

std::vector<Check> torch_checks() {
  return {{{"DCU422"}, check_shadows}, {{}, check_after_torch}};
}

} // namespace dcuop::doctor
