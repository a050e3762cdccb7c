// DCU230 to DCU233: what Python wants of the file besides.
#include <algorithm>

#include "checks.hpp"
#include "symbol_names.hpp"

#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

constexpr std::string_view init_prefix = "PyInit_";

std::string module_name(const CaseFile& file) {
  return file.question.module_name.empty() ? file.file_name.substr(0, file.file_name.find('.'))
                                           : file.question.module_name;
}

std::vector<std::string> init_functions(const elf::Image& image) {
  std::vector<std::string> names;
  for (const auto& symbol : image.symbols) {
    if (symbol.defined && symbol.name.starts_with(init_prefix)) {
      names.push_back(symbol.name.substr(init_prefix.size()));
    }
  }
  return names;
}

/// Ops are registered from a static constructor in such a file; it may carry any name, even a module's.
bool registers_torch_ops(const elf::Image& image) {
  return std::any_of(image.symbols.begin(), image.symbols.end(), [](const elf::Symbol& symbol) {
    return !symbol.defined && symbol.name.starts_with("_ZN5torch7LibraryC");
  });
}

/// Python imports any name, but nobody imports lib<name>.so: such files make modules for others to find.
bool named_like_a_library(const CaseFile& file) {
  return file.file_name.starts_with("lib") && file.file_name.find(".cpython-") == std::string::npos;
}

bool looks_like_module(const CaseFile& file) {
  const bool tagged = file.file_name.find(".cpython-") != std::string::npos ||
                      file.file_name.find(".abi3.so") != std::string::npos;
  const bool makes_module =
      std::any_of(file.image->symbols.begin(), file.image->symbols.end(), [](const elf::Symbol& symbol) {
        return !symbol.defined && (symbol.name == "PyModule_Create2" || symbol.name == "PyModuleDef_Init");
      });
  const auto python2 = "init" + module_name(file);
  const bool made_for_python2 =
      std::any_of(
          file.image->symbols.begin(), file.image->symbols.end(),
          [&python2](const elf::Symbol& symbol) { return symbol.defined && symbol.name == python2; }) &&
      std::any_of(file.image->symbols.begin(), file.image->symbols.end(), [](const elf::Symbol& symbol) {
        return !symbol.defined && symbol_family(symbol.name) == SymbolFamily::python;
      });
  return makes_module || made_for_python2 || (tagged && !registers_torch_ops(*file.image));
}

void report_missing(CaseFile& file, const std::string& module, Findings& findings) {
  auto finding = file.finding("DCU230", {{"module", module}});
  const auto& symbols = file.image->symbols;
  const auto python2 = std::find_if(symbols.begin(), symbols.end(), [&module](const elf::Symbol& symbol) {
    return symbol.defined && symbol.name == "init" + module;
  });
  if (python2 != symbols.end()) {
    finding.evidence.push_back({"offered", python2->name + ", the entry of a Python 2 module"});
  }
  finding.evidence.push_back(
      {"loader says", "dynamic module does not define module export function (PyInit_" + module + ")"});
  finding.fix = "add PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) to a source of the build, or load it with "
                "torch.ops.load_library";
  finding.chinese.fix =
      "在参与编译的源文件中加入 PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)，或用 torch.ops.load_library 加载";
  findings.push_back(std::move(finding));
}

void check_init(CaseFile& file, Findings& findings) {
  const bool guess = file.question.use == Use::guess;
  if (file.question.use == Use::library || (guess && named_like_a_library(file))) {
    return;
  }
  const auto module = module_name(file);
  const auto found = init_functions(*file.image);
  if (std::find(found.begin(), found.end(), module) != found.end()) {
    return;
  }
  if (found.empty()) {
    if (!guess || looks_like_module(file)) {
      report_missing(file, module, findings);
    }
    return;
  }
  auto finding = file.finding("DCU231", {{"found", found.front()}, {"module", module}});
  finding.evidence.push_back(
      {"loader says", "dynamic module does not define module export function (PyInit_" + module + ")"});
  const auto suffix = file.file_name.find('.') == std::string::npos
                          ? std::string{}
                          : file.file_name.substr(file.file_name.find('.'));
  finding.fix = "name it " + found.front() + suffix + ", or write PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)";
  finding.chinese.fix =
      "改名为 " + found.front() + suffix + "，或写成 PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)";
  findings.push_back(std::move(finding));
}

void check_import_order(CaseFile& file, Findings& findings) {
  const auto& torch = file.facts.torch;
  if (!torch || file.process.torch.empty() || !file.missing().empty()) {
    return;
  }
  const auto alone = elf::resolve_closure(*file.image, file.loader_context(file.process.interpreter));
  std::vector<std::string> lacking;
  for (const auto& library : alone.libraries) {
    if (library.path.empty()) {
      lacking.push_back(library.name);
    }
  }
  if (lacking.empty()) {
    return;
  }
  auto finding = file.finding("DCU232");
  finding.evidence.push_back({"wanted", join(lacking, ", ")});
  finding.evidence.push_back({"offered", "torch " + torch->summary() + " brings them"});
  finding.fix = finding.chinese.fix = "import torch";
  findings.push_back(std::move(finding));
}

/// It can still be loaded by its path, as torch's loader and dcuop do.
void check_tag(CaseFile& file, Findings& findings) {
  const auto& python = file.facts.python;
  const auto dot = file.file_name.find('.');
  if (!python || python->ext_suffix.empty() || dot == std::string::npos ||
      file.question.use == Use::library || registers_torch_ops(*file.image)) {
    return;
  }
  const std::string tag = file.file_name.substr(dot);
  const bool is_tagged = tag.starts_with(".cpython-") || tag.starts_with(".pypy");
  if (!is_tagged || !tag.ends_with(".so") || tag == python->ext_suffix) {
    return;
  }
  auto finding = file.finding("DCU233", {{"module", module_name(file)},
                                         {"version", python->version},
                                         {"suffix", python->ext_suffix},
                                         {"tag", tag}});
  finding.evidence.push_back({"wanted", tag});
  finding.evidence.push_back({"offered", python->ext_suffix + " (" + python->executable.string() + ")"});
  findings.push_back(std::move(finding));
}

} // namespace

std::vector<Check> module_checks() {
  return {{{"DCU230", "DCU231"}, check_init}, {{"DCU232"}, check_import_order}, {{"DCU233"}, check_tag}};
}

} // namespace dcuop::doctor
