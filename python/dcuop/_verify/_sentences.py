"""Sentences that a result holds, which are English there, in Chinese for the views.

A sentence of a result has no key: it is found by its form, `{name}` standing for anything. What stands in such a place is
looked for in turn, as sentences hold others.
"""

from __future__ import annotations

import functools
import re
from typing import Callable, List, Pattern, Tuple

#: Places for what others have said.
_FOREIGN = ("error", "words", "line")
_PLACE = re.compile(r"\{(\w+)\}")

_TABLE: Tuple[Tuple[str, str], ...] = (
    # What is meant
    ("the result", "结果"),
    ("result {number}", "结果 {number}"),
    ("the gradient of {name}", "{name} 的梯度"),
    ("the operator", "算子"),
    ("the formula", "公式"),
    ("the reference", "参考实现"),
    ("a copy", "复制"),
    ("the operator or the formula, timed", "计时中的算子或公式"),
    ("the operator: {what}", "算子：{what}"),
    ("the formula: {what}", "公式：{what}"),
    ("the reference: {what}", "参考实现：{what}"),
    ("a copy: {what}", "复制：{what}"),
    ("the operator or the formula, timed: {what}", "计时中的算子或公式：{what}"),
    # How a process ended
    ("it did not end within {seconds} s", "未在 {seconds} s 内结束"),
    ("the process ended by itself, with exit code {code}", "进程自行结束，退出码为 {code}"),
    ("the process was ended by signal {number} ({name})", "进程被信号 {number}（{name}）终止"),
    ("{what}; memory may have run out", "{what}；可能是内存耗尽"),
    ('{what}; its last words: "{words}"', "{what}；其最后的输出：“{words}”"),
    ("{what} (run {run}: --seed {seed})", "{what}（第 {run} 次运行：--seed {seed}）"),
    ("it broke off: {what}", "中断：{what}"),
    ("the case broke off: {error}", "用例中断：{error}"),
    ("the operator did not load once more: {error}", "算子未能再次加载：{error}"),
    ("{name} does not load: {what}", "{name} 无法加载：{what}"),
    (
        "the process that starts those which run the operator does not answer",
        "负责启动算子进程的进程没有应答",
    ),
    # Faults
    ("it raised {error}", "引发了 {error}"),
    ("it raised {error}, which is none of {kinds}", "引发了 {error}，不属于 {kinds}"),
    ("the formula or reference raised {error}", "公式或参考实现引发了 {error}"),
    (
        "the reference's result is {one}, the formula's {other}: one of the two is wrong",
        "参考实现的结果为 {one}，公式的结果为 {other}：二者之一有误",
    ),
    (
        "the reference gives {one} where the formula gives {other} (element {place} of {of}), which no rounding explains:"
        " one of the two is wrong",
        "参考实现给出 {one}，而公式给出 {other}（第 {place} 个元素，共 {of} 个），无法用舍入解释：二者之一有误",
    ),
    ("it was not refused, and ended in {error}", "未被拒绝，并以 {error} 结束"),
    ("{error} was raised without a message", "引发了 {error}，但没有说明"),
    ("{fault} was accepted: it has to be refused", "接受了{fault}：必须拒绝"),
    ("an argument of the wrong dtype was accepted", "接受了类型错误的参数"),
    ("after the refusal: {what}", "拒绝之后：{what}"),
    ("the right call after the refusal: {what}", "拒绝之后的正确调用：{what}"),
    ("the result has no gradient, although an argument requires one", "有参数需要梯度，但结果没有梯度"),
    ("backward raised {error}", "反向传播引发了 {error}"),
    ("backward: {what}", "反向传播：{what}"),
    ("it returned {count} tensors instead of {right}", "返回了 {count} 个张量，应为 {right} 个"),
    (
        "{name} returned {kind}, which is no tensor and no tuple of tensors",
        "{name} 返回了 {kind}，既不是张量也不是张量的元组",
    ),
    ("{name} has shape {shape} instead of {right}", "{name}的形状为 {shape}，应为 {right}"),
    ("the result has shape {shape}", "结果的形状为 {shape}"),
    ("{name} is {dtype} instead of {right}", "{name}是 {dtype}，应为 {right}"),
    ("{name} is on {device} instead of {right}", "{name}在 {device} 上，应在 {right} 上"),
    ("{wrong} of {of} elements of {name} are wrong", "{name}的 {of} 个元素中有 {wrong} 个错误"),
    ("{wrong} of {of} elements", "{of} 个元素中的 {wrong} 个"),
    ("{name} is not {target}, which the function writes in place", "{name}不是函数就地写入的 {target}"),
    ("{name} shares memory with the input {argument}", "{name}与输入 {argument} 共用内存"),
    ("{name} has layout {layout}", "{name}的布局为 {layout}"),
    ("{name} is not contiguous: sizes {sizes}, strides {strides}", "{name}不连续：大小 {sizes}，步长 {strides}"),
    (
        "memory behind the result was written: the function writes out of bounds",
        "结果之后的内存被写入：函数越界写入",
    ),
    ("memory beside {name} was written: the function writes out of bounds", "{name} 旁边的内存被写入：函数越界写入"),
    ("the input {name} was changed", "输入 {name} 被改变"),
    ("{which} changed {count}", "{which}改变了{count}"),
    ("call {number} of {calls} with the same arguments", "以相同参数的第 {number} 次调用（共 {calls} 次）"),
    ("call {number} of {calls}, several at once,", "同时进行的第 {number} 次调用（共 {calls} 次）"),
    ("call {number} of sizes in turn: {what}", "大小交替时的第 {number} 次调用：{what}"),
    ("after two further calls, {what}", "再调用两次之后，{what}"),
    ("called from {count} threads at once, {what}", "从 {count} 个线程同时调用时，{what}"),
    ("{more} tensors more are alive after {calls} calls", "{calls} 次调用之后多出 {more} 个存活的张量"),
    (
        "{more} MiB more are in use after {calls} calls, {each} bytes a call",
        "{calls} 次调用之后多占用 {more} MiB，每次调用 {each} 字节",
    ),
    (
        "the argument {name} is held {count} times more after {calls} calls",
        "{calls} 次调用之后参数 {name} 多被引用 {count} 次",
    ),
    ("on a stream that is not the default, it raised {error}", "在非默认流上引发了 {error}"),
    (
        "on a busy stream that is the current one, {what}: the work is not queued on that stream",
        "当前流繁忙时，{what}：工作没有排入该流",
    ),
    (
        "the current device was {before} and is {now} after the call",
        "当前设备原为 {before}，调用之后为 {now}",
    ),
    (
        "of {count} elements, from index {start} of the first dimension on: {what}",
        "共 {count} 个元素，自第一维下标 {start} 起：{what}",
    ),
    # What has to be refused
    ("{name} of dtype {dtype}", "类型为 {dtype} 的 {name}"),
    ("{name} on another device", "在另一设备上的 {name}"),
    ("a set of tensors on another device", "在另一设备上的一组张量"),
    ("{name} that is not contiguous ({form})", "不连续的 {name}（{form}）"),
    ("{name} of a shape that does not fit ({form})", "形状不符的 {name}（{form}）"),
    ("{name} smaller than the result", "小于结果的 {name}"),
    ("{name} that requires gradients", "需要梯度的 {name}"),
    ("{name} as a lazily negated view", "作为延迟取负视图的 {name}"),
    ("a sparse {name}", "稀疏的 {name}"),
    ("{name} whose elements share memory", "元素共用内存的 {name}"),
    ("{name} in the memory of {target} ({form})", "位于 {target} 内存中的 {name}（{form}）"),
    # Why a case was skipped
    ("not run: {count} cases before it hung", "未运行：此前已有 {count} 个用例挂起"),
    ("not run: {count} cases before it ended their process", "未运行：此前已有 {count} 个用例使其进程结束"),
    ("not run: the operator does not load any more", "未运行：算子已无法加载"),
    ("refuses does not name {kind}", "refuses 未列出 {kind}"),
    ("deterministic = false", "deterministic = false（未要求确定性）"),
    ("{name} and {target} are of different dtypes", "{name} 与 {target} 的类型不同"),
    ("no size is shared by two tensors, and none is a number", "没有两个张量共有的大小，也没有固定的大小"),
    ("the formula has no result for it: {error}", "公式对此没有结果：{error}"),
    ("needs two devices, and one is visible", "需要两个设备，只看到一个"),
    ('no shape has "...", by which a result could be compared in pieces', "没有含 “...” 的形状，无法分段比较结果"),
    (
        "an element of the result depends on all leading dimensions: it cannot be compared in pieces",
        "结果的元素依赖于所有前导维：无法分段比较",
    ),
    (
        "needs {need} GiB of device memory, and {free} are free",
        "需要 {need} GiB 设备内存，可用 {free} GiB",
    ),
    ("needs {need} GiB of memory, and {free} are free", "需要 {need} GiB 内存，可用 {free} GiB"),
    ("{name} is too large to lie beside {other}", "{name} 太大，无法放在 {other} 旁边"),
    ("a tensor of shape {shape} cannot be {form}", "形状为 {shape} 的张量无法成为 {form}"),
    ("torch {version} has no dtype {name}", "torch {version} 没有类型 {name}"),
    # Numerics
    ("the function failed: {error}", "函数失败：{error}"),
    ("the formula failed: {error}", "公式失败：{error}"),
    ("the result is {dtypes}: {meaning}", "结果是 {dtypes}：{meaning}"),
    (
        "only equality means something, which the correctness layer judges",
        "只有相等才有意义，由正确性层判定",
    ),
    ("it is not measured", "不作测量"),
    ("the formula refuses float64: {error}", "公式拒绝 float64：{error}"),
    ("the formula computes in {dtype} what it is given in float64", "公式以 {dtype} 计算以 float64 给出的输入"),
    ("the result is float64 itself: there is no wider truth", "结果本身即为 float64：没有更宽的基准"),
    (
        "it has the shape {shape}, the operator's result {other}",
        "其形状为 {shape}，算子结果的形状为 {other}",
    ),
    ("it has {count} tensors, the operator's result {other}", "其有 {count} 个张量，算子结果有 {other} 个"),
    ("it gives {count} tensors, the operator {other}", "其给出 {count} 个张量，算子给出 {other} 个"),
    ("it gives the shape {shape}, the operator {other}", "其形状为 {shape}，算子的形状为 {other}"),
    ("the formula could be evaluated under none", "公式无法以任何方案求值"),
    ("no elements", "没有元素"),
    ("refused: {error}", "拒绝：{error}"),
    ("{name} of shape {shape}", "形状为 {shape} 的 {name}"),
    ("{name}=least denormal", "{name}=最小次正规数"),
    ("{name}=-least denormal", "{name}=-最小次正规数"),
    ("{name}=largest denormal", "{name}=最大次正规数"),
    ("{name}=least normal", "{name}=最小正规数"),
    ("nothing", "无"),
    # Micro
    ("{what}, {count} elements", "{what}，{count} 个元素"),
    ("not timed: it would be long, and the grid is emulated", "未计时：耗时会很长，且网格是模拟的"),
    ("not timed: a smaller size ended its process", "未计时：较小的规模已使其进程结束"),
    ("the formula does not run in {dtype} on {device}: {error}", "公式无法在 {device} 上以 {dtype} 运行：{error}"),
    ("no sizes", "没有规模"),
    ("the grid is emulated: nothing says when a build pays on a device", "网格是模拟的：无法得知在设备上何时抵偿构建"),
    ("how long the build took is not known", "构建所用时间未知"),
    ("there is no reference to compare with", "没有可比较的参考"),
    ("a call is no faster than the reference's", "每次调用不比参考快"),
    ("the runs do not tell whether a call is faster than the reference's", "各次运行不能说明每次调用是否比参考快"),
    ("device events", "设备事件"),
    ("cpu (emulated grid)", "cpu（模拟网格）"),
    ("bytes: {why}", "bytes：{why}"),
    ("flops: {why}", "flops：{why}"),
    ("there is no {name}; there are {names}", "没有 {name}；有 {names}"),
    ("{text} gives {value}, which is no finite number", "{text} 得到 {value}，不是有限的数"),
    ("{kind} is no arithmetic", "{kind} 不是算术"),
    ("not a real number", "不是实数"),
    ("{text}...: too long", "{text}...：太长"),
    # End to end
    ("end to end", "端到端"),
    ("it printed {value} as {name}, which is no number above 0", "将 {value} 作为 {name} 打印，这不是大于 0 的数"),
    ("it printed no line {line}", "没有打印形如 {line} 的一行"),
    ("{script} on the reference path: {what}", "{script} 在参考路径上：{what}"),
    ("{script} on the operator path: {what}", "{script} 在算子路径上：{what}"),
    (
        "conversions, copies and synchronisations are not known: the script {how} when they were counted",
        "类型转换、复制和同步次数未知：计数时脚本{how}",
    ),
    ("{script} on the {path} path ended without a word on what it did", "{script} 在 {path} 路径上结束时未说明做了什么"),
    ("{script} took too long and was ended on the reference path", "{script} 在参考路径上耗时过长，已被终止"),
    ("{script} took too long and was ended on the operator path", "{script} 在算子路径上耗时过长，已被终止"),
    ("{script} ended with {code} on the reference path", "{script} 在参考路径上以 {code} 结束"),
    ("{script} ended with {code} on the operator path", "{script} 在算子路径上以 {code} 结束"),
    ("{script} was ended by signal {code} on the reference path", "{script} 在参考路径上被信号 {code} 终止"),
    ("{script} was ended by signal {code} on the operator path", "{script} 在算子路径上被信号 {code} 终止"),
    ("{script} took too long and was ended on the reference path: {line}", "{script} 在参考路径上耗时过长，已被终止：{line}"),
    ("{script} took too long and was ended on the operator path: {line}", "{script} 在算子路径上耗时过长，已被终止：{line}"),
    ("{script} ended with {code} on the reference path: {line}", "{script} 在参考路径上以 {code} 结束：{line}"),
    ("{script} ended with {code} on the operator path: {line}", "{script} 在算子路径上以 {code} 结束：{line}"),
    ("{script} was ended by signal {code} on the reference path: {line}", "{script} 在参考路径上被信号 {code} 终止：{line}"),
    ("{script} was ended by signal {code} on the operator path: {line}", "{script} 在算子路径上被信号 {code} 终止：{line}"),
    ("took too long and was ended", "耗时过长，已被终止"),
    ("ended with {code}", "以 {code} 结束"),
    ("was ended by signal {code}", "被信号 {code} 终止"),
    ("there is no {path}", "没有 {path}"),
    (
        "{script} never called the operator on the operator path: no function of what dcuop.load_op returns for {path}",
        "{script} 在算子路径上从未调用算子：没有调用 dcuop.load_op 为 {path} 返回的任何函数",
    ),
    ("{script} called the operator {count} times on the reference path too", "{script} 在参考路径上也调用了算子 {count} 次"),
    ("no script is declared in [verify.e2e]", "[verify.e2e] 中未声明脚本"),
    # Compare
    ("times are not compared: {before} then, {now} now", "不比较时间：当时为 {before}，现在为 {now}"),
    ("no result of another entry of {op} on this backend is kept", "没有保存 {op} 在此后端上其他条目的结果"),
    ("no result of {entry} is kept", "没有保存 {entry} 的结果"),
    ("{name} cannot name a kept result", "{name} 不能作为保存结果的名称"),
    ("{path} vanished", "{path} 已消失"),
    ("the result was not kept for --compare: {error}", "未能为 --compare 保存结果：{error}"),
    ("{count} kept results begin with {entry}", "有 {count} 个保存的结果以 {entry} 开头"),
    ("{what}; kept: {known}", "{what}；已保存：{known}"),
    ("{path} is too large for a kept result", "{path} 太大，不是保存的结果"),
    ("{path} cannot be read and counts as absent: {error}", "{path} 无法读取，视为不存在：{error}"),
    ("{path} is no result of schema {schema} and counts as absent", "{path} 不是格式 {schema} 的结果，视为不存在"),
    # Why this backend
    ("torch {version} has the CPU alone", "torch {version} 仅支持 CPU"),
    ("no device for torch {version} is here", "此处没有 torch {version} 可用的设备"),
    ("a HIP device is here", "此处有 HIP 设备"),
    ("an NVIDIA device is here", "此处有 NVIDIA 设备"),
    # While it runs
    ("correctness", "正确性"),
    ("numerics", "数值"),
    ("micro", "微基准"),
    ("loading", "正在加载"),
    ("{script}, counted, {path}", "{script}，计数，{path}"),
    ("dcuop: {layer}: {what}", "dcuop: {layer}：{what}"),
    (
        "dcuop: interrupted while the operator was being loaded; nothing was run",
        "dcuop：在加载算子时中断；未运行任何内容",
    ),
    (
        "dcuop: interrupted in the layer {layer}; the result is not kept",
        "dcuop: 在 {layer} 层被中断；结果未保存",
    ),
    (
        "dcuop: interrupted in the layer {layer} after {done} of {total} cases; the result is not kept",
        "dcuop: 在 {layer} 层被中断，{total} 个用例已完成 {done} 个；结果未保存",
    ),
)

Translate = Callable[[str], str]


def chinese(text: str, word: Translate = lambda text: text) -> str:
    """`text` as far as it is made of known sentences; what is none, `word` is asked for."""
    for form, other in _forms():
        found = form.fullmatch(text)
        if found is not None:
            # A place may hold a sentence; what is a word of the operator's own has no form here.
            values = {
                name: chinese(value) if " " in value and name not in _FOREIGN else value
                for name, value in found.groupdict().items()
            }
            return _PLACE.sub(lambda place, values=values: values[place.group(1)], other)  # type: ignore[misc]
    if "; " in text:
        return "；".join(chinese(part, word) for part in text.split("; "))
    return word(text)


@functools.lru_cache(maxsize=None)
def _forms() -> List[Tuple[Pattern[str], str]]:
    """Those that say most first: the general ones would match them too."""
    ordered = sorted(_TABLE, key=lambda row: -len(_PLACE.sub("", row[0])))
    return [(re.compile(_pattern(english), re.DOTALL), other) for english, other in ordered]


def _pattern(english: str) -> str:
    parts = _PLACE.split(english)
    # Text and names of places take turns.
    return "".join(f"(?P<{part}>.+?)" if at % 2 else re.escape(part) for at, part in enumerate(parts))
