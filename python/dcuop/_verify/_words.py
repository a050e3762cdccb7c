"""What the views and reports say, in English and Chinese."""

from __future__ import annotations

import string
from typing import Any, Callable, Dict, Tuple

from . import _format, _sentences

LANGUAGES = ("en", "zh")
#: Places in which a sentence of the result's own stands.
_SENTENCES = ("why", "text", "clock")


class Words:
    """The sentences of one language; English for a language that there is none of."""

    def __init__(self, language: str = "en") -> None:
        self.language = language if language in LANGUAGES else "en"
        self._index = LANGUAGES.index(self.language)
        self._formatter = _Formatter()

    def say(self, key: str, **values: Any) -> str:
        """The sentence `key` with `values` in its places. Values are never taken for sentences. KeyError for a key that
        there is none of."""
        if self.language != "en":
            values = {
                name: self.known(value) if name in _SENTENCES and isinstance(value, str) else value
                for name, value in values.items()
            }
        return self._formatter.vformat(_TABLE[key][self._index], (), values)

    def known(self, text: str) -> str:
        """A word or sentence of the result's own (a status, a reason) in this language, as far as there is one for it."""
        if self.language == "en":
            return text
        return _sentences.chinese(text, lambda word: self.say(f"word_{word}") if f"word_{word}" in _TABLE else word)

    def schedule(self, name: str) -> str:
        """The name of a rounding schedule, which is made of clauses and names of dtypes: "float32 inside, FMA"."""
        if self.language == "en":
            return name
        clauses = []
        for clause in name.split(", "):
            first, _, rest = clause.partition(" ")
            key = f"schedule_{rest}"
            clauses.append(self.say(key, dtype=first) if rest and key in _TABLE else self.known(clause))
        return "，".join(clauses)


class _Formatter(string.Formatter):
    _SPECS: Dict[str, Callable[[Any], str]] = {
        "count": _format.count,
        "size": _format.size,
        "number": _format.number,
        "ulp": _format.ulp,
        "percent": _format.percent,
        "share": _format.exact_share,
        "change": _format.change,
        "seconds": _format.seconds,
        "us": _format.microseconds,
        "memory": _format.memory,
    }

    def format_field(self, value: Any, format_spec: str) -> str:
        return self._SPECS[format_spec](value) if format_spec else str(value)


_TABLE: Dict[str, Tuple[str, str]] = {
    # Layers and labels
    "backend": ("backend", "后端"),
    "correctness": ("correctness", "正确性"),
    "numerics": ("numerics", "数值"),
    "micro": ("micro", "微基准"),
    "e2e": ("end to end", "端到端"),
    "gate": ("gate", "门槛"),
    "compare": ("compare", "对比"),
    "word_passed": ("passed", "通过"),
    "word_failed": ("failed", "失败"),
    "word_skipped": ("skipped", "跳过"),
    "word_absent": ("absent", "不存在"),
    "word_device only": ("device only", "仅限设备"),
    "word_no change": ("no change", "无变化"),
    "word_better": ("better", "变好"),
    "word_worse": ("worse", "变差"),
    "word_zeros": ("zeros", "全零"),
    "word_ones": ("ones", "全一"),
    # Backend
    "backend_emulated": (
        "{backend}: the kernels' bodies on an emulated grid{origin}; cases for a device alone are skipped",
        "{backend}：在模拟网格上运行内核主体{origin}；仅限设备的用例会跳过",
    ),
    "backend_device": ("{backend}: {device}{arch}{origin}", "{backend}：{device}{arch}{origin}"),
    "in_brackets": (" ({text})", "（{text}）"),
    # Correctness
    "cases": (
        "{passed:count} passed, {failed:count} failed, {skipped:count} skipped",
        "{passed:count} 个通过，{failed:count} 个失败，{skipped:count} 个跳过",
    ),
    "case_failed": ("FAILED", "失败"),
    "smallest": ("smallest", "最小形式"),
    "smallest_text": ("{shapes} (after {runs:count} runs)", "{shapes}（运行 {runs:count} 次得到）"),
    "smallest_at_once": ("{shapes} (after 1 run)", "{shapes}（运行 1 次得到）"),
    "values_are": ("values: {values}", "取值：{values}"),
    "differs": ("differs", "差异"),
    "differs_text": (
        "{count:count} of {of:count} elements, at most {ulp:ulp} ULP",
        "{of:count} 个元素中有 {count:count} 个，最多 {ulp:ulp} ULP",
    ),
    "differs_nan": (
        "{count:count} of {of:count} elements, none a number on both sides",
        "{of:count} 个元素中有 {count:count} 个，均有一侧不是数",
    ),
    "element": ("[{index}]  got {got}, want {want}", "[{index}]  得到 {got}，应为 {want}"),
    "element_ulp": (
        "[{index}]  got {got}, want {want} ({ulp:ulp} ULP)",
        "[{index}]  得到 {got}，应为 {want}（{ulp:ulp} ULP）",
    ),
    "again": ("again", "重新运行"),
    "more_failures": (
        "{count:count} more failed; --report FILE.html shows them all",
        "另有 {count:count} 个失败；--report FILE.html 会全部列出",
    ),
    # Numerics
    "max_ulp": ("max {ulp:ulp} ULP vs float64", "相对 float64 最大 {ulp:ulp} ULP"),
    "max_ulp_outside": (
        "max {ulp:ulp} ULP vs float64 ({all:ulp} outside the contract's range)",
        "相对 float64 最大 {ulp:ulp} ULP（约定范围之外 {all:ulp}）",
    ),
    "unmatched": (
        "{count:count} elements are infinite or NaN where float64's are not, or the reverse",
        "{count:count} 个元素与 float64 在无穷或 NaN 上不一致",
    ),
    "vs_float64_unknown": ("error vs float64 unknown: {why}", "相对 float64 的误差未知：{why}"),
    "max_ulp_framework": ("{ulp:ulp} ULP from the framework's own path", "与框架自身路径相差 {ulp:ulp} ULP"),
    "schedule_none": (
        "follows none of the {count:count} rounding schedules tried (closest: {name}, {share:share})",
        "不符合所试的 {count:count} 种舍入方案中的任何一种（最接近：{name}，{share:share}）",
    ),
    "schedule_unknown": ("rounding schedule unknown: {why}", "舍入方案未知：{why}"),
    "also": ("no sample tells it from: {names}", "样本无法将其与以下方案区分：{names}"),
    "special_same": ("NaN/Inf/-0/denormals as the framework", "NaN/Inf/-0/次正规数与框架一致"),
    "special_differ": (
        "{count:count} of {of:count} special values unlike the framework: {first}",
        "{of:count} 个特殊值中有 {count:count} 个与框架不同：{first}",
    ),
    "not_deterministic": ("NOT the same from run to run", "各次运行结果不同"),
    "numerics_unknown": ("not measured: {why}", "未测量：{why}"),
    "nothing": ("nothing to measure", "没有可测量的内容"),
    # Rounding schedules: the clauses of their names
    "schedule_inside": ("{dtype} inside", "内部 {dtype}"),
    "schedule_with FMA": ("{dtype} with FMA", "{dtype} 带 FMA"),
    "word_one rounding": ("one rounding", "仅舍入一次"),
    "word_each operation rounded": ("each operation rounded", "每次运算都舍入"),
    "word_each operation and scalar rounded": ("each operation and scalar rounded", "每次运算和标量都舍入"),
    "word_FMA": ("FMA", "FMA"),
    "word_FMA of the second product": ("FMA of the second product", "第二个乘积用 FMA"),
    "word_rounded as the contract's reference": ("rounded as the contract's reference", "舍入与约定中的参考实现相同"),
    "word_rounded as the framework here": ("rounded as the framework here", "舍入与此处的框架相同"),
    # Inputs of the numerics
    "inputs": ("Inputs: {inputs}; {count:count} elements of results.", "输入：{inputs}；结果共 {count:count} 个元素。"),
    "word_every value": ("every value of the dtype", "该类型的每个值"),
    "word_samples": ("samples of every binade", "各二进阶的样本"),
    "word_random": ("random values within the contract's ranges", "约定范围内的随机值"),
    "worst": ("The largest error:", "最大误差："),
    "labelled": ("{label}: {text}", "{label}：{text}"),
    # Micro
    "speedup": (
        "{speedup:number}x the reference at {n:size} (p10 to p90: {p10:number} to {p90:number})",
        "{n:size} 时为参考的 {speedup:number} 倍（p10 至 p90：{p10:number} 至 {p90:number}）",
    ),
    "time_alone": ("{us:us} a call at {n:size}; no reference: {why}", "{n:size} 时每次 {us:us}；无参考：{why}"),
    "of_copy": ("{share:percent} of copy bandwidth", "复制带宽的 {share:percent}"),
    "pays": ("pays for its build after {calls:count} calls", "调用 {calls:count} 次后抵偿构建时间"),
    "pays_never": ("never pays for its build", "无法抵偿构建时间"),
    "emulated_time": (
        "emulated grid, {us:us} a call at {n:size}: the emulation's time, which says nothing of a device",
        "模拟网格，{n:size} 时每次 {us:us}：这是模拟所用的时间，不反映设备性能",
    ),
    # End to end
    "no_script": ("no script declared ([verify.e2e])", "未声明脚本（[verify.e2e]）"),
    "e2e_better": (
        "{metric} {share:percent} better (p10 to p90: {p10:change} to {p90:change})",
        "{metric} 变好 {share:percent}（p10 至 p90：{p10:change} 至 {p90:change}）",
    ),
    "e2e_worse": (
        "{metric} {share:percent} worse (p10 to p90: {p10:change} to {p90:change})",
        "{metric} 变差 {share:percent}（p10 至 p90：{p10:change} 至 {p90:change}）",
    ),
    "e2e_emulated": ("on the emulated grid: says nothing of a device", "在模拟网格上：不反映设备性能"),
    "e2e_calls": ("{count:count} calls of the operator", "调用算子 {count:count} 次"),
    "e2e_added": ("adds {what}", "增加了 {what}"),
    "e2e_saved": ("saves {what}", "减少了 {what}"),
    "conversions": ("{count:count} conversions", "{count:count} 次类型转换"),
    "copies": ("{count:count} copies", "{count:count} 次复制"),
    "synchronisations": ("{count:count} synchronisations", "{count:count} 次同步"),
    "peak_memory": ("peak memory {sign}{bytes:memory}", "峰值内存 {sign}{bytes:memory}"),
    "error": ("error: {text}", "错误：{text}"),
    # Gate
    "gate_passed": ("passed", "通过"),
    "gate_failed": ("FAILED", "未通过"),
    "gate_open": ("nothing failed; not all could be judged here", "没有失败；但有些要求无法在此判定"),
    "gate_none": ("not judged", "未判定"),
    "gate_no_layer": ("The layer {layer} gave no result.", "{layer} 层没有给出结果。"),
    "gate_lost": ("{layer}, {where}: {why}.", "{layer}，{where}：{why}。"),
    "gate_lost_at": ("{layer}, {where}, {n} elements: {why}.", "{layer}，{where}，{n} 个元素：{why}。"),
    "gate_not_deterministic": (
        "numerics, {where}: calls with the same arguments did not give the same bits, and the contract does not say"
        " deterministic = false.",
        "numerics，{where}：以相同参数多次调用，结果并非逐位相同，而约定中没有 deterministic = false。",
    ),
    "gate_failed_cases": (
        "{failed:count} of {of:count} cases failed, the first is {first}.",
        "{of:count} 个用例中有 {failed:count} 个失败，第一个是 {first}。",
    ),
    "gate_no_case": (
        "No correctness case ran here ({skipped:count} skipped).",
        "没有运行任何正确性用例（跳过 {skipped:count} 个）。",
    ),
    "gate_e2e_error": ("The end-to-end run failed: {why}.", "端到端运行失败：{why}。"),
    "gate_not_measured": (
        "{demand} is demanded and was not measured here.",
        "要求了 {demand}，但在此未测量。",
    ),
    "gate_not_measured_why": (
        "{demand} is demanded and was not measured here{where}: {why}.",
        "要求了 {demand}，但在此未测量{where}：{why}。",
    ),
    "gate_not_asked": (
        "{demand} was not measured here: the layer {layer} was not asked for.",
        "{demand} 在此未测量：没有要求运行 {layer} 层。",
    ),
    "gate_emulated": (
        "{demand} was not measured here: the grid is emulated, and its times say nothing of a device.",
        "{demand} 在此未测量：网格是模拟的，其时间不反映设备性能。",
    ),
    "gate_no_truth": (
        "{where}: max_ulp is not judged, as nothing wider than float64 says what is right.",
        "{where}：不判定 max_ulp，因为没有比 float64 更宽的基准。",
    ),
    "gate_max_ulp": (
        "{where}: {ulp:ulp} ULP from float64, at most {limit:ulp} is allowed.",
        "{where}：与 float64 相差 {ulp:ulp} ULP，最多允许 {limit:ulp}。",
    ),
    "gate_unmatched": (
        "{where}: {count:count} elements are infinite or NaN where float64's are not, or the reverse.",
        "{where}：{count:count} 个元素与 float64 在无穷或 NaN 上不一致。",
    ),
    "gate_speedup": (
        "{where}: {speedup:number}x the reference at {n:size}, at least {limit:number}x is demanded.",
        "{where}：{n:size} 时为参考的 {speedup:number} 倍，至少要求 {limit:number} 倍。",
    ),
    "gate_speedup_noise": (
        "speedup is not judged: {where}: {speedup:number}x the reference at {n:size}, and {runs:count} runs do not rule out"
        " {limit:number}x (90 % confidence: {low:number} to {high:number}). More runs would tell.",
        "不判定 speedup：{where}：{n:size} 时为参考的 {speedup:number} 倍，{runs:count} 次运行不能排除 {limit:number} 倍（90 %"
        " 置信区间：{low:number} 至 {high:number}）。增加运行次数可以判定。",
    ),
    "gate_never_pays": (
        "{where}: never pays for its build, as it is no faster than the reference; {limit:count} calls are allowed.",
        "{where}：不比参考快，无法抵偿构建时间；允许 {limit:count} 次调用。",
    ),
    "gate_break_even_noise": (
        "break_even is not judged: {where}: the runs do not tell whether a call is faster than the reference's. More runs"
        " would tell.",
        "不判定 break_even：{where}：各次运行不能说明每次调用是否比参考快。增加运行次数可以判定。",
    ),
    "gate_break_even": (
        "{where}: pays for its build after {calls:count} calls, at most {limit:count} are allowed.",
        "{where}：调用 {calls:count} 次后才抵偿构建时间，最多允许 {limit:count} 次。",
    ),
    "gate_e2e": (
        "{metric}: {change:change} (p10 to p90: {p10:change} to {p90:change}), where more is better; at least"
        " {limit:change} is demanded.",
        "{metric}：{change:change}（p10 至 p90：{p10:change} 至 {p90:change}），正值为变好；至少要求 {limit:change}。",
    ),
    "gate_e2e_noise": (
        "e2e is not judged: {metric} changed by {change:change}, and {runs:count} runs do not rule out {limit:change} (90 %"
        " confidence: {low:change} to {high:change}). More runs would tell.",
        "不判定 e2e：{metric} 变化 {change:change}，{runs:count} 次运行不能排除 {limit:change}（90 % 置信区间：{low:change} 至"
        " {high:change}）。增加运行次数可以判定。",
    ),
    # Compare
    "against": ("against {entry} of {when}", "与 {entry}（{when}）相比"),
    "compare_verdicts": ("{count:count} cases changed verdict", "{count:count} 个用例的结论改变"),
    "compare_same": ("no case changed verdict", "没有用例的结论改变"),
    "compare_speed": (
        "{where} at {n:size}: {before:us} → {now:us} a call ({change:change}): {verdict}",
        "{where}，{n:size}：每次 {before:us} → {now:us}（{change:change}）：{verdict}",
    ),
    "compare_machine": ("the reference too: {verdict}", "参考也：{verdict}"),
    "compare_numerics": ("{where}: {what}", "{where}：{what}"),
    "compare_e2e": (
        "{metric}: {before:number} → {now:number} ({change:change}): {verdict}",
        "{metric}：{before:number} → {now:number}（{change:change}）：{verdict}",
    ),
    # Reports
    "title": ("dcuop verify: {op}", "dcuop verify：{op}"),
    "summary": ("Summary", "概要"),
    "failures": ("Failed cases", "失败的用例"),
    "skipped_cases": ("Skipped cases", "跳过的用例"),
    "passed_cases": ("Passed cases", "通过的用例"),
    "environment": ("Environment", "环境"),
    "case": ("Case", "用例"),
    "group": ("Group", "组"),
    "reason": ("Reason", "原因"),
    "time": ("Time", "时间"),
    "count": ("Count", "数量"),
    "index": ("Index", "下标"),
    "got": ("Got", "得到"),
    "want": ("Want", "应为"),
    "input": ("Input", "输入"),
    "operator": ("Operator", "算子"),
    "framework": ("Framework", "框架"),
    "reference": ("Reference", "参考"),
    "same": ("Same", "一致"),
    "yes": ("yes", "是"),
    "no": ("no", "否"),
    "all_yes": ("Nothing differs in any bit from run to run.", "各次运行的结果逐位相同。"),
    "error_against": ("Error against", "误差，相对于"),
    "float64": ("formula in float64", "float64 中的公式"),
    "framework_path": ("framework's own path", "框架自身路径"),
    "framework_emulated": (
        "Not every operation of the formula is there in {dtype} on this device: for the framework's own path each was"
        " computed in float32 and rounded, as devices do.",
        "此设备上并非公式的每个运算都支持 {dtype}：框架自身路径的每个运算均以 float32 计算并舍入，与设备的做法相同。",
    ),
    "max": ("Max ULP", "最大 ULP"),
    "max_all": ("Max ULP, all samples", "最大 ULP（全部样本）"),
    "mean": ("Mean ULP", "平均 ULP"),
    "not_comparable": ("NaN or Inf on one side", "仅一侧为 NaN 或 Inf"),
    "histogram": ("How large the errors are: {where}", "误差分布：{where}"),
    "histogram_axis": ("error in ULP", "误差（ULP）"),
    "share_axis": ("share of elements", "元素占比"),
    "candidates": ("Rounding schedule", "舍入方案"),
    "agrees": ("Elements that agree bit for bit", "逐位一致的元素"),
    "specials": ("Special values", "特殊值"),
    "time_plot": ("Time a call against size: {where}", "每次调用的时间与规模：{where}"),
    "size_axis": ("elements of the first tensor", "第一个张量的元素个数"),
    "time_axis": ("time a call", "每次调用的时间"),
    "size": ("Elements", "元素个数"),
    "ratio": ("Speed-up", "加速比"),
    "bandwidth": ("GB/s", "GB/s"),
    "flops": ("GFLOP/s", "GFLOP/s"),
    "share_of_copy": ("Of copy", "占复制带宽"),
    "copy": ("Copy GB/s", "复制 GB/s"),
    "runs": ("Runs", "次数"),
    "band_note": (
        "The band is from the 10th to the 90th percentile of the runs.",
        "色带为各次运行的第 10 至第 90 百分位。",
    ),
    "emulated_note": (
        "The grid was emulated on the host: these are the emulation's times. They say nothing of a device, and no gate on"
        " speed is judged by them.",
        "网格是在主机上模拟的：这些是模拟所用的时间，不反映设备性能，也不据此判定速度门槛。",
    ),
    "build_time": (
        "Build: {seconds:seconds}, not part of any time above.",
        "构建：{seconds:seconds}，不计入以上任何时间。",
    ),
    "clock": ("Clock: {clock}.", "时钟：{clock}。"),
    "calls_of": ("Calls of the operator", "对算子的调用"),
    "function": ("Function", "函数"),
    "shapes": ("Shapes", "形状"),
    "path": ("Path", "路径"),
    "metric": ("Metric", "指标"),
    "in_one_run": ("In one run", "一次运行中"),
    "difference": ("Difference", "差值"),
    "row_conversions": ("Conversions of dtype", "类型转换"),
    "row_copies": ("Copies", "复制"),
    "row_synchronisations": ("Synchronisations", "同步"),
    "row_memory": ("Peak memory", "峰值内存"),
    "before": ("Before", "之前"),
    "now": ("Now", "现在"),
    "verdict": ("Verdict", "结论"),
    "change": ("Change", "变化"),
    "better_by": ("Better by", "变好"),
    "demanded": ("Demanded", "要求"),
    "carried": ("measured {when}, in an earlier run on this entry", "由此条目的较早运行于 {when} 测得"),
    "env_op": ("Operator", "算子"),
    "env_entry": ("Entry", "条目"),
    "env_device": ("Device", "设备"),
    "env_arch": ("Arch", "架构"),
    "env_torch": ("torch", "torch"),
    "env_python": ("Python", "Python"),
    "env_when": ("When", "时间"),
    "env_seed": ("Seed", "种子"),
    "env_seconds": ("Took", "用时"),
    "env_build": ("Build", "构建"),
    "build_text": ("{seconds:seconds} to compile", "编译用时 {seconds:seconds}"),
    "build_hit": ("from the cache", "来自缓存"),
    "build_made": ("made for this run", "为此次运行构建"),
    "none_here": ("None.", "无。"),
    "more_rows": ("{count:count} more of the same reason", "另有 {count:count} 个原因相同"),
}
