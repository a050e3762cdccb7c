// DCU312: the form of the device code against the HIP runtime that would read it.
#include <algorithm>
#include <charconv>
#include <optional>

#include "checks.hpp"
#include "symbol_names.hpp"

#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

using finding::Severity;

struct Runtime {
  const elf::Image* image = nullptr;
  int major = 0, minor = 0;
  [[nodiscard]] bool before(int other_major, int other_minor) const {
    return std::pair(major, minor) < std::pair(other_major, other_minor);
  }
  [[nodiscard]] std::string text() const {
    return "HIP " + std::to_string(major) + "." + std::to_string(minor);
  }
};

/// "hip_5.2" -> 5 and 2.
std::optional<std::pair<int, int>> version_of(std::string_view node) {
  constexpr std::string_view prefix = "hip_";
  if (!node.starts_with(prefix)) {
    return std::nullopt;
  }
  std::pair<int, int> version;
  const auto* const end = node.data() + node.size();
  const auto [dot, fault] = std::from_chars(node.data() + prefix.size(), end, version.first);
  if (fault != std::errc{} || dot == end || *dot != '.' ||
      std::from_chars(dot + 1, end, version.second).ec != std::errc{}) {
    return std::nullopt;
  }
  return version;
}

/// AMD's runtime gets a symbol version with each release; DTK's has none that is known.
std::optional<Runtime> runtime_of(const CaseFile& file) {
  for (const auto* image : file.scope) {
    Runtime runtime{image};
    if (library_family(image->path.filename().string()) != LibraryFamily::hip_runtime) {
      continue;
    }
    for (const auto& node : image->version_definitions) {
      if (const auto version = version_of(node)) {
        std::tie(runtime.major, runtime.minor) = std::max(std::pair(runtime.major, runtime.minor), *version);
      }
    }
    if (runtime.major > 0) {
      return runtime;
    }
  }
  return std::nullopt;
}

/// A form of device code, and how sure it is that the runtime does not read it.
struct TooNew {
  finding::Values form;
  Severity severity = Severity::error;
};

// Compression came to clang in September 2023 (LLVM 18), after ROCm 5.7, its version 3 with ROCm 7.
std::optional<TooNew> too_new(const elf::Bundle& bundle, const Runtime& runtime) {
  const auto version = std::to_string(bundle.ccob_version);
  const finding::Values compressed = {{"form", "compressed (CCOB version " + version + ")"},
                                      {"form:zh", "压缩的（CCOB 第 " + version + " 版）"}};
  if (bundle.ccob_version > 0 && runtime.before(6, 0)) {
    auto form = compressed;
    form.insert({{"knows", "unpacks none"}, {"knows:zh", "不能解压"}});
    return TooNew{form};
  }
  if (bundle.ccob_version > 2 && runtime.before(7, 0)) {
    auto form = compressed;
    form.insert({{"knows", "is of before that version"}, {"knows:zh", "早于该版本"}});
    return TooNew{form, Severity::warning};
  }
  return std::nullopt;
}

// Version 6 came with LLVM 19 (2024), in ROCm 6.
std::optional<TooNew> too_new(const elf::CodeObject& object, const Runtime& runtime) {
  constexpr int newest_of_hip_5 = 5;
  if (object.code_object_version <= newest_of_hip_5 || !runtime.before(6, 0)) {
    return std::nullopt;
  }
  const auto version = std::to_string(object.code_object_version);
  return TooNew{{{"form", "of code object version " + version},
                 {"form:zh", "第 " + version + " 版代码对象"},
                 {"knows", "knows versions up to 5"},
                 {"knows:zh", "只支持到第 5 版"}}};
}

void report(CaseFile& file, const TooNew& found, const Runtime& runtime, Findings& findings) {
  auto values = found.form;
  values.insert({"runtime", runtime.text()});
  auto finding = file.finding("DCU312", std::move(values));
  finding.severity = found.severity;
  finding.evidence.push_back({"offered", real_path(runtime.image->path).string() + " is " + runtime.text()});
  file.fix_by_building(finding, "--force");
  findings.push_back(std::move(finding));
}

void check_form(CaseFile& file, Findings& findings) {
  const auto runtime = file.device_code.bundles.empty() ? std::nullopt : runtime_of(file);
  if (!runtime) {
    return;
  }
  for (const auto& bundle : file.device_code.bundles) {
    if (const auto found = too_new(bundle, *runtime)) {
      report(file, *found, *runtime, findings);
      return; // one compiler made them all, or one tells enough
    }
    for (const auto& object : bundle.code_objects) {
      if (const auto found = too_new(object, *runtime)) {
        report(file, *found, *runtime, findings);
        return;
      }
    }
  }
}

} // namespace

std::vector<Check> runtime_code_checks() {
  return {{{"DCU312"}, check_form}};
}

} // namespace dcuop::doctor
