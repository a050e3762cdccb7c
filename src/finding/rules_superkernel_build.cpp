// DCU82x, DCU83x: what the back ends of an Ascend SuperKernel refuse or ignore, and scalars in the data cache.
#include <iterator>

#include "ascend_links.hpp"
#include "rules.hpp"

namespace dcuop::finding {

namespace {

constexpr Rule table[] = {
    {.id = "DCU820",
     .severity = Severity::error,
     .name = "superkernel-option-unknown",
     .title = {"The back end of the SuperKernel knows no such option.", "SuperKernel 后端没有这个选项。"},
     .summary = {"there is no option {key}", "没有选项 {key}"},
     .cause = {"{backend} knows no option {key}{meant}", "{backend} 没有选项 {key}{meant}"},
     .how = {"The keys that the back end's parser has. ge ends the compilation (EB0500).",
             "后端解析器支持的键。ge 会中止编译（EB0500）。"},
     .causes = {"dcci-after-kernel-start: an older page writes it so, the parser and TorchAir have "
                "dcci-after-kernel-end\n- in the keys of ge, _ in those of npugraph_ex\na typo",
                "dcci-after-kernel-start：旧页面如此书写，而解析器和 TorchAir 使用 dcci-after-kernel-end\nge "
                "的键用 -，npugraph_ex 的键用 _\n拼写错误"},
     .fixes = {"the key that is named", "改为所提示的键"},
     .references = GE_PARSER "\n" OPTION_TABLE "\n" AOT_OPTIONS},
    {.id = "DCU821",
     .severity = Severity::error,
     .name = "superkernel-option-value",
     .title = {"An option of the SuperKernel has a value that the back end refuses.",
               "SuperKernel 选项的值被后端拒绝。"},
     .summary = {"option {key} has a bad value", "选项 {key} 的值无效"},
     .cause = {"option {key} {problem}", "选项 {key} {problem}"},
     .how = {"As the back end's parser does it.", "与后端解析器的处理一致。"},
     .causes = {"the same key twice\nan empty value\na word where a number is wanted",
                "同一个键出现两次\n值为空\n应为数字"
                "却写成单词"},
     .fixes = {"one of the values that are named", "改为所提示的值之一"},
     .references = GE_PARSER "\n" AOT_OPTIONS},
    {.id = "DCU822",
     .severity = Severity::warning,
     .name = "superkernel-option-ignored",
     .title = {"Something in the options of the SuperKernel has no effect.",
               "SuperKernel 选项中有内容不起作用。"},
     .summary = {"{key} has no effect", "{key} 不起作用"},
     .cause = {"{key} has no effect: {problem}", "{key} 不起作用：{problem}"},
     .how = {"What the parser passes over with a warning in its log, and names that no operator of the scope "
             "has.",
             "解析器仅在日志中警告并忽略的内容，以及 scope 中没有任何算子对应的名称。"},
     .causes =
         {"an item without =\na value out of range, for which npugraph_ex takes its default\n"
          "a dcci list that names a tiling-sink or collective operator",
          "缺少 = 的条目\n超出范围的值，npugraph_ex 会使用默认值\ndcci 列表中列出了 Tiling 下沉或通信类算子"},
     .fixes = {"remove or correct it", "删除或更正"},
     .references = OPTION_TABLE "\n" GE_PARSER "\n" AOT_OPTIONS},
    {.id = "DCU823",
     .severity = Severity::warning,
     .name = "superkernel-option-conflict",
     .title = {"Options of the SuperKernel work against each other.", "SuperKernel 的选项互相冲突。"},
     .summary = {"{key} works against another option", "{key} 与其他选项冲突"},
     .cause = {"{problem}", "{problem}"},
     .how = {"What the generator does when both are given.", "两者同时给出时生成器的行为。"},
     .causes =
         {"dcci-disable-on-kernel wins over the other two dcci lists\ntwo operators in a row without any "
          "flush of "
          "the data cache\nstream-fusion=1 turns early start off",
          "dcci-disable-on-kernel 优先于另外两个 dcci 列表\n连续两个算子都不刷新数据缓存\nstream-fusion=1 "
          "会关闭 early start"},
     .fixes = {"keep the one that is meant", "只保留真正需要的选项"},
     .references = OPTION_TABLE "\n" LAUNCH_SOURCE},
    {.id = "DCU824",
     .severity = Severity::error,
     .name = "superkernel-debug-num",
     .title = {"debug-aic-num and debug-aiv-num are refused.", "debug-aic-num 与 debug-aiv-num 被拒绝。"},
     .summary = {"the forced core counts are refused", "强制的核数被拒绝"},
     .cause = {"{problem}", "{problem}"},
     .how = {"The ratio must be 1:0, 0:1, 1:1 or 1:2, no number more than the device has, none less than the "
             "operators "
             "need. (TorchAir's page says that they must not be more than the SuperKernel would have; the "
             "source refuses "
             "fewer.)",
             "比例必须为 1:0、0:1、1:1 或 1:2，不得超过设备核数，也不得少于算子所需。（TorchAir "
             "文档称不可超过 SuperKernel 原本应启动的核数；源码拒绝的是更少。）"},
     .causes = {"one of the two is left out: it then counts as 0", "只给出其中一个：另一个按 0 处理"},
     .fixes = {"both, in a ratio that is allowed, with at least what the operators need",
               "同时给出两者，比例合法，且不少于"
               "算子所需"},
     .references = LAUNCH_SOURCE "\n" OPTION_TABLE},
    {.id = "DCU825",
     .severity = Severity::error,
     .name = "superkernel-streams",
     .title = {"Operators on several streams are fused only with stream-fusion=1.",
               "多条流上的算子需要 stream-fusion=1 才能融合。"},
     .summary = {"two streams without stream-fusion=1", "两条流而没有 stream-fusion=1"},
     .cause = {"{op} on stream {stream} follows {other} on stream {streams} and no event is between them: ge "
               "does not build "
               "the scope",
               "流 {stream} 上的 {op} 紧随流 {streams} 上的 {other}，两者之间没有事件：ge 不会编译该 scope"},
     .how = {"Adjacent operators in the order of the graph.", "按图中顺序检查相邻算子。"},
     .causes = {"operators that are to run in parallel", "希望并行执行的算子"},
     .fixes = {"options=\"stream-fusion=1\"; early start is off then\nan event between the two",
               "options=\"stream-fusion=1\"；此时 early start 关闭\n在两者之间加事件"},
     .references = LAUNCH_SOURCE "\n" OPTION_TABLE},
    {.id = "DCU826",
     .severity = Severity::error,
     .name = "superkernel-event",
     .title = {"An event stands where a SuperKernel cannot have one.", "事件位于 SuperKernel 不允许的位置。"},
     .summary = {"event {event} cannot be where it is", "事件 {event} 的位置不允许"},
     .cause = {"{problem}: ge does not build the scope", "{problem}：ge 不会编译该 scope"},
     .how = {"The first operator of a SuperKernel must wait for no event, the last one send none, and an "
             "event join two "
             "streams.",
             "SuperKernel 的第一个算子不得等待事件，最后一个不得发送事件，且事件必须连接两条流。"},
     .causes = {"a scope that begins or ends at a point where streams meet",
                "scope 的起止位置恰在流的汇合点"},
     .fixes = {"begin the scope later, or end it sooner", "将 scope 的起点后移或终点前移"},
     .references = GENERATOR "\n" LAUNCH_SOURCE},
    {.id = "DCU827",
     .severity = Severity::error,
     .name = "superkernel-early-start-refused",
     .title = {"SetNextTaskStart or WaitPreTaskEnd is called where the back end refuses it.",
               "在后端拒绝的场合调用了 SetNextTaskStart 或 WaitPreTaskEnd。"},
     .summary = {"its early start is refused", "其 early start 被拒绝"},
     .cause = {"{op} calls SetNextTaskStart or WaitPreTaskEnd {problem}: ge does not build the scope",
               "{op} 调用了 SetNextTaskStart 或 WaitPreTaskEnd，{problem}：ge 不会编译该 scope"},
     .how = {"The task type of the operator, and early-start in the options.",
             "算子的任务类型与选项中的 early-start。"},
     .causes =
         {"a tiling-sink operator\nearly-start=0 for a scope whose operators were compiled with the calls",
          "Tiling 下沉算子\nscope 设置了 early-start=0，而算子编译时带有这些调用"},
     .fixes = {"leave the calls out\nleave early-start out", "去掉这些调用\n去掉 early-start"},
     .references = OPERATOR_SOURCE},
    {.id = "DCU830",
     .severity = Severity::error,
     .name = "superkernel-scalar-not-flushed",
     .title = {"A scalar that an operator writes stays in its data cache, and a later operator reads it from "
               "memory.",
               "算子写入的标量停留在数据缓存中，而后面的算子从内存读取。"},
     .summary = {"what it writes to {buffer} is not flushed", "写入 {buffer} 的内容没有刷新"},
     .cause = {"{op} writes scalars to {buffer} and {reader} reads them: {problem}",
               "{op} 向 {buffer} 写入标量，{reader} 读取：{problem}"},
     .how = {"In a SuperKernel nothing flushes the data cache at an operator's end. GetValue and SetValue "
             "flush their own "
             "line, unless a dcci option names the operator; gm(i) = x never does.",
             "在 SuperKernel 中，算子结束时不会刷新数据缓存。GetValue/SetValue 会刷新自己的缓存行，除非某个 "
             "dcci "
             "选项列出了该算子；gm(i) = x 从不刷新。"},
     .causes = {"an assignment through GlobalTensor::operator()\nthe operator is named in "
                "dcci-before-kernel-start or "
                "dcci-disable-on-kernel only",
                "通过 GlobalTensor::operator() 赋值\n该算子只列在 dcci-before-kernel-start 或 "
                "dcci-disable-on-kernel 中"},
     .fixes = {"dcci-after-kernel-end for the operator\nDataCacheCleanAndInvalid behind the write",
               "为该算子设置 dcci-after-kernel-end\n在写入之后调用 DataCacheCleanAndInvalid"},
     .references = ADAPTATION "\n" OPTION_TABLE},
    {.id = "DCU831",
     .severity = Severity::warning,
     .name = "superkernel-scalar-stale",
     .title =
         {"An operator may read a scalar from its data cache that an earlier operator has changed in memory.",
          "算子可能从数据缓存读到旧的标量，而前面的算子已在内存中修改。"},
     .summary = {"it may read an old {buffer}", "可能读到旧的 {buffer}"},
     .cause = {"{op} reads scalars of {buffer} that {writer} writes, and its dcci option leaves the cache as "
               "it is before it",
               "{op} 读取由 {writer} 写入的 {buffer} 中的标量，而其 dcci 选项使缓存在此之前保持原样"},
     .how = {"The operator is named in dcci-after-kernel-end or dcci-disable-on-kernel, so GetValue does not "
             "refresh its "
             "line, and nothing does before the operator.",
             "该算子列在 dcci-after-kernel-end 或 dcci-disable-on-kernel 中，因此 GetValue "
             "不刷新缓存行，算子之前也没有刷新。"},
     .causes = {"a list that was made for speed", "为性能而设置的列表"},
     .fixes = {"dcci-before-kernel-start for the operator too", "同时为该算子设置 dcci-before-kernel-start"},
     .references = OPTION_TABLE "\n" ADAPTATION},
    {.id = "DCU832",
     .severity = Severity::note,
     .name = "superkernel-relocatable",
     .title = {"A tiling-sink operator compiles faster with a relocatable binary.",
               "Tiling 下沉算子使用可重定位二进制可加快编译。"},
     .summary = {"its binary is not relocatable", "其二进制不可重定位"},
     .cause = {"{op} is a tiling-sink operator and is not built with --op_relocatable_kernel_binary=true",
               "{op} 是 Tiling 下沉算子，未使用 --op_relocatable_kernel_binary=true 编译"},
     .how = {"As the scope says (relocatable_binary). It changes how long a scope takes to compile, nothing "
             "else.",
             "根据 scope 的说明（relocatable_binary）。只影响 scope 的编译时间。"},
     .causes = {"the default", "默认如此"},
     .fixes = {"npu_op_kernel_options(target OPTYPE OPTIONS --op_relocatable_kernel_binary=true) in its "
               "CMakeLists.txt",
               "在其 CMakeLists.txt 中：npu_op_kernel_options(target OPTYPE OPTIONS "
               "--op_relocatable_kernel_binary=true)"},
     .references = ADAPTATION},
    {.id = "DCU833",
     .severity = Severity::note,
     .name = "superkernel-early-start-idle",
     .title = {"SetNextTaskStart and WaitPreTaskEnd do nothing in this scope.",
               "SetNextTaskStart 与 WaitPreTaskEnd 在该 scope 中不起作用。"},
     .summary = {"its early start does nothing", "其 early start 不起作用"},
     .cause = {"{op} calls SetNextTaskStart or WaitPreTaskEnd, and {problem}",
               "{op} 调用了 SetNextTaskStart 或 WaitPreTaskEnd，而{problem}"},
     .how = {"The product, the back end's option, and whether several streams are fused.",
             "产品型号、后端选项，以及是否融合了多条流。"},
     .causes = {"A2 compiles the calls and does nothing\nnpugraph_ex has early_start off by default\n"
                "several streams in one SuperKernel",
                "A2 仅保证编译，不生效\nnpugraph_ex 的 early_start 默认关闭\n一个 SuperKernel 中有多条流"},
     .fixes = {"npugraph_ex: \"early_start\": 1", "npugraph_ex：\"early_start\": 1"},
     .references = EARLY_START "\n" AOT_OPTIONS},
    {.id = "DCU834",
     .severity = Severity::note,
     .name = "superkernel-dynamic-dcci",
     .title = {"Whether the data cache is flushed around a tiling-sink operator differs between versions.",
               "Tiling 下沉算子前后是否刷新数据缓存因版本而异。"},
     .summary = {"its cache flushes depend on the version", "其缓存刷新取决于版本"},
     .cause =
         {"{op} is a tiling-sink operator: the documentation says that the cache is flushed before and "
          "behind it and "
          "that dcci options have no effect; the sources of July 2026 flush nothing and obey the options",
          "{op} 是 Tiling 下沉算子：文档称其前后会刷新缓存且 dcci 选项不生效；2026 年 7 "
          "月的源码默认不刷新，并遵从这些选项"},
     .how = {"The task type, and scalars that it reads or writes.", "任务类型，以及它读写的标量。"},
     .causes = {"a version between the two", "版本介于两者之间"},
     .fixes = {"DataCacheCleanAndInvalid in the operator, which every version obeys",
               "在算子内调用 DataCacheCleanAndInvalid，所有版本都遵从"},
     .references = OPTION_TABLE "\n" OPERATOR_SOURCE},
    {.id = "DCU835",
     .severity = Severity::warning,
     .name = "superkernel-dynamic-half",
     .title = {"A tiling-sink vector operator beside cube cores is entered by half of the vector cores.",
               "与 Cube 核一起启动的 Tiling 下沉 Vector 算子只有一半 Vector 核进入。"},
     .summary = {"{entering} of {launched} vector cores enter it, whatever its tiling gives",
                 "无论其 tiling 给出多少块，{launched} 个 Vector 核中只有 {entering} 个进入"},
     .cause = {"{op} is a tiling-sink vector operator in a 1:2 launch: {entering} of {launched} vector cores "
               "enter it, and what its tiling gives to further blocks nobody computes",
               "{op} 是 1:2 启动下的 Tiling 下沉 Vector 算子：{launched} 个 Vector 核中只有 {entering} "
               "个进入，tiling 分给其余块的工作无人执行"},
     .how = {"The generated guard compares GetBlockIdx(), which counts vector cores, with the blocks of the "
             "SuperKernel. Sources of July 2026, which no documentation promises.",
             "生成的条件把 GetBlockIdx()（按 Vector 核计）与 SuperKernel 的块数比较。依据 2026 年 7 "
             "月的源码，文档并未承诺。"},
     .causes = {"a cube or MIX operator in the same scope", "同一 scope 中有 Cube 或 MIX 算子"},
     .fixes = {"a scope of its own\nin its tiling no more blocks than the SuperKernel has",
               "单独放入一个 scope\n其 tiling 给出的块数不超过 SuperKernel 的块数"},
     .references = OPERATOR_SOURCE},
};

} // namespace

std::vector<Rule> superkernel_build_rules() {
  return {std::begin(table), std::end(table)};
}

} // namespace dcuop::finding
