"""The direct and the inverse problem are inverse to each other, both ways, with friction of every law.

States are in motion, so that friction follows from velocity and both problems have one solution: forces from random
accelerations, and accelerations from these forces; accelerations from random forces, and forces from these. Laws with
a state have a random one. Functions of the inverse problem do not take them at an instant: there friction is their
formula on plain numbers, beside the forces without friction.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks import regions
from benchmarks.figures import require
from benchmarks.motion.curves import Curve, memories
from benchmarks.motion.energy import LEVELS
from benchmarks.motion.machines import machine
from benchmarks.motion.rest import plain_numbers
from robots.friction import laws as data
from robots.limits import places
from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks import forward_dynamics, inverse_dynamics
from tasks.dynamics.records import Forces

Array = np.ndarray

LAWS: Mapping[str, Mapping[str, Any]] = {
    "viscous": {"law": "viscous", "viscous": 0.3},
    "coulomb": {"law": "coulomb_viscous", "coulomb": 0.3, "viscous": 0.1},
    "stribeck": {"law": "stribeck", "coulomb": 0.3, "static": 0.4, "viscous": 0.1, "stribeck_velocity": 0.1},
    "brown_mcphee": {"law": "brown_mcphee", "dynamic": 0.3, "static": 0.4, "transition_velocity": 0.1},
    "gear": {"law": "coulomb_viscous", "coulomb": 0.3, "load": "gear", "efficiency": 0.8, "joints": "actuated"},
    "reactions": {"law": "coulomb_viscous", "coulomb": 0.05, "load": "reaction"},
    "stiction": {
        "law": "stiction", "coulomb": 0.3, "kinetic": 0.4, "static": 0.5, "viscous": 0.1, "stribeck_velocity": 0.1,
    },
    "lugre": {
        "law": "lugre", "coulomb": 0.3, "static": 0.4, "sigma0": 100.0, "sigma1": 0.5, "sigma2": 0.1,
        "stribeck_velocity": 0.1,
    },
}  # fmt: skip

STATES = 200

CLOSE = 1e-10
"""Largest allowed difference, relative to the largest force, or to the accelerations from forces."""


def moving(robot: Robot, count: int, seed: int = 9) -> dict[str, Any]:
    """Return the states of its region, as keywords, without acceleration."""
    found = regions.states(robot, count, seed)
    names = ("q", "qd") if robot.mechanism.is_chain else ("position", "rotation", "twist")
    result = {name: np.asarray(found[name]) for name in names if name in found}
    if "rotation" in result and robot.mechanism.platform.mobility[0] not in TWIST[:3]:
        del result["rotation"]
    return result


def differences(robot: Robot, law: Mapping[str, Any], count: int) -> tuple[float, float, int]:
    """Return the largest differences of recovered forces and of accelerations, and the number of counted states."""
    mechanism, rng, state = robot.mechanism, np.random.default_rng(10), moving(robot, count)
    friction = {"joints": _joints(robot), **law}
    inverse, memory = _inverse(robot, state, friction)
    given: dict[str, Any] = {**state, "memory": memory}
    free = len(mechanism.freedoms)
    change = rng.normal(size=(count, free))
    if not mechanism.is_chain:
        whole = np.zeros((count, len(TWIST)))
        whole[:, [TWIST.index(name) for name in mechanism.platform.mobility]] = change
        change = whole
    plain = forward_dynamics(robot, forces=Forces(actuator=inverse(change), friction=friction), **given)
    still = _inverse(robot, state, None)[0]
    force = still(change) + rng.normal(size=(count, len(mechanism.actuators)))
    ahead = forward_dynamics(robot, forces=Forces(actuator=force, friction=friction), **given)
    back = inverse(ahead.acceleration)
    good = (plain.status == Status.OK) & (ahead.status == Status.OK) & np.isfinite(back).all(axis=1)
    if len(mechanism.actuators) > free:  # forces of one acceleration are many: their accelerations are compared
        back = force
    size = np.abs(force[good]).max(axis=1, keepdims=True)
    unforced = forward_dynamics(robot, forces=Forces(actuator=np.zeros_like(force)), **state)
    largest = np.abs(unforced.acceleration[good]).max(axis=1, keepdims=True) + np.abs(change[good]).max(
        axis=1, keepdims=True
    )
    forth = np.abs(plain.acceleration - change)[good] / largest
    return float((np.abs(back - force)[good] / size).max()), float(forth.max()), int(good.sum())


Inverse = Callable[[Array], Array]
"""Forces (sample, actuator) for accelerations (sample, freedom), of a platform (sample, 6)."""


def _inverse(
    robot: Robot, state: Mapping[str, Any], friction: Mapping[str, Any] | None
) -> tuple[Inverse, Array | None]:
    """Return the inverse problem at states, and the states of a law that has some (sample, joint)."""
    name = "qdd" if robot.mechanism.is_chain else "acceleration"
    if friction is None or not data.LAWS[friction["law"]].state:
        forces = Forces(friction=friction)
        return lambda change: inverse_dynamics(robot, forces=forces, **state, **{name: change}).force, None
    where = {key: values for key, values in state.items() if key not in ("qd", "twist")}
    numbers = plain_numbers(robot, friction["joints"], where, speed_of(robot, state))
    rates = np.einsum("sji,si->sj", numbers.rows, speed_of(robot, state))
    values = {key: x for key, x in friction.items() if key not in ("law", "joints")}
    curve = Curve(friction["law"], values, memories(friction["law"], values, np.ones_like(rates)))
    braked = np.stack([curve(k, rate, np.ones_like(rate)) for k, rate in enumerate(rates)])
    along = np.einsum("sji,sj->si", numbers.rows, braked)
    driven = np.einsum("saf,sf->sa", np.linalg.pinv(np.swapaxes(numbers.jacobian, 1, 2)), along)
    return lambda change: inverse_dynamics(robot, **state, **{name: change}).force + driven, curve.memory


def speed_of(robot: Robot, state: Mapping[str, Any]) -> Array:
    """Return the rates of the freedoms (sample, freedom)."""
    if robot.mechanism.is_chain:
        return np.asarray(state["qd"])
    return np.asarray(state["twist"])[:, [TWIST.index(name) for name in robot.mechanism.platform.mobility]]


def _joints(robot: Robot) -> list[str]:
    """Return the names of joints that may have friction, without motors."""
    return [name for name, (place, simple) in places(robot.mechanism).items() if simple and place.joint >= 0]


HEAD = ("robot", "law", "states", "settled", "forces that come back", "accelerations that come back")


def abouts(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield each robot by law."""
    return itertools.product(names or LEVELS, LAWS)


def cells(about: tuple[str, ...]) -> tuple[str, ...]:
    """Measure the round trip of a robot with a law. Raises CheckError where a state does not come back."""
    name, law = about
    back, forth, count = differences(machine(name), LAWS[law], STATES)
    require(max(back, forth) <= CLOSE, f"{name}, {law}: differ by {back:.1e} and {forth:.1e}")
    return str(STATES), str(count), f"{back:.1e}", f"{forth:.1e}"
