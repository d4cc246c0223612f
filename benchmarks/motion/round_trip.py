"""The direct and the inverse problem are inverse to each other, both ways, with friction of every law.

States are in motion, so that friction follows from velocity and both problems have one solution: forces from random
accelerations, and accelerations from these forces; accelerations from random forces, and forces from these. Laws with a
state are left out: what they do at an instant depends on motion before it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks import regions
from benchmarks.figures import require
from benchmarks.motion.energy import LEVELS
from benchmarks.motion.machines import machine
from robots.joint_places import places
from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks import accelerate, inverse_dynamics

Array = np.ndarray

LAWS: Mapping[str, Mapping[str, Any]] = {
    "viscous": {"law": "viscous", "viscous": 0.3},
    "coulomb": {"law": "coulomb_viscous", "coulomb": 0.3, "viscous": 0.1},
    "stribeck": {"law": "stribeck", "coulomb": 0.3, "static": 0.4, "viscous": 0.1, "stribeck_velocity": 0.1},
    "brown_mcphee": {"law": "brown_mcphee", "dynamic": 0.3, "static": 0.4, "transition_velocity": 0.1},
    "gear": {"law": "coulomb_viscous", "coulomb": 0.3, "load": "gear", "efficiency": 0.8, "joints": "actuated"},
    "reactions": {"law": "coulomb_viscous", "coulomb": 0.05, "load": "reaction"},
}

STATES = 200

CLOSE = 1e-10
"""Difference that may be, relative to the largest force; of accelerations, to what forces give."""


def moving(robot: Robot, count: int, seed: int = 9) -> dict[str, Any]:
    """States of its region, as keywords, without acceleration."""
    found = regions.states(robot, count, seed)
    names = ("q", "qd") if robot.mechanism.is_chain else ("position", "rotation", "twist")
    result = {name: np.asarray(found[name]) for name in names if name in found}
    if "rotation" in result and robot.mechanism.platform.mobility[0] not in TWIST[:3]:
        del result["rotation"]
    return result


def differences(robot: Robot, law: Mapping[str, Any], count: int) -> tuple[float, float, int]:
    """Largest difference of forces that come back, of accelerations that do, and how many states count."""
    mechanism, rng, state = robot.mechanism, np.random.default_rng(10), moving(robot, count)
    friction = {"joints": _joints(robot), **law}
    given: dict[str, Any] = {**state, "friction": friction}
    free = len(mechanism.freedoms)
    change = rng.normal(size=(count, free))
    if not mechanism.is_chain:
        whole = np.zeros((count, len(TWIST)))
        whole[:, [TWIST.index(name) for name in mechanism.platform.mobility]] = change
        change = whole
    name = "qdd" if mechanism.is_chain else "acceleration"
    wanted: dict[str, Any] = {name: change}
    plain = accelerate(robot, **given, force=inverse_dynamics(robot, **given, **wanted))
    force = inverse_dynamics(robot, **state, **wanted) + rng.normal(size=(count, len(mechanism.actuators)))
    ahead = accelerate(robot, **given, force=force)
    reached: dict[str, Any] = {name: ahead.acceleration}
    back = inverse_dynamics(robot, **given, **reached)
    good = (plain.status == Status.OK) & (ahead.status == Status.OK) & np.isfinite(back).all(axis=1)
    if len(mechanism.actuators) > free:  # forces of one acceleration are many: their accelerations are compared
        back = force
    size = np.abs(force[good]).max(axis=1, keepdims=True)
    still = accelerate(robot, **state, force=np.zeros_like(force))
    largest = np.abs(still.acceleration[good]).max(axis=1, keepdims=True) + np.abs(change[good]).max(
        axis=1, keepdims=True
    )
    forth = np.abs(plain.acceleration - change)[good] / largest
    return float((np.abs(back - force)[good] / size).max()), float(forth.max()), int(good.sum())


def _joints(robot: Robot) -> list[str]:
    """Names of joints that may have friction, without motors."""
    return [name for name, (place, simple) in places(robot.mechanism).items() if simple and place.joint >= 0]


HEAD = ("robot", "law", "states", "settled", "forces that come back", "accelerations that come back")


def abouts(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Each robot by law."""
    return itertools.product(names or LEVELS, LAWS)


def cells(about: tuple[str, ...]) -> tuple[str, ...]:
    """What comes back of a robot with a law. Raises CheckError where one does not."""
    name, law = about
    back, forth, count = differences(machine(name), LAWS[law], STATES)
    require(max(back, forth) <= CLOSE, f"{name}, {law}: differ by {back:.1e} and {forth:.1e}")
    return str(STATES), str(count), f"{back:.1e}", f"{forth:.1e}"
