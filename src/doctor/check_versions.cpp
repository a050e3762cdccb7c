// DCU220, DCU221: symbol versions that the chosen library must have.
#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "checks.hpp"
#include "symbol_names.hpp"

#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

/// "GLIBCXX_3.4.30" -> {3, 4, 30}; letters end it.
std::vector<int> numbers_of(std::string_view node) {
  std::vector<int> numbers;
  const auto start = node.find_last_of('_');
  for (const auto& part : split(node.substr(start == std::string_view::npos ? 0 : start + 1), '.')) {
    int number = 0;
    const auto [end, fault] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (fault != std::errc{} || end != part.data() + part.size()) {
      return {};
    }
    numbers.push_back(number);
  }
  return numbers;
}

std::string_view family_of(std::string_view node) {
  return node.substr(0, node.find_last_of('_'));
}

/// The newest node of the same family: what the library does have.
std::string newest_like(const elf::Image& library, std::string_view wanted) {
  std::string newest;
  for (const auto& node : library.version_definitions) {
    const bool newer = newest.empty() || numbers_of(node) > numbers_of(newest);
    if (family_of(node) == family_of(wanted) && !numbers_of(node).empty() && newer) {
      newest = node;
    }
  }
  return newest;
}

struct Release {
  std::string_view node, text;
};
// https://gcc.gnu.org/onlinedocs/libstdc++/manual/abi.html
constexpr std::array releases = {
    Release{"GLIBCXX_3.4.26", "GCC 9.1"},  Release{"GLIBCXX_3.4.27", "GCC 9.2"},
    Release{"GLIBCXX_3.4.28", "GCC 9.3"},  Release{"GLIBCXX_3.4.29", "GCC 11.1"},
    Release{"GLIBCXX_3.4.30", "GCC 12.1"}, Release{"GLIBCXX_3.4.31", "GCC 13.1"},
    Release{"GLIBCXX_3.4.32", "GCC 13.2"}, Release{"GLIBCXX_3.4.33", "GCC 14.1"},
    Release{"GLIBCXX_3.4.34", "GCC 15.1"}, Release{"CXXABI_1.3.13", "GCC 11.1"},
    Release{"CXXABI_1.3.14", "GCC 13.1"},  Release{"CXXABI_1.3.15", "GCC 14.1"},
};

/// What the node says of the machine that it was built on.
std::string meaning_of(std::string_view node) {
  const auto release = std::find_if(releases.begin(), releases.end(),
                                    [node](const Release& entry) { return entry.node == node; });
  if (release != releases.end()) {
    return "built with " + std::string(release->text) + " or newer";
  }
  if (node == "GLIBC_ABI_DT_RELR") {
    return "linked with -z pack-relative-relocs, which glibc 2.36 and newer read";
  }
  if (node.starts_with("GLIBC_2.")) {
    return "built on a system with glibc " + std::string(node.substr(6)) + " or newer";
  }
  if (node.starts_with("hip_")) {
    return "built with the headers of HIP " + std::string(node.substr(4)) + " or newer";
  }
  return {};
}

std::vector<std::string> missing_nodes(const elf::VersionNeed& need, const elf::Image& library) {
  std::vector<std::string> missing;
  for (const auto& node : need.versions) {
    const auto& have = library.version_definitions;
    if (std::find(have.begin(), have.end(), node) == have.end()) {
      missing.push_back(node);
    }
  }
  std::sort(missing.begin(), missing.end(),
            [](const std::string& a, const std::string& b) { return numbers_of(a) > numbers_of(b); });
  return missing;
}

void report_too_old(CaseFile& file, const Newcomer& newcomer, const elf::VersionNeed& need,
                    Findings& findings) {
  const auto* library = file.provider_of(need.file);
  if (library == nullptr || library->version_definitions.empty()) {
    return;
  }
  const auto missing = missing_nodes(need, *library);
  if (missing.empty()) {
    return;
  }
  auto finding = file.finding(
      "DCU220",
      {{"library", need.file}, {"path", library->path.string()}, {"versions", join(missing, ", ")}});
  finding.evidence.push_back({"wanted by", newcomer.image->path.filename().string()});
  const auto newest = newest_like(*library, missing.front());
  finding.evidence.push_back({"offered", newest.empty() ? "no version of that family" : newest + " at most"});
  if (const auto meaning = meaning_of(missing.front()); !meaning.empty()) {
    finding.evidence.push_back({"so", meaning});
  }
  file.fix_by_building(finding);
  findings.push_back(std::move(finding));
}

/// A provider without any version section: glibc's check_match asserts that this cannot be.
void report_unversioned(CaseFile& file, const Newcomer& newcomer, const elf::VersionNeed& need,
                        Findings& findings) {
  const auto* library = file.provider_of(need.file);
  if (library == nullptr || library->has_version_section) {
    return;
  }
  const bool dies =
      std::any_of(newcomer.unbound.begin(), newcomer.unbound.end(), [&](const elf::Unbound& unbound) {
        return unbound.symbol.version_file == need.file && unbound.wrong_version_in == library->path;
      });
  if (!dies) {
    return;
  }
  auto finding = file.finding(
      "DCU221",
      {{"library", need.file}, {"path", library->path.string()}, {"versions", join(need.versions, ", ")}});
  finding.evidence.push_back({"wanted by", newcomer.image->path.filename().string()});
  const auto real = real_path(library->path);
  if (real.filename() != need.file) {
    finding.evidence.push_back({"so", need.file + " leads to " + real.string()});
  }
  finding.evidence.push_back(
      {"loader says", "Inconsistency detected by ld.so: dl-lookup.c: check_match: Assertion"});
  file.fix_by_building(finding);
  findings.push_back(std::move(finding));
}

void check_versions(CaseFile& file, Findings& findings) {
  for (const auto& newcomer : file.newcomers) {
    for (const auto& need : newcomer.image->version_needs) {
      report_too_old(file, newcomer, need, findings);
      report_unversioned(file, newcomer, need, findings);
    }
  }
}

} // namespace

std::vector<Check> version_checks() {
  return {{{"DCU220", "DCU221"}, check_versions}};
}

} // namespace dcuop::doctor
