// DCU91x and DCU920: kernels and their launches.
#include <iterator>

#include "rules.hpp"

namespace dcuop::finding {

namespace {

constexpr Rule table[] = {
    {.id = "DCU910",
     .severity = Severity::error,
     .name = "not-current-stream",
     .title = {"A kernel of an operator is launched on the default stream instead of torch's current one.",
               "算子的核函数在默认流上启动，而不是 torch 的当前流。"},
     .summary = {"{kernel} is launched with {stream}, not on torch's current stream",
                 "{kernel} 启动时{stream}，不在 torch 的当前流上"},
     .cause = {"{at}: {kernel} is launched with {stream}, not on torch's current stream",
               "{at}：{kernel} 启动时{stream}，不在 torch 的当前流上"},
     .how = {"The stream of each <<<>>> and hipLaunchKernelGGL that a binding reaches: missing, 0, nullptr, "
             "or a default argument of that kind. Programs with a main() may use it.",
             "查看绑定可达的每个 <<<>>> 与 hipLaunchKernelGGL 的流：缺失、0、nullptr，或取这类默认参数。含 "
             "main() 的程序不受此限。"},
     .causes = {"under torch.cuda.stream(s) the kernel does not wait for what wrote its arguments: results "
                "are wrong now and then\ngraph capture fails",
                "在 torch.cuda.stream(s) 下，核函数不会等待写入其参数的操作：结果时对时错\n图捕获失败"},
     .fixes = {"c10::hip::getCurrentHIPStream().stream() as the launch's stream",
               "把 c10::hip::getCurrentHIPStream().stream() 作为启动的流"},
     .references = "https://pytorch.org/docs/stable/notes/cuda.html#cuda-streams",
     .bad = R"(scale<<<blocks, 256>>>(x, y, n);)",
     .good = R"(scale<<<blocks, 256, 0, c10::hip::getCurrentHIPStream().stream()>>>(x, y, n);)"},
    {.id = "DCU911",
     .severity = Severity::error,
     .name = "launch-unchecked",
     .title = {"Nobody asks whether a launch failed.", "没有人检查启动是否失败。"},
     .summary = {"after {kernel} is launched, {function} does not ask for the launch's error",
                 "启动 {kernel} 之后，{function} 没有查询启动错误"},
     .cause = {"{at}: after {kernel} is launched, {function} does not ask for the launch's error",
               "{at}：启动 {kernel} 之后，{function} 没有查询启动错误"},
     .how = {"hipGetLastError, C10_HIP_KERNEL_LAUNCH_CHECK and the like behind the launch, in its function "
             "or in all that call it.",
             "在启动之后，于所在函数或其所有调用者中查找 hipGetLastError、C10_HIP_KERNEL_LAUNCH_CHECK 等。"},
     .causes = {"a launch without code for this device, or with too large a block, does nothing, and the "
                "result is what lay in memory",
                "设备没有对应代码或块过大时，启动什么也不做，结果是内存里原有的内容"},
     .fixes = {"C10_HIP_KERNEL_LAUNCH_CHECK(); behind the launch\nor return hipGetLastError() and check it "
               "in the binding",
               "在启动之后加 C10_HIP_KERNEL_LAUNCH_CHECK();\n或返回 hipGetLastError() 并在绑定中检查"},
     .references =
         "https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_runtime_api/error_handling.html",
     .bad = R"(scale<<<blocks, 256, 0, stream>>>(x, y, n);
return y;)",
     .good = R"(scale<<<blocks, 256, 0, stream>>>(x, y, n);
C10_HIP_KERNEL_LAUNCH_CHECK();
return y;)"},
    {.id = "DCU912",
     .severity = Severity::warning,
     .name = "empty-launch",
     .title = {"An empty tensor leads to a launch of no blocks, which is an error.",
               "空张量会导致启动 0 个块，这是一个错误。"},
     .summary = {"{function} launches for an empty tensor too", "{function} 对空张量也会启动核函数"},
     .cause = {"{at}: {function} launches for an empty tensor too",
               "{at}：{function} 对空张量也会启动核函数"},
     .how = {"Nothing between the binding and the launch compares a size or a count with 0.",
             "从绑定到启动之间没有任何地方把尺寸或数量与 0 比较。"},
     .causes = {"the number of blocks comes from numel(), and is 0: hipErrorInvalidConfiguration",
                "块数由 numel() 得出，为 0：hipErrorInvalidConfiguration"},
     .fixes = {"if (x.numel() == 0) { return out; } before the launch, with the output, not an input",
               "在启动之前加 if (x.numel() == 0) { return out; }，返回输出，而不是输入"},
     .references = "",
     .bad = R"(const int64_t blocks = (x.numel() + 255) / 256;
scale<<<blocks, 256, 0, stream>>>(...);)",
     .good = R"(if (x.numel() == 0) {
  return out;
}
const int64_t blocks = (x.numel() + 255) / 256;
scale<<<blocks, 256, 0, stream>>>(...);)"},
    {.id = "DCU913",
     .severity = Severity::error,
     .name = "device-guard-missing",
     .title = {"A binding launches on whatever device is current, not on that of its tensors.",
               "绑定在当前设备上启动核函数，而不是在张量所在的设备上。"},
     .summary = {"{function} launches without a device guard", "{function} 启动核函数时没有设备守卫"},
     .cause = {"{at}: {function} launches without a device guard",
               "{at}：{function} 启动核函数时没有设备守卫"},
     .how = {"No DeviceGuard, OptionalHIPGuard or hipSetDevice in the binding or what it calls. Torch's "
             "dispatcher sets none for custom operators.",
             "绑定及其调用的函数中没有 DeviceGuard、OptionalHIPGuard 或 hipSetDevice。torch 的 dispatcher "
             "不会为自定义算子设置设备。"},
     .causes = {"a tensor on cuda:1 while cuda:0 is current: the kernel faults or runs on the wrong card",
                "当前设备为 cuda:0 而张量在 cuda:1：核函数出错或在错误的卡上运行"},
     .fixes = {"const c10::DeviceGuard guard(x.device()); at the beginning",
               "在开头加 const c10::DeviceGuard guard(x.device());"},
     .references = "https://pytorch.org/cppdocs/notes/tensor_cuda_stream.html",
     .bad = R"(at::Tensor f(const at::Tensor& x) {
  at::Tensor y = at::empty_like(x);
  ...)",
     .good = R"(at::Tensor f(const at::Tensor& x) {
  const c10::DeviceGuard guard(x.device());
  at::Tensor y = at::empty_like(x);
  ...)"},
    {.id = "DCU914",
     .severity = Severity::warning,
     .name = "operator-synchronises",
     .title = {"An operator waits for the device.", "算子等待设备完成。"},
     .summary = {"{call} makes {function} wait for the device", "{call} 使 {function} 等待设备"},
     .cause = {"{at}: {call} makes {function} wait for the device", "{at}：{call} 使 {function} 等待设备"},
     .how = {"hipDeviceSynchronize, hipStreamSynchronize, hipMemcpy, .item() and .cpu() in what a binding "
             "reaches; what only a debugging macro compiles is left out.",
             "在绑定可达的代码中查找 hipDeviceSynchronize、hipStreamSynchronize、hipMemcpy、.item() 与 "
             ".cpu()；仅在调试宏下编译的代码除外。"},
     .causes = {"left over from debugging; a size that is read back from the device",
                "调试遗留；从设备读回某个尺寸"},
     .fixes = {"remove it: torch orders what is queued on its stream", "删除它：torch 会保证流上操作的顺序"},
     .references = "https://pytorch.org/docs/stable/notes/cuda.html#asynchronous-execution",
     .bad = R"(scale<<<blocks, 256, 0, stream>>>(x, y, n);
hipDeviceSynchronize();)",
     .good = R"(scale<<<blocks, 256, 0, stream>>>(x, y, n);
C10_HIP_KERNEL_LAUNCH_CHECK();)"},
    {.id = "DCU915",
     .severity = Severity::warning,
     .name = "index-32-bit",
     .title = {"An index or a count of elements has 32 bits where tensors may be larger.",
               "下标或元素数量只有 32 位，而张量可能更大。"},
     .summary = {"in {function} {what}", "在 {function} 中，{what}"},
     .cause = {"{at}: in {function} {what}", "{at}：在 {function} 中，{what}"},
     .how = {"numel() that becomes an int without a demand that it fits (a count of blocks that does is a "
             "note); "
             "a 32-bit index over the grid that "
             "is compared with a 64-bit bound; a 64-bit one that is made from blockIdx.x * blockDim.x.",
             "numel() 变成 int 而没有检查是否放得下（由它得到的块数为提示）；网格上的 32 位下标与 64 "
             "位上界比较；由 blockIdx.x * "
             "blockDim.x "
             "得到的 64 位下标。"},
     .causes = {"more than 2^31 elements: 4 GiB of float16\nblockIdx.x * blockDim.x is a product of two "
                "unsigned int, "
                "whatever it is assigned to",
                "元素超过 2^31 个：float16 即 4 GiB\nblockIdx.x * blockDim.x 是两个 unsigned int "
                "的乘积，与赋值目标的类型无关"},
     .fixes = {"int64_t, with static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x\nor "
               "TORCH_CHECK(x.numel() <= std::numeric_limits<int>::max(), ...)",
               "使用 int64_t 与 static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x\n或 "
               "TORCH_CHECK(x.numel() <= std::numeric_limits<int>::max(), ...)"},
     .references = "",
     .bad = R"(__global__ void k(float* y, int64_t n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {)",
     .good = R"(__global__ void k(float* y, int64_t n) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) {)"},
    {.id = "DCU916",
     .severity = Severity::error,
     .name = "boundary-guard-missing",
     .title = {"Threads behind the last element read and write there too.",
               "超出末尾元素的线程也会读写内存。"},
     .summary = {"{kernel} uses {index} as an index and {what}", "{kernel} 用 {index} 作下标，{what}"},
     .cause = {"{at}: {kernel} uses {index} as an index and {what}",
               "{at}：{kernel} 用 {index} 作下标，{what}"},
     .how =
         {"An index from blockIdx and threadIdx that subscripts a pointer parameter, in a kernel without any "
          "comparison of a value that differs among threads, and no host code that demands a multiple; or "
          "one that is "
          "let in when it equals the number of elements (i <= n): a warning where that number is not seen to "
          "be "
          "the memory's.",
          "由 blockIdx 和 threadIdx "
          "得到的下标用于指针参数，而核函数中没有任何随线程变化的值的比较，主机代码也没有要求整除；或者等于元"
          "素个数时仍被放行（i <= "
          "n）：无法确认该数就是内存的元素个数时为警告。"},
     .causes = {"the last block is only partly needed", "最后一个块只有一部分有用"},
     .fixes = {"if (i < n) { ... }, or a loop that strides over the grid",
               "if (i < n) { ... }，或按网格步长循环"},
     .references = "",
     .bad = R"(const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
y[i] = x[i] * scale;)",
     .good = R"(const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
if (i < n) {
  y[i] = x[i] * scale;
})"},
    {.id = "DCU917",
     .severity = Severity::warning,
     .name = "hard-coded-warp",
     .title = {"A kernel takes a wavefront to have 32 lanes; on a DCU it has 64.",
               "核函数认为一个波前有 32 个线程；在 DCU 上是 64 个。"},
     .summary = {"{function} takes a wavefront for 32 lanes: {what}",
                 "{function} 认为波前有 32 个线程：{what}"},
     .cause = {"{at}: {function} takes a wavefront for 32 lanes: {what}",
               "{at}：{function} 认为波前有 32 个线程：{what}"},
     .how = {"In functions that exchange values between lanes: % 32, & 31, >> 5 and / 32 of a thread's "
             "index, and reductions that begin with 16 without a width.",
             "在线程间交换数据的函数中：线程下标的 % 32、& 31、>> 5、/ 32，以及从 16 "
             "开始且没有指定宽度的归约。"},
     .causes = {"code for CUDA that was converted: half of the lanes are left out of a reduction",
                "从 CUDA 转换来的代码：归约漏掉一半的线程"},
     .fixes = {"warpSize, or offset = warpSize / 2\na width of 32 as the last argument of __shfl_down where "
               "32 is meant",
               "使用 warpSize，或 offset = warpSize / 2\n若确实需要 32，把宽度 32 作为 __shfl_down "
               "的最后一个参数"},
     .references = "https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/"
                   "hip_cpp_language_extensions.html#warp-cross-lane-functions",
     .bad = R"(for (int offset = 16; offset > 0; offset /= 2) {
  sum += __shfl_down(sum, offset);
})",
     .good = R"(for (int offset = warpSize / 2; offset > 0; offset /= 2) {
  sum += __shfl_down(sum, offset);
})"},
    {.id = "DCU918",
     .severity = Severity::error,
     .name = "divergent-barrier",
     .title = {"Some threads of a block do not reach a barrier that the others wait at.",
               "块内一部分线程到不了其他线程等待的屏障。"},
     .summary = {"{barrier} in {function} is not reached by every thread: {condition}",
                 "{function} 中的 {barrier} 不是每个线程都能到达：{condition}"},
     .cause = {"{at}: {barrier} in {function} is not reached by every thread: {condition}",
               "{at}：{function} 中的 {barrier} 不是每个线程都能到达：{condition}"},
     .how = {"Barriers under conditions that differ among the threads of a block: an error inside such an "
             "if; a warning in a loop whose number of rounds differs, or behind a return of some threads.",
             "屏障处于块内各线程取值不同的条件之下：在这样的 if "
             "内为错误；在各线程轮数不同的循环内，或部分线程返回之后，为警告。"},
     .causes = {"if (threadIdx.x < n) { ...; __syncthreads(); }: the block waits for ever, or threads meet "
                "at different barriers",
                "if (threadIdx.x < n) { ...; __syncthreads(); }：块永远等待，或线程在不同的屏障相遇"},
     .fixes = {"move the barrier out of the condition, and guard only the work",
               "把屏障移出条件，只保护实际计算"},
     .references = "https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/"
                   "hip_cpp_language_extensions.html#synchronization-functions",
     .bad = R"(if (threadIdx.x < width) {
  s[threadIdx.x] += s[threadIdx.x + width];
  __syncthreads();
})",
     .good = R"(if (threadIdx.x < width) {
  s[threadIdx.x] += s[threadIdx.x + width];
}
__syncthreads();)"},
    {.id = "DCU919",
     .severity = Severity::error,
     .name = "mfma-on-dcu",
     .title = {"A builtin for AMD's matrix cores is compiled for an arch that lacks them.",
               "AMD 矩阵核的内建函数被用于没有该指令的架构。"},
     .summary = {"{function} uses {builtin}, which no DCU has",
                 "{function} 使用 {builtin}，任何 DCU 都没有它"},
     .cause = {"{at}: {function} uses {builtin}, which no DCU has",
               "{at}：{function} 使用 {builtin}，任何 DCU 都没有它"},
     .how = {"__builtin_amdgcn_mfma_*, smfmac and wmma outside of a branch for gfx90a and kin, in an "
             "operator whose archs have a DCU among them.",
             "在架构包含 DCU 的算子中，__builtin_amdgcn_mfma_*、smfmac 与 wmma 出现在 gfx90a 等分支之外。"},
     .causes =
         {"code for MI200 or MI300; a DCU's matrix instructions are v_mmac_*, with builtins of their own",
          "面向 MI200 或 MI300 的代码；DCU 的矩阵指令是 v_mmac_*，有自己的内建函数"},
     .fixes = {"#if defined(__gfx90a__) around it, and another way for the rest",
               "用 #if defined(__gfx90a__) 包住它，其余架构另写一条路径"},
     .references = "https://llvm.org/docs/AMDGPUUsage.html",
     .bad = R"(acc = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, acc, 0, 0, 0);)",
     .good = R"(#if defined(__gfx90a__)
acc = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, acc, 0, 0, 0);
#else
acc = product(a, b, acc);
#endif)"},
    {.id = "DCU920",
     .severity = Severity::warning,
     .name = "one-file",
     .title = {"Kernel and binding are in one file.", "核函数与绑定在同一个文件中。"},
     .summary = {"the kernel {kernel} is in the file of the binding", "核函数 {kernel} 与绑定在同一个文件中"},
     .cause = {"{at}: the kernel {kernel} is in the file of the binding",
               "{at}：核函数 {kernel} 与绑定在同一个文件中"},
     .how = {"A __global__ function in a file with PYBIND11_MODULE or TORCH_LIBRARY.",
             "含有 PYBIND11_MODULE 或 TORCH_LIBRARY 的文件中有 __global__ 函数。"},
     .causes = {"each change of a kernel compiles torch's headers with hipcc, once an arch: many times the "
                "kernel's own time",
                "每改一次核函数，都要用 hipcc 为每个架构编译一遍 torch 头文件：耗时是核函数本身的许多倍"},
     .fixes = {"a plain C function in op_kernel.hip launches, binding.cpp checks and calls it: dcuop new "
               "shows how",
               "由 op_kernel.hip 中的 C 函数启动核函数，binding.cpp 检查参数并调用它：dcuop new 给出样例"},
     .references = "",
     .bad = R"(// op.hip
#include <torch/extension.h>
__global__ void k(...);
PYBIND11_MODULE(...))",
     .good = R"(// op_kernel.hip
#include "op.h"
__global__ void k(...);
int op_launch(...);

// binding.cpp
#include "op.h"
PYBIND11_MODULE(...))"},
};

} // namespace

std::vector<Rule> kernel_rules() {
  return {std::begin(table), std::end(table)};
}

} // namespace dcuop::finding
