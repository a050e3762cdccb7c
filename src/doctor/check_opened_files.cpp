// DCU423, DCU424: libraries and kernel files that a runtime opens by name.
#include <algorithm>
#include <set>

#include "check_device.hpp"
#include "checks.hpp"
#include "nearby.hpp"
#include "symbol_names.hpp"

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

const elf::Library* found_in_closure(const CaseFile& file, std::string_view stem) {
  const auto& libraries = file.closure.libraries;
  const auto found = std::find_if(libraries.begin(), libraries.end(), [stem](const elf::Library& library) {
    return !library.path.empty() && library_stem(library.name) == stem;
  });
  return found == libraries.end() ? nullptr : &*found;
}

/// DTK's runtime says "invalid device ordinal" when it cannot open it.
void check_comgr(CaseFile& file, Findings& findings) {
  const auto* runtime = has_hip_code(file) ? found_in_closure(file, "libgalaxyhip") : nullptr;
  if (runtime == nullptr || !libraries_nearby(file, "libamd_comgr").empty()) {
    return;
  }
  const auto root = file.facts.rocm ? file.facts.rocm->root.string() : runtime->path.parent_path().string();
  auto finding = file.finding("DCU423", {{"runtime", runtime->name}, {"root", root}});
  finding.evidence.push_back({"wanted by", runtime->path.string() + ", which opens it by name"});
  finding.evidence.push_back(
      {"searched", root + "/dcc/comgr/lib, LD_LIBRARY_PATH and the default directories"});
  finding.fix = "export LD_LIBRARY_PATH=DTK/dcc/comgr/lib:$LD_LIBRARY_PATH, of a whole DTK";
  finding.chinese.fix = "export LD_LIBRARY_PATH=DTK/dcc/comgr/lib:$LD_LIBRARY_PATH（完整的 DTK）";
  findings.push_back(std::move(finding));
}

/// "TensileLibrary_lazy_gfx90a.dat" -> "gfx90a"; "" when it names none.
std::string arch_in(std::string_view name) {
  const auto start = name.find("gfx");
  if (start == std::string_view::npos) {
    return {};
  }
  auto end = start + 3;
  while (end < name.size() && std::isxdigit(static_cast<unsigned char>(name[end])) != 0) {
    ++end;
  }
  return std::string(name.substr(start, end - start));
}

std::filesystem::path kernel_directory(const CaseFile& file, const elf::Library& rocblas) {
  if (const auto set = file.machine.environment.get_nonempty("ROCBLAS_TENSILE_LIBPATH")) {
    return *set;
  }
  return real_path(rocblas.path).parent_path() / "rocblas" / "library";
}

/// rocBLAS ends the process at its first use on a device that it has no TensileLibrary for.
void check_rocblas(CaseFile& file, Findings& findings) {
  const auto* rocblas = found_in_closure(file, "librocblas");
  if (rocblas == nullptr) {
    return;
  }
  const auto directory = kernel_directory(file, *rocblas);
  std::set<std::string> archs;
  for (const auto& name : list_directory(directory)) {
    if (auto arch = name.starts_with("TensileLibrary") ? arch_in(name) : std::string{}; !arch.empty()) {
      archs.insert(std::move(arch));
    }
  }
  for (const auto& device : judged_devices(file)) {
    const auto target = elf::TargetId::parse(device);
    if (archs.empty() || !target || archs.contains(target->processor)) {
      continue;
    }
    auto finding = file.finding("DCU424", {{"device", target->processor}, {"directory", directory.string()}});
    finding.evidence.push_back({"wanted by", file.chain_to(*rocblas)});
    finding.evidence.push_back(
        {"offered", "TensileLibrary files for " + join({archs.begin(), archs.end()}, ", ")});
    finding.evidence.push_back({"loader says", "rocBLAS error: Cannot read TensileLibrary.dat"});
    finding.fix = "install the rocBLAS of a ROCm or DTK that supports " + target->processor;
    finding.chinese.fix = "安装支持 " + target->processor + " 的 ROCm 或 DTK 的 rocBLAS";
    findings.push_back(std::move(finding));
  }
}

} // namespace

std::vector<Check> opened_file_checks() {
  return {{{"DCU423"}, check_comgr}, {{"DCU424"}, check_rocblas}};
}

} // namespace dcuop::doctor
