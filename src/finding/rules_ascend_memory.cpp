// DCU854 to DCU870: indexes, global memory, early start and TPipe inside an Ascend SuperKernel.
#include <iterator>

#include "ascend_links.hpp"
#include "rules.hpp"

namespace dcuop::finding {

namespace {

constexpr Rule table[] = {
    {.id = "DCU854",
     .severity = Severity::error,
     .name = "low-level-index",
     .title = {"A name below Ascend C's, which the SuperKernel compiler refuses.",
               "使用了 SuperKernel 编译会拒绝的底层名字。"},
     .summary = {"{name}: {what} when the operator is compiled for a SuperKernel",
                 "{name}：为 SuperKernel 编译该算子时，{what}"},
     .cause = {"{at}: {name}: {what} when the operator is compiled for a SuperKernel",
               "{at}：{name}：为 SuperKernel 编译该算子时，{what}"},
     .how =
         {"The words get_block_idx, get_block_num, get_task_ration and block_idx in device code, and "
          "block_num where it is no name of the kernel's own. A variable or member of such a name is a "
          "warning: the search for words refuses it too.",
          "设备代码中的 get_block_idx、get_block_num、get_task_ration、block_idx，以及不是核函数自有名字的 "
          "block_num。同名的变量或成员为警告：按单词搜索同样会拒绝。"},
     .causes = {"code from before Ascend C's own functions", "早于 Ascend C 接口的代码"},
     .fixes = {"AscendC::GetBlockIdx(), AscendC::GetBlockNum(), AscendC::GetTaskRatio(); rename variables",
               "改用 AscendC::GetBlockIdx()、AscendC::GetBlockNum()、AscendC::GetTaskRatio()；变量改名"},
     .references = ADAPTATION "\n" FORBIDDEN_SOURCE,
     .bad = R"(int64_t core = get_block_idx();)",
     .good = R"(int64_t core = AscendC::GetBlockIdx();)"},
    {.id = "DCU857",
     .severity = Severity::error,
     .name = "gm-assign-unflushed",
     .title = {"An element of global memory is assigned and nothing flushes the cache behind it.",
               "通过赋值写入全局内存元素，之后没有刷新缓存。"},
     .summary =
         {"{function} assigns an element of {object}, and not every path flushes the data cache behind it",
          "{function} 对 {object} 的元素赋值，而并非每条路径之后都刷新数据缓存"},
     .cause = {"{at}: {function} assigns an element of {object}, and not every path flushes the data cache "
               "behind it",
               "{at}：{function} 对 {object} 的元素赋值，而并非每条路径之后都刷新数据缓存"},
     .how = {"gm(i) = v, gm(i) += v, gm(i)++ of a GlobalTensor that is not followed by "
             "DataCacheCleanAndInvalid of that tensor, or of the whole cache, on every path to the end of "
             "the kernel. Where no kernel is seen it is a warning.",
             "对 GlobalTensor 的 gm(i) = v、gm(i) += "
             "v、gm(i)++，到核函数结束的每条路径上没有对该张量或整个缓存调用 "
             "DataCacheCleanAndInvalid。看不到核函数时为警告。"},
     .causes = {"an operator of its own flushes at its end, one inside a SuperKernel does not: the next "
                "operator reads what was there before",
                "单算子在结束时会刷新，SuperKernel 中的算子不会：下一个算子读到旧值"},
     .fixes = {"DataCacheCleanAndInvalid<T, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(gm) behind "
               "it, or SetValue(i, v)",
               "之后调用 DataCacheCleanAndInvalid<T, CacheLine::SINGLE_CACHE_LINE, "
               "DcciDst::CACHELINE_OUT>(gm)，或改用 SetValue(i, v)"},
     .references = ADAPTATION,
     .bad = R"(countGm(0) = count;)",
     .good = R"(countGm(0) = count;
DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(countGm);)"},
    {.id = "DCU858",
     .severity = Severity::warning,
     .name = "gm-store-unflushed",
     .title = {"A store through a __gm__ pointer that nothing flushes.",
               "通过 __gm__ 指针写入，之后没有刷新。"},
     .summary = {"{function} stores through {object}, and not every path flushes the data cache behind it",
                 "{function} 通过 {object} 写入，而并非每条路径之后都刷新数据缓存"},
     .cause =
         {"{at}: {function} stores through {object}, and not every path flushes the data cache behind it",
          "{at}：{function} 通过 {object} 写入，而并非每条路径之后都刷新数据缓存"},
     .how = {"*p = v, p[i] = v, p->f = v of a pointer with __gm__, without dcci or DataCacheCleanAndInvalid "
             "of it on every path to the end of the kernel.",
             "带 __gm__ 的指针的 *p = v、p[i] = v、p->f = v，到核函数结束的每条路径上没有对它调用 dcci 或 "
             "DataCacheCleanAndInvalid。"},
     .causes = {"the next operator of the SuperKernel reads what was there before",
                "SuperKernel 中的下一个算子读到旧值"},
     .fixes = {"DataCacheCleanAndInvalid of the line behind the store",
               "写入之后对该行调用 DataCacheCleanAndInvalid"},
     .references = ADAPTATION,
     .bad = R"(__gm__ int32_t* flag = reinterpret_cast<__gm__ int32_t*>(workspace);
flag[0] = 1;)",
     .good = R"(__gm__ int32_t* flag = reinterpret_cast<__gm__ int32_t*>(workspace);
flag[0] = 1;
dcci(flag, SINGLE_CACHE_LINE);)"},
    {.id = "DCU859",
     .severity = Severity::warning,
     .name = "gm-poll-stale",
     .title = {"A loop waits for a value of global memory that is read from the cache again and again.",
               "循环等待全局内存中的值，而每次都从缓存读取。"},
     .summary = {"{function} polls {object}, and only the first read of a line is refreshed",
                 "{function} 轮询 {object}，而同一行只有第一次读取会刷新"},
     .cause = {"{at}: {function} polls {object}, and only the first read of a line is refreshed",
               "{at}：{function} 轮询 {object}，而同一行只有第一次读取会刷新"},
     .how =
         {"GetValue, or gm(i), at an unchanged place in a loop that ends by its value, with no flush in the "
          "loop. In a SuperKernel the accessor flushes when the line is another one than at its last call.",
          "循环由其值结束，循环内在不变的位置调用 GetValue 或 gm(i)，且没有刷新。SuperKernel "
          "中只有当所在行与上次不同时访问接口才刷新。"},
     .causes = {"the value that another core wrote is never seen: the loop does not end",
                "看不到另一个核写入的值：循环不会结束"},
     .fixes = {"DataCacheCleanAndInvalid of the line in the loop, before the read",
               "在循环内、读取之前对该行调用 DataCacheCleanAndInvalid"},
     .references = TENSOR_SOURCE,
     .bad = R"(while (flagGm.GetValue(0) != 1) {
})",
     .good = R"(do {
  DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(flagGm);
} while (flagGm.GetValue(0) != 1);)"},
    {.id = "DCU860",
     .severity = Severity::warning,
     .name = "set-value-before-sync",
     .title = {"A SetValue that another reader is told of before it is flushed.",
               "SetValue 尚未刷新，就已通知其他读取者。"},
     .summary = {"SetValue of {object} in {function} may still be in the cache when {reader} reads it",
                 "{function} 中对 {object} 的 SetValue 可能仍在缓存中，而{reader}要读取它"},
     .cause = {"{at}: SetValue of {object} in {function} may still be in the cache when {reader} reads it",
               "{at}：{function} 中对 {object} 的 SetValue 可能仍在缓存中，而{reader}要读取它"},
     .how = {"SetValue with SyncAll(), CrossCoreSetFlag, or a copy of the same tensor behind it and no flush "
             "between: it is written back when another line is touched, or when the tensor ends.",
             "SetValue 之后是 SyncAll()、CrossCoreSetFlag "
             "或对同一张量的搬运，中间没有刷新：它在访问另一行或张量析构时才写回。"},
     .causes = {"a count or an offset that one core writes for the others", "一个核为其他核写入的计数或偏移"},
     .fixes = {"DataCacheCleanAndInvalid of the line before the synchronisation",
               "同步之前对该行调用 DataCacheCleanAndInvalid"},
     .references = TENSOR_SOURCE,
     .bad = R"(countGm.SetValue(0, count);
SyncAll();)",
     .good = R"(countGm.SetValue(0, count);
DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(countGm);
SyncAll();)"},
    {.id = "DCU861",
     .severity = Severity::note,
     .name = "gm-scalar-in-loop",
     .title = {"Scalars of global memory in loops cost a flush each in a SuperKernel.",
               "循环中的全局内存标量读写，在 SuperKernel 中每次都要刷新。"},
     .summary =
         {"{kernel} reads or writes scalars of global memory in loops ({count} places): each call flushes a "
          "cache line in a SuperKernel",
          "{kernel} 在循环中读写全局内存标量（{count} 处）：在 SuperKernel 中每次调用都会刷新一个缓存行"},
     .cause = {"{at}: {kernel} reads or writes scalars of global memory in loops ({count} places): each call "
               "flushes a cache line in a SuperKernel",
               "{at}：{kernel} 在循环中读写全局内存标量（{count} 处）：在 SuperKernel "
               "中每次调用都会刷新一个缓存行"},
     .how = {"GetValue, SetValue or gm(i) of a GlobalTensor inside a loop.",
             "循环内对 GlobalTensor 的 GetValue、SetValue 或 gm(i)。"},
     .causes = {"an index or a list that is read element by element", "逐个读取的索引或列表"},
     .fixes = {"ge: options=\"dcci-before-kernel-start=OpType\" where it reads, "
               "\"dcci-after-kernel-end=OpType\" where it writes\ncopy what is read to local memory",
               "ge：读取时 options=\"dcci-before-kernel-start=算子类型\"，写入时 "
               "\"dcci-after-kernel-end=算子类型\"\n把要读取的内容先搬到本地内存"},
     .references = ADAPTATION "\n" OPTION_TABLE},
    {.id = "DCU862",
     .severity = Severity::note,
     .name = "whole-cache-in-loop",
     .title = {"The whole data cache is flushed in a loop.", "在循环中刷新整个数据缓存。"},
     .summary = {"{function} flushes the whole data cache in a loop", "{function} 在循环中刷新整个数据缓存"},
     .cause = {"{at}: {function} flushes the whole data cache in a loop",
               "{at}：{function} 在循环中刷新整个数据缓存"},
     .how = {"DataCacheCleanAndInvalid of ENTIRE_DATA_CACHE inside a loop.",
             "循环内对 ENTIRE_DATA_CACHE 调用 DataCacheCleanAndInvalid。"},
     .causes = {"each round pays for every line of the cache", "每轮都为缓存的每一行付出代价"},
     .fixes = {"SINGLE_CACHE_LINE of what was written, or once behind the loop",
               "对写入的内容使用 SINGLE_CACHE_LINE，或在循环之后一次刷新"},
     .references = ADAPTATION},
    {.id = "DCU865",
     .severity = Severity::error,
     .name = "early-start-some-paths",
     .title = {"SetNextTaskStart or WaitPreTaskEnd is not called exactly once on every core.",
               "SetNextTaskStart 或 WaitPreTaskEnd 没有在每个核上恰好调用一次。"},
     .summary = {"{call} of {function} {what}", "{function} 中的 {call} {what}"},
     .cause = {"{at}: {call} of {function} {what}", "{at}：{function} 中的 {call} {what}"},
     .how = {"The calls are counted along every path of the kernel on each side: a core that returns before, "
             "a loop, a tiling key without it, a side of a MIX kernel without it. A condition that is the "
             "same for all cores is a warning.",
             "在每一侧沿核函数的每条路径统计调用：提前返回的核、循环、没有调用的 tiling key、MIX "
             "核函数中没有调用的一侧。所有核取值相同的条件为警告。"},
     .causes =
         {"if (core >= used) { return; } before the call: the next operator waits for that core for ever",
          "调用之前有 if (core >= used) { return; }：下一个算子永远等待该核"},
     .fixes = {"call it before any return, on both sides, in every branch, outside of loops",
               "在任何返回之前、两侧、每个分支中、循环之外调用"},
     .references = ADAPTATION "\n" EARLY_START,
     .bad = R"(if (GetBlockIdx() >= usedCoreNum) {
  return;
}
WaitPreTaskEnd();)",
     .good = R"(WaitPreTaskEnd();
if (GetBlockIdx() >= usedCoreNum) {
  return;
})"},
    {.id = "DCU866",
     .severity = Severity::warning,
     .name = "early-start-order",
     .title = {"Global memory is used where another operator of the SuperKernel may still run.",
               "在 SuperKernel 的其他算子可能仍在运行时使用了全局内存。"},
     .summary = {"{object} {what} of {function}", "{object} 在 {function} 中{what}"},
     .cause = {"{at}: {object} {what} of {function}", "{at}：{object} 在 {function} 中{what}"},
     .how = {"Copies, GetValue, SetValue and assignments of global memory on a path before WaitPreTaskEnd, "
             "and writes behind SetNextTaskStart.",
             "路径上 WaitPreTaskEnd 之前对全局内存的搬运、GetValue、SetValue 与赋值，以及 SetNextTaskStart "
             "之后的写入。"},
     .causes = {"before the wait the previous operator may still write what is read\nbehind the set the next "
                "operator may already read what is written",
                "等待之前，上一个算子可能仍在写被读取的数据\n设置之后，下一个算子可能已在读被写入的数据"},
     .fixes = {"WaitPreTaskEnd before the first copy in, SetNextTaskStart behind the last copy out",
               "WaitPreTaskEnd 放在第一次搬入之前，SetNextTaskStart 放在最后一次搬出之后"},
     .references = ADAPTATION "\n" EARLY_START,
     .bad = R"(DataCopy(xLocal, xGm, n);
WaitPreTaskEnd();)",
     .good = R"(WaitPreTaskEnd();
DataCopy(xLocal, xGm, n);)"},
    {.id = "DCU867",
     .severity = Severity::error,
     .name = "early-start-with-sync-all",
     .title = {"SyncAll() takes the flags of SetNextTaskStart and WaitPreTaskEnd.",
               "SyncAll() 占用 SetNextTaskStart 与 WaitPreTaskEnd 的标志。"},
     .summary = {"SyncAll() of {function} uses the flags of {call} while these are on their way",
                 "{function} 中的 SyncAll() 在 {call} 的标志仍有效时使用了同一标志"},
     .cause = {"{at}: SyncAll() of {function} uses the flags of {call} while these are on their way",
               "{at}：{function} 中的 SyncAll() 在 {call} 的标志仍有效时使用了同一标志"},
     .how = {"A path on which SyncAll() comes before WaitPreTaskEnd, or behind SetNextTaskStart: both use "
             "flag 11 of cube cores and flag 14 of vector cores in mode 0.",
             "路径上 SyncAll() 在 WaitPreTaskEnd 之前，或在 SetNextTaskStart 之后：两者都使用 cube 核的标志 "
             "11 和 vector 核的标志 14，模式 0。"},
     .causes = {"a core passes SyncAll() by the count that the previous operator left",
                "核凭上一个算子留下的计数通过 SyncAll()"},
     .fixes = {"SyncAll() between WaitPreTaskEnd and SetNextTaskStart",
               "SyncAll() 放在 WaitPreTaskEnd 与 SetNextTaskStart 之间"},
     .references = SYNC_SOURCE,
     .bad = R"(SyncAll();
WaitPreTaskEnd();)",
     .good = R"(WaitPreTaskEnd();
SyncAll();)"},
    {.id = "DCU868",
     .severity = Severity::note,
     .name = "early-start-without-effect",
     .title = {"SetNextTaskStart and WaitPreTaskEnd do nothing on A2.",
               "SetNextTaskStart 与 WaitPreTaskEnd 在 A2 上不起作用。"},
     .summary = {"{call} of {function} compiles on A2 and does nothing there",
                 "{function} 中的 {call} 在 A2 上可编译，但不起作用"},
     .cause = {"{at}: {call} of {function} compiles on A2 and does nothing there",
               "{at}：{function} 中的 {call} 在 A2 上可编译，但不起作用"},
     .how = {"The calls in sources that are checked with --product A2.",
             "以 --product A2 检查的源码中有这些调用。"},
     .causes = {"A3 and Ascend 950 alone overlap operators", "只有 A3 和 Ascend 950 能让算子重叠"},
     .fixes = {"nothing", "无需处理"},
     .references = EARLY_START},
    {.id = "DCU870",
     .severity = Severity::error,
     .name = "pipe-without-drain",
     .title = {"A second TPipe begins while instructions of the first are under way.",
               "第一个 TPipe 的指令尚未完成，第二个 TPipe 就开始使用。"},
     .summary =
         {"{next} begins in {function} behind {end} of {pipe}, and nothing waits between: a SuperKernel "
          "takes the barrier out of it",
          "{function} 中 {next} 在 {pipe} 的{end}之后开始，其间没有等待：SuperKernel 会去掉其中的屏障"},
     .cause =
         {"{at}: {next} begins in {function} behind {end} of {pipe}, and nothing waits between: a "
          "SuperKernel takes the barrier out of it",
          "{at}：{function} 中 {next} 在 {pipe} 的{end}之后开始，其间没有等待：SuperKernel 会去掉其中的屏障"},
     .how =
         {"Destroy() of a TPipe, or the end of its block, with a TPipe or InitBuffer behind it on the same "
          "path and no PipeBarrier<PIPE_ALL>() or SyncAll() between, nor directly before the end. A warning "
          "where only some paths end it. Not for --product 950.",
          "TPipe 的 Destroy() 或其作用域结束之后，同一路径上又有 TPipe 或 InitBuffer，其间以及结束之前都没有 "
          "PipeBarrier<PIPE_ALL>() 或 SyncAll()。仅部分路径结束时为警告。--product 950 不检查。"},
     .causes = {"as an operator of its own Destroy() waits for all pipes; with "
                "__ASCENDC_ENABLE_SUPER_KERNEL__ it does not: buffers are given out while they are read",
                "单算子中 Destroy() 会等待所有流水；定义 __ASCENDC_ENABLE_SUPER_KERNEL__ "
                "后不再等待：缓冲区仍在被读取就被重新分配"},
     .fixes = {"PipeBarrier<PIPE_ALL>() behind the end of the first TPipe",
               "在第一个 TPipe 结束之后加 PipeBarrier<PIPE_ALL>()"},
     .references = ADAPTATION "\n" PIPE_SOURCE,
     .bad = R"(pipe.Destroy();
TPipe second;
second.InitBuffer(queue, 2, 256);)",
     .good = R"(pipe.Destroy();
PipeBarrier<PIPE_ALL>();
TPipe second;
second.InitBuffer(queue, 2, 256);)"},
};

} // namespace

std::vector<Rule> ascend_memory_rules() {
  return {std::begin(table), std::end(table)};
}

} // namespace dcuop::finding
