// The words of the HIP and HSA runtimes, of their libraries and of torch for what fails on a device
// (hip_runtime_api.h, hsa.h, ROCm's clr and ROCR-Runtime, c10/hip).
#include <array>

#include "message_signs.hpp"

namespace dcuop::doctor {
namespace {

constexpr auto none = std::string_view::npos;

constexpr finding::Text on_dtk_comgr = {
    "on DTK: libamd_comgr.so.2 must be found (LD_LIBRARY_PATH with /opt/dtk/dcc/comgr/lib); else too high a "
    "device number, "
    "or HIP_VISIBLE_DEVICES with fewer devices: dcuop doctor",
    "DTK 上须能找到 libamd_comgr.so.2（LD_LIBRARY_PATH 含 /opt/dtk/dcc/comgr/lib）；否则是设备号过大，或 "
    "HIP_VISIBLE_DEVICES 中设备较少：dcuop doctor"};
constexpr finding::Text install_hip_torch = {
    "install the torch of your toolkit: the DTK (+das...dtk) or ROCm wheel",
    "安装与工具包配套的 torch：DTK（+das...dtk）或 ROCm wheel"};
constexpr finding::Text access = {"on that machine: dcuop doctor; in a container: --device /dev/kfd --device "
                                  "/dev/dri (DCU: /dev/mkfd too), groups video "
                                  "and render",
                                  "在那台机器上：dcuop doctor；容器中：--device /dev/kfd --device "
                                  "/dev/dri（DCU 还需 /dev/mkfd），并加入 video 与 render 组"};
constexpr finding::Text unset_override = {
    "unset HSA_OVERRIDE_GFX_VERSION (code of another processor is run with it), then build for the real one: "
    "dcuop build OP",
    "unset HSA_OVERRIDE_GFX_VERSION（它会运行其他处理器的代码），然后为真实设备编译：dcuop build OP"};
constexpr finding::Text find_kernel = {"AMD_SERIALIZE_KERNEL=3 HIP_LAUNCH_BLOCKING=1 SCRIPT shows which "
                                       "kernel; check HSA_OVERRIDE_GFX_VERSION is not set",
                                       "AMD_SERIALIZE_KERNEL=3 HIP_LAUNCH_BLOCKING=1 SCRIPT "
                                       "可定位核函数；确认没有设置 HSA_OVERRIDE_GFX_VERSION"};
constexpr finding::Text launch_bounds = {"dcuop inspect FILE shows each kernel's registers, LDS and largest "
                                         "workgroup: launch smaller ones, or compile with "
                                         "__launch_bounds__ (DTK: --gpu-max-threads-per-block=1024)",
                                         "dcuop inspect FILE 显示每个核函数的寄存器、LDS "
                                         "和最大工作组：减小启动规模，或用 __launch_bounds__ 编译（DTK："
                                         "--gpu-max-threads-per-block=1024）"};

constexpr std::array signs = {
    // No code for the device.
    Sign{"Cannot find CO in the bundle", "DCU702", Weight::cause, {}},
    Sign{"Missing CO for these ISAs", "DCU702", Weight::cause, {}},
    Sign{"hipErrorNoBinaryForGpu", "DCU702", Weight::cause, {}},
    Sign{"find binary for current devices", "DCU702", Weight::cause, {}},
    Sign{"Unable to find code object for all current devices", "DCU702", Weight::cause, {}},
    Sign{"no kernel image is available", "DCU702", Weight::cause, {}},
    Sign{"invalid device function", "DCU702", Weight::cause, {}},
    Sign{"hipErrorInvalidDeviceFunction", "DCU702", Weight::cause, {}},
    Sign{"TensileLibrary", "DCU702", Weight::cause, {}},
    Sign{"HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION", "DCU702", Weight::cause, unset_override},
    Sign{"HSA_STATUS_ERROR_INVALID_ISA", "DCU702", Weight::cause, {}},
    // Code that is there and not accepted.
    Sign{"hipErrorInvalidKernelFile", "DCU703", Weight::cause, {}},
    Sign{"hipErrorInvalidImage", "DCU703", Weight::cause, {}},
    Sign{"device kernel image is invalid", "DCU703", Weight::cause, {}},
    Sign{"hipErrorSharedObjectInitFailed", "DCU703", Weight::cause, {}},
    Sign{"hipErrorSharedObjectSymbolNotFound", "DCU703", Weight::cause, {}},
    Sign{"HSA_STATUS_ERROR_INVALID_CODE_OBJECT", "DCU703", Weight::cause, {}},
    Sign{"HSA_STATUS_ERROR_INVALID_FILE", "DCU703", Weight::cause, {}},
    // No device.
    Sign{"nable to open /dev/kfd", "DCU704", Weight::cause, access},
    Sign{"/dev/kfd: ", "DCU704", Weight::cause, access},
    Sign{"No HIP GPUs are available", "DCU704", Weight::cause, access},
    Sign{"hipErrorNoDevice", "DCU704", Weight::cause, access},
    Sign{"no ROCm-capable device is detected", "DCU704", Weight::cause, access},
    Sign{"no CUDA-capable device is detected", "DCU704", Weight::cause, install_hip_torch},
    Sign{"ROCk module is NOT loaded", "DCU704", Weight::cause, access},
    Sign{"hsa api call failure at", "DCU704", Weight::cause, access}, // rocminfo's, mostly of hsa_init
    Sign{"Driver not initialized", "DCU704", Weight::hint, access},
    Sign{"hipErrorInsufficientDriver", "DCU704", Weight::cause, access},
    Sign{"hipErrorNotInitialized", "DCU704", Weight::cause, access},
    Sign{"invalid device ordinal", "DCU704", Weight::cause, on_dtk_comgr},
    Sign{"hipErrorInvalidDevice", "DCU704", Weight::cause, on_dtk_comgr},
    Sign{"Found no NVIDIA driver on your system", "DCU704", Weight::cause, install_hip_torch},
    Sign{"Torch not compiled with CUDA enabled", "DCU704", Weight::cause, install_hip_torch},
    Sign{"No CUDA GPUs are available", "DCU704", Weight::cause, install_hip_torch},
    Sign{"No CUDA runtime is found", "DCU704", Weight::hint, install_hip_torch},
    // A kernel that ran.
    Sign{"Memory access fault by GPU", "DCU705", Weight::cause, find_kernel},
    Sign{"HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION", "DCU705", Weight::cause, find_kernel},
    Sign{"HSA_STATUS_ERROR_MEMORY_FAULT", "DCU705", Weight::cause, find_kernel},
    Sign{"HSA_STATUS_ERROR_EXCEPTION", "DCU705", Weight::cause, find_kernel},
    Sign{"HSA_STATUS_ERROR_OUT_OF_REGISTERS", "DCU705", Weight::cause, launch_bounds},
    Sign{"HW Exception by GPU", "DCU705", Weight::cause, find_kernel},
    Sign{"hipErrorIllegalAddress", "DCU705", Weight::cause, find_kernel},
    Sign{"an illegal memory access was encountered", "DCU705", Weight::cause, find_kernel},
    Sign{"hipErrorLaunchFailure", "DCU705", Weight::cause, find_kernel},
    Sign{"unspecified launch failure", "DCU705", Weight::cause, find_kernel},
    Sign{"hipErrorAssert", "DCU705", Weight::cause, find_kernel},
    Sign{"device-side assert triggered", "DCU705", Weight::cause, find_kernel},
    Sign{"hipErrorLaunchTimeOut", "DCU705", Weight::cause, find_kernel},
    Sign{"hipErrorLaunchOutOfResources", "DCU705", Weight::cause, launch_bounds},
    Sign{"too many resources requested for launch", "DCU705", Weight::cause, launch_bounds},
    Sign{"hipErrorInvalidConfiguration", "DCU705", Weight::cause, launch_bounds},
    Sign{"invalid configuration argument", "DCU705", Weight::cause, launch_bounds},
    // Memory.
    Sign{"HIP out of memory", "DCU706", Weight::cause, {}},
    Sign{"CUDA out of memory", "DCU706", Weight::cause, {}},
    Sign{"hipErrorOutOfMemory", "DCU706", Weight::cause, {}},
    Sign{"hipErrorMemoryAllocation", "DCU706", Weight::cause, {}},
    Sign{"OutOfMemoryError", "DCU706", Weight::cause, {}},
    Sign{"HSA_STATUS_ERROR_OUT_OF_RESOURCES", "DCU706", Weight::hint, {}},
    // What stands below a cause, or is all that there is.
    Sign{"Compile with 'TORCH_USE_HIP_DSA'", "DCU705", Weight::consequence, {}},
    Sign{"TORCH_USE_HIP_DSA", "DCU705", Weight::consequence, {}},
    Sign{"might be asynchronously reported", "DCU705", Weight::consequence, {}},
    Sign{"ChildFailedError", "DCU720", Weight::consequence, {}},
    Sign{"Segmentation fault", "DCU720", Weight::hint, {}},
    Sign{"SIGSEGV", "DCU720", Weight::hint, {}},
    Sign{"Bus error", "DCU720", Weight::hint, {}},
    Sign{"SIGBUS", "DCU720", Weight::hint, {}},
    Sign{"Aborted (core dumped)", "DCU720", Weight::hint, {}},
    Sign{"SIGABRT", "DCU720", Weight::hint, {}},
    Sign{"HSA_STATUS_ERROR", "DCU705", Weight::hint, {}},
    Sign{"hipError", "DCU705", Weight::hint, {}},
};

} // namespace

std::optional<Sighting> recognised_running(std::string_view line) {
  for (const auto& sign : signs) {
    const auto at = line.find(sign.text);
    // "hipErrorInvalidDevice" begins "hipErrorInvalidDevicePointer", which says something else.
    const auto end = at == none ? none : at + sign.text.size();
    const bool longer =
        sign.text == "hipErrorInvalidDevice" && end < line.size() && line[end] >= 'A' && line[end] <= 'Z';
    if (at == none || longer) {
      continue;
    }
    Sighting found;
    found.clue.rule = sign.rule;
    found.weight = sign.weight;
    found.clue.fix = sign.fix.en;
    found.clue.fix_chinese = sign.fix.zh;
    found.clue.detail = arch_in(line);
    // "Cannot find CO in the bundle /x/libMIOpen.so for ISA: ...", "Cannot read /x/TensileLibrary.dat: ..."
    for (const std::string_view before : {"in the bundle ", "Cannot read "}) {
      if (const auto path = line.find(before); path != none) {
        auto word = word_at(line, path + before.size());
        found.clue.file = word.ends_with(':') ? word.substr(0, word.size() - 1) : word;
      }
    }
    return found;
  }
  return std::nullopt;
}

} // namespace dcuop::doctor
