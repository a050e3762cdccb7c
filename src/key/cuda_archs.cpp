#include "cuda_archs.hpp"

#include <algorithm>

#include "dcuop/support/error.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::key {

namespace {

/// Of "sm_90", "compute_90a": 90.
int number_of(const std::string& arch) {
  return std::stoi(arch.substr(arch.find('_') + 1));
}

/// For a device that is an sm_86: what is for that processor alone ("sm_86a"), else the newest code of its generation
/// that is not newer ("sm_80"), else the newest PTX that is not; "" when the op supports none.
/// https://docs.nvidia.com/cuda/cuda-c-programming-guide/#binary-compatibility
std::string code_that_runs_on(const std::string& processor, const op::Op& op) {
  if (op.supports(processor + "a")) {
    return processor + "a";
  }
  const int number = number_of(processor);
  std::string code;
  std::string ptx;
  for (const std::string& arch : op.archs) {
    if (!op::is_cuda_arch(arch) || arch.ends_with('a') || number_of(arch) > number) {
      continue;
    }
    const bool is_code = arch.starts_with("sm_");
    std::string& best = is_code ? code : ptx;
    const bool fits = is_code ? number_of(arch) / 10 == number / 10 : !arch.ends_with('f');
    if (fits && (best.empty() || number_of(best) < number_of(arch))) {
      best = arch;
    }
  }
  return code.empty() ? ptx : code;
}

/// nvcc lists neither "sm_90a" nor "sm_100f": whether it knows these it says when it is called.
void require_known(const std::string& arch, const probe::CudaCompiler& cuda) {
  const std::string processor = "sm_" + std::to_string(number_of(arch));
  if (!cuda.archs.empty() && std::find(cuda.archs.begin(), cuda.archs.end(), processor) == cuda.archs.end()) {
    throw Error(ExitCode::usage, cuda.compiler.version_line + " cannot compile for " + arch,
                "it knows " + join(cuda.archs, ", ") + "; CUDA_HOME or DCUOP_NVCC name another");
  }
}

std::vector<std::string> chosen_archs(const op::Op& op, const probe::ArchSelection& selected) {
  if (selected.archs.empty()) {
    if (op.archs.size() == 1 && !op.supports_any_arch()) {
      return op.archs;
    }
    throw Error(ExitCode::environment, "no CUDA arch: " + selected.origin,
                "say which, for example: --arch " +
                    (op.supports_any_arch() ? std::string("sm_90") : op.archs.front()));
  }
  const bool is_seen = selected.origin.find("visible") != std::string::npos;
  std::vector<std::string> archs;
  for (const std::string& arch : selected.archs) {
    archs.push_back(op.supports(arch) ? arch : is_seen ? code_that_runs_on(arch, op) : "");
    if (archs.back().empty()) {
      throw Error(ExitCode::usage,
                  op.name + " does not support " + arch + " (" + selected.origin + "); it supports " +
                      join(op.archs, ", "),
                  "add \"" + arch + "\" to archs in [backend.cuda] of " + op.manifest.string() +
                      " if the op is written for it");
    }
  }
  return archs;
}

} // namespace

std::vector<std::string> cuda_archs_of(const op::Op& op, const Facts& facts) {
  std::vector<std::string> archs = chosen_archs(op, facts.cuda_archs);
  std::sort(archs.begin(), archs.end());
  archs.erase(std::unique(archs.begin(), archs.end()), archs.end());
  for (const std::string& arch : archs) {
    require_known(arch, needed(facts.cuda));
  }
  return archs;
}

} // namespace dcuop::key
