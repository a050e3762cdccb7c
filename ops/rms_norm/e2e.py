"""Inference of a small stack of layers, each of which normalises its rows: with torch's own operations, or with the
operator (DCUOP_VERIFY_PATH=operator). Prints {"rows_per_second": ...}; `dcuop verify` runs it both ways in turns."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from rms_norm import rms_norm, rms_norm_formula  # noqa: E402

LAYERS, ROWS, WIDTH, STEPS = 4, 64, 512, 20


def main() -> None:
    with_operator = os.environ.get("DCUOP_VERIFY_PATH") == "operator"
    normalise = rms_norm if with_operator else rms_norm_formula
    device = "cuda" if torch.cuda.is_available() and os.environ.get("DCUOP_BACKEND") != "host" else "cpu"
    torch.manual_seed(0)
    x = torch.randn(ROWS, WIDTH, device=device)
    layers = [
        (torch.ones(WIDTH, device=device), torch.randn(WIDTH, WIDTH, device=device) / WIDTH**0.5) for _ in range(LAYERS)
    ]

    def step() -> torch.Tensor:
        y = x
        for weight, mixing in layers:
            y = y + torch.relu(normalise(y, weight, eps=1e-6) @ mixing)
        return y

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
