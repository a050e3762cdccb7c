// DCU80x, DCU81x: operators of an Ascend SuperKernel that wait for ever, or compute with the wrong cores.
#include <iterator>

#include "ascend_links.hpp"
#include "rules.hpp"

namespace dcuop::finding {

namespace {

constexpr Rule table[] = {
    {.id = "DCU801",
     .severity = Severity::error,
     .name = "superkernel-sync-all-short",
     .title = {"SyncAll() waits for all cores of the SuperKernel, and fewer enter the operator: it waits for "
               "ever.",
               "SyncAll() 等待 SuperKernel 的全部核，而进入该算子的核较少：永远等待。"},
     .summary = {"{call} waits for {expected} {cores}, {waiting} enter",
                 "{call} 等待 {expected} 个{cores}，只有 {waiting} 个进入"},
     .cause = {"{op} waits for ever at {call}: {expected} {cores} are launched, {waiting} enter the operator",
               "{op} 在 {call} 处永远等待：启动了 {expected} 个{cores}，只有 {waiting} 个进入该算子"},
     .how = {"The cores that the operator enters with against those of the launch, which is as large as its "
             "largest operator needs, rounded up to whole blocks.",
             "比较进入该算子的核数与启动核数；启动核数由需要最多核的算子决定，并向上取整到整块。"},
     .causes =
         {"another operator of the scope needs more cores\nan odd number of vector cores: 45 become 46\n"
          "the form with a configuration, SyncAll<true, Config>(), which feed-sync-all does not see\n"
          "a tiling-sink vector operator beside cube cores: one vector core in two enters, and feed-sync-all "
          "takes none for idle\n"
          "a core has a path without it as well (DCU803, DCU840): then two changes are needed",
          "该 scope 中另一个算子需要更多核\n向量核数为奇数：45 变为 46\n"
          "使用了带配置的形式 SyncAll<true, Config>()，feed-sync-all 识别不到\n"
          "Tiling 下沉 Vector 算子与 Cube 核一起启动：只有一半 Vector 核进入，feed-sync-all 不认为有空闲核\n"
          "同时有核的路径不经过它（DCU803、DCU840）：此时需要两处修改"},
     .fixes = {"ge: options=\"feed-sync-all=1\"\nnpugraph_ex: SetScheduleMode(1) in the tiling, so that the "
               "scope is "
               "split there\nlaunch the operator with all cores\na scope of its own",
               "ge：options=\"feed-sync-all=1\"\nnpugraph_ex：在 tiling 中调用 SetScheduleMode(1)，使 scope "
               "在此处断开\n以满核启动该算子\n单独放入一个 scope"},
     .references = ADAPTATION "\n" OPTION_TABLE "\n" SYNC_SOURCE
                              "\nhttps://github.com/hw-native-sys/pypto/issues/1935"},
    {.id = "DCU802",
     .severity = Severity::error,
     .name = "superkernel-sync-all-one-sided",
     .title = {"SyncAll<false>() joins cube and vector cores, and the operator has one side only.",
               "SyncAll<false>() 同步 Cube 核与 Vector 核，而该算子只有其中一侧。"},
     .summary = {"SyncAll<false>() waits for {cores} that the operator has none of",
                 "SyncAll<false>() 等待该算子没有的{cores}"},
     .cause = {"{op} waits for ever at SyncAll<false>(): its kernel type {type} has no {cores}",
               "{op} 在 SyncAll<false>() 处永远等待：其核函数类型 {type} 没有{cores}"},
     .how = {"The form of the call against the kernel type. It hangs outside of a SuperKernel too.",
             "比较调用形式与核函数类型。不在 SuperKernel 中也会卡住。"},
     .causes = {"a kernel type that was changed from MIX, and the call was not",
                "核函数类型由 MIX 改为单侧，而调用未改"},
     .fixes = {"SyncAll(), which joins the cores of the kernel's own side", "改用 SyncAll()，只同步本侧的核"},
     .references = SYNC_SOURCE},
    {.id = "DCU803",
     .severity = Severity::error,
     .name = "superkernel-sync-all-skipped",
     .title = {"A core of the operator has a path that does not come to SyncAll().",
               "该算子中有核的执行路径不经过 SyncAll()。"},
     .summary = {"{waiting} of {expected} {cores} come to {call}",
                 "{expected} 个{cores}中只有 {waiting} 个执行到 {call}"},
     .cause = {"{op} waits for ever at {call}: {waiting} of {expected} {cores} come to it",
               "{op} 在 {call} 处永远等待：{expected} 个{cores}中只有 {waiting} 个执行到"},
     .how = {"As the scope says (all_on_every_core = false). feed-sync-all repeats what block 0 does on idle "
             "cores "
             "and helps none that entered.",
             "根据 scope 的说明（all_on_every_core = false）。feed-sync-all 只让空闲核重复 0 "
             "号块的动作，对已进入的核无效。"},
     .causes = {"an early return for cores without work\na guard on GetBlockIdx() around the call",
                "没有任务的核提前返回\n调用被 GetBlockIdx() 的条件包围"},
     .fixes = {"guard the work and leave the synchronisation outside of the guard",
               "只用条件包围计算，同步放在条件之外"},
     .references = ADAPTATION},
    {.id = "DCU804",
     .severity = Severity::error,
     .name = "superkernel-mode0-short",
     .title = {"CrossCoreSetFlag in mode 0 joins all cores of the SuperKernel, and fewer enter the operator.",
               "模式 0 的 CrossCoreSetFlag 同步 SuperKernel 的全部核，而进入该算子的核较少。"},
     .summary = {"CrossCoreWaitFlag of mode 0 waits for {expected} {cores}, {waiting} enter",
                 "模式 0 的 CrossCoreWaitFlag 等待 {expected} 个{cores}，只有 {waiting} 个进入"},
     .cause =
         {"{op} waits for ever at CrossCoreWaitFlag behind a mode 0 set: {expected} {cores} are launched, "
          "{waiting} enter the operator",
          "{op} 在模式 0 置位之后的 CrossCoreWaitFlag 处永远等待：启动了 {expected} 个{cores}，只有 "
          "{waiting} 个进入该算子"},
     .how = {"As DCU801. feed-sync-all does not help: it repeats SyncAll alone.",
             "同 DCU801。feed-sync-all 无效：它只补 SyncAll。"},
     .causes = {"another operator of the scope needs more cores", "该 scope 中另一个算子需要更多核"},
     .fixes = {"launch the operator with all cores\na scope of its own, or torchair.scope.super_kernel(None) "
               "around "
               "it\nlimit_core_num for the whole scope",
               "以满核启动该算子\n单独放入一个 scope，或用 torchair.scope.super_kernel(None) 包围\n"
               "对整个 scope 使用 limit_core_num"},
     .references = ADAPTATION "\n" GENERATOR},
    {.id = "DCU805",
     .severity = Severity::error,
     .name = "superkernel-pair-guarded",
     .title =
         {"A 1:1 operator that sets its flag on one vector core runs with two: the cube core waits for both.",
          "1:1 算子只在一个 Vector 核上置位，却以 1:2 运行：Cube 核等待两个 Vector 核。"},
     .summary = {"1:1 operator under a 1:2 launch, hard sync only on AIV0",
                 "1:1 算子在 1:2 启动下运行，硬同步只在 AIV0 上"},
     .cause =
         {"{op} is MIX_AIC_1_1 under a 1:2 launch, and sets a flag of mode 2 on its first vector core only: "
          "{waiting} cube cores wait for the second",
          "{op} 为 MIX_AIC_1_1，在 1:2 启动下只在第一个 Vector 核上以模式 2 置位：{waiting} 个 Cube "
          "核等待第二个"},
     .how =
         {"The kernel type against the launch; where the call stands is what the scope or the sources say.",
          "比较核函数类型与启动比例；调用位置来自 scope 文件或源码。"},
     .causes = {"a guard on GetSubBlockIdx() or on an odd GetBlockIdx() around CrossCoreSetFlag",
                "CrossCoreSetFlag 被 GetSubBlockIdx() 或 GetBlockIdx() 奇偶条件包围"},
     .fixes =
         {"call CrossCoreSetFlag and CrossCoreWaitFlag on all vector cores, and guard the work only\n"
          "a scope of its own",
          "在所有 Vector 核上调用 CrossCoreSetFlag/CrossCoreWaitFlag，只用条件包围计算\n单独放入一个 scope"},
     .references = ADAPTATION},
    {.id = "DCU806",
     .severity = Severity::error,
     .name = "superkernel-matmul-second-vector",
     .title = {"A 1:1 operator calls the Matmul API on two vector cores: the second gets no answer.",
               "1:1 算子在两个 Vector 核上调用 Matmul API：第二个得不到应答。"},
     .summary = {"1:1 operator under a 1:2 launch, Matmul on both AIVs",
                 "1:1 算子在 1:2 启动下运行，两个 AIV 都调用 Matmul"},
     .cause = {"{op} is MIX_AIC_1_1 under a 1:2 launch, and calls the Matmul API on every vector core: "
               "{waiting} wait "
               "for an answer that is given to the first of a pair only",
               "{op} 为 MIX_AIC_1_1，在 1:2 启动下每个 Vector 核都调用 Matmul API：{waiting} "
               "个核等待只发给每对中第一个的应答"},
     .how = {"The kernel type against the launch; that the call has no guard is what the scope or the "
             "sources say.",
             "比较核函数类型与启动比例；调用没有条件这一点来自 scope 文件或源码。"},
     .causes = {"REGIST_MATMUL_OBJ and Iterate without a guard on GetSubBlockIdx() == 0",
                "REGIST_MATMUL_OBJ 与 Iterate 没有 GetSubBlockIdx() == 0 条件"},
     .fixes =
         {"call the Matmul API on the first vector core only: if (GetSubBlockIdx() == 0)\na scope of its own",
          "只在第一个 Vector 核上调用 Matmul API：if (GetSubBlockIdx() == 0)\n单独放入一个 scope"},
     .references = ADAPTATION},
    {.id = "DCU807",
     .severity = Severity::error,
     .name = "superkernel-early-start-uneven",
     .title = {"A core does not call SetNextTaskStart: the next operator waits for it for ever.",
               "有核没有调用 SetNextTaskStart：下一个算子永远等待它。"},
     .summary = {"the next operator waits for cores that do not call SetNextTaskStart",
                 "后面的算子等待没有调用 SetNextTaskStart 的核"},
     .cause = {"{op} has cores that do not call SetNextTaskStart: {next} waits for ever for them",
               "{op} 有核没有调用 SetNextTaskStart：{next} 永远等待它们"},
     .how = {"As the scope says (set = \"some-cores\"). The back end makes up for cores that do not enter "
             "the operator, "
             "not for those that return early.",
             "根据 scope 的说明（set = \"some-cores\"）。后端只为未进入算子的核补齐，不为提前返回的核补齐。"},
     .causes = {"a return before the call\na TilingKey whose branch has no call",
                "调用之前有 return\n某个 TilingKey "
                "分支没有调用"},
     .fixes = {"call it exactly once on every core, on every path and under every TilingKey",
               "在每个核、每条路径、每个 TilingKey 下恰好调用一次"},
     .references = EARLY_START "\n" SYNC_SOURCE},
    {.id = "DCU808",
     .severity = Severity::error,
     .name = "superkernel-order-lost",
     .title = {"A core does not call WaitPreTaskEnd: it does not wait for the operator before.",
               "有核没有调用 WaitPreTaskEnd：它不等待前一个算子。"},
     .summary = {"WaitPreTaskEnd is not called on every core", "并非每个核都调用 WaitPreTaskEnd"},
     .cause = {"{op} has cores that do not call WaitPreTaskEnd: they may read what {before} has not written "
               "yet, and "
               "what they did not wait for stays in the flag's counter",
               "{op} 有核没有调用 WaitPreTaskEnd：它们可能读到 {before} "
               "尚未写完的数据，且未等待的计数留在标志中"},
     .how = {"As the scope says (wait = \"some-cores\").", "根据 scope 的说明（wait = \"some-cores\"）。"},
     .causes = {"a return before the call\na TilingKey whose branch has no call",
                "调用之前有 return\n某个 TilingKey "
                "分支没有调用"},
     .fixes = {"call it exactly once on every core, on every path and under every TilingKey",
               "在每个核、每条路径、每个 TilingKey 下恰好调用一次"},
     .references = EARLY_START "\n" SYNC_SOURCE},
    {.id = "DCU809",
     .severity = Severity::error,
     .name = "superkernel-flag-short",
     .title = {"An operator waits for a flag more often than it is set.", "算子等待标志的次数多于置位次数。"},
     .summary = {"flag {flag} is waited for more often than it is set", "标志 {flag} 的等待次数多于置位次数"},
     .cause = {"{op} waits for ever for flag {flag} on {waiting} {cores}: it is set less often than it is "
               "waited for",
               "{op} 在 {waiting} 个{cores}上永远等待标志 {flag}：置位次数少于等待次数"},
     .how = {"Sets and waits of one core, with what earlier operators of the kernel left in the counter.",
             "统计单个核的置位与等待次数，并计入前面算子留在计数器中的值。"},
     .causes = {"a path that sets once less\nanother flag id on one of the sides",
                "某条路径少置位一次\n两侧使用了不同的"
                "标志 id"},
     .fixes = {"as many sets as waits on every path", "每条路径上置位次数等于等待次数"},
     .references = SYNC_SOURCE},
    {.id = "DCU810",
     .severity = Severity::error,
     .name = "superkernel-flag-left",
     .title = {"A wait is answered by what an earlier operator left in the flag's counter: the data is not "
               "there yet.",
               "等待被前面算子留在标志计数器中的值满足：此时数据尚未就绪。"},
     .summary = {"flag {flag} is set already when the operator begins", "算子开始时标志 {flag} 已被置位"},
     .cause = {"{op} does not wait for flag {flag} on {waiting} {cores}: an earlier operator of the kernel "
               "set it more "
               "often than it waited",
               "{op} 在 {waiting} 个{cores}上没有真正等待标志 {flag}：同一 kernel "
               "中前面的算子置位次数多于等待次数"},
     .how = {"Counters are per core and live as long as the kernel, so a fused operator finds what another "
             "left.",
             "计数器属于每个核，在整个 kernel 期间有效，因此融合后的算子会看到其他算子留下的值。"},
     .causes = {"an operator that sets before a loop and does not wait behind it",
                "算子在循环前置位，而循环后没有对应的等待"},
     .fixes = {"as many waits as sets in the operator that leaves one\nanother flag id",
               "在留下计数的算子中使等待次数等于"
               "置位次数\n换用其他标志 id"},
     .references = SYNC_SOURCE},
    {.id = "DCU811",
     .severity = Severity::error,
     .name = "superkernel-vector-missing",
     .title = {"A 1:2 operator runs under a 1:1 launch: its second vector cores do not exist.",
               "1:2 算子在 1:1 启动下运行：其第二个 Vector 核不存在。"},
     .summary = {"1:2 operator under a 1:1 launch, {waiting} vector cores are missing",
                 "1:2 算子在 1:1 启动下运行，缺少 {waiting} 个 Vector 核"},
     .cause = {"{op} is MIX_AIC_1_2 with {waiting} blocks, and the SuperKernel is launched as 1:1 x "
               "{blocks}: half of its "
               "vector cores do not exist, and their part is not computed",
               "{op} 为 MIX_AIC_1_2，共 {waiting} 块，而 SuperKernel 以 1:1 x {blocks} 启动：其一半 Vector "
               "核不存在，对应部分不会计算"},
     .how = {"ge takes 1:1 when the cube cores are at least as many as the vector cores that are needed, "
             "whatever types "
             "the operators have. npugraph_ex does not.",
             "只要所需 Cube 核数不少于所需 Vector 核数，ge 就选择 1:1，而不看算子类型。npugraph_ex 不会。"},
     .causes = {"a cube-only operator with at least twice the blocks in the same scope",
                "同一 scope 中有块数至少两倍的纯 Cube 算子"},
     .fixes = {"debug-aic-num and debug-aiv-num in the ratio 1:2\na scope of its own\nmore blocks for the "
               "operator",
               "以 1:2 设置 debug-aic-num 与 debug-aiv-num\n单独放入一个 scope\n增加该算子的块数"},
     .references = LAUNCH_SOURCE},
    {.id = "DCU812",
     .severity = Severity::error,
     .name = "superkernel-device-short",
     .title = {"A kernel that synchronises all its cores is launched with more than the device has.",
               "需要全核同步的 kernel 启动核数超过设备核数。"},
     .summary = {"{blocks} blocks are launched, the device has cores for {resident}",
                 "启动 {blocks} 块，设备只能同时容纳 {resident} 块"},
     .cause = {"{op} waits for ever {place}: {blocks} blocks are launched, and the device has cores for "
               "{resident} at "
               "once",
               "{op} {place}永远等待：启动 {blocks} 块，而设备只能同时容纳 {resident} 块"},
     .how =
         {"The cores of the launch against those of [platform]. Blocks that wait for a core cannot come to a "
          "synchronisation, and those that wait there give no core back.",
          "比较启动核数与 [platform] 的核数。等待核的块无法到达同步点，而停在同步点的块不会释放核。"},
     .causes = {"a block count that is meant for another device", "块数是为另一种设备设置的"},
     .fixes = {"no more blocks than the device has cores", "块数不超过设备核数"},
     .references = "https://github.com/hw-native-sys/pypto/issues/1935"},
    {.id = "DCU813",
     .severity = Severity::warning,
     .name = "superkernel-concurrent-sync",
     .title = {"Two kernels on two streams that each need all their cores at once may each hold cores of the "
               "other.",
               "两条流上各需要全部核同时运行的 kernel 可能互相占用对方的核。"},
     .summary = {"it may wait for cores that another kernel holds", "可能等待被另一个 kernel 占用的核"},
     .cause =
         {"{op} may run at the same time as {other}, each needs all its cores at once, and the device "
          "has {has}: each may hold cores that the other waits for",
          "{op} 可能与 {other} 同时运行，各自需要全部核同时就绪，而设备只有 {has}：可能互相占用对方等待的核"},
     .how =
         {"Kernels that no stream and no event keeps in order, each with a synchronisation of all its cores, "
          "neither "
          "in batch mode. More than two at once are not looked at. A SuperKernel counts as batch mode when "
          "all its "
          "operators are.",
          "没有流或事件约束先后、各自需要全核同步、且都不是 batch 模式的 kernel。不考虑两个以上同时运行。当 "
          "SuperKernel 中所有算子都是 batch 模式时视为 batch 模式。"},
     .causes = {"tiling without SetScheduleMode(1)", "tiling 中没有 SetScheduleMode(1)"},
     .fixes = {"SetScheduleMode(1) in the tiling of one of them: its cores are given all at once\nan event "
               "between the two",
               "在其中一个的 tiling 中调用 SetScheduleMode(1)，使其核一次性分配\n在两者之间加事件"},
     .references = "https://github.com/vllm-project/vllm-ascend/issues/16446"},
    {.id = "DCU814",
     .severity = Severity::note,
     .name = "superkernel-scope-split",
     .title = {"The scope becomes more than one kernel.", "该 scope 变为多个 kernel。"},
     .summary = {"the scope is split before {op}", "scope 在 {op} 之前断开"},
     .cause = {"{op} begins another kernel: {why}", "{op} 开始另一个 kernel：{why}"},
     .how = {"In the order of the graph. An operator that cannot be fused ends a SuperKernel; npugraph_ex "
             "also begins a "
             "new one where a batch-mode operator would not have all cores of the launch.",
             "按图中顺序。不可融合的算子结束一个 SuperKernel；当 batch "
             "模式算子得不到启动的全部核时，npugraph_ex "
             "也会开始新的一段。"},
     .causes = {"TBE, AICPU, a scope of None\nSetScheduleMode(1) with fewer cores than its neighbours",
                "TBE、AICPU 算子，或 scope 为 None\n使用 SetScheduleMode(1) 且核数少于相邻算子"},
     .fixes = {"move the operator out of the scope\nthe same number of cores for all",
               "将该算子移出 scope\n所有算子使用"
               "相同核数"},
     .references = OPTION_TABLE "\n" SPLIT_SOURCE},
};

} // namespace

std::vector<Rule> superkernel_rules() {
  return {std::begin(table), std::end(table)};
}

} // namespace dcuop::finding
