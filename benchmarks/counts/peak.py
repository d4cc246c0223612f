"""The most that one core can do: multiply-adds and sums that wait neither for memory nor for each other.

Products, sums and fused multiply-adds count; comparisons and choices use other units. Cores differ in the cost of sums:
some add in the units of products, some in separate units. So the peak is measured with the share of sums that the
measured programs have, and with several numbers of chains: enough to keep the units busy, and no more than there are
registers (16 of 4 numbers with AVX2, 32 of 8 with AVX-512, 32 of 2 with NEON). The best of them is the peak.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from benchmarks.figures import best, require
from tasks.kernels.kernel import Kernel
from tasks.kernels.program import Program, trace

CHAINS, SAMPLES = (4, 5, 6, 8, 12, 16), 1 << 14
"""Numbers of chains, and samples of a call: with 512 of them the call from Python took half of the time."""

LENGTH = 1536
"""Operations of all chains for a sample: longer programs put values on the stack, and have functions for stretches."""

PATTERN = 16
"""Steps of a chain in which sums are spread evenly."""

SUMS = ("add", "sub")
PRODUCTS = ("mul", "fma", "fms", "fnma")
"""Operations that the units of products do."""

CHOICES = ("abs", "neg", "lt", "le", "eq", "select")
"""Operations that take a turn of the same units without being counted, at least with AVX-512."""

TRIES = 3


class Share(NamedTuple):
    """Share of a peak [%], and the peak [operations/s]."""

    percent: float
    peak: float


def arithmetic(counts: Mapping[str, float]) -> float:
    """Return the products, sums and fused multiply-adds of operations by kind; a fused one counts once."""
    return sum(counts.get(op, 0.0) for op in (*SUMS, *PRODUCTS))


def most_arithmetic(counts: Mapping[str, float]) -> float:
    """Return the largest share [%] of the peak that these operations can reach: with no turn of the units lost."""
    whole = arithmetic(counts)
    return 100.0 * whole / (whole + sum(counts.get(op, 0.0) for op in CHOICES))


def share_of_peak(counts: Mapping[str, float], seconds: float, repeats: int) -> Share:
    """Return the share of the peak that operations by kind reach in some seconds of one core.

    The peak is measured up to TRIES times, as clocks change and others use the core. Raises CheckError above 100 %.
    """
    whole = arithmetic(counts)
    sums, limit = sum(counts.get(op, 0.0) for op in SUMS) / whole, 0.0
    for _ in range(TRIES):
        limit = max(limit, peak(repeats, sums))
        if whole / seconds <= limit:
            break
    share = 100.0 * whole / seconds / limit
    require(share <= 100.0, f"{share:.1f} % of the peak of {limit * 1e-9:.3g} Gop/s; expected at most 100 %")
    return Share(share, limit)


def peak(repeats: int, sums: float = 0.0) -> float:
    """Return one core's operations per second, all lanes counted; a share are sums, the others multiply-adds.

    Raises CheckError where they were not done.
    """
    return max(_rate(chains, round(sums * PATTERN), repeats) for chains in CHAINS)


def _rate(chains: int, sums: int, repeats: int) -> float:
    """Return the operations per second in so many chains, with `sums` of PATTERN of them as sums."""
    run = _kernel(chains, sums)
    inputs = {
        "factor": np.array([[0.5, 1.0, 0.0]]),
        "x": np.linspace(0.0, 1.0, chains * SAMPLES).reshape(1, chains, SAMPLES),
    }
    out = run.allocate(1, SAMPLES)
    run(inputs, SAMPLES, out)
    # x -> x/2 + 1 halves the distance from 2, x + 0 leaves it
    depth = LENGTH // chains
    left = 2.0 ** (2 - depth * (PATTERN - sums) // PATTERN)
    require(bool((abs(out["y"] - 2.0) <= left).all()), "the kernel of the peak has not come near its fixed point 2")
    return chains * depth * SAMPLES / best(lambda: run(inputs, SAMPLES, out), repeats)


@functools.cache
def _kernel(chains: int, sums: int) -> Kernel:
    return Kernel(program(chains, sums)).prepare()


def program(chains: int, sums: int = 0) -> Program:
    """Return a program of independent chains of multiply-adds, `sums` of PATTERN of their steps as sums."""

    def one_sample(factor: Any, x: Any) -> dict[str, Any]:
        values = list(x)
        for step in range(LENGTH // chains):
            if (step + 1) * sums // PATTERN > step * sums // PATTERN:
                values = [value + factor[2] for value in values]
            else:
                values = [value * factor[0] + factor[1] for value in values]
        return {"y": values}

    return trace("peak", one_sample, case={"factor": (3,)}, sample={"x": (chains,)})
