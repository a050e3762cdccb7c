// DCU210 to DCU219: what nothing in scope defines, one finding a cause.
#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "checks.hpp"
#include "undefined.hpp"

#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

constexpr std::size_t shown = 4; // symbols of a cause that are listed; the others are counted

/// Symbols of one cause: the rule, who wants them and who should have them.
using Cause = std::vector<Undefined>;

/// Which cause outranks which when a file has several.
int rank_of(const std::string& rule) {
  constexpr std::array<std::string_view, 11> order = {"DCU207", "DCU216", "DCU210", "DCU211",
                                                      "DCU214", "DCU212", "DCU213", "DCU217",
                                                      "DCU215", "DCU219", "DCU218"};
  return static_cast<int>(std::find(order.begin(), order.end(), rule) - order.begin());
}

std::vector<Cause> causes_of(CaseFile& file) {
  std::map<std::string, Cause> grouped;
  std::unique_ptr<UndefinedExplainer>
      explainer; // indexes every symbol in sight: only when there is a question
  for (const auto& newcomer : file.newcomers) {
    for (const auto& unbound : newcomer.unbound) {
      if (!explainer) {
        explainer = std::make_unique<UndefinedExplainer>(file);
      }
      auto symbol = explainer->explain(*newcomer.image, unbound);
      if (!symbol.rule.empty()) {
        auto group = symbol.rule + '\n' + symbol.library + '\n' + newcomer.image->path.string();
        grouped[std::move(group)].push_back(std::move(symbol));
      }
    }
  }
  std::vector<Cause> causes;
  causes.reserve(grouped.size());
  for (auto& [group, cause] : grouped) {
    causes.push_back(std::move(cause));
  }
  std::stable_sort(causes.begin(), causes.end(), [](const Cause& a, const Cause& b) {
    return rank_of(a.front().rule) < rank_of(b.front().rule);
  });
  return causes;
}

/// The symbol that tells most: one with a nearest match comes before one without.
void put_telling_one_first(Cause& cause) {
  std::stable_sort(cause.begin(), cause.end(), [](const Undefined& a, const Undefined& b) {
    return a.conclusion.empty() < b.conclusion.empty();
  });
}

void add_build_facts(const CaseFile& file, const Undefined& first, finding::Finding& finding) {
  if (first.rule == "DCU211" && first.conclusion.empty() && file.facts.torch && file.facts.torch->cxx11_abi) {
    finding.evidence.push_back({"so", "torch is built with _GLIBCXX_USE_CXX11_ABI=" +
                                          std::string(*file.facts.torch->cxx11_abi ? "1" : "0") +
                                          ", the file with the other one"});
  }
  if (first.rule == "DCU212") {
    finding.evidence.push_back(
        {"so", "`import torch` before it does not help: torch's libraries are loaded RTLD_LOCAL"});
  }
}

void add_fix(CaseFile& file, const Undefined& first, finding::Finding& finding) {
  const auto both = [&finding](std::string english, std::string chinese) {
    finding.fix = std::move(english);
    finding.chinese.fix = std::move(chinese);
  };
  const auto link_name = [](std::string_view library) {
    const auto stem = library_stem(library);
    return std::string(stem.starts_with("lib") ? stem.substr(3) : stem);
  };
  if (first.wanted_by != file.image) {
    const auto library = first.wanted_by->path.string();
    both("rebuild or reinstall " + library, "重新编译或安装 " + library);
  } else if (first.rule == "DCU212" || first.rule == "DCU217") {
    const auto name = link_name(first.library);
    both("link with -l" + name + " (libraries = [\"" + name + "\"] in dcuop.toml)",
         "链接时加 -l" + name + "（在 dcuop.toml 中写 libraries = [\"" + name + "\"]）");
  } else if (first.rule == "DCU214") {
    both("compile without -fgpu-rdc, or link with hipcc -fgpu-rdc --hip-link --offload-arch=ARCH",
         "编译时去掉 -fgpu-rdc，或用 hipcc -fgpu-rdc --hip-link --offload-arch=ARCH 链接");
  } else if (first.rule == "DCU218") {
    both("add the source that defines it to `sources` in dcuop.toml",
         "把定义它的源文件加入 dcuop.toml 的 sources");
  } else if (first.rule == "DCU219") {
    both("link with the C++ compiler, not the C compiler", "用 C++ 编译器而不是 C 编译器链接");
  } else if (first.rule == "DCU216") {
    both("install the package's DTK (+das...dtk) or ROCm wheel, or hipify the source and build it",
         "安装该软件包的 DTK（+das...dtk）或 ROCm wheel，或对源码 hipify 后编译");
  } else {
    file.fix_by_building(finding);
  }
}

finding::Finding report(CaseFile& file, Cause& cause) {
  put_telling_one_first(cause);
  const auto& first = cause.front();
  const auto others = cause.size() - 1;
  const bool its_own = first.wanted_by == file.image;
  const auto requirer = first.wanted_by->path.filename().string();
  auto finding = file.finding(
      first.rule, {{"who", its_own ? "it" : requirer},
                   {"who:zh", its_own ? "它" : requirer + " "},
                   {"symbol", first.demangled},
                   {"more", others == 0 ? "" : " and " + counted(others, "other")},
                   {"more:zh", others == 0 ? "" : " 等 " + std::to_string(cause.size()) + " 个"},
                   {"library", first.library},
                   {"libraries", "torch's libraries are"},
                   {"libraries:zh", "torch 的库"},
                   {"python", file.facts.python ? file.facts.python->executable.string() : "Python"}});
  finding.evidence.push_back(
      {"wanted by", its_own ? requirer : requirer + ", which " + file.file_name + " needs"});
  if (!first.offered.empty()) {
    finding.evidence.push_back({"offered", first.offered});
  }
  if (!first.conclusion.empty()) {
    finding.evidence.push_back({"so", first.conclusion});
  }
  add_build_facts(file, first, finding);
  for (std::size_t i = 1; i < std::min(cause.size(), shown); ++i) {
    finding.evidence.push_back({"also", cause[i].demangled});
  }
  if (cause.size() > shown) {
    finding.evidence.push_back({"also", counted(cause.size() - shown, "more symbol")});
  }
  add_fix(file, first, finding);
  return finding;
}

void check_undefined(CaseFile& file, Findings& findings) {
  for (auto& cause : causes_of(file)) {
    findings.push_back(report(file, cause));
  }
}

} // namespace

std::vector<Check> symbol_checks() {
  return {
      {{"DCU210", "DCU211", "DCU212", "DCU213", "DCU214", "DCU215", "DCU216", "DCU217", "DCU218", "DCU219"},
       check_undefined}};
}

} // namespace dcuop::doctor
