"""Inverse dynamics in numbers of 64 bits beside doubles of 53, for many states.

The stages of the package run in NumPy's `longdouble`, whose rounding errors are 2000 times smaller, with further rounds
of every iteration; sines and cosines are within 4e-18 of theirs. Where both results differ by d, the double is wrong by
d, up to some per cent, as far as rounding and ends of iterations go. Formulas are those of the package;
`benchmarks.motion.exact` checks them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from robots.model import Robot
from tasks.dynamics.inverse import Dynamics
from tasks.dynamics.records import Motion
from tasks.kernels.interpreter import interpret, long_operations
from tasks.kernels.kernel import padded
from tasks.kernels.keys import Arrays, Key
from tasks.kernels.program import Program
from tasks.stages.stages import stages

Array = np.ndarray

MORE = 2
"""Rounds of an iteration after its end."""

TOGETHER = 512
"""States that are computed at a time: all values of a program are kept."""

CAN_BE_LONGER = np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant


class LongKernel:
    """A program that is interpreted in numbers of 64 bits; called as `tasks.kernels.kernel.Kernel`."""

    def __init__(self, program: Program):
        self.program = program

    def __call__(
        self, inputs: Arrays, samples: int, out: Arrays | None = None, *, filled: bool = False
    ) -> dict[Key, Array]:
        """Run on all cases and samples."""
        longer: Any = {name: np.asarray(values, dtype=np.longdouble) for name, values in inputs.items()}
        return interpret(
            self.program, longer, padded(samples), valid=samples, operations=long_operations(), extra_rounds=MORE
        )  # fmt: skip


def forces(robot: Robot, states: dict[str, Any]) -> Array:
    """Return forces (state, actuator) of states, with gravity along -z."""
    return np.concatenate(list(_parts(robot, states)))


def _parts(robot: Robot, states: dict[str, Any]) -> Iterator[Array]:
    count = len(next(iter(states.values())))
    for start in range(0, count, TOGETHER):
        motion = Motion(**{name: values[start : start + TOGETHER] for name, values in states.items()})
        dynamics = Dynamics(robot, motion.moving)
        for stage in stages(dynamics.request):
            dynamics.values |= stage.run(LongKernel, dynamics.values, dynamics.samples)
        yield dynamics.sample_rows("force").T
