"""Training of a small model that keeps a moving average of its weights: with torch's own operations, or with the
operator (DCUOP_VERIFY_PATH=operator). Prints {"steps_per_second": ...}; `dcuop verify` runs it both ways in turns."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scale_add import scale_add_  # noqa: E402

LAYERS, ROWS, WIDTH, STEPS, DECAY = 3, 32, 128, 20, 0.99


def in_torch(average: torch.Tensor, weight: torch.Tensor, alpha: float, beta: float) -> None:
    average.mul_(alpha).add_(weight, alpha=beta)


def main() -> None:
    with_operator = os.environ.get("DCUOP_VERIFY_PATH") == "operator"
    blend = scale_add_ if with_operator else in_torch
    device = "cuda" if torch.cuda.is_available() and os.environ.get("DCUOP_BACKEND") != "host" else "cpu"
    torch.manual_seed(0)
    model = torch.nn.Sequential(*(torch.nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS))).to(device)
    averages = [weight.detach().clone() for weight in model.parameters()]
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(ROWS, WIDTH, device=device)

    def step() -> None:
        optimiser.zero_grad()
        (model(x) - x).square().mean().backward()
        optimiser.step()
        with torch.no_grad():
            for average, weight in zip(averages, model.parameters()):
                blend(average, weight, DECAY, 1 - DECAY)

    step()  # loads the operator, and what torch loads at its first call
    if device == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(STEPS):
        step()
    if device == "cuda":
        torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    assert all(torch.isfinite(average).all() for average in averages)
    print(json.dumps({"steps_per_second": STEPS / seconds}))


if __name__ == "__main__":
    main()
