#include "dcuop/probe/toolchain.hpp"

namespace dcuop::probe {

// Sources: %ENV in hipcc.pl and hipvars.pm of HIP 5.2; HIP_CLANG_LAUNCHER:
// https://github.com/ROCm/llvm-project/pull/1490; clang's driver (ROCM_PATH, HIP_DEVICE_LIB_PATH,
// CCC_OVERRIDE_OPTIONS); GCC manual 3.21; ld(1); ld.so(8); nvcc manual, "NVCC Environment Variables".
// The DTK_* names are not documented in public: passing what nobody reads costs nothing.
// LD_PRELOAD is scrubbed: it would put code into the compiler that nothing identifies.
const std::vector<std::string>& compile_variables() {
  static const std::vector<std::string> variables = {
      "CCC_OVERRIDE_OPTIONS",
      "COMPILER_PATH",
      "CPATH",
      "CPLUS_INCLUDE_PATH",
      "CUDA_HOME",
      "CUDA_PATH",
      "C_INCLUDE_PATH",
      "DEVICE_LIB_PATH",
      "DTK_HOME",
      "DTK_PATH",
      "DTK_ROOT",
      "GCC_EXEC_PREFIX",
      "GNUTARGET",
      "HCC_AMDGPU_TARGET",
      "HIPCC_COMPILE_FLAGS_APPEND",
      "HIPCC_LINK_FLAGS_APPEND",
      "HIP_CLANG_HCC_COMPAT_MODE",
      "HIP_CLANG_INCLUDE_PATH",
      "HIP_CLANG_LAUNCHER",
      "HIP_CLANG_PATH",
      "HIP_COMPILER",
      "HIP_COMPILER_BIN",
      "HIP_COMPILE_CXX_AS_HIP",
      "HIP_DEVICE_LIB_PATH",
      "HIP_LIB_PATH",
      "HIP_PATH",
      "HIP_PLATFORM",
      "HIP_ROCCLR_HOME",
      "HIP_RUNTIME",
      "HIP_USE_PERL_SCRIPTS",
      "HIP_VDI_HOME",
      "HSA_PATH",
      "LDEMULATION",
      "LD_LIBRARY_PATH",
      "LD_RUN_PATH",
      "LIBRARY_PATH",
      "NVCC_APPEND_FLAGS",
      "NVCC_CCBIN",
      "NVCC_PREPEND_FLAGS",
      "ROCM_HOME",
      "ROCM_PATH",
      "SOURCE_DATE_EPOCH",
  };
  return variables;
}

Environment compile_environment(const Environment& full, const std::filesystem::path& temporary_directory) {
  Environment environment;
  const auto pass = [&](const std::string& name) {
    if (auto value = full.get(name)) {
      environment.set(name, std::move(*value));
    }
  };
  for (const auto& name : compile_variables()) {
    pass(name);
  }
  pass("PATH");
  pass("HOME");
  environment.set("TMPDIR", temporary_directory.string());
  // Compilers' messages are read by dcuop, and quotes in them depend on the locale.
  environment.set("LC_ALL", "C");
  return environment;
}

} // namespace dcuop::probe
