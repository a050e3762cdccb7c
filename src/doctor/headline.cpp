#include "headline.hpp"

#include <algorithm>

#include "check_device.hpp"

#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

using finding::LanguageOfText;
using finding::Severity;

/// The error that the verdict rests on.
std::string root_cause(const Report& report, LanguageOfText language) {
  for (const auto& finding : report.findings) {
    if (finding.severity == Severity::error) {
      return words_of(finding, language).summary;
    }
  }
  return {};
}

std::string device_clause(const CaseFile& file, bool zh) {
  if (!has_hip_code(file)) {
    return zh ? "其中没有 HIP 设备代码" : "no HIP device code inside";
  }
  const auto devices = judged_devices(file);
  if (devices.empty()) {
    return zh ? "本机没有设备，因此未判断能否启动：--arch ARCH 可判断"
              : "no device on this machine, so launch was not judged: --arch ARCH judges it";
  }
  return (zh ? "设备代码适合 " : "its device code fits ") + join(devices, ", ");
}

std::string fine(const CaseFile& file, const Report& report, bool zh) {
  const auto checks = std::to_string(report.checks);
  const auto warnings =
      std::count_if(report.findings.begin(), report.findings.end(),
                    [](const auto& finding) { return finding.severity == Severity::warning; });
  const auto warned = static_cast<std::uint64_t>(warnings);
  if (zh) {
    const std::string tail = warnings == 0 ? "" : "，" + std::to_string(warnings) + " 个警告";
    return "可以加载。没有发现错误" + tail + "（" + checks + " 项检查；" + device_clause(file, zh) + "）";
  }
  const std::string tail = warnings == 0 ? "" : ", " + counted(warned, "warning");
  return "loads. No error found" + tail + " (" + checks + " checks; " + device_clause(file, zh) + ")";
}

std::string environment_sentence(const Report& report, LanguageOfText language) {
  const bool zh = language == LanguageOfText::zh;
  const auto checks = std::to_string(report.checks);
  if (const auto cause = root_cause(report, language); !cause.empty()) {
    return zh ? "环境有错误：" + cause + "。" : "the environment has an error: " + cause + ".";
  }
  return zh ? "环境没有发现错误（" + checks + " 项检查）"
            : "no error found in the environment (" + checks + " checks)";
}

} // namespace

std::string headline_of(const CaseFile& file, const Report& report, LanguageOfText language) {
  const bool zh = language == LanguageOfText::zh;
  const auto cause = root_cause(report, language);
  switch (report.verdict) {
  case Verdict::does_not_load:
    return zh ? "无法加载：" + cause + "。" : "does not load: " + cause + ".";
  case Verdict::loads_cannot_launch: {
    const bool asked = !file.question.archs.empty();
    const auto place = asked ? join(judged_devices(file), ", ") : std::string(zh ? "本机" : "this machine");
    return zh ? "可以加载，但无法在 " + place + " 上启动：" + cause + "。"
              : "loads, but cannot launch on " + place + ": " + cause + ".";
  }
  case Verdict::loads:
    return fine(file, report, zh);
  case Verdict::environment_only:
    break;
  }
  return environment_sentence(report, language);
}

} // namespace dcuop::doctor
