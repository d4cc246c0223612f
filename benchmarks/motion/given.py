"""Friction under loads that it causes, along motions that are given: how many solutions there are, beside free bodies.

All joints have dry friction whose normal loads are reactions. Newton's method on Newton and Euler's equations of free
bodies looks for solutions from many places. The status has to agree with the number of solutions found, and actuator
forces with the solution where it is unique.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from benchmarks import regions
from benchmarks.figures import require
from benchmarks.motion import rest
from benchmarks.motion.loads import free_bodies, kind_of, names_of
from benchmarks.motion.machines import machine
from robots.limits import places
from robots.status import Status
from robots.types import TWIST
from tasks import inverse_dynamics, inverse_kinematics
from tasks.dynamics.records import Forces
from tests.reference.given_friction import GivenMotion
from tests.reference.loaded_friction import Bearing

Array = np.ndarray

ARMS = {"friction_arm": 0.01, "pin_radius": 0.01}
CASES = (("0.05", "0.02"), ("0.1", "0.02"), ("0.3", "0.06"), ("0.3", "0.02"))
"""Coefficients, and arms R_b by which bearings take bending [m]."""

NUMBER = {Status.OK: 1, Status.FRICTION_NO_SOLUTION: 0, Status.FRICTION_SEVERAL_SOLUTIONS: 2}
"""Number of solutions that a status speaks of; that of an OK sample may be the smaller one of two."""

MANY, STARTS = 60, 10

EXACT = 1e-8
"""Difference of forces, relative to the largest."""


class Count(NamedTuple):
    """Result of each state: status, solutions of the other method, whether the forces differ from all of these."""

    status: Array
    solutions: Array
    wrong: Array


def counted(name: str, coefficient: float, bending_arm: float, count: int, starts: int = STARTS) -> Count:
    """Return the states of a robot with a platform, with friction in all joints."""
    robot = machine(name)
    mechanism = robot.mechanism
    state: Any = regions.states(robot, count)
    if "wx" not in mechanism.platform.mobility:
        del state["rotation"]
    kinematics = inverse_kinematics(robot, **state)
    friction: Any = {"law": "coulomb_viscous", "coulomb": coefficient, "load": "reaction", "joints": "all", **ARMS}
    friction["bending_arm"] = bending_arm
    done = inverse_dynamics(robot, gravity=rest.GRAVITY, forces=Forces(friction=friction), **state)
    at = {joint: place for joint, (place, _) in places(mechanism).items()}
    simple = [joint for joint, (place, has_one) in places(mechanism).items() if has_one and place.joint >= 0]
    joints, actuators = names_of(mechanism, simple), list(mechanism.actuators)
    driven = np.array([joints.index(actuator) for actuator in actuators])
    free = np.array([TWIST.index(freedom) for freedom in mechanism.freedoms])
    slides = np.array([kind_of(mechanism, joint) == "prismatic" for joint in joints])
    bearing = Bearing(**ARMS, bending_arm=bending_arm, slides=slides)
    setting: Any = SimpleNamespace(robot=robot, state=state)
    solutions, wrong = np.zeros(count, dtype=int), np.zeros(count, dtype=bool)
    for k in range(count):
        bodies = free_bodies(setting, kinematics, k)
        response = bodies.response(joints, actuators, np.zeros(len(actuators)))
        rates = np.array([kinematics.velocity[k, at[joint].limb, at[joint].joint] for joint in joints])
        motion = GivenMotion(response, bearing, coefficient, rates, driven, free, state["acceleration"][k][free])
        others = [motion.driving(tau) for tau in motion.solutions(starts)]
        solutions[k] = len(others)
        apart = [np.abs(done.force[k] - force).max() / np.abs(force).max() for force in others]
        wrong[k] = done.status[k] == Status.OK and not min(apart, default=np.inf) < EXACT
    return Count(np.asarray(done.status), solutions, wrong)


HEAD = (
    "robot", "coefficient", "R_b [m]", "states", "OK", "wrong with status OK", "no solution", "several solutions",
    "not settled", "other method: none", "one", "two", "OK with two", "no solution with any",
    "several with one or none",
)  # fmt: skip


def abouts(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield each robot by coefficient and arm."""
    for name in names or ("delta_3rr2rrr",):
        yield from ((name, *case) for case in CASES)


def cells(about: tuple[str, ...]) -> tuple[str, ...]:
    """Return the counts of states. Raises CheckError if one is wrong."""
    found = counted(about[0], float(about[1]), float(about[2]), MANY)
    require(not found.wrong.any(), f"{', '.join(about)}: {found.wrong.sum()} of {MANY} states are wrong")
    good, none, several = (found.status == code for code in NUMBER)
    missed = none & (found.solutions > 0)
    require(not missed.any(), f"{', '.join(about)}: {missed.sum()} of {MANY} states have solutions, said to have none")
    masks = [good, found.wrong, none, several, ~(good | none | several)]
    masks += [found.solutions == number for number in (0, 1)] + [found.solutions >= 2]
    masks += [good & (found.solutions >= 2), none & (found.solutions > 0), several & (found.solutions < 2)]
    return str(MANY), *(str(int(mask.sum())) for mask in masks)
