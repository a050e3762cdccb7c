#pragma once
// Flags and libraries of a build for CUDA: what hipcc and a manifest take of them.

#include <optional>
#include <string>
#include <vector>

namespace dcuop::op {

struct CarriedFlags {
  std::vector<std::string> kept;
  std::vector<std::string> left_out; ///< "-gencode arch=compute_80,code=sm_80: chooses CUDA's archs"
  std::optional<int> cxx_standard;   ///< of the last -std= that a manifest can say
};

enum class ForeignCompiler { host, nvcc };

[[nodiscard]] CarriedFlags carried_flags(const std::vector<std::string>& flags, ForeignCompiler compiler);

/// Why a library of that name is not linked: "CUDA's; HIP has hipblas". nullopt for what is not CUDA's.
[[nodiscard]] std::optional<std::string> why_not_linked(const std::string& library);

} // namespace dcuop::op
