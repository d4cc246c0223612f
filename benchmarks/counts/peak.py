"""What one core can do at all: fused multiply-adds that wait neither for memory nor for each other."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from benchmarks.figures import best, require
from tasks.kernels.kernel import Kernel
from tasks.kernels.program import trace

CHAINS, DEPTH, SAMPLES = 16, 256, 512


def peak(repeats: int) -> float:
    """Fused multiply-adds per second of one core, all lanes counted. Raises CheckError where they were not done."""
    run = _kernel()
    inputs = {
        "factor": np.array([[0.5, 1.0]]),
        "x": np.linspace(0.0, 1.0, CHAINS * SAMPLES).reshape(1, CHAINS, SAMPLES),
    }
    out = run.allocate(1, SAMPLES)
    run(inputs, SAMPLES, out)
    # x -> x/2 + 1 comes to rest at 2
    require(bool((out["y"] == 2.0).all()), "the kernel of the peak has not come to its fixed point 2")
    return CHAINS * DEPTH * SAMPLES / best(lambda: run(inputs, SAMPLES, out), repeats)


@functools.cache
def _kernel() -> Kernel:
    """Independent chains, as many as a core needs to keep its units busy and has registers for."""

    def one_sample(factor: Any, x: Any) -> dict[str, Any]:
        values = list(x)
        for _ in range(DEPTH):
            values = [value * factor[0] + factor[1] for value in values]
        return {"y": values}

    return Kernel(trace("peak", one_sample, case={"factor": (2,)}, sample={"x": (CHAINS,)})).prepare()
