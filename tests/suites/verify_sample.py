"""Results of `dcuop verify` as its layers make them (docs/json.md), for tests of what shows and judges them."""

from __future__ import annotations

import copy
import re
import sys
from typing import Any, Dict, List, Set

from conftest import ROOT

sys.path.insert(0, str(ROOT / "python"))
# pylint: disable=wrong-import-position
from dcuop._verify import _gate  # noqa: E402

Result = Dict[str, Any]

ALL = ("correctness", "numerics", "micro", "e2e")

LABELS = ["0", "<=0.5", "<=1", "<=2", "<=4", "<=16", "<=64", ">64"]


def spread(median: float, near: float = 0.03, runs: int = 25) -> Dict[str, Any]:
    """A tenth of the runs is beyond `near` of the median on each side; the true median is within a third of that."""
    ends = {"low": median * (1 - near / 3), "high": median * (1 + near / 3)}
    return {"median": median, "p10": median * (1 - near), "p90": median * (1 + near), **ends, "runs": runs}


def errors(max_ulp: float, counts: List[int]) -> Dict[str, Any]:
    return {
        "max_ulp": max_ulp,
        "max_ulp_all": max_ulp,
        "mean_ulp": max_ulp / 2,
        "unmatched": 0,
        "histogram": [list(pair) for pair in zip(LABELS, counts)],
        "worst": {
            "arguments": "x=0.30029, scale=1.7, bias=-0.3",
            "got": "0.2106",
            "want": "0.21054687",
            "ulp": max_ulp,
        },
    }


def case(name: str, status: str = "passed", **more: Any) -> Dict[str, Any]:
    group = name.split("/")[2]
    return {
        "id": name,
        "group": group,
        "function": "affine",
        "dtype": "float16",
        "status": status,
        "reason": "",
        "what": "",
        "differing": [],
        "differ": None,
        "smallest": None,
        "seconds": 0.012,
        **more,
    }


def failed_case(name: str = "affine/float16/size/257") -> Dict[str, Any]:
    return case(
        name,
        "failed",
        what="1 of 257 elements is not what the reference says",
        differing=[{"index": [256], "got": "0.0", "want": "1.5", "ulp": 15872}],
        differ={"count": 1, "of": 257, "max_ulp": 15872},
        smallest={"shapes": {"x": [257]}, "values": "ones", "runs": 12, "id": f"{name}@...=257,values=ones"},
    )


def point(n: int, candidate: float, reference: float) -> Dict[str, Any]:
    return {
        "n": n,
        "candidate_us": spread(candidate),
        "reference_us": spread(reference),
        "copy_us": spread(candidate * 0.81),
        "inner": 10,
        "speedup": spread(reference / candidate),
        "gbps": 4.0 * n / candidate / 1e3,
        "gflops": 2.0 * n / candidate / 1e3,
        "copy_gbps": 4.0 * n / candidate / 0.81 / 1e3,
        "of_copy": 0.81,
        "unknown": "",
    }


_PASSING: Result = {
    "schema": 1,
    "op": "affine",
    "directory": "/kernels/ops/affine",
    "entry": "3f9c1e0a77",
    "backend": "hip",
    "backend_origin": "",
    "emulated": False,
    "arch": ["gfx936"],
    "device": "Hygon BW1000",
    "torch": "2.4.1",
    "python": "3.10.12",
    "when": "2026-11-30T07:20:00Z",
    "seed": 0,
    "seconds": 61.5,
    "build": {"seconds": 12.3, "hit": True},
    "correctness": {
        "passed": 148,
        "failed": 0,
        "skipped": 2,
        "seconds": 4.1,
        "cases": [
            *(case(f"affine/float16/size/{n}") for n in range(140)),
            *(case(f"affine/float16/values/{kind}") for kind in ("nan", "inf", "zeros", "denormals")),
            *(case(f"affine/float16/refuses/{what}") for what in ("dtype", "device", "layout", "grad")),
            case("affine/float16/device/streams", "skipped", reason="device only"),
            case("affine/float16/device/2^31", "skipped", reason="needs 12.0 GiB of device memory, and 4.0 are free"),
        ],
    },
    "numerics": {
        "seconds": 1.2,
        "functions": [
            {
                "function": "affine",
                "dtype": "float16",
                "elements": 262144,
                "inputs": "every value",
                "vs_float64": errors(0.5, [131072, 131072, 0, 0, 0, 0, 0, 0]),
                "vs_framework": errors(3.0, [200000, 50000, 12000, 140, 4, 0, 0, 0]),
                "schedule": {
                    "follows": "float32 inside, one rounding, FMA",
                    "also": [],
                    "why": "",
                    "candidates": [
                        {"name": "float16, each operation rounded", "same": 0.8123456, "why": ""},
                        {"name": "float32 inside, one rounding", "same": 0.999998, "why": ""},
                        {"name": "float32 inside, one rounding, FMA", "same": 1.0, "why": ""},
                    ],
                },
                "special": [
                    {"input": "x=nan", "got": "nan", "framework": "nan", "same": True},
                    {"input": "x=-0.0", "got": "-0.3", "framework": "-0.3", "same": True},
                ],
                "deterministic": True,
                "unknown": "",
            }
        ],
    },
    "micro": {
        "emulated": False,
        "clock": "device events",
        "build_seconds": 12.3,
        "seconds": 9.0,
        "functions": [
            {
                "function": "affine",
                "dtype": "float16",
                "points": [point(1024, 6.1, 11.9), point(1 << 20, 7.4, 14.3), point(1 << 24, 61.0, 361.0)],
                "break_even_calls": 41000,
                "break_even_why": "",
                "never_pays": False,
                "unknown": "",
            }
        ],
    },
    "e2e": {
        "script": "e2e.py",
        "metric": "steps_per_second",
        "better": "higher",
        "runs": 5,
        "emulated": False,
        "error": "",
        "reference": {**spread(201.5, 0.01, 5), "values": [200.0, 201.5, 202.0]},
        "operator": {**spread(221.7, 0.01, 5), "values": [220.0, 221.7, 223.0]},
        "change": {"median": 0.1002, "p10": 0.09, "p90": 0.11, "low": 0.095, "high": 0.105, "runs": 5},
        "calls": [{"function": "affine", "count": 37, "shapes": [[64, 1024], [7]]}],
        "added": {"conversions": 0, "copies": 3, "synchronisations": -2},
        "counts": {
            "reference": {"conversions": 5, "copies": 1, "synchronisations": 2},
            "operator": {"conversions": 5, "copies": 4, "synchronisations": 0},
        },
        "peak_memory": {"reference": 104857600, "operator": 115343360, "kind": "device"},
        "seconds": 33.0,
    },
    "gate": {"passed": True, "reasons": [], "not_judged": [], "demands": {"speedup": 0.9}},
}


def passing() -> Result:
    """Of a device; all is well."""
    return copy.deepcopy(_PASSING)


def emulated() -> Result:
    """Of the emulated grid, as good as it can be there."""
    result = passing()
    result.update(backend="host", backend_origin="no device here", emulated=True, device="cpu (emulated grid)", arch=[])
    result["micro"].update(emulated=True, clock="perf_counter")
    result["e2e"] = None
    return result


def failing() -> Result:
    result = passing()
    result["correctness"]["cases"].append(failed_case())
    result["correctness"]["failed"] = 1
    return judged(result)


def judged(result: Result, **demands: float) -> Result:
    result["gate"] = _gate.judge(result, demands, ALL)
    return result


def undocumented(result: Result) -> Set[str]:
    """Keys of the result that docs/json.md does not name."""
    text = (ROOT / "docs/json.md").read_text(encoding="utf-8")
    section = text.split("## `dcuop verify OP --json`")[1].split("\n## ")[0]
    named = {word for quoted in re.findall("`([^`]+)`", section) for word in re.findall(r"\w+", quoted)}
    # The text tells of the suffix; every answer has the number.
    return _keys(result) - named - {"vs_float64_unknown", "vs_framework_unknown", "schema"}


def _keys(value: Any) -> Set[str]:
    if isinstance(value, list):
        return set().union(*map(_keys, value))
    if not isinstance(value, dict):
        return set()
    # The names in these are the contract's, or those of a sentence.
    free = ("values", "demands", "shapes", "scalars")
    return set(value).union(*(_keys(inner) for key, inner in value.items() if key not in free))
