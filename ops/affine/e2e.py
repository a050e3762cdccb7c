"""Inference of a small model whose input is normalised in float16 first: with torch's own operations, or with the
operator (DCUOP_VERIFY_PATH=operator). Prints {"rows_per_second": ...}; `dcuop verify` runs it both ways in turns."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from affine import affine, affine_formula  # noqa: E402

ROWS, WIDTH, STEPS = 64, 512, 20


def main() -> None:
    with_operator = os.environ.get("DCUOP_VERIFY_PATH") == "operator"
    normalise = affine if with_operator else affine_formula
    device = "cuda" if torch.cuda.is_available() and os.environ.get("DCUOP_BACKEND") != "host" else "cpu"
    torch.manual_seed(0)
    x = torch.rand(ROWS, WIDTH, device=device).half()
    first, second = (torch.randn(WIDTH, WIDTH, device=device) / WIDTH**0.5 for _ in range(2))

    def step() -> torch.Tensor:
        return torch.relu(normalise(x, 2.0, -1.0).float() @ first) @ second

    with torch.no_grad():
        step()  # loads the operator, and what torch loads at its first call
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(STEPS):
            result = step()
        if device == "cuda":
            torch.cuda.synchronize()
    assert torch.isfinite(result).all()
    print(json.dumps({"rows_per_second": STEPS * ROWS / (time.perf_counter() - start)}))


if __name__ == "__main__":
    main()
