// DCU222, DCU223: names that lead to another function than the one that was meant.
#include <algorithm>
#include <array>
#include <optional>

#include <elf.h>

#include "checks.hpp"
#include "nearby.hpp"
#include "symbol_names.hpp"

namespace dcuop::doctor {
namespace {

/// llvm::cl::Option::addArgument(): each option of each copy of LLVM calls it when its library is loaded.
constexpr std::string_view registers_option = "_ZN4llvm2cl6Option11addArgumentEv";

const elf::Symbol* own_register(const elf::Image& image) {
  const auto found = std::find_if(image.symbols.begin(), image.symbols.end(), [](const elf::Symbol& symbol) {
    return symbol.defined && symbol.global && symbol.name == registers_option;
  });
  return found == image.symbols.end() ? nullptr : &*found;
}

/// A copy that has no version, nor was bound to itself when it was linked, calls the first one in the process.
bool calls_by_scope(const elf::Image& image) {
  return (image.flags & DF_SYMBOLIC) == 0 && elf::has_relocation_against(image, registers_option);
}

void check_llvm(CaseFile& file, Findings& findings) {
  const elf::Image* first = nullptr;
  std::string version;
  for (const auto* image : file.scope) {
    const auto* mine = own_register(*image);
    if (mine == nullptr) {
      continue;
    }
    if (first == nullptr) {
      first = image;
      version = mine->version;
      continue;
    }
    const bool is_new = std::any_of(file.newcomers.begin(), file.newcomers.end(),
                                    [image](const Newcomer& newcomer) { return newcomer.image == image; });
    if (!is_new || mine->version != version || !calls_by_scope(*image)) {
      continue;
    }
    auto finding = file.finding(
        "DCU222", {{"first", first->path.filename().string()}, {"second", image->path.filename().string()}});
    finding.evidence.push_back({"wanted by", image->path.string() + " defines " +
                                                 elf::demangled(std::string(registers_option)) +
                                                 ", and is bound to that of the first"});
    finding.evidence.push_back({"offered", first->path.string()});
    finding.evidence.push_back(
        {"loader says", ": CommandLine Error: Option '...' registered more than once! (and abort)"});
    findings.push_back(std::move(finding));
    return;
  }
}

/// Functions that HIP 6 has twice: https://rocm.docs.amd.com/projects/HIP/en/docs-6.0.0/ and hip_runtime_api.h, where
/// a macro gives callers of the plain name the newer one. dlsym(3) sees no macro.
constexpr std::array<std::string_view, 2> revised = {"hipGetDeviceProperties", "hipChooseDevice"};

/// Whether the text of the file holds `name` as a string of its own.
bool has_string(const std::string& text, std::string_view name) {
  const std::string whole = std::string(name) + '\0';
  for (auto at = text.find(whole); at != std::string::npos; at = text.find(whole, at + 1)) {
    if (at == 0 || text[at - 1] == '\0') {
      return true;
    }
  }
  return false;
}

bool exports(const elf::Image& image, std::string_view name) {
  return std::any_of(image.symbols.begin(), image.symbols.end(),
                     [name](const elf::Symbol& symbol) { return symbol.defined && symbol.name == name; });
}

/// The runtime in the process, else one that lies where dlopen(3) or a user would find it.
const elf::Image* runtime_with(CaseFile& file, std::string_view function) {
  for (const auto* image : file.scope) {
    if (library_family(image->path.filename().string()) == LibraryFamily::hip_runtime) {
      return exports(*image, function) ? image : nullptr;
    }
  }
  for (const auto& there : libraries_nearby(file, "libamdhip64")) {
    const auto* image = file.pool.read(there.path);
    if (image != nullptr && exports(*image, function)) {
      return image;
    }
  }
  return nullptr;
}

bool looks_up_names(const elf::Image& image) {
  return std::any_of(image.symbols.begin(), image.symbols.end(), [](const elf::Symbol& symbol) {
    return !symbol.defined && (symbol.name == "dlsym" || symbol.name == "dlvsym");
  });
}

void check_revisions(CaseFile& file, Findings& findings) {
  constexpr std::uint64_t limit = 16 << 20;
  const auto* constants = file.image == nullptr ? nullptr : file.image->section(".rodata");
  if (constants == nullptr || !looks_up_names(*file.image)) {
    return;
  }
  const auto text = elf::read_range(file.path, constants->offset, std::min(constants->size, limit), limit);
  for (const auto name : revised) {
    const auto newer = std::string(name) + "R0600";
    if (!has_string(text, name) || has_string(text, newer)) { // who knows both chooses
      continue;
    }
    const auto* runtime = runtime_with(file, newer);
    if (runtime == nullptr) {
      continue;
    }
    const auto library = runtime->path.filename().string();
    auto finding = file.finding("DCU223", {{"function", std::string(name)}, {"library", library}});
    finding.evidence.push_back(
        {"wanted by", file.file_name + " calls dlsym and holds the string \"" + std::string(name) + "\""});
    finding.evidence.push_back({"offered", runtime->path.string() + " has " + newer + " too"});
    finding.fix = "look up " + newer + " where hipDeviceProp_t is of HIP 6 headers";
    finding.chinese.fix = "若 hipDeviceProp_t 来自 HIP 6 头文件，改为查找 " + newer;
    findings.push_back(std::move(finding));
  }
}

} // namespace

std::vector<Check> binding_checks() {
  return {{{"DCU222"}, check_llvm}, {{"DCU223"}, check_revisions}};
}

} // namespace dcuop::doctor
