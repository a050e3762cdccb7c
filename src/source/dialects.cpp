#include "dcuop/source/mask.hpp"

namespace dcuop::source {

// What hipcc defines: https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_porting_guide.html#identifying-hip-target-platform
// __HIP_DEVICE_COMPILE__ and the names of processors are left open: both passes, and every arch, are compiled.
const Dialect& hip_dialect() {
  static const Dialect dialect = {{{"__HIP__", "1"},
                                   {"__HIPCC__", "1"},
                                   {"__HIP_PLATFORM_AMD__", "1"},
                                   {"__HIP_PLATFORM_HCC__", "1"},
                                   {"USE_ROCM", "1"},
                                   {"USE_HIP", "1"},
                                   {"__cplusplus", "201703"},
                                   {"__clang__", "1"},
                                   {"__linux__", "1"},
                                   {"NDEBUG", "1"},
                                   {"TORCH_EXTENSION_NAME", "extension"},
                                   {"__CUDACC__", std::nullopt},
                                   {"__NVCC__", std::nullopt},
                                   {"__CUDA_ARCH__", std::nullopt},
                                   {"__HIP_PLATFORM_NVIDIA__", std::nullopt},
                                   {"__HIP_PLATFORM_NVCC__", std::nullopt},
                                   {"USE_CUDA", std::nullopt},
                                   {"CUDA_VERSION", std::nullopt},
                                   {"CUDART_VERSION", std::nullopt},
                                   {"_WIN32", std::nullopt},
                                   {"_MSC_VER", std::nullopt},
                                   {"__APPLE__", std::nullopt}},
                                  {"__global__",
                                   "__device__",
                                   "__host__",
                                   "__forceinline__",
                                   "__noinline__",
                                   "__launch_bounds__",
                                   "__shared__",
                                   "__constant__",
                                   "__managed__",
                                   "__restrict__",
                                   "__restrict",
                                   "__align__",
                                   "__attribute__",
                                   "alignas",
                                   "__grid_constant__",
                                   "C10_HOST_DEVICE",
                                   "C10_DEVICE",
                                   "C10_HOST",
                                   "TORCH_API",
                                   "C10_API",
                                   "C10_ALWAYS_INLINE",
                                   "C10_LAUNCH_BOUNDS_0",
                                   "C10_NOINLINE",
                                   "GPU_LAMBDA",
                                   "C10_UNUSED",
                                   "C10_RESTRICT",
                                   "C10_LAUNCH_BOUNDS_1",
                                   "C10_LAUNCH_BOUNDS_2",
                                   "C10_HIP_API",
                                   "TORCH_HIP_CPP_API",
                                   "CUTLASS_DEVICE",
                                   "CUTLASS_HOST_DEVICE",
                                   "CUTE_DEVICE",
                                   "CUTE_HOST_DEVICE",
                                   "__maxnreg__",
                                   "__inline__"}};
  return dialect;
}

// https://gitee.com/ascend/asc-devkit: the words that its compiler adds.
const Dialect& ascend_dialect() {
  static const Dialect dialect = {
      {{"__cplusplus", "201703"}, {"__linux__", "1"}, {"__clang__", "1"}},
      {"__aicore__",  "__global__",    "__gm__",        "__ubuf__",      "__vector__",     "__cube__",
       "__sk__",      "__restrict__",  "__mix__",       "__schedmode__", "__block_num__",  "__inout_pipe__",
       "__in_pipe__", "__out_pipe__",  "__cbuf__",      "__ca__",        "__cb__",         "__cc__",
       "__fbuf__",    "__local_mem__", "__attribute__", "alignas",       "__forceinline__"}};
  return dialect;
}

} // namespace dcuop::source
