"""One case, tried in this process."""

from __future__ import annotations

import time

from . import _checks_device, _checks_repeated
from ._cases import Case
from ._checks import CHECKS, Bench, Failed, Skipped, is_device_fault
from ._layouts import Unfit
from ._verdict import Verdict

_ALL = {**CHECKS, **_checks_repeated.CHECKS, **_checks_device.CHECKS}
#: After these, memory or the device may be broken for the cases to come.
_LASTING = ("damage", "device")


def attempt(bench: Bench, case: Case) -> Verdict:
    """What the case's check found; a fault of the operator that ends the process ends this one."""
    since = time.monotonic()
    return _attempt(bench, case)._replace(seconds=time.monotonic() - since)


def _attempt(bench: Bench, case: Case) -> Verdict:
    if case.skip:
        return Verdict("skipped", reason=case.skip)
    try:
        _ALL[case.check](bench, case, bench.target.contract.function(case.function))
    except Skipped as error:
        return Verdict("skipped", reason=str(error))
    except Unfit as error:
        return Verdict("skipped", kind="unfit", reason=str(error))
    except Failed as error:
        difference = error.difference
        return Verdict(
            "failed",
            error.kind,
            error.what,
            differing=difference.elements if difference else [],
            differ=difference.to_json() if difference else None,
            lost=error.kind in _LASTING,
        )
    except (Exception, SystemExit) as error:  # pylint: disable=broad-except
        lost = is_device_fault(error)
        what = f"the case broke off: {type(error).__name__}: {error}"
        return Verdict("failed", "device" if lost else "broke-off", what, lost=lost)
    return Verdict("passed")
