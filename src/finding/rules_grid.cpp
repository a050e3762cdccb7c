// DCU93x: barriers across a grid.
#include <iterator>

#include "rules.hpp"

namespace dcuop::finding {

namespace {

constexpr Rule table[] = {
    {.id = "DCU931",
     .severity = Severity::error,
     .name = "grid-barrier-plain-launch",
     .title = {"A kernel that waits for all blocks of its grid is launched as any other.",
               "等待网格内所有块的核函数以普通方式启动。"},
     .summary = {"{kernel} waits for its whole grid, and {function} does not launch it cooperatively",
                 "{kernel} 等待整个网格，而 {function} 没有以协作方式启动它"},
     .cause = {"{at}: {kernel} waits for its whole grid, and {function} does not launch it cooperatively",
               "{at}：{kernel} 等待整个网格，而 {function} 没有以协作方式启动它"},
     .how =
         {"A kernel that reaches grid.sync(), or a barrier by hand, in a launch that is not "
          "hipLaunchCooperativeKernel and has more than one block.",
          "核函数可到达 grid.sync() 或手写屏障，而启动方式不是 hipLaunchCooperativeKernel，且多于一个块。"},
     .causes = {"blocks that do not fit on the device wait for their turn, those that run wait for them: the "
                "device hangs",
                "放不下的块在排队，正在运行的块又在等它们：设备挂死"},
     .fixes =
         {"hipLaunchCooperativeKernel, which refuses a grid that does not fit; dcuop inspect --blocks says "
          "what fits",
          "使用 hipLaunchCooperativeKernel，它会拒绝放不下的网格；dcuop inspect --blocks 可查看能放下多少块"},
     .references =
         "https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_runtime_api/cooperative_groups.html",
     .bad = R"(reduce<<<blocks, 256, 0, stream>>>(x, y); // calls grid.sync())",
     .good = R"(void* arguments[] = {&x, &y};
hipLaunchCooperativeKernel(reduce, dim3(blocks), dim3(256), arguments, 0, stream);)"},
    {.id = "DCU932",
     .severity = Severity::error,
     .name = "block-misses-grid-barrier",
     .title = {"Some blocks do not reach a barrier that the whole grid waits at.",
               "一部分块到不了整个网格等待的屏障。"},
     .summary = {"not every block of {function} reaches {barrier}: {condition}",
                 "{function} 不是每个块都能到达 {barrier}：{condition}"},
     .cause = {"{at}: not every block of {function} reaches {barrier}: {condition}",
               "{at}：{function} 不是每个块都能到达 {barrier}：{condition}"},
     .how = {"A grid barrier under, or behind a return under, a condition that differs among blocks.",
             "网格屏障处于各块取值不同的条件之下，或位于此类条件的返回之后。"},
     .causes = {"a stage with fewer blocks than the grid: if (blockIdx.x >= n) return;",
                "某一阶段的块数少于网格：if (blockIdx.x >= n) return;"},
     .fixes = {"keep idle blocks in the barrier: if (blockIdx.x < n) { work } then the barrier",
               "让空闲的块也参与屏障：if (blockIdx.x < n) { 计算 } 之后再屏障"},
     .references =
         "https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_runtime_api/cooperative_groups.html",
     .bad = R"(if (blockIdx.x >= tiles) {
  return;
}
work();
grid.sync();)",
     .good = R"(if (blockIdx.x < tiles) {
  work();
}
grid.sync();)"},
    {.id = "DCU933",
     .severity = Severity::warning,
     .name = "barrier-state-shared",
     .title = {"The state of a barrier by hand is one variable for all launches and streams.",
               "手写屏障的状态是所有启动和流共用的一个变量。"},
     .summary =
         {"{counter}, in which the blocks of {function} are counted, is shared by every launch and stream",
          "{function} 用于计数的 {counter} 被所有启动和流共用"},
     .cause = {"{at}: {counter}, in which the blocks of {function} are counted, is shared by every launch "
               "and stream",
               "{at}：{function} 用于计数的 {counter} 被所有启动和流共用"},
     .how = {"A __device__ variable as the counter of a grid barrier.",
             "网格屏障的计数器是 __device__ 变量。"},
     .causes = {"two streams count in one variable: both kernels hang, or neither waits\na launch that was "
                "ended leaves a count behind",
                "两个流在同一变量中计数：两个核函数都挂死，或都不等待\n被中止的启动留下计数"},
     .fixes = {"a counter in a workspace of the launch, cleared on its stream before it (hipMemsetAsync)",
               "计数器放在本次启动的工作区，并在同一流上先清零（hipMemsetAsync）"},
     .references = "",
     .bad = R"(__device__ unsigned arrived;
__device__ void grid_barrier() {
  atomicAdd(&arrived, 1);)",
     .good = R"(__device__ void grid_barrier(unsigned* arrived) {
  atomicAdd(arrived, 1);)"},
    {.id = "DCU934",
     .severity = Severity::warning,
     .name = "cross-block-unfenced",
     .title = {"Data goes from block to block without a fence.", "数据在块之间传递而没有栅栏。"},
     .summary = {"in {function} {what}", "在 {function} 中，{what}"},
     .cause = {"{at}: in {function} {what}", "{at}：在 {function} 中，{what}"},
     .how =
         {"A barrier by hand, or a last block that is found by an atomic count, without __threadfence() or "
          "an atomic of a stronger order than relaxed on either side; a loop that waits for a plain read.",
          "手写屏障，或通过原子计数找到最后一个块，而两侧没有 __threadfence() 或强于 relaxed "
          "的原子操作；循环等待普通读取。"},
     .causes = {"the L1 and scalar caches of other compute units are not coherent: old values are read now "
                "and then, at -O3 a loop may read once",
                "其他计算单元的 L1 与标量缓存不一致：有时读到旧值；-O3 下循环可能只读一次"},
     .fixes = {"__threadfence() before the arrival and behind the wait; read with __hip_atomic_load(..., "
               "__ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT)",
               "到达之前与等待之后各加 __threadfence()；用 __hip_atomic_load(..., __ATOMIC_ACQUIRE, "
               "__HIP_MEMORY_SCOPE_AGENT) 读取"},
     .references = "https://llvm.org/docs/AMDGPUUsage.html#memory-model",
     .bad = R"(partial[blockIdx.x] = sum;
if (atomicAdd(count, 1) == gridDim.x - 1) {)",
     .good = R"(partial[blockIdx.x] = sum;
__threadfence();
if (atomicAdd(count, 1) == gridDim.x - 1) {)"},
    {.id = "DCU935",
     .severity = Severity::warning,
     .name = "cooperative-grids-together",
     .title = {"Two grids that wait as a whole go to two streams, and one of them fills the device.",
               "两个需要整体等待的网格提交到两个流，而其中一个已占满设备。"},
     .summary =
         {"{function} launches {kernel} on another stream than {other}, and both do not fit on the device",
          "{function} 在与 {other} 不同的流上启动 {kernel}，设备放不下两者"},
     .cause =
         {"{at}: {function} launches {kernel} on another stream than {other}, and both do not fit on the "
          "device at once",
          "{at}：{function} 在与 {other} 不同的流上启动 {kernel}，设备无法同时放下两者"},
     .how =
         {"Two launches of kernels that wait for their grids (cooperative, or a barrier by hand) in one "
          "function, on "
          "streams that differ, without a wait between them, or one in a loop over streams; a grid that is "
          "computed from the number of compute units or of resident blocks, or a number of threads that is "
          "half of what the "
          "largest device holds.",
          "同一函数中两次启动等待整个网格的核函数（协作启动或手写屏障），流不同且其间没有等待，或在遍历流的循"
          "环中"
          "启动；网格大小由计算单元数或可驻留块数算出，或其线程数达到最大设备容量的一半。"},
     .causes = {"each grid was sized as if it had the device to itself: some blocks of both run, and each "
                "waits for "
                "those that do not",
                "每个网格都按独占设备计算：两者各有一部分块在运行，又各自等待没有运行的块"},
     .fixes =
         {"one stream for all of them, or an event between them (hipStreamWaitEvent)\nor grids that fit "
          "together: "
          "half of the resident blocks each",
          "都放在同一个流上，或用事件隔开（hipStreamWaitEvent）\n或让它们合起来放得下：各占可驻留块数的一半"},
     .references =
         "https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_runtime_api/cooperative_groups.html",
     .bad = R"(const dim3 grid(processors * blocks_per_processor);
hipLaunchCooperativeKernel(reduce, grid, block, arguments, 0, first);
hipLaunchCooperativeKernel(scan, grid, block, others, 0, second);)",
     .good = R"(hipLaunchCooperativeKernel(reduce, grid, block, arguments, 0, first);
hipEventRecord(reduced, first);
hipStreamWaitEvent(second, reduced, 0);
hipLaunchCooperativeKernel(scan, grid, block, others, 0, second);)"},
};

} // namespace

std::vector<Rule> grid_rules() {
  return {std::begin(table), std::end(table)};
}

} // namespace dcuop::finding
