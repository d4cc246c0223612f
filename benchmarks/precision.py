"""Single precision against double, for every robot: gain in time, and loss of digits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np

from benchmarks import regions
from benchmarks.figures import Figure, Size, best, require
from benchmarks.robots import STATES, Job
from robots import catalog
from robots.model import Robot
from robots.status import Status
from tasks.dynamics.inputs import moving_input
from tasks.dynamics.records import Moving

BOUND = 1e-4
"""Errors whose root mean square is beyond this part of the largest force are a mistake of ours, not of rounding."""

QUICK = ("delta_3rr2rrr", "five_bar", "hexapod_6rrrprr")
"""Robots of a quick run; tests hold single precision to all of them."""

LOST = 1e-3
"""Share of the states that may be unsolved in single precision alone: those next to a singularity."""


def precision(size: Size) -> Iterator[Figure]:
    """Yield figures of robots whose actuators are joints: random states from a cold start, with all joint reactions."""
    for family in catalog.FAMILIES.values():
        asked = size.full or family.name in QUICK
        if asked and not any(limb.drives for limb in family.reference.limbs):
            yield from _robot(Robot.of(family, {}), size)


def _robot(robot: Robot, size: Size) -> Iterator[Figure]:
    states = regions.states(robot, STATES if size.full else size.samples)
    _, motion = moving_input(robot, cast(Moving, states))
    double, single = (Job(robot, motion, statics=True, single=each) for each in (False, True))
    for job in (double, single):
        job()
    solved = (double.values["status"] == Status.OK) & (single.values["status"] == Status.OK)
    lost = int((double.values["status"] == Status.OK).sum() - solved.sum())
    require(lost <= LOST * job.states, f"{robot.name}: {lost} of {job.states} states are lost in single precision")
    pairs = [(job.values["force"], *job.reactions) for job in (double, single)]
    forces, *reactions = zip(*([each[:, :, solved[0, 0]] for each in arrays] for arrays in pairs), strict=True)
    for name, each in (("forces", [forces]), ("reactions", reactions)):
        largest = max(float(np.abs(right).max(initial=0.0)) for right, _ in each)
        errors = np.concatenate([np.abs(found - right).ravel() for right, found in each]) / largest
        mean = float(np.sqrt(np.mean(errors**2)))
        require(mean < BOUND, f"{robot.name}: {name} in single precision are off by {mean:.1e} of the largest")
        remark = f"of the largest; root mean square {mean:.1e}; {lost} of {job.states} states lost"
        yield Figure(f"{robot.name}, {name}, largest error", float(errors.max(initial=0.0)), "relative", remark)
    repeats = max(1, size.repeats // 4)
    gain = best(double, repeats) / best(single, repeats)
    yield Figure(f"{robot.name}, gain in speed", gain, "x", "inverse kinematics and dynamics, all reactions")
