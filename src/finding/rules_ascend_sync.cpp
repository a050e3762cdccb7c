// DCU840 to DCU852: how the cores of an operator wait for one another inside an Ascend SuperKernel.
#include <iterator>

#include "ascend_links.hpp"
#include "rules.hpp"

namespace dcuop::finding {

namespace {

constexpr Rule table[] = {
    {.id = "DCU840",
     .severity = Severity::error,
     .name = "sync-all-some-cores",
     .title = {"Not every core comes to a SyncAll() that waits for all of them.",
               "并非每个核都会到达等待全部核的 SyncAll()。"},
     .summary = {"not every core that runs {function} comes to SyncAll(): {condition}",
                 "运行 {function} 的核并非都会到达 SyncAll()：{condition}"},
     .cause = {"{at}: not every core that runs {function} comes to SyncAll(): {condition}",
               "{at}：运行 {function} 的核并非都会到达 SyncAll()：{condition}"},
     .how = {"SyncAll() without arguments under a condition that differs among cores, or behind a return "
             "under one, callees included. A loop whose trips differ among cores is a warning; a choice "
             "inside a loop a note.",
             "无参数的 SyncAll() "
             "处于各核取值不同的条件之下，或位于此类条件的返回之后（包括被调用的函数）。各核次数不同的循环为"
             "警告，循环内的选择为提示。"},
     .causes = {"if (GetBlockIdx() >= usedCoreNum) { return; } before it: the cores that stay wait for ever",
                "之前有 if (GetBlockIdx() >= usedCoreNum) { return; }：留下的核永远等待"},
     .fixes = {"put the condition around the work and leave SyncAll() outside of it",
               "把条件只放在计算上，SyncAll() 放在条件之外"},
     .references = ADAPTATION "\n"
                              "https://github.com/hw-native-sys/pypto/issues/1935",
     .bad = R"(if (GetBlockIdx() >= usedCoreNum) {
  return;
}
Compute();
SyncAll();)",
     .good = R"(if (GetBlockIdx() < usedCoreNum) {
  Compute();
}
SyncAll();)"},
    {.id = "DCU841",
     .severity = Severity::note,
     .name = "sync-all-core-count",
     .title = {"A kernel waits for all cores, which a SuperKernel may launch more of.",
               "核函数等待全部核，而 SuperKernel 可能启动更多核。"},
     .summary = {"{kernel} waits for all cores of the launch: it hangs in a SuperKernel that launches more "
                 "than it uses",
                 "{kernel} 等待本次启动的全部核：若 SuperKernel 启动的核多于它使用的核，就会挂死"},
     .cause = {"{at}: {kernel} waits for all cores of the launch: it hangs in a SuperKernel that launches "
               "more than it uses",
               "{at}：{kernel} 等待本次启动的全部核：若 SuperKernel 启动的核多于它使用的核，就会挂死"},
     .how = {"A kernel that comes to SyncAll() without arguments. dcuop superkernel plan says whether it "
             "hangs in a scope.",
             "核函数会到达无参数的 SyncAll()。dcuop superkernel plan 可判断它在某个 scope 中是否挂死。"},
     .causes = {"the operator launches fewer cores than the largest one of its scope",
                "该算子启动的核少于其 scope 中最大的算子"},
     .fixes = {"ge: options=\"feed-sync-all=1\", or launch it with as many cores as the scope\nnpugraph_ex: "
               "SetScheduleMode(1) in its tiling, so that the scope is split before it",
               "ge：options=\"feed-sync-all=1\"，或以与 scope 相同的核数启动\nnpugraph_ex：在 tiling 中调用 "
               "SetScheduleMode(1)，使 scope 在它之前断开"},
     .references = ADAPTATION "\n" OPTION_TABLE},
    {.id = "DCU842",
     .severity = Severity::warning,
     .name = "sync-all-config",
     .title = {"feed-sync-all does not see a SyncAll() that has a configuration.",
               "feed-sync-all 识别不到带配置的 SyncAll()。"},
     .summary = {"SyncAll() of {function} has a configuration, and feed-sync-all does not see it",
                 "{function} 中的 SyncAll() 带有配置，feed-sync-all 识别不到"},
     .cause = {"{at}: SyncAll() of {function} has a configuration, and feed-sync-all does not see it",
               "{at}：{function} 中的 SyncAll() 带有配置，feed-sync-all 识别不到"},
     .how =
         {"SyncAll with two template arguments: the compiler looks for SyncAll<word>() and SyncAll() alone.",
          "带两个模板参数的 SyncAll：编译器只查找 SyncAll<单词>() 和 SyncAll()。"},
     .causes = {"the form of Ascend 950 in an operator that is fused",
                "在会被融合的算子中使用了 Ascend 950 的形式"},
     .fixes = {"SyncAll() or SyncAll<false>(), or launch as many cores as the scope",
               "改用 SyncAll() 或 SyncAll<false>()，或以与 scope 相同的核数启动"},
     .references = INFER_SOURCE,
     .bad = R"(AscendC::SyncAll<true, kConfig>();)",
     .good = R"(AscendC::SyncAll<true>();)"},
    {.id = "DCU843",
     .severity = Severity::error,
     .name = "sync-all-side",
     .title = {"SyncAll() waits for cores that do not come to it.", "SyncAll() 等待不会到达的核。"},
     .summary = {"{what}", "{what}"},
     .cause = {"{at}: {what}", "{at}：{what}"},
     .how = {"SyncAll<false>() in a kernel of vector cores alone; SyncAll() where only cube cores come (a "
             "warning).",
             "只在 vector 核上运行的核函数中的 SyncAll<false>()；只有 cube 核到达之处的 SyncAll()（警告）。"},
     .causes = {"the template argument is false for a kernel that has no cube cores",
                "核函数没有 cube 核，而模板参数为 false"},
     .fixes = {"SyncAll() for vector cores, SyncAll<false>() for both sides, on both sides",
               "vector 核用 SyncAll()，两侧用 SyncAll<false>() 且两侧都要调用"},
     .references = SYNC_SOURCE,
     .bad = R"(KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
SyncAll<false>();)",
     .good = R"(KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
SyncAll();)"},
    {.id = "DCU845",
     .severity = Severity::warning,
     .name = "cross-core-all-cores",
     .title = {"A flag of mode 0 waits for every core of the SuperKernel.",
               "模式 0 的标志等待 SuperKernel 的每个核。"},
     .summary = {"CrossCoreSetFlag of mode 0 in {function} waits for all cores of the SuperKernel, and no "
                 "option adds the ones that are missing",
                 "{function} 中模式 0 的 CrossCoreSetFlag 等待 SuperKernel 的全部核，没有选项能补上缺少的核"},
     .cause =
         {"{at}: CrossCoreSetFlag of mode 0 in {function} waits for all cores of the SuperKernel, and no "
          "option adds the ones that are missing",
          "{at}：{function} 中模式 0 的 CrossCoreSetFlag 等待 SuperKernel 的全部核，没有选项能补上缺少的核"},
     .how = {"CrossCoreSetFlag whose mode is the constant 0, or ffts_cross_core_sync with that mode; "
             "feed-sync-all does not help.",
             "模式为常量 0 的 CrossCoreSetFlag 或 ffts_cross_core_sync；feed-sync-all 无效。"},
     .causes = {"an operator that launches fewer cores than its scope: it waits for ever",
                "算子启动的核少于其 scope：永远等待"},
     .fixes = {"launch as many cores as the scope, limit_core_num for the whole scope, or "
               "torchair.scope.super_kernel(None) around the operator",
               "以与 scope 相同的核数启动，或对整个 scope 使用 limit_core_num，或用 "
               "torchair.scope.super_kernel(None) 包住该算子"},
     .references = ADAPTATION "\n" SYNC_SOURCE,
     .bad = R"(CrossCoreSetFlag<0, PIPE_MTE3>(flag);)",
     .good = R"(CrossCoreSetFlag<2, PIPE_MTE3>(flag); // between a cube core and its vector cores)"},
    {.id = "DCU846",
     .severity = Severity::note,
     .name = "cross-core-mode-unknown",
     .title = {"The mode of a CrossCoreSetFlag is not known.", "CrossCoreSetFlag 的模式未知。"},
     .summary = {"the mode of CrossCoreSetFlag in {function} is not a constant that the sources show: "
                 "whether it waits for all cores is not said",
                 "{function} 中 CrossCoreSetFlag 的模式不是源码可见的常量：不判断它是否等待全部核"},
     .cause = {"{at}: the mode of CrossCoreSetFlag in {function} is not a constant that the sources show: "
               "whether it waits for all cores is not said",
               "{at}：{function} 中 CrossCoreSetFlag 的模式不是源码可见的常量：不判断它是否等待全部核"},
     .how =
         {"A mode that is a template parameter, or a constant that is defined elsewhere or with two values.",
          "模式是模板参数，或定义在别处、有两个值的常量。"},
     .causes = {"the constant is in a header that was not given", "常量定义在未提供的头文件中"},
     .fixes = {"check the directory that has the constant too", "把定义该常量的目录一并检查"},
     .references = SYNC_SOURCE},
    {.id = "DCU848",
     .severity = Severity::error,
     .name = "flag-unbalanced",
     .title = {"A flag between cores is set more often than it is waited for, or less often.",
               "核间标志的设置次数与等待次数不一致。"},
     .summary = {"flag {flag} in {function} {what}", "{function} 中的标志 {flag} {what}"},
     .cause = {"{at}: flag {flag} in {function} {what}", "{at}：{function} 中的标志 {flag} {what}"},
     .how = {"Sets and waits are counted along the paths of each side: in mode 2 a set of a cube core is one "
             "wait on each of its vector cores, and a set on each of them is one wait of the cube core; in "
             "modes 0 and 1 both are of the same side. Counts that hang on loops or conditions are a note.",
             "按路径统计每一侧的设置与等待：模式 2 中，cube 核的一次设置对应其每个 vector 核的一次等待，每个 "
             "vector 核的一次设置对应 cube 核的一次等待；模式 0 和 1 "
             "在同一侧。取决于循环或条件的次数仅为提示。"},
     .causes = {"one that is missing: the core waits for ever\none too many: inside a SuperKernel the count "
                "lives on, and the next operator passes its wait too early",
                "少一次：核永远等待\n多一次：在 SuperKernel 中计数会留下，下一个算子过早通过等待"},
     .fixes = {"pair each set with one wait on every path", "让每次设置在每条路径上都有一次等待"},
     .references = SYNC_SOURCE "\n"
                               "https://github.com/mirror-cann/graph-autofusion",
     .bad = R"(if ASCEND_IS_AIC { CrossCoreSetFlag<2, PIPE_FIX>(1); CrossCoreSetFlag<2, PIPE_FIX>(1); }
if ASCEND_IS_AIV { CrossCoreWaitFlag(1); })",
     .good = R"(if ASCEND_IS_AIC { CrossCoreSetFlag<2, PIPE_FIX>(1); }
if ASCEND_IS_AIV { CrossCoreWaitFlag(1); })"},
    {.id = "DCU850",
     .severity = Severity::error,
     .name = "pair-flag-guarded",
     .title = {"Only one vector core of a pair sets or waits for a flag, in a kernel of MIX 1:1.",
               "MIX 1:1 核函数中，一对 vector 核只有一个设置或等待标志。"},
     .summary = {"{call} of {function} is reached by one vector core of a pair alone ({condition}): in a 1:2 "
                 "launch the cube core waits for both",
                 "{function} 中的 {call} 只有一对 vector 核中的一个会到达（{condition}）：以 1:2 启动时 cube "
                 "核会等待两个"},
     .cause = {"{at}: {call} of {function} is reached by one vector core of a pair alone ({condition}): in a "
               "1:2 launch the cube core waits for both",
               "{at}：{function} 中的 {call} 只有一对 vector 核中的一个会到达（{condition}）：以 1:2 启动时 "
               "cube 核会等待两个"},
     .how = {"A kernel of KERNEL_TYPE_MIX_AIC_1_1 with a flag of mode 2 under GetSubBlockIdx() == k, "
             "GetBlockIdx() % 2 and the like, and none on the other path. A warning where only some tiling "
             "keys have that type.",
             "KERNEL_TYPE_MIX_AIC_1_1 的核函数中，模式 2 的标志处于 GetSubBlockIdx() == k、GetBlockIdx() % 2 "
             "等条件之下，而另一条路径没有。仅部分 tiling key 为该类型时为警告。"},
     .causes = {"a SuperKernel is launched 1:2 as soon as one operator needs it, and both vector cores enter",
                "只要有一个算子需要，SuperKernel 就以 1:2 启动，两个 vector 核都会进入"},
     .fixes = {"set and wait on both vector cores; keep only the work under the condition",
               "两个 vector 核都设置和等待；条件只包住计算"},
     .references = ADAPTATION "\n" GENERATOR,
     .bad = R"(if (GetSubBlockIdx() == 0) {
  Compute();
  CrossCoreSetFlag<2, PIPE_MTE3>(3);
})",
     .good = R"(if (GetSubBlockIdx() == 0) {
  Compute();
}
CrossCoreSetFlag<2, PIPE_MTE3>(3);)"},
    {.id = "DCU851",
     .severity = Severity::warning,
     .name = "matmul-on-every-vector-core",
     .title = {"The Matmul API is called on every vector core, in a kernel of MIX 1:1.",
               "MIX 1:1 核函数中，每个 vector 核都调用 Matmul 高阶 API。"},
     .summary =
         {"{function} calls the Matmul API ({object}) on every vector core: in a 1:2 launch nobody answers "
          "the second one",
          "{function} 在每个 vector 核上都调用 Matmul 高阶 API（{object}）：以 1:2 启动时第二个核得不到回应"},
     .cause = {"{at}: {function} calls the Matmul API ({object}) on every vector core: in a 1:2 launch "
               "nobody answers the second one",
               "{at}：{function} 在每个 vector 核上都调用 Matmul 高阶 API（{object}）：以 1:2 "
               "启动时第二个核得不到回应"},
     .how = {"A member of a Matmul object is called on the vector side of a KERNEL_TYPE_MIX_AIC_1_1 kernel "
             "without a condition that selects one core of a pair.",
             "KERNEL_TYPE_MIX_AIC_1_1 核函数的 vector 侧调用了 Matmul "
             "对象的成员，而没有选择一对核中一个的条件。"},
     .causes = {"the messages of the second vector core are never received: it waits for ever",
                "第二个 vector 核的消息无人接收：永远等待"},
     .fixes = {"call it under GetSubBlockIdx() == 0", "在 GetSubBlockIdx() == 0 之下调用"},
     .references = ADAPTATION,
     .bad = R"(mm.IterateAll(cGm);)",
     .good = R"(if (GetSubBlockIdx() == 0) {
  mm.IterateAll(cGm);
})"},
    {.id = "DCU852",
     .severity = Severity::warning,
     .name = "split-without-ratio",
     .title = {"Work is divided by GetBlockIdx() of GetBlockNum(), in a kernel of MIX 1:1.",
               "MIX 1:1 核函数按 GetBlockIdx() 与 GetBlockNum() 划分工作。"},
     .summary = {"{function} divides work by GetBlockIdx() and GetBlockNum() alone: in a 1:2 launch the "
                 "index goes up to twice the number",
                 "{function} 仅用 GetBlockIdx() 与 GetBlockNum() 划分工作：以 1:2 启动时索引可达核数的两倍"},
     .cause =
         {"{at}: {function} divides work by GetBlockIdx() and GetBlockNum() alone: in a 1:2 launch the index "
          "goes up to twice the number",
          "{at}：{function} 仅用 GetBlockIdx() 与 GetBlockNum() 划分工作：以 1:2 启动时索引可达核数的两倍"},
     .how = {"GetBlockIdx() and GetBlockNum() in a KERNEL_TYPE_MIX_AIC_1_1 kernel that asks neither "
             "GetTaskRatio() nor GetSubBlockIdx(), and divides the index by nothing.",
             "KERNEL_TYPE_MIX_AIC_1_1 核函数使用 GetBlockIdx() 与 GetBlockNum()，既没有用 GetTaskRatio() 或 "
             "GetSubBlockIdx()，也没有对索引作除法。"},
     .causes = {"GetBlockNum() stays what the operator was launched with; GetBlockIdx() of vector cores is "
                "doubled: work is done twice, or out of range",
                "GetBlockNum() 仍是算子自身的核数；vector 核的 GetBlockIdx() 加倍：工作重复或越界"},
     .fixes = {"GetBlockIdx() / GetTaskRatio(), or GetBlockNum() * GetTaskRatio()",
               "使用 GetBlockIdx() / GetTaskRatio()，或 GetBlockNum() * GetTaskRatio()"},
     .references = ADAPTATION "\n" INDEX_SOURCE,
     .bad = R"(offset = GetBlockIdx() * (total / GetBlockNum());)",
     .good = R"(offset = GetBlockIdx() / GetTaskRatio() * (total / GetBlockNum());)"},
};

} // namespace

std::vector<Rule> ascend_sync_rules() {
  return {std::begin(table), std::end(table)};
}

} // namespace dcuop::finding
