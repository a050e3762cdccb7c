#include "message_findings.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "libc.hpp"
#include "nearby.hpp"
#include "symbol_index.hpp"
#include "symbol_names.hpp"
#include "wheel_tags.hpp"

#include "dcuop/support/error.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

bool is_undefined_symbol(const Clue& clue) {
  return clue.rule >= "DCU210" && clue.rule <= "DCU219";
}
bool is_missing_library(const Clue& clue) {
  return clue.rule >= "DCU201" && clue.rule <= "DCU209";
}

std::string name_of(const Clue& clue, bool zh) {
  if (!clue.file.empty()) {
    return clue.file.filename().string();
  }
  return zh ? "该文件" : "the file";
}

/// What a rule's text may ask for.
finding::Values values_of(const Clue& clue) {
  const auto demangled = elf::demangled(clue.name);
  const auto or_else = [](const std::string& text, const char* absent) {
    return text.empty() ? std::string(absent) : text;
  };
  const auto provider = std::filesystem::path(clue.detail).filename().string();
  const bool prefixed = !library_of_prefix(clue.name).empty();
  const std::string library = is_missing_library(clue) ? clue.name
                              : clue.rule == "DCU212"  ? "libtorch_python.so"
                              : prefixed               ? std::string(library_of_prefix(clue.name))
                                                       : provider;
  return {{"file", name_of(clue, false)},
          {"file:zh", name_of(clue, true)},
          {"symbol", demangled},
          {"more", ""},
          {"who", "it"},
          {"who:zh", "它"},
          {"library", library},
          {"libraries", library},
          {"path", clue.detail},
          {"versions", clue.name},
          {"python", "the one of the message"},
          {"python:zh", "消息中的那个"},
          {"torch", "there"},
          {"torch:zh", "（那台机器上的）"},
          {"module", or_else(clue.name, "name")},
          {"reason", clue.detail},
          {"message", clue.says},
          {"device", or_else(clue.detail, "this device")},
          {"device:zh", or_else(clue.detail, "该设备")},
          {"op", clue.name},
          {"option", clue.name},
          {"wheel", or_else(clue.name, "the wheel")},
          {"wheel:zh", or_else(clue.name, "该 wheel")},
          {"signal", clue.says},
          {"header", clue.name},
          {"arch", or_else(clue.name, "this arch")},
          {"arch:zh", or_else(clue.name, "该 arch")},
          {"tool", clue.name},
          {"what", clue.name}};
}

/// Which torch a name is for, as far as the name alone tells.
std::string told_by_name(const Clue& clue) {
  const auto demangled = elf::demangled(clue.name);
  if (clue.rule == "DCU213" && clue.name.ends_with("R0600")) {
    return "the name is of HIP 6 (R0600): compiled with HIP 6 or newer, run with an older runtime";
  }
  if (clue.rule == "DCU216" && symbol_family(clue.name) == SymbolFamily::torch_cuda) {
    return "the name is of torch's CUDA half: a CUDA build; on a machine with NVIDIA devices it means "
           "another torch";
  }
  if (uses_old_strings(demangled) && !uses_new_strings(demangled)) {
    return "its std::string is of the old ABI: the file was compiled with _GLIBCXX_USE_CXX11_ABI=0";
  }
  if (uses_new_strings(demangled) && (clue.rule == "DCU210" || clue.rule == "DCU211")) {
    return "its std::string is of the new ABI (_GLIBCXX_USE_CXX11_ABI=1); a torch with the old one, or "
           "another version, "
           "lacks it";
  }
  return {};
}

/// The torch of this machine may be the message's, or not: it is evidence, no verdict.
void compare_with_torch_here(const Clue& clue, CaseFile& machine, finding::Finding& finding) {
  const auto& torch = machine.facts.torch;
  const bool of_torch = clue.rule == "DCU210" || clue.rule == "DCU212" || clue.rule == "DCU216";
  if (!torch || !of_torch) {
    return;
  }
  if (clue.name.starts_with("_Z") && elf::demangled(clue.name) == clue.name) {
    finding.evidence.push_back({"so", "the name is cut off: compared with none"});
    return;
  }
  std::vector<const elf::Image*> images;
  for (const auto& library : torch->libraries) {
    if (const auto* image = machine.pool.read(library)) {
      images.push_back(image);
    }
  }
  const SymbolIndex index(images);
  const auto name = "torch " + torch->summary();
  if (const auto* provider = index.provider(clue.name)) {
    finding.evidence.push_back({"here", provider->path.filename().string() + " of " + name +
                                            " has it: with this torch it would be bound"});
  } else if (const auto alike = index.alike(clue.name); !alike.empty()) {
    const auto other = elf::demangled(std::string(alike.front().name));
    const bool strings = with_one_string(other) == with_one_string(elf::demangled(clue.name));
    finding.evidence.push_back({"here", name + " has " + other});
    finding.evidence.push_back(
        {"so", strings ? "the two differ in the std::string ABI alone"
                       : "the same function with other parameters: another version of torch"});
  } else {
    finding.evidence.push_back({"here", name + " has no function of that name either"});
  }
}

struct GlibcxxNode {
  std::string_view node, gcc;
};
// https://gcc.gnu.org/onlinedocs/libstdc++/manual/abi.html
constexpr std::array glibcxx_nodes = {
    GlibcxxNode{"GLIBCXX_3.4.20", "4.9"},  GlibcxxNode{"GLIBCXX_3.4.21", "5.1"},
    GlibcxxNode{"GLIBCXX_3.4.22", "6.1"},  GlibcxxNode{"GLIBCXX_3.4.23", "7.1"},
    GlibcxxNode{"GLIBCXX_3.4.24", "7.2"},  GlibcxxNode{"GLIBCXX_3.4.25", "8.1"},
    GlibcxxNode{"GLIBCXX_3.4.26", "9.1"},  GlibcxxNode{"GLIBCXX_3.4.27", "9.2"},
    GlibcxxNode{"GLIBCXX_3.4.28", "9.3"},  GlibcxxNode{"GLIBCXX_3.4.29", "11.1"},
    GlibcxxNode{"GLIBCXX_3.4.30", "12.1"}, GlibcxxNode{"GLIBCXX_3.4.31", "13.1"},
    GlibcxxNode{"GLIBCXX_3.4.32", "13.2"}, GlibcxxNode{"GLIBCXX_3.4.33", "14.1"},
    GlibcxxNode{"GLIBCXX_3.4.34", "15.1"}};

void explain_version(const Clue& clue, finding::Finding& finding) {
  const auto known = std::find_if(glibcxx_nodes.begin(), glibcxx_nodes.end(),
                                  [&clue](const GlibcxxNode& node) { return node.node == clue.name; });
  if (known != glibcxx_nodes.end()) {
    finding.evidence.push_back(
        {"so", "it needs the libstdc++ of GCC " + std::string(known->gcc) + " or newer"});
  }
  if (clue.detail.find("conda") != std::string::npos) {
    finding.evidence.push_back(
        {"so", "the library that lacks it is conda's, which came before the system's"});
    finding.fix =
        "conda install -c conda-forge libstdcxx-ng, or LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libstdc++.so.6";
    finding.chinese.fix =
        "conda install -c conda-forge libstdcxx-ng，或 LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libstdc++.so.6";
  } else if (clue.name.starts_with("GLIBC_")) {
    finding.fix = "build it on a machine with that glibc or an older one (a container): dcuop build OP";
    finding.chinese.fix = "在 glibc 相同或更旧的机器（容器）上编译：dcuop build OP";
  } else {
    finding.fix =
        "build it on that machine: dcuop build OP, or have the newer copy of the library found first";
    finding.chinese.fix = "在那台机器上编译：dcuop build OP，或让较新的库先被找到";
  }
}

void explain_library(const Clue& clue, CaseFile& machine, finding::Finding& finding) {
  for (const auto& there : libraries_nearby(machine, library_stem(clue.name))) {
    finding.evidence.push_back(
        {"here", there.path.string() + (there.soname == clue.name ? "" : " (" + there.soname + ")")});
  }
  if (library_family(clue.name) == LibraryFamily::torch) {
    finding.fix = "import torch before it; if that fails, it was built for another torch: dcuop build OP";
    finding.chinese.fix = "先 import torch；若仍失败，则它是为另一个 torch 编译的：dcuop build OP";
  } else if (clue.rule == "DCU201") {
    finding.fix =
        "on that machine: dcuop doctor FILE says where it is; source /opt/dtk/env.sh loads DTK's directories";
    finding.chinese.fix =
        "在那台机器上：dcuop doctor FILE 可指出其位置；source /opt/dtk/env.sh 加载 DTK 的目录";
  }
}

/// The first of the rule's fixes, where the clue has none of its own.
void default_fix(const Clue& clue, finding::Finding& finding) {
  if (!clue.fix.empty()) {
    finding.fix = clue.fix;
    finding.chinese.fix = clue.fix_chinese;
    return;
  }
  const auto* rule = finding::find_rule(clue.rule);
  if (rule != nullptr && finding.fix.empty()) {
    finding.fix = rule->fixes.en.substr(0, rule->fixes.en.find('\n'));
    finding.chinese.fix = rule->fixes.zh.substr(0, rule->fixes.zh.find('\n'));
  }
}

/// "Python 3.11.2, glibc 2.36": what is known of the two.
std::string python_and_libc(CaseFile& machine) {
  const auto& python = machine.facts.python;
  const auto* program = python ? machine.pool.read(python->executable) : nullptr;
  std::string text = python ? "Python " + python->version : std::string();
  if (program == nullptr) {
    return text;
  }
  for (const auto& library : elf::resolve_closure(*program, machine.loader_context({})).libraries) {
    const auto* libc = library.name == "libc.so.6" ? machine.pool.read(library.path) : nullptr;
    if (const int minor = libc == nullptr ? -1 : glibc_minor(*libc); minor >= 0) {
      text += ", glibc 2." + std::to_string(minor);
    }
  }
  return text;
}

} // namespace

bool is_about_a_library(const Clue& clue) {
  constexpr std::array<std::string_view, 3> sources = {"DCU707", "DCU708", "DCU709"};
  return std::find(sources.begin(), sources.end(), clue.rule) == sources.end() &&
         clue.file.filename().string().find(".so") != std::string::npos;
}

finding::Finding finding_of(const Clue& clue, CaseFile& machine) {
  auto rule = clue.rule;
  if (rule == "DCU207") { // that there is no torch at all the message does not say
    const auto stem = library_stem(clue.name);
    rule = stem == "libc10_hip" || stem == "libtorch_hip" ? "DCU204" : "DCU201";
  }
  auto finding = finding::make_finding(rule, values_of(clue));
  finding.subject = clue.file.empty() ? "message" : clue.file.string();
  finding.evidence.push_back({"message says", clue.says + "   (line " + std::to_string(clue.line) + ")"});
  if (!clue.file.empty()) {
    finding.evidence.push_back({"file", clue.file.string()});
  }
  if (clue.ranks.size() > 1) {
    const auto few = std::vector<std::string>(
        clue.ranks.begin(),
        clue.ranks.begin() + std::min<std::ptrdiff_t>(4, static_cast<std::ptrdiff_t>(clue.ranks.size())));
    finding.evidence.push_back({"also", "the same on " + counted(clue.ranks.size(), "rank") + ": " +
                                            join(few, ", ") +
                                            (clue.ranks.size() > few.size() ? ", ..." : "")});
  }
  if (const auto told = told_by_name(clue); is_undefined_symbol(clue) && !told.empty()) {
    finding.evidence.push_back({"so", told});
  }
  compare_with_torch_here(clue, machine, finding);
  if (const auto wanted = wanted_by_wheel(clue.name); clue.rule == "DCU719" && !wanted.empty()) {
    finding.evidence.push_back({"wanted by", "its name: " + wanted});
    if (const auto here = python_and_libc(machine); !here.empty()) {
      finding.evidence.push_back({"here", here});
    }
  }
  if (clue.rule == "DCU220") {
    explain_version(clue, finding);
  } else if (is_missing_library(clue)) {
    explain_library(clue, machine, finding);
  }
  default_fix(clue, finding);
  return finding;
}

std::optional<bool> holds(const Clue& clue, const Report& diagnosis, const std::filesystem::path& file) {
  const auto found = [&diagnosis](auto is_it) {
    return std::any_of(
        diagnosis.findings.begin(), diagnosis.findings.end(),
        [&](const finding::Finding& one) { return one.severity == finding::Severity::error && is_it(one); });
  };
  const auto mentions = [](const finding::Finding& one, const std::string& text) {
    return one.cause.find(text) != std::string::npos ||
           std::any_of(one.evidence.begin(), one.evidence.end(), [&text](const finding::Evidence& row) {
             return row.text.find(text) != std::string::npos;
           });
  };
  if (is_undefined_symbol(clue)) {
    const auto symbol = elf::demangled(clue.name);
    // Of many symbols a report lists a few: one of the same kind in a file that wants the symbol is the same.
    const bool same_kind =
        found([](const auto& one) { return one.rule >= "DCU207" && one.rule <= "DCU219"; });
    const bool named = found([&](const auto& one) { return mentions(one, symbol); });
    try {
      const auto image = elf::read_image(file);
      const bool wanted =
          std::any_of(image.symbols.begin(), image.symbols.end(),
                      [&clue](const elf::Symbol& one) { return !one.defined && one.name == clue.name; });
      return named || (wanted && same_kind);
    } catch (const Error&) {
      return named;
    }
  }
  if (is_missing_library(clue) || clue.rule == "DCU220") {
    return found([&](const auto& one) { return mentions(one, clue.name); });
  }
  if (clue.rule == "DCU230") {
    return found([](const auto& one) { return one.rule == "DCU230" || one.rule == "DCU231"; });
  }
  if (clue.rule == "DCU701") {
    const bool late =
        clue.detail.find("TLS") != std::string::npos || clue.detail.find("stack") != std::string::npos;
    return late ? std::nullopt : std::optional(found([](const auto& one) {
      return one.rule.starts_with("DCU1") || one.rule == "DCU206" || one.rule == "DCU221" ||
             one.rule == "DCU421";
    }));
  }
  if (clue.rule == "DCU101" || clue.rule == "DCU722") {
    // glibc says "No such file" of a file for another machine too.
    return found([](const auto& one) { return one.rule == "DCU101" || one.rule == "DCU110"; });
  }
  if (clue.rule == "DCU702" || clue.rule == "DCU703") {
    const bool judged = std::none_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                                     [](const auto& one) { return one.rule == "DCU305"; });
    const bool bad = found([](const auto& one) { return one.rule.starts_with("DCU3"); });
    return bad || judged ? std::optional(bad) : std::nullopt;
  }
  return std::nullopt;
}

} // namespace dcuop::doctor
