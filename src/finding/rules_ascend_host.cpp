// DCU872 to DCU888: flags, kernel types, tiling and SK_BIND of an Ascend SuperKernel.
#include <iterator>

#include "ascend_links.hpp"
#include "rules.hpp"

namespace dcuop::finding {

namespace {

constexpr Rule table[] = {
    {.id = "DCU872",
     .severity = Severity::warning,
     .name = "flag-reserved",
     .title = {"A flag between cores is one that SyncAll and SuperKernel barriers use.",
               "核间标志与 SyncAll 和 SuperKernel 屏障使用的标志相同。"},
     .summary = {"flag {flag} of {function} is one {use}", "{function} 中的标志 {flag}，{use}"},
     .cause = {"{at}: flag {flag} of {function} is one {use}", "{at}：{function} 中的标志 {flag}，{use}"},
     .how = {"Flags 11 to 14 in CrossCoreSetFlag and CrossCoreWaitFlag. An error in a kernel that calls "
             "SyncAll(), SetNextTaskStart or WaitPreTaskEnd itself.",
             "CrossCoreSetFlag 与 CrossCoreWaitFlag 中的标志 11 到 14。核函数自身调用 "
             "SyncAll()、SetNextTaskStart 或 WaitPreTaskEnd 时为错误。"},
     .causes = {"a wait is passed by a count that was set for another purpose",
                "等待被为其他目的设置的计数放行"},
     .fixes = {"flags 0 to 10", "使用标志 0 到 10"},
     .references = SYNC_SOURCE,
     .bad = R"(CrossCoreSetFlag<2, PIPE_MTE3>(11);)",
     .good = R"(CrossCoreSetFlag<2, PIPE_MTE3>(3);)"},
    {.id = "DCU873",
     .severity = Severity::error,
     .name = "flag-invalid",
     .title = {"A flag between cores cannot be what it says.", "核间标志的参数无效。"},
     .summary = {"in {function} {what}", "在 {function} 中，{what}"},
     .cause = {"{at}: in {function} {what}", "{at}：在 {function} 中，{what}"},
     .how = {"A flag that is none of 0 to 15, PIPE_S or PIPE_ALL for modes 0 to 2, mode 4 for another "
             "product than Ascend 950. Without --product the last is a warning.",
             "标志不在 0 到 15 之间；模式 0 到 2 使用 PIPE_S 或 PIPE_ALL；非 Ascend 950 使用模式 4。未给出 "
             "--product 时最后一种为警告。"},
     .causes = {"a number that counts on past 15: flag 17 is flag 1", "编号超过 15：标志 17 就是标志 1"},
     .fixes = {"a flag of 0 to 10, and the pipe of the last instruction: PIPE_MTE3, PIPE_FIX",
               "使用标志 0 到 10，以及最后一条指令所在的流水：PIPE_MTE3、PIPE_FIX"},
     .references = SYNC_SOURCE,
     .bad = R"(CrossCoreSetFlag<2, PIPE_S>(17);)",
     .good = R"(CrossCoreSetFlag<2, PIPE_MTE3>(1);)"},
    {.id = "DCU874",
     .severity = Severity::warning,
     .name = "flag-of-matmul",
     .title = {"A flag between cores is one of a Matmul object's.", "核间标志与 Matmul 对象的标志相同。"},
     .summary = {"flag {flag} of {function} is one of 0 to {last}, which the kernel's Matmul objects use",
                 "{function} 中的标志 {flag} 在 0 到 {last} 之间，核函数的 Matmul 对象使用这些标志"},
     .cause = {"{at}: flag {flag} of {function} is one of 0 to {last}, which the kernel's Matmul objects use",
               "{at}：{function} 中的标志 {flag} 在 0 到 {last} 之间，核函数的 Matmul 对象使用这些标志"},
     .how = {"N objects of REGIST_MATMUL_OBJ use the flags 0 to 2N-1.",
             "REGIST_MATMUL_OBJ 的 N 个对象使用标志 0 到 2N-1。"},
     .causes = {"both sides count in one flag", "两者在同一标志上计数"},
     .fixes = {"a flag behind those of the Matmul objects", "使用 Matmul 对象之后的标志"},
     .references = SYNC_SOURCE,
     .bad = R"(REGIST_MATMUL_OBJ(&pipe, workspace, mm, &tiling);
CrossCoreSetFlag<2, PIPE_MTE3>(1);)",
     .good = R"(REGIST_MATMUL_OBJ(&pipe, workspace, mm, &tiling);
CrossCoreSetFlag<2, PIPE_MTE3>(2);)"},
    {.id = "DCU875",
     .severity = Severity::error,
     .name = "type-without-scheduler",
     .title = {"A kernel waits for all cores, and its type does not launch them together.",
               "核函数等待全部核，而其类型不保证它们同时启动。"},
     .summary = {"{kernel} waits for all cores and is {type}: they need not run at the same time",
                 "{kernel} 等待全部核，而类型是 {type}：它们不一定同时运行"},
     .cause = {"{at}: {kernel} waits for all cores and is {type}: they need not run at the same time",
               "{at}：{kernel} 等待全部核，而类型是 {type}：它们不一定同时运行"},
     .how = {"SyncAll(), or a flag of mode 0 or 1, in a kernel of KERNEL_TYPE_AIV_ONLY or "
             "KERNEL_TYPE_AIC_ONLY. For __vector__ and __cube__ a warning.",
             "KERNEL_TYPE_AIV_ONLY 或 KERNEL_TYPE_AIC_ONLY 的核函数中有 SyncAll()，或模式 0、1 的标志。对 "
             "__vector__ 与 __cube__ 为警告。"},
     .causes = {"the compiler chooses a MIX type by itself only where none is given",
                "只有在未指定类型时编译器才会自行选择 MIX 类型"},
     .fixes = {"KERNEL_TYPE_MIX_AIV_1_0 or __mix__(0, 1) for vector cores, KERNEL_TYPE_MIX_AIC_1_0 or "
               "__mix__(1, 0) for cube cores",
               "vector 核使用 KERNEL_TYPE_MIX_AIV_1_0 或 __mix__(0, 1)，cube 核使用 KERNEL_TYPE_MIX_AIC_1_0 "
               "或 __mix__(1, 0)"},
     .references = SYNC_PAGE "\n" INFER_SOURCE,
     .bad = R"(KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
SyncAll();)",
     .good = R"(KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
SyncAll();)"},
    {.id = "DCU878",
     .severity = Severity::warning,
     .name = "no-batch-mode",
     .title = {"A kernel that waits for all cores is not scheduled as one batch.",
               "等待全部核的核函数没有按批调度。"},
     .summary = {"{kernel} waits for all cores ({call}), and {lacks}",
                 "{kernel} 等待全部核（{call}），而{lacks}"},
     .cause = {"{at}: {kernel} waits for all cores ({call}), and {lacks}",
               "{at}：{kernel} 等待全部核（{call}），而{lacks}"},
     .how = {"SyncAll() or a flag of mode 0 in a kernel whose operator's host code calls SetBlockDim and not "
             "SetScheduleMode(1); or that is launched with <<<>>> and has no __schedmode__(1).",
             "核函数中有 SyncAll() 或模式 0 的标志，而该算子的 host 代码调用了 SetBlockDim、没有调用 "
             "SetScheduleMode(1)；或以 <<<>>> 启动而没有 __schedmode__(1)。"},
     .causes = {"two streams each hold a part of the cores and wait for the rest\nnpugraph_ex cannot see "
                "that it synchronises, and fuses it with larger operators: it hangs",
                "两个流各占一部分核并等待其余的核\nnpugraph_ex 看不到它需要同步，把它与更大的算子融合：挂死"},
     .fixes = {"context->SetScheduleMode(1) beside SetBlockDim; __schedmode__(1) for <<<>>>",
               "在 SetBlockDim 旁调用 context->SetScheduleMode(1)；<<<>>> 使用 __schedmode__(1)"},
     .references = SYNC_PAGE "\n" SPLIT_SOURCE,
     .bad = R"(context->SetBlockDim(cores);)",
     .good = R"(context->SetBlockDim(cores);
context->SetScheduleMode(1);)"},
    {.id = "DCU879",
     .severity = Severity::note,
     .name = "schedule-mode-zero",
     .title = {"SetScheduleMode(0) for a kernel that waits for all cores.",
               "等待全部核的核函数使用了 SetScheduleMode(0)。"},
     .summary =
         {"SetScheduleMode(0) in {function} is no batch mode, and {kernel} waits for all cores ({call})",
          "{function} 中的 SetScheduleMode(0) 不是批模式，而 {kernel} 等待全部核（{call}）"},
     .cause = {"{at}: SetScheduleMode(0) in {function} is no batch mode, and {kernel} waits for all cores "
               "({call})",
               "{at}：{function} 中的 SetScheduleMode(0) 不是批模式，而 {kernel} 等待全部核（{call}）"},
     .how = {"SetScheduleMode whose value is 0 in the host code of such a kernel.",
             "此类核函数的 host 代码中 SetScheduleMode 的值为 0。"},
     .causes = {"0 was taken for batch mode", "误把 0 当作批模式"},
     .fixes = {"SetScheduleMode(1)", "SetScheduleMode(1)"},
     .references = SYNC_PAGE},
    {.id = "DCU880",
     .severity = Severity::note,
     .name = "block-dim-partial",
     .title = {"A kernel that waits for all cores may be launched with a part of them.",
               "等待全部核的核函数可能只以部分核启动。"},
     .summary = {"{function} launches {kernel}, which waits for all cores ({call}), with {count} of them",
                 "{function} 以 {count} 个核启动 {kernel}，而它等待全部核（{call}）"},
     .cause = {"{at}: {function} launches {kernel}, which waits for all cores ({call}), with {count} of them",
               "{at}：{function} 以 {count} 个核启动 {kernel}，而它等待全部核（{call}）"},
     .how = {"SetBlockDim of something else than the device's number of cores.",
             "SetBlockDim 的值不是设备的核数。"},
     .causes = {"fewer cores than the SuperKernel launches: it hangs unless feed-sync-all=1",
                "少于 SuperKernel 启动的核数：除非 feed-sync-all=1 否则挂死"},
     .fixes =
         {"SetBlockDim(platform.GetCoreNumAiv()), or block_num in the scope that dcuop superkernel plan "
          "reads",
          "SetBlockDim(platform.GetCoreNumAiv())，或在 dcuop superkernel plan 读取的 scope 中写明 block_num"},
     .references = ADAPTATION},
    {.id = "DCU881",
     .severity = Severity::note,
     .name = "binary-not-relocatable",
     .title = {"An operator whose tiling runs on the device is compiled anew for each scope.",
               "tiling 在设备上运行的算子会为每个 scope 重新编译。"},
     .summary =
         {"the tiling runs on the device ({word}), and no build file has --op_relocatable_kernel_binary=true",
          "tiling 在设备上运行（{word}），而没有构建文件使用 --op_relocatable_kernel_binary=true"},
     .cause = {"{at}: the tiling runs on the device ({word}), and no build file has "
               "--op_relocatable_kernel_binary=true",
               "{at}：tiling 在设备上运行（{word}），而没有构建文件使用 --op_relocatable_kernel_binary=true"},
     .how = {"DEVICE_IMPL_OP_OPTILING, TILING_ON_AICPU or EnableTilingSink in host code; the CMakeLists.txt "
             "from its directory up to the one that is checked.",
             "host 代码中有 DEVICE_IMPL_OP_OPTILING、TILING_ON_AICPU 或 "
             "EnableTilingSink；查看从其目录到被检查目录的 CMakeLists.txt。"},
     .causes = {"it costs time when the graph is compiled, and nothing else", "只影响图编译时间"},
     .fixes = {"npu_op_kernel_options(target OpType OPTIONS --op_relocatable_kernel_binary=true)",
               "npu_op_kernel_options(target OpType OPTIONS --op_relocatable_kernel_binary=true)"},
     .references = ADAPTATION},
    {.id = "DCU884",
     .severity = Severity::error,
     .name = "sk-bind-signature",
     .title = {"SK_BIND binds a function that does not fit its kernel.",
               "SK_BIND 绑定的函数与核函数不匹配。"},
     .summary = {"SK_BIND of {kernel}: {what}", "{kernel} 的 SK_BIND：{what}"},
     .cause = {"{at}: SK_BIND of {kernel}: {what}", "{at}：{kernel} 的 SK_BIND：{what}"},
     .how = {"Functions of SK_BIND without __sk__, with another of __vector__, __cube__, __mix__ than the "
             "kernel, or more than four of them.",
             "SK_BIND 中的函数没有 __sk__，或 __vector__、__cube__、__mix__ 与核函数不同，或超过四个。"},
     .causes = {"the kernel was changed and its SuperKernel function was not",
                "修改了核函数，而没有修改其 SuperKernel 函数"},
     .fixes = {"__sk__ with the kernel's own qualifiers, four functions at most",
               "使用 __sk__ 和核函数自身的修饰符，最多四个函数"},
     .references = DIRECT_PAGE,
     .bad = R"(__global__ __vector__ void add(GM_ADDR x);
__sk__ __cube__ void add_sk(const AddArgs* args);
SK_BIND(add, 4, add_sk);)",
     .good = R"(__global__ __vector__ void add(GM_ADDR x);
__sk__ __vector__ void add_sk(const AddArgs* args);
SK_BIND(add, 4, add_sk);)"},
    {.id = "DCU885",
     .severity = Severity::error,
     .name = "sk-bind-arguments",
     .title = {"The structure of arguments is not that of the kernel's parameters.",
               "参数结构体与核函数的参数不一致。"},
     .summary = {"the arguments of {kernel}: {what}", "{kernel} 的参数：{what}"},
     .cause = {"{at}: the arguments of {kernel}: {what}", "{at}：{kernel} 的参数：{what}"},
     .how = {"Members of the structure against the parameters of the kernel, in order; types below 4 bytes "
             "need alignas(4).",
             "按顺序比较结构体成员与核函数参数；小于 4 字节的类型需要 alignas(4)。"},
     .causes = {"every argument behind the one that is wrong is read from the wrong place",
                "出错成员之后的每个参数都从错误的位置读取"},
     .fixes = {"the members in the order of the parameters, alignas(4) before small ones",
               "成员按参数顺序排列，小类型前加 alignas(4)"},
     .references = DIRECT_PAGE,
     .bad = R"(struct AddArgs {
  GM_ADDR x;
  int16_t flag;
};)",
     .good = R"(struct AddArgs {
  GM_ADDR x;
  alignas(4) int16_t flag;
};)"},
    {.id = "DCU886",
     .severity = Severity::warning,
     .name = "sk-block-num",
     .title = {"A function of SK_BIND asks GetBlockNum().", "SK_BIND 的函数调用了 GetBlockNum()。"},
     .summary = {"{function} asks GetBlockNum(), which in a SuperKernel is not the operator's own number",
                 "{function} 调用 GetBlockNum()，而在 SuperKernel 中它不是算子自身的核数"},
     .cause = {"{at}: {function} asks GetBlockNum(), which in a SuperKernel is not the operator's own number",
               "{at}：{function} 调用 GetBlockNum()，而在 SuperKernel 中它不是算子自身的核数"},
     .how = {"GetBlockNum() in a function that SK_BIND names.", "SK_BIND 所列函数中的 GetBlockNum()。"},
     .causes = {"only operators that the back end compiles keep their number",
                "只有由后端编译的算子才保持自己的核数"},
     .fixes = {"sysArgs->skNumBlocks, which for vector cores of MIX 1:2 counts both",
               "sysArgs->skNumBlocks；MIX 1:2 的 vector 核为两倍"},
     .references = DIRECT_PAGE,
     .bad = R"(uint32_t blocks = AscendC::GetBlockNum();)",
     .good = R"(uint32_t blocks = sysArgs->skNumBlocks;)"},
    {.id = "DCU887",
     .severity = Severity::warning,
     .name = "sk-pipe-not-destroyed",
     .title = {"A function of SK_BIND leaves its TPipe to the destructor.",
               "SK_BIND 的函数依赖析构函数销毁 TPipe。"},
     .summary = {"{pipe} of {function} is not ended by DestroyWithoutPipeAll()",
                 "{function} 的 {pipe} 没有以 DestroyWithoutPipeAll() 结束"},
     .cause = {"{at}: {pipe} of {function} is not ended by DestroyWithoutPipeAll()",
               "{at}：{function} 的 {pipe} 没有以 DestroyWithoutPipeAll() 结束"},
     .how = {"A TPipe that is declared in a function of SK_BIND, without the call.",
             "在 SK_BIND 的函数中声明了 TPipe，而没有此调用。"},
     .causes = {"the destructor waits for all pipes, and the operators do not overlap",
                "析构函数会等待所有流水，算子之间无法重叠"},
     .fixes = {"pipe.DestroyWithoutPipeAll() at the end", "在末尾调用 pipe.DestroyWithoutPipeAll()"},
     .references = DIRECT_PAGE,
     .bad = R"(TPipe pipe;
op.Process(&pipe);)",
     .good = R"(TPipe pipe;
op.Process(&pipe);
pipe.DestroyWithoutPipeAll();)"},
    {.id = "DCU888",
     .severity = Severity::warning,
     .name = "sk-bind-capabilities",
     .title = {"The capabilities of SK_BIND are not what the function does.", "SK_BIND 的能力位与函数不符。"},
     .summary = {"SK_BIND: {what}", "SK_BIND：{what}"},
     .cause = {"{at}: SK_BIND: {what}", "{at}：SK_BIND：{what}"},
     .how = {"Bit 1 of the second argument against calls of WaitPreTaskEnd, bit 2 against SetNextTaskStart.",
             "比较第二个参数的值位 1 与 WaitPreTaskEnd 调用，值位 2 与 SetNextTaskStart 调用。"},
     .causes = {"the SuperKernel adds a call that is there already, or leaves one out",
                "SuperKernel 重复或遗漏了调用"},
     .fixes = {"1 where WaitPreTaskEnd is called, 2 where SetNextTaskStart is",
               "调用 WaitPreTaskEnd 时加 1，调用 SetNextTaskStart 时加 2"},
     .references = DIRECT_PAGE,
     .bad = R"(SK_BIND(add, 4, add_sk); // add_sk calls WaitPreTaskEnd())",
     .good = R"(SK_BIND(add, 5, add_sk);)"},
};

} // namespace

std::vector<Rule> ascend_host_rules() {
  return {std::begin(table), std::end(table)};
}

} // namespace dcuop::finding
