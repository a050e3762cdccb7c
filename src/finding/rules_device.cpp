// DCU3xx: the device code inside, against the devices.
#include <iterator>

#include "rules.hpp"

namespace dcuop::finding {

namespace {

constexpr Rule table[] = {
    {.id = "DCU301",
     .severity = Severity::error,
     .name = "no-code-for-device",
     .title = {"No translation unit has code for the device; the first launch fails.",
               "没有任何编译单元含有该设备的代码；首次启动核函数会失败。"},
     .summary = {"{who} has no code for {device}", "{who}没有 {device} 的代码"},
     .cause = {"device code{where} for {targets}; wanted: {device}",
               "{where}设备代码面向 {targets}；需要：{device}"},
     .how = {"The target id of every code object in every offload bundle against the device's, by the rules "
             "of "
             "AMDGPUUsage: processors must be equal (there is no forward compatibility), features must not "
             "contradict.",
             "将每个 offload bundle 中每个代码对象的 target id 与设备比较，规则见 AMDGPUUsage：处理器必须相同"
             "（没有向前兼容），特性不得矛盾。"},
     .causes = {"built on another node: torch takes the archs of the cards that it sees there\n"
                "PYTORCH_ROCM_ARCH was set to something else\na wheel that does not support this card",
                "在另一台节点上编译：torch 取当时可见的卡的架构\nPYTORCH_ROCM_ARCH 设成了别的值\nwheel "
                "不支持这张卡"},
     .fixes = {"dcuop build OP --arch ARCH", "dcuop build OP --arch ARCH"},
     .references = "https://llvm.org/docs/AMDGPUUsage.html#target-id"},
    {.id = "DCU302",
     .severity = Severity::error,
     .name = "unit-without-code-for-device",
     .title = {"Some translation units have code for the device and others have not; kernels of the latter "
               "fail.",
               "部分编译单元有该设备的代码，其余没有；后者的核函数会失败。"},
     .summary = {"{missing} of its {count} translation units have no code for {device}",
                 "它的 {count} 个编译单元中有 {missing} 个没有 {device} 的代码"},
     .cause = {"{missing} of {count} translation units have no code for {device}",
               "{count} 个编译单元中有 {missing} 个没有 {device} 的代码"},
     .how = {"As DCU301, for each bundle of .hip_fatbin (one a translation unit).",
             "同 DCU301，对 .hip_fatbin 的每个 bundle（每个编译单元一个）逐一判断。"},
     .causes = {"objects of an older build with other archs were linked in\none source has its own "
                "--offload-arch",
                "链接了旧的、其他架构的目标文件\n某个源文件有自己的 --offload-arch"},
     .fixes = {"dcuop build OP --arch ARCH --force", "dcuop build OP --arch ARCH --force"},
     .references = "https://llvm.org/docs/AMDGPUUsage.html#target-id"},
    {.id = "DCU303",
     .severity = Severity::error,
     .name = "xnack-conflict",
     .title = {"The code is for this processor, but with the other XNACK setting.",
               "代码面向该处理器，但 XNACK 设置相反。"},
     .summary = {"the code{where} is for the other XNACK setting than {device}",
                 "{where}代码的 XNACK 设置与 {device} 相反"},
     .cause = {"device code{where} for {targets} does not run on {device}: XNACK differs",
               "{where}面向 {targets} 的设备代码不能在 {device} 上运行：XNACK 不同"},
     .how = {"Code that names xnack+ or xnack- needs a device with the same sign; code without it runs on "
             "both.",
             "写明 xnack+ 或 xnack- 的代码需要相同设置的设备；未写明的两者皆可。"},
     .causes = {"HSA_XNACK was changed after the build\na target with a sign was taken from another machine",
                "编译后更改了 HSA_XNACK\n从另一台机器抄来带符号的目标"},
     .fixes = {"build for the processor without the sign: dcuop build OP --arch gfx90a\nset HSA_XNACK=0 or 1",
               "不带符号地编译：dcuop build OP --arch gfx90a\n设置 HSA_XNACK=0 或 1"},
     .references = "https://llvm.org/docs/AMDGPUUsage.html#target-features"},
    {.id = "DCU304",
     .severity = Severity::error,
     .name = "sramecc-conflict",
     .title = {"The code is for this processor, but with the other SRAMECC setting.",
               "代码面向该处理器，但 SRAMECC 设置相反。"},
     .summary = {"the code{where} is for the other SRAMECC setting than {device}",
                 "{where}代码的 SRAMECC 设置与 {device} 相反"},
     .cause = {"device code{where} for {targets} does not run on {device}: SRAMECC differs",
               "{where}面向 {targets} 的设备代码不能在 {device} 上运行：SRAMECC 不同"},
     .how = {"Code that names sramecc+ or sramecc- needs a device with the same sign.",
             "写明 sramecc+ 或 sramecc- 的代码需要相同设置的设备。"},
     .causes = {"a target with a sign was taken from another machine", "从另一台机器抄来带符号的目标"},
     .fixes = {"build for the processor without the sign", "不带符号地编译"},
     .references = "https://llvm.org/docs/AMDGPUUsage.html#target-features"},
    {.id = "DCU305",
     .severity = Severity::note,
     .name = "launch-not-judged",
     .title =
         {"No device is visible and no --arch was given: whether kernels can be launched was not judged.",
          "没有可见设备且没有给出 --arch：未判断核函数能否启动。"},
     .summary = {"launch was not judged", "未判断能否启动"},
     .cause = {"device code for {targets}; no device on this machine and no --arch, so launch was not judged",
               "设备代码面向 {targets}；本机没有设备且没有 --arch，因此未判断能否启动"},
     .how = {"KFD sysfs and rocminfo show no GPU.", "KFD sysfs 和 rocminfo 没有显示 GPU。"},
     .causes = {"a login node or build machine", "登录节点或编译机"},
     .fixes = {"dcuop doctor FILE --arch gfx936", "dcuop doctor FILE --arch gfx936"},
     .references = ""},
    {.id = "DCU306",
     .severity = Severity::error,
     .name = "cuda-device-code",
     .title = {"The device code inside is NVIDIA's; an AMD or Hygon device cannot run it.",
               "其中的设备代码是 NVIDIA 的；AMD 或海光设备无法运行。"},
     .summary = {"it is a CUDA build", "它是 CUDA 版本"},
     .cause = {"{file} has NVIDIA device code (.nv_fatbin){alone}",
               "{file} 含有 NVIDIA 设备代码（.nv_fatbin）{alone}"},
     .how = {"A section .nv_fatbin, and no HIP bundle.", "存在 .nv_fatbin 节而没有 HIP bundle。"},
     .causes = {"pip took the CUDA wheel\nthe extension was built with nvcc",
                "pip 装了 CUDA 版 wheel\n扩展由 nvcc 编译"},
     .fixes = {"install or build the ROCm/DTK version of the package", "安装或编译该软件包的 ROCm/DTK 版本"},
     .references = "https://github.com/vllm-project/vllm/issues/52300"},
    {.id = "DCU307",
     .severity = Severity::error,
     .name = "unreadable-bundle",
     .title = {"An offload bundle is damaged, or of a version or compression that is not known.",
               "某个 offload bundle 已损坏，或其版本或压缩方式未知。"},
     .summary = {"its device code is damaged", "它的设备代码已损坏"},
     .cause = {"bundle {number} of {count} cannot be read: {reason}",
               "第 {number} 个 bundle（共 {count} 个）无法读取：{reason}"},
     .how = {"Every bundle of .hip_fatbin is unpacked and its table checked; what a compressed one unpacks "
             "to is compared with the half MD5 in its header, which the runtime does not do.",
             "解开 .hip_fatbin 的每个 bundle 并检查其目录表；压缩的 bundle 解开后，与其头部记录的 MD5 "
             "低 64 位比较，运行时不做这一步。"},
     .causes = {"a damaged copy, or a tool that rewrote the file\nbuilt by a compiler newer than this "
                "dcuop knows",
                "拷贝损坏，或某个工具改写了文件\n编译器比 dcuop 所知的更新"},
     .fixes = {"dcuop build OP --force", "dcuop build OP --force"},
     .references = "https://clang.llvm.org/docs/ClangOffloadBundler.html"},
    {.id = "DCU308",
     .severity = Severity::warning,
     .name = "bundle-count",
     .title =
         {"The number of offload bundles differs from the number of translation units that register one.",
          "offload bundle 的数量与注册的编译单元数量不同。"},
     .summary = {"some of its device code is missing", "部分设备代码缺失"},
     .cause = {"{bundles} for {registered}", "{bundles}，而有 {registered}"},
     .how = {"Bundles in .hip_fatbin against records in .hipFatBinSegment.",
             "比较 .hip_fatbin 中的 bundle 与 .hipFatBinSegment 中的记录。"},
     .causes = {"the file was edited with objcopy or strip", "文件被 objcopy 或 strip 改动"},
     .fixes = {"dcuop build OP --force", "dcuop build OP --force"},
     .references = "https://clang.llvm.org/docs/ClangOffloadBundler.html"},
    {.id = "DCU309",
     .severity = Severity::warning,
     .name = "code-object-damaged",
     .title = {"A code object of a bundle cannot be read.", "bundle 中的某个代码对象无法读取。"},
     .summary = {"a code object in it is damaged", "其中一个代码对象已损坏"},
     .cause = {"the code object {entry} of bundle {number} cannot be read: {reason}",
               "第 {number} 个 bundle 的代码对象 {entry} 无法读取：{reason}"},
     .how = {"The code object's own ELF header and metadata note.", "代码对象自身的 ELF 头和元数据 note。"},
     .causes = {"a damaged copy\nhand-written assembly without .amdgpu_metadata",
                "拷贝损坏\n手写汇编缺少 .amdgpu_metadata"},
     .fixes = {"dcuop build OP --force", "dcuop build OP --force"},
     .references = "https://github.com/ROCm/hip/issues/2342"},
    {.id = "DCU310",
     .severity = Severity::error,
     .name = "no-device-code",
     .title = {"The file registers kernels with the HIP runtime but has no device code.",
               "文件向 HIP 运行时注册核函数，却没有设备代码。"},
     .summary = {"it has no device code", "它没有设备代码"},
     .cause = {"{file} registers kernels but has no device code", "{file} 注册了核函数但没有设备代码"},
     .how = {"__hipRegisterFatBinary is wanted, and no bundle is found.",
             "需要 __hipRegisterFatBinary，却没有找到 bundle。"},
     .causes = {"compiled with --cuda-host-only\nthe section .hip_fatbin was removed",
                "用 --cuda-host-only 编译\n.hip_fatbin 节被删除"},
     .fixes = {"dcuop build OP --force", "dcuop build OP --force"},
     .references = ""},
    {.id = "DCU311",
     .severity = Severity::note,
     .name = "generic-code",
     .title = {"The device is served by code for a generic target or SPIR-V, which needs a runtime that "
               "knows them.",
               "设备只能使用 generic 目标或 SPIR-V 的代码，需要运行时支持。"},
     .summary = {"it runs on {device} through {targets}", "它通过 {targets} 在 {device} 上运行"},
     .cause = {"{device} is served by {targets} alone", "{device} 只有 {targets} 可用"},
     .how = {"As DCU301; no code object names the processor itself.",
             "同 DCU301；没有代码对象写明该处理器。"},
     .causes = {"built with --offload-arch=gfx9-generic, amdgcnspirv or alike",
                "用 --offload-arch=gfx9-generic、amdgcnspirv 等编译"},
     .fixes = {"for the best code: dcuop build OP --arch ARCH",
               "要得到最好的代码：dcuop build OP --arch ARCH"},
     .references = "https://llvm.org/docs/AMDGPUUsage.html#generic-processors"},
    {.id = "DCU312",
     .severity = Severity::error,
     .name = "runtime-too-old-for-code",
     .title = {"The HIP runtime is older than the form that the device code is in.",
               "HIP 运行时早于设备代码所用的格式。"},
     .summary = {"its device code is {form}, which {runtime} does not know",
                 "它的设备代码是{form}，{runtime} 不支持"},
     .cause = {"the device code is {form}; {runtime} {knows}", "设备代码是{form}；{runtime} {knows}"},
     .how =
         {"Compressed bundles (CCOB) and code object version 6 came with LLVM 17 to 19, in ROCm 6; the "
          "runtime's version is that of its newest symbol version. Of DTK's runtime nothing is known.",
          "压缩的 bundle（CCOB）和第 6 版代码对象随 LLVM 17 至 19 出现，即 ROCm 6；运行时的版本取自其最新的"
          "符号版本。DTK 的运行时情况不明。"},
     .causes = {"built with a newer ROCm than the one that runs it; ROCm 7.2's hipcc compresses by default",
                "编译所用的 ROCm 比运行时新；ROCm 7.2 的 hipcc 默认压缩"},
     .fixes = {"compile with --no-offload-compress, or -mcode-object-version=5\ninstall the ROCm that it was "
               "built "
               "with",
               "编译时加 --no-offload-compress 或 -mcode-object-version=5\n安装编译所用的 ROCm"},
     .references = "https://clang.llvm.org/docs/ClangOffloadBundler.html#compression-and-decompression\n"
                   "https://github.com/warpfront/hipfire/issues/569"},
};

} // namespace

std::vector<Rule> device_rules() {
  return {std::begin(table), std::end(table)};
}

} // namespace dcuop::finding
