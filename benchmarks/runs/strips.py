"""Processor time of blocks of a Delta in one thread, and the share of it that kernels have: what Python and NumPy cost.

A program: `python -m benchmarks.runs.strips [NAME ...]` prints a line for each kind of block: what it stores, friction,
reactions. Blocks are as long as those of a large sweep.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from benchmarks.runs.sweeps import SERIES
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from tasks.kernels.kernel import Call
from tasks.kernels.lanes import Round

TEXT = """\
limbsweep: 1
robot: delta_3rr2rrr
design: {{grid: {{upper_arm: {{start: 0.245, stop: 0.255, num: {designs}}}, payload_mass: {payloads}}}}}
trajectories: {{line: {{kind: line_sine, amplitude: [0.2, 0.2, 0.1], period: 1.0}}}}
time: {{stop: 1.0, samples: 1001}}
{rest}
"""
PAYLOADS = "{start: 0, stop: 1, num: 20}"
SHARED = "limbs shared by 20 payloads"
METRICS = "metrics: [peak_force, rms_force]"
ROUNDS = 3


def _friction(law: str, joints: str, *, load: str = "constant", rest: str = METRICS) -> str:
    coulomb = "{start: 0.01, stop: 0.02, num: 2}"
    return f"friction: {{law: {law}, joints: {joints}, load: {load}, grid: {{coulomb: {coulomb}}}}}\n{rest}"


KINDS: Mapping[str, tuple[int, str]] = {
    "metrics": (16_000, METRICS),
    SHARED: (400, METRICS),
    "forces": (16_000, "outputs: [actuator_force]"),
    "seven series": (4800, f"outputs: [{', '.join(SERIES)}]"),
    "peaks of reactions": (8000, "metrics: [peak_reaction]"),
    "reactions": (3200, "outputs: [joint_reaction]"),
    "friction, all joints": (8000, _friction("coulomb_viscous", "all")),
    "friction, all joints, reactions": (
        1600,
        _friction("coulomb_viscous", "all", rest="outputs: [joint_reaction]"),
    ),
    "friction, loads of reactions": (1600, _friction("coulomb_viscous", "all", load="reaction")),
    "bristles, actuated": (3200, _friction("lugre", "actuated")),
    "bristles, all joints": (1600, _friction("lugre", "all")),
    "bristles, loads of reactions": (400, _friction("lugre", "all", load="reaction")),
}
"""Numbers of upper arms, and the rest of the sweep, by kind of block."""


@contextmanager
def kernel_seconds() -> Iterator[list[float]]:
    """The processor seconds of each call of kernels in these threads, as they come."""
    spent: list[float] = []

    def around(call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def timed(*arguments: Any, **options: Any) -> Any:
            start = time.thread_time()
            try:
                return call(*arguments, **options)
            finally:
                spent.append(time.thread_time() - start)

        return timed

    before = Call.make, Round.run
    Call.make, Round.run = around(Call.make), around(Round.run)  # type: ignore[method-assign]
    try:
        yield spent
    finally:
        Call.make, Round.run = before  # type: ignore[method-assign]


def line(name: str, designs: int = 0) -> str:
    """Measure the best of some computations of a block of a kind, of so many designs."""
    known, rest = KINDS[name]
    payloads = PAYLOADS if name == SHARED else "[0]"
    text = TEXT.format(designs=designs or known, payloads=payloads, rest=rest)
    block = block_of(plan(Sweep.from_text(text)), 0)
    found = []
    for _ in range(ROUNDS):
        with kernel_seconds() as spent:
            start = time.thread_time()
            work.computed(block)
            found.append((time.thread_time() - start, sum(spent), len(spent)))
    whole, kernels, calls = min(found)
    times = f"{1e6 * whole / block.samples:8.3f} us a sample, kernels {kernels / whole:4.0%} of it in {calls} calls"
    return f"{name:32s} {times}, {block.samples:,} samples"


if __name__ == "__main__":
    for each in sys.argv[1:] or KINDS:
        print(line(each), flush=True)
