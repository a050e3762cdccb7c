#pragma once
// nvcc: where it is, what it is made of, and the archs that it is to compile for.

#include <filesystem>
#include <string>
#include <vector>

#include "dcuop/probe/devices.hpp"
#include "dcuop/probe/machine.hpp"
#include "dcuop/probe/toolchain.hpp"

namespace dcuop::probe {

/// An nvcc and the toolkit around it, as its own profile (nvcc.profile) and --dryrun name that.
struct CudaCompiler {
  Compiler compiler; ///< family nvcc; version "13.0.88"
  std::vector<std::filesystem::path>
      include_dirs;                  ///< of the toolkit's headers, for units that are no CUDA units
  std::filesystem::path library_dir; ///< where libcudart.so lies; empty: nowhere beside it
  std::vector<std::string> archs;    ///< "sm_90": what it says that it knows; empty: it does not say
};

/// nvcc: DCUOP_NVCC > $CUDA_HOME/bin, $CUDA_PATH/bin > PATH > /usr/local/cuda/bin. `host` is the host compiler that it
/// is to be called with. Throws Error(environment) when there is none, or it does not answer --dryrun.
[[nodiscard]] CudaCompiler find_cuda_compiler(const Machine& machine, const Compiler& host);

/// What calling nvcc with `host` and, behind -Xcompiler, `host_arguments` is made of: nvcc, its profile, the programs
/// that it starts, libdevice, and the host compiler's own toolchain; all by content. Of problems as resolve_toolchain().
[[nodiscard]] Toolchain resolve_cuda_toolchain(const Machine& machine, const CudaCompiler& cuda,
                                               const Compiler& host,
                                               const std::vector<std::string>& host_arguments,
                                               const Environment& environment);

/// --arch > DCUOP_ARCH > the visible devices, by nvidia-smi ("native" means these anywhere). Empty, with `origin` saying
/// what was looked at, when nothing says one. Whether a wished one is an arch of nvcc is not looked at. Throws
/// Error(environment) for "native" without a device.
[[nodiscard]] ArchSelection select_cuda_archs(const Machine& machine, const std::vector<std::string>& asked);

} // namespace dcuop::probe
