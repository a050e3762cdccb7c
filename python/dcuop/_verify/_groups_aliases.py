"""Cases in which two arguments share memory."""

from __future__ import annotations

from ._contract import Argument
from ._groups_values import layouts_of
from ._maker import Maker


def add(maker: Maker) -> None:
    function = maker.function
    if function.inplace is None:
        _add_equal_inputs(maker)
        return
    for argument in function.tensors:
        if argument.name != function.inplace:
            _add_with_target(maker, argument, function.inplace)
    forms = {function.inplace: "expanded"}
    name = f"{function.inplace}-overlaps-itself"
    if "expanded" not in layouts_of(maker, function.argument(function.inplace)):
        return
    if "alias" in function.refuses:
        fault = f"{function.inplace} whose elements share memory"
        maker.add("alias", name, check="refused", forms=forms, options={"fault": fault})
    else:
        maker.skip("alias", name, "refuses does not name alias")


def _add_equal_inputs(maker: Maker) -> None:
    """What is only read may be one tensor twice."""
    first = maker.function.tensors[0]
    for argument in maker.function.tensors[1:]:
        if argument.shape == first.shape and maker.dtypes[argument.name] == maker.dtypes[first.name]:
            maker.add("alias", f"{argument.name}={first.name}", forms={argument.name: f"same:{first.name}"})


def _add_with_target(maker: Maker, argument: Argument, target: str) -> None:
    function = maker.function
    refused = "alias" in function.refuses
    if maker.dtypes[argument.name] != maker.dtypes[target]:
        maker.skip("alias", f"{argument.name}={target}", f"{argument.name} and {target} are of different dtypes")
        return
    allowed = {"same": argument.alias in ("exact", "allowed"), "overlap": argument.alias == "allowed", "adjacent": True}
    for form, right in allowed.items():
        name = f"{argument.name}-{form}-{target}"
        forms = {argument.name: f"{form}:{target}"}
        if form == "same" and argument.shape != function.argument(target).shape:
            continue
        if right:
            maker.add("alias", name, forms=forms)
        elif refused:
            fault = f"{argument.name} in the memory of {target} ({form})"
            maker.add("alias", name, check="refused", forms=forms, options={"fault": fault})
        else:
            maker.skip("alias", name, "refuses does not name alias")
