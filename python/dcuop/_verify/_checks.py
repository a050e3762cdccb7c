"""What is done for one case: a call, and a verdict on what it gave, wrote and left behind."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional

import torch

from ._cases import Case, dtypes_of, small_dims
from ._contract import Function
from ._format import first_line
from ._groups_values import BEYOND
from ._inputs import Inputs, bytes_to_make, make
from ._judge import CHUNK, Difference, differ, dtype_name, round_once, wrong_elements
from ._memory import FreshMemory, free_memory, shares_memory
from ._target import Target, outputs, widened

#: What an operator may raise for an argument that it refuses.
REFUSALS = (RuntimeError, TypeError, ValueError)
#: Runtimes' words for a fault that the device found later: no refusal, and nothing works after it in this process.
_DEVICE_FAULTS = ("CUDA error", "HIP error", "device-side assert", "illegal memory access", "hipError", "cudaError")
#: What an emulated grid ends a launch with, which bindings raise as they raise refusals: ops/common/emulated_grid.h.
_EMULATED_FAULTS = ("SIGSEGV at ", "SIGBUS at ", "SIGFPE at ", "__syncthreads() was reached by", "the kernel threw ")


class Failed(Exception):
    """The case fails. `kind` names the sort of fault: a smaller case has to fail in the same way."""

    def __init__(self, kind: str, what: str, difference: Optional[Difference] = None) -> None:
        super().__init__(what)
        self.kind = kind
        self.what = what
        self.difference = difference


class Skipped(Exception):
    """The case cannot run here; the message is the reason."""


class Bench:
    """What a check works with: the operator, and where its tensors live."""

    def __init__(self, target: Target, memory: FreshMemory) -> None:
        self.target = target
        self.memory = memory
        self.device = target.device

    def inputs(self, case: Case, function: Function, guarded: bool = True) -> Inputs:
        """Raises Skipped where the machine's memory is too small for them."""
        need = bytes_to_make(case, function)
        free = free_memory() if need > _MUCH else None
        if free is not None and need > free:
            raise Skipped(f"needs {need / 2**30:.1f} GiB of memory, and {free / 2**30:.1f} are free")
        return make(case, function, self.device, guarded)

    def want(self, function: Function, arguments: Mapping[str, Any]) -> List[torch.Tensor]:
        """Raises Skipped where the mathematics itself has no answer: a maximum of nothing."""
        try:
            return self.target.want(function, arguments)
        except Exception as error:
            if any(isinstance(value, torch.Tensor) and value.numel() == 0 for value in arguments.values()):
                raise Skipped(f"the formula has no result for it: {first_line(error)}") from error
            raise Failed("contract", f"the formula or reference raised {first_line(error)}") from error

    def call(self, function: Function, arguments: Mapping[str, Any]) -> Any:
        """A call that has to work."""
        try:
            result = self.target.call(function, arguments)
            self.memory.called()
            self.target.synchronize()
            return result
        except (Exception, SystemExit) as error:  # pylint: disable=broad-except
            raise Failed("device" if is_device_fault(error) else "raised", f"it raised {first_line(error)}") from error


#: Bytes below which nobody asks whether they are there.
_MUCH = 1 << 26

#: Values with which no intermediate result overflows or vanishes.
_ORDINARY = ("random", "ones", "integers")
#: Elements of a result below which the largest may be small by chance.
_FEW = 16

Check = Callable[[Bench, Case, Function], None]


def is_device_fault(error: BaseException) -> bool:
    """Whether a kernel ran and broke, and the exception only tells of it."""
    return any(words in str(error) for words in _DEVICE_FAULTS + _EMULATED_FAULTS)


def equal(bench: Bench, case: Case, function: Function) -> None:
    """One call gives what it must, and writes nothing else."""
    inputs = bench.inputs(case, function)
    want = bench.want(function, inputs.arguments)
    _check_mathematics(bench, case, function, inputs.arguments, want)
    alternative = _alternative(bench, case, function, inputs.arguments, want)
    bench.memory.prepare(want)
    result = bench.call(function, inputs.arguments)
    try:
        judge(case, inputs, result, want, alternative)
    except Failed as error:
        _check_reference(bench, function, inputs.arguments, want, error)
        raise
    _check_beside(bench, case, function, result)


def refused(bench: Bench, case: Case, function: Function) -> None:
    """A call that breaks the contract raises, changes nothing, and the next right call works."""
    inputs = bench.inputs(case, function)
    try:
        bench.target.call(function, inputs.arguments)
        bench.target.synchronize()
    except REFUSALS as error:
        if is_device_fault(error):
            raise Failed("device", f"it was not refused, and ended in {first_line(error)}") from error
        if not str(error).strip():
            raise Failed("refusal", f"{type(error).__name__} was raised without a message") from error
    except Exception as error:  # pylint: disable=broad-except
        kinds = ", ".join(kind.__name__ for kind in REFUSALS)
        raise Failed("refusal", f"it raised {first_line(error)}, which is none of {kinds}") from error
    else:
        raise Failed("accepted", f"{case.options['fault']} was accepted: it has to be refused")
    damage = inputs.damage()
    if damage:
        raise Failed("damage", f"after the refusal: {damage}")
    dtypes = dtypes_of(function, case.dtype)
    usual = Case(case.id, case.group, case.function, case.dtype, "equal", small_dims(function), dtypes, seed=case.seed)
    try:
        equal(bench, usual, function)
    except Failed as error:
        raise Failed("after-refusal", f"the right call after the refusal: {error.what}", error.difference) from error


def no_grad(bench: Bench, case: Case, function: Function) -> None:
    """Under torch.no_grad() a tensor that requires gradients is as good as any."""
    with torch.no_grad():
        requires_grad(bench, case, function)


def requires_grad(bench: Bench, case: Case, function: Function) -> None:
    inputs = bench.inputs(case, function)
    want = bench.want(function, inputs.arguments)
    for name in case.options["leaves"]:
        inputs.arguments[name].requires_grad_(True)
    judge(case, inputs, bench.call(function, inputs.arguments), want)


def gradients(bench: Bench, case: Case, function: Function) -> None:
    """Those of the tensors named in the case, against autograd through the formula in float64, rounded once."""
    leaves = case.options["leaves"]
    inputs = bench.inputs(case, function)
    want = bench.want(function, inputs.arguments)
    exact_arguments = widened(inputs.arguments)
    for name in leaves:
        inputs.arguments[name].requires_grad_(True)
        exact_arguments[name].requires_grad_(True)
    got = outputs(function, bench.call(function, inputs.arguments), inputs.arguments)
    judge(case, inputs, tuple(got), want)
    exact = outputs(function, bench.target.formula(function)(**exact_arguments), inputs.arguments)
    pairs = [(one, other) for one, other in zip(got, exact) if one.is_floating_point() and other.requires_grad]
    if not all(one.requires_grad for one, _ in pairs):
        raise Failed("gradient", "the result has no gradient, although an argument requires one")
    weights = [_weights(case, one) for one, _ in pairs]
    if case.options.get("expanded"):
        # What .sum().backward() gives: one element, seen as many.
        weights = [weight.flatten()[:1].reshape(()).expand(weight.shape) for weight in weights]
    exact_weights = [weight.double() for weight in weights]
    exact_leaves = [exact_arguments[name] for name in leaves]
    wanted = torch.autograd.grad([other for _, other in pairs], exact_leaves, exact_weights, allow_unused=True)
    try:
        given_leaves = [inputs.arguments[name] for name in leaves]
        given = torch.autograd.grad([one for one, _ in pairs], given_leaves, weights, allow_unused=True)
        bench.target.synchronize()
    except Exception as error:  # pylint: disable=broad-except
        raise Failed("gradient", f"backward raised {first_line(error)}") from error
    for name, one, other in zip(leaves, given, wanted):
        other = torch.zeros_like(exact_arguments[name]) if other is None else other
        right = round_once(other, inputs.arguments[name].dtype)
        one = torch.zeros_like(right) if one is None else one
        compare(case, function, one, right, f"the gradient of {name}")
    damage = inputs.damage()
    if damage:
        raise Failed("damage", f"backward: {damage}")


def judge(
    case: Case,
    inputs: Inputs,
    result: Any,
    want: List[torch.Tensor],
    alternative: Optional[List[torch.Tensor]] = None,
) -> None:
    """Raises Failed unless the result is right in every respect, and nothing else was written. Elements of
    `alternative` are right too."""
    function = inputs.function
    try:
        got = outputs(function, result, inputs.arguments)
    except TypeError as error:
        raise Failed("result", str(error)) from error
    if len(got) != len(want):
        raise Failed("result", f"it returned {len(got)} tensors instead of {len(want)}")
    damage = inputs.damage(function.inplace)
    if damage:
        raise Failed("damage", damage)
    for number, (one, other) in enumerate(zip(got, want)):
        name = f"result {number}" if len(got) > 1 else "the result"
        _check_kind(inputs, one, other, name)
        _check_storage(function, inputs, one, name)
        try:
            compare(case, function, one, other, name)
        except Failed as error:
            if alternative is None or error.kind != "differs":
                raise
            compare(case, function, one, _either(one, other, alternative[number], case, function), name)


def compare(case: Case, function: Function, got: torch.Tensor, want: torch.Tensor, name: str) -> None:
    """Raises Failed when the shape, the dtype or an element is not what it must be."""
    if got.shape != want.shape:
        raise Failed("shape", f"{name} has shape {tuple(got.shape)} instead of {tuple(want.shape)}")
    if got.dtype != want.dtype:
        raise Failed("dtype", f"{name} is {dtype_name(got.dtype)} instead of {dtype_name(want.dtype)}")
    difference = differ(got, want, function.tolerance_of(dtype_name(want.dtype), case.dtype))
    if difference is not None:
        raise Failed("differs", f"{difference.wrong} of {difference.of} elements of {name} are wrong", difference)


def _check_storage(function: Function, inputs: Inputs, got: torch.Tensor, name: str) -> None:
    if function.inplace is not None:
        target = inputs.arguments[function.inplace]
        if got.data_ptr() != target.data_ptr() or (got.numel() and got.stride() != target.stride()):
            raise Failed("storage", f"{name} is not {function.inplace}, which the function writes in place")
        return
    for argument, value in inputs.arguments.items():
        if isinstance(value, torch.Tensor) and not value.is_sparse and shares_memory(got, value):
            raise Failed("storage", f"{name} shares memory with the input {argument}")


def _check_kind(inputs: Inputs, got: torch.Tensor, want: torch.Tensor, name: str) -> None:
    if got.device != want.device:
        raise Failed("device-of-result", f"{name} is on {got.device} instead of {want.device}")
    if got.layout != torch.strided:
        raise Failed("layout-of-result", f"{name} has layout {got.layout}")
    usual = all(value.is_contiguous() for value in inputs.arguments.values() if isinstance(value, torch.Tensor))
    if usual and not got.is_contiguous():
        raise Failed("layout-of-result", f"{name} is not contiguous: sizes {tuple(got.shape)}, strides {got.stride()}")


def _check_reference(
    bench: Bench, function: Function, arguments: Mapping[str, Any], want: List[torch.Tensor], error: Failed
) -> None:
    """Raises Failed where the result is not of the reference's shape or dtype, and the formula's is not either."""
    if function.reference is None or error.kind not in ("shape", "dtype", "result"):
        return
    try:
        shapes = [tuple(tensor.shape) for tensor in bench.target.exact(function, arguments)]
        dtypes = [dtype_name(dtype) for dtype in bench.target.result_dtypes(function, arguments)]
    except Exception:  # pylint: disable=broad-except
        return
    for given, right in (
        ([tuple(tensor.shape) for tensor in want], shapes),
        ([dtype_name(tensor.dtype) for tensor in want], dtypes),
    ):
        if given != right:
            one, other = (" and ".join(str(part) for part in each) for each in (given, right))
            what = f"the reference's result is {one}, the formula's {other}: one of the two is wrong"
            raise Failed("contract", what) from error


def _check_mathematics(
    bench: Bench, case: Case, function: Function, arguments: Mapping[str, Any], want: List[torch.Tensor]
) -> None:
    """Raises Failed where the reference is further from the formula than rounding explains: an operator with the same
    fault as its reference would pass."""
    ordinary = all(recipe in _ORDINARY for recipe in case.values.values())
    if function.reference is None or not ordinary or any(tensor.numel() > CHUNK for tensor in want):
        return
    try:
        exact = bench.target.exact(function, arguments)
    except Exception:  # pylint: disable=broad-except
        # It need not be generic in the dtype: the reference is then all that there is.
        return
    if [tensor.shape for tensor in exact] != [tensor.shape for tensor in want]:
        # Whose shape is wrong is said when the operator's own is known.
        return
    for given, right in zip(want, exact):
        if given.is_complex() and right.is_complex():
            given, right = torch.view_as_real(given), torch.view_as_real(right)
        place = _beyond_rounding(case, function, given, right, arguments)
        if place is not None:
            one, other = given.flatten()[place].item(), right.flatten()[place].item()
            raise Failed(
                "contract",
                f"the reference gives {one:.9g} where the formula gives {other:.9g} (element {place} of {given.numel()}),"
                " which no rounding explains: one of the two is wrong",
            )


def _beyond_rounding(
    case: Case, function: Function, given: torch.Tensor, right: torch.Tensor, arguments: Mapping[str, Any]
) -> Optional[int]:
    """The first element of the reference's result that is not the formula's, with half of the digits to spare for what
    rounding and cancellation take; None where there is none."""
    if given.is_complex() or right.is_complex() or (right.is_floating_point() and not given.is_floating_point()):
        return None
    one, other = given.double(), right.double().to(given.device)
    finite = torch.isfinite(one) & torch.isfinite(other)
    if not bool(finite.any()):
        return None
    bound = 0.0
    if given.is_floating_point():
        size = float(other[finite].abs().max())
        if other.numel() < _FEW:
            # All of them may have lost their digits to cancellation: the arguments say what was taken from what.
            size = max([size, *(_largest(value) for value in arguments.values())])
        bound = torch.finfo(given.dtype).eps ** 0.5 * size
    tolerance = function.tolerance_of(dtype_name(given.dtype), case.dtype)
    wrong = finite & ((one - other).abs() > bound)
    wrong &= wrong_elements(given, round_once(right, given.dtype).to(given.device), tolerance)
    places = wrong.flatten().nonzero()
    return int(places[0]) if places.numel() else None


def _largest(value: Any) -> float:
    """The largest finite magnitude in an argument."""
    tensor = torch.as_tensor(value)
    tensor = (torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor).detach().double()
    tensor = tensor[torch.isfinite(tensor)]
    return float(tensor.abs().max()) if tensor.numel() else 0.0


def _check_beside(bench: Bench, case: Case, function: Function, result: Any) -> None:
    """Raises Failed for a write behind a result, seen each time."""
    if function.inplace is not None:
        return
    for _ in range(3):
        if not bench.memory.is_spilled(outputs(function, result, {})):
            return
        arguments = bench.inputs(case, function).arguments
        want = bench.want(function, arguments)
        bench.memory.prepare(want)
        result = bench.call(function, arguments)
    raise Failed("damage", "memory behind the result was written: the function writes out of bounds")


def _alternative(
    bench: Bench, case: Case, function: Function, arguments: Mapping[str, Any], want: List[torch.Tensor]
) -> Optional[List[torch.Tensor]]:
    """The formula in working precision, for values at the ends of what numbers can be; and zeros of the other sign where
    only rounding made one."""
    kinds = {recipe.split(":")[-1] for recipe in case.values.values()}
    found = None
    if function.reference is None and kinds.intersection(BEYOND):
        found = bench.target.in_working_precision(function, arguments)
    vanished = _vanished(bench, case, function, arguments, want)
    if vanished is None:
        return found
    return [
        _with_signs(other, mask & (other.double() == 0), right) if right.is_floating_point() else other
        for mask, right, other in zip(vanished, want, found if found is not None else want)
    ]


def _with_signs(values: torch.Tensor, where: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """`values`, with the opposite of `right` where that is. By way of float64: the 8-bit types have no arithmetic."""
    return torch.where(where, -right.double(), values.double()).to(values.dtype)


def _vanished(
    bench: Bench, case: Case, function: Function, arguments: Mapping[str, Any], want: List[torch.Tensor]
) -> Optional[List[torch.Tensor]]:
    """Which zeros of `want` are not zero in float64, unless the tolerance is none; None where there is none."""
    free = [
        tensor.is_floating_point() and function.tolerance_of(dtype_name(tensor.dtype), case.dtype).ulp != 0
        for tensor in want
    ]
    if not any(is_free and bool((tensor.double() == 0).any()) for is_free, tensor in zip(free, want)):
        return None
    try:
        exact = bench.target.exact(function, arguments)
    except Exception:  # pylint: disable=broad-except
        return None
    if [tensor.shape for tensor in exact] != [tensor.shape for tensor in want]:
        return None
    masks = zip(free, want, exact)
    return [(one.double() == 0) & (other != 0).to(one.device) & is_free for is_free, one, other in masks]


def _either(got: torch.Tensor, want: torch.Tensor, other: torch.Tensor, case: Case, function: Function) -> torch.Tensor:
    """`want`, with `other`'s value wherever that is nearer: within the tolerance, or the same."""
    tolerance = function.tolerance_of(dtype_name(want.dtype), case.dtype)
    flat_got, flat_want, flat_other = (tensor.contiguous().flatten() for tensor in (got, want, other.to(got.dtype)))
    if flat_got.is_complex():
        return want
    mask = wrong_elements(flat_got, flat_want, tolerance) & ~wrong_elements(flat_got, flat_other, tolerance)
    if want.is_floating_point():
        # By way of float64, which holds them all: torch has little for the 8-bit types.
        return torch.where(mask, flat_other.double(), flat_want.double()).to(want.dtype).view(want.shape)
    return torch.where(mask, flat_other, flat_want).view(want.shape)


def _weights(case: Case, result: torch.Tensor) -> torch.Tensor:
    generator = torch.Generator().manual_seed(case.seed_of("the gradient that comes in"))
    values = torch.rand(result.shape, generator=generator, dtype=torch.float64) * 2 - 1
    return values.to(result.dtype).to(result.device)


CHECKS: Dict[str, Check] = {
    "equal": equal,
    "refused": refused,
    "no_grad": no_grad,
    "requires_grad": requires_grad,
    "gradients": gradients,
}
