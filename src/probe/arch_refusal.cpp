#include "arch_refusal.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "dcuop/support/error.hpp"

namespace dcuop::probe {

namespace {

/// Processors of Hygon's that upstream LLVM and AMD's do not know (gfx906, also a DCU, they do).
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> dtk_only = {
    {{"gfx926", "K100"}, {"gfx928", "K100_AI"}, {"gfx936", "BW1000"}, {"gfx938", "BW1100"}}};

std::string name_of(const Compiler& compiler, const DriverReport& report) {
  auto name = compiler.program.filename().string();
  if (!compiler.hip_version.empty()) {
    name += " " + compiler.hip_version;
  }
  return report.version.empty() ? name : name + " (clang " + report.version + ")";
}

std::string advice(const RefusedArch& refused) {
  const auto processor = refused.arch.substr(0, refused.arch.find(':'));
  const auto* const dcu = std::find_if(dtk_only.begin(), dtk_only.end(),
                                       [&](const auto& entry) { return entry.first == processor; });
  if (dcu != dtk_only.end()) {
    return processor + " is a Hygon DCU (" + std::string(dcu->second) +
           ") and needs the compiler of DTK: source DTK's env.sh, or set ROCM_PATH or DCUOP_HIPCC to it";
  }
  if (refused.line.find("combinations") != std::string::npos) {
    return "name the features of a processor in all of its target ids or in none";
  }
  if (refused.line.find("device library") != std::string::npos) {
    return "install the ROCm device libraries that hold " + refused.arch +
           ", or choose another arch with --arch";
  }
  return "choose an arch that it knows with --arch, or set ROCM_PATH or DCUOP_HIPCC to a compiler that "
         "knows " +
         refused.arch;
}

} // namespace

void refuse_unknown_arch(const Compiler& compiler, const DriverReport& report) {
  if (const auto refused = refused_arch(report)) {
    throw Error(ExitCode::usage, name_of(compiler, report) + " cannot compile for " + refused->arch,
                advice(*refused) + "\nthe compiler says: " + refused->line);
  }
}

} // namespace dcuop::probe
