"""Accelerations of robots whose joints are at rest, against the conditions that friction has to meet.

States are at rest, in motion, and with some joints at rest while others move; forces are near the limit that friction
just holds. The checks use plain results of the inverse problem: balance, limits, and that friction at its limit opposes
the beginning motion. These conditions have one solution in the accelerations, so that meeting them is enough; some
states are solved by bounded least squares of SciPy beside that, which has to find the same. A wrong result whose status
is OK fails the benchmark.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from benchmarks import regions
from benchmarks.figures import Figure, Size, require
from benchmarks.motion.curves import Curve
from benchmarks.motion.machines import machine
from robots.friction.groups import select
from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks import forward_dynamics, inverse_dynamics
from tasks.dynamics.equations import equations_of_motion
from tasks.dynamics.inverse import inverse_kinematics
from tasks.dynamics.records import Forces, Motion
from tests.reference import rest_friction

Array = np.ndarray

GRAVITY = (0.0, 0.0, -9.81)

LAWS: Mapping[str, Mapping[str, Any]] = {
    "coulomb": {"law": "coulomb_viscous"},
    "coulomb, weak in one direction": {"law": "coulomb_viscous", "negative": 0.3},
    "stribeck": {"law": "stribeck", "stribeck_velocity": 0.05},
    "stiction": {"law": "stiction", "stribeck_velocity": 0.05},
}
"""Laws that stick and hold as much at rest as at the onset of motion."""

ROBOTS: Mapping[str, tuple[Any, ...]] = {
    "irb6": (["elbow", "coupler_foot", "coupler_head"], "actuated", "all"),
    "three_loop_leg": ("all",),
    "planar_3r": ("all",),
    "five_axis_tree": ("all",),
    "rover_rocker": ("all",),
    "five_bar": ("all",),
    "delta_3rr2rrr": ("passive", "all"),
    "hexapod_6rrrprr": ("all",),
}
"""Robots whose mass matrix is regular, and joints with friction."""

LONG = ("delta_3rr2rrr", "hexapod_6rrrprr")
"""Robots with dozens of joints with friction, whose programs take a minute to compile: left out of a quick run."""

STATES = 1000
"""States of each robot, law and level of friction, in the long run."""

FEW: Mapping[str, int] = {"hexapod_6rrrprr": 100}
"""The same of robots with dozens of joints with friction."""

LEVELS = (0.0, 1e-3, 0.1, 3.0)
"""Dry friction of all joints [N m or N]."""

COMPARED = 250
"""States of each robot, law and level that another solver solves too, where it comes to the minimum."""

ALIKE = 1e-6
"""Largest distance from there, and of accelerations from their own twice, relative, in the norm of the mass matrix."""

ROUNDED = 1e-12
"""Additional distance, relative to the accelerations from the bias alone: forces may cancel it."""

BALANCE, LIMIT, SLIP = 1e-9, 1e-9, 1e-8
"""Largest relative residual: of the balance of forces, of a limit, of an acceleration that is zero."""


@dataclass(frozen=True)
class Setting:
    """States of a robot and its plain numbers there: M, bias, J, W and W' V of the joints that are chosen.

    `state` are keywords for functions of `tasks`, `speed` (sample, freedom) rates of the freedoms in it.
    """

    robot: Robot
    joints: Any
    state: Mapping[str, Array]
    speed: Array
    mass: Array
    bias: Array
    jacobian: Array
    rows: Array
    drift: Array

    @property
    def velocity(self) -> Array:
        """Rates of the chosen joints (sample, joint)."""
        return np.asarray(np.einsum("sji,si->sj", self.rows, self.speed))

    def still(self) -> Array:
        """Return a mask of the joints at rest (sample, joint)."""
        speed = np.abs(self.velocity)
        parts = np.einsum("sji,si->sj", np.abs(self.rows), np.abs(self.speed))
        return np.asarray(speed <= 1e-12 * np.maximum(parts, speed.max(axis=1, initial=0.0, keepdims=True)))


def setting(robot: Robot, joints: Any, count: int, seed: int = 5) -> Setting:
    """Return a third of the states in motion, a third at rest, and a third where some joints are at rest."""
    random, state = np.random.default_rng(seed), regions.states(robot, count, seed)
    where: dict[str, Array] = {name: state[name] for name in ("q", "position", "rotation") if name in state}
    if "q" not in state and robot.mechanism.platform.mobility[0] not in TWIST[:3]:
        del where["rotation"]
    free = len(robot.mechanism.freedoms)
    speed = random.normal(size=(count, free))
    speed[::3] = 0.0
    units = plain_numbers(robot, joints, where, speed).rows
    for k in range(1, count, 3):
        resting = units[k][random.permutation(len(units[k]))[: random.integers(1, free + 1)]]
        if not np.isfinite(resting).all():
            continue
        _, sizes, right = np.linalg.svd(resting)
        speed[k] = right[(sizes > 1e-9).sum() :].T @ (right[(sizes > 1e-9).sum() :] @ speed[k])
    moving = where | {_moves(robot)[0]: _whole(robot, speed)}
    return Setting(robot, joints, moving, speed, *plain_numbers(robot, joints, where, speed))


def _moves(robot: Robot) -> tuple[str, str]:
    """Return the names of speed and acceleration of a robot."""
    return ("qd", "qdd") if robot.mechanism.is_chain else ("twist", "acceleration")


def _whole(robot: Robot, values: Array) -> Array:
    """Return a platform's twist (sample, 6) from its free components (sample, freedom); a chain's rates unchanged."""
    if robot.mechanism.is_chain:
        return values
    result = np.zeros((*values.shape[:-1], 6))
    result[..., _free(robot)] = values
    return result


def _free(robot: Robot) -> list[int]:
    if robot.mechanism.is_chain:
        return list(range(len(robot.mechanism.freedoms)))
    return [TWIST.index(name) for name in robot.mechanism.platform.mobility]


class Numbers(NamedTuple):
    """M (sample, freedom, freedom), bias, J, W and W' V of joints that are chosen (sample, joint, ...)."""

    mass: Array
    bias: Array
    jacobian: Array
    rows: Array
    drift: Array


def plain_numbers(robot: Robot, joints: Any, where: Mapping[str, Array], speed: Array) -> Numbers:
    """Solve the inverse problem of states at `speed` (sample, freedom); `where` has their poses as keywords."""
    rate, change = _moves(robot)
    moving: dict[str, Any] = {**where, rate: _whole(robot, speed)}
    units = [_whole(robot, np.broadcast_to(unit, speed.shape)) for unit in np.eye(speed.shape[1])]
    still: dict[str, Any] = {**where, "gravity": (0.0, 0.0, 0.0)}
    jacobian = inverse_dynamics(robot, **moving).jacobian
    columns = [inverse_dynamics(robot, **(still | {change: unit})).force for unit in units]
    mass = np.stack([np.einsum("saf,sa->sf", jacobian, u) for u in columns], axis=-1)
    bias = np.einsum("saf,sa->sf", jacobian, inverse_dynamics(robot, **moving, gravity=GRAVITY).force)
    rates = np.stack([inverse_kinematics(robot, Motion(**where, **{rate: unit})).velocity for unit in units], axis=-1)
    drift = inverse_kinematics(robot, **moving).acceleration
    motors = np.einsum("saf,sf->sa", equations_of_motion(robot, **moving).jacobian_rate, speed)
    rows, drifts = [], []
    for place in select(robot.mechanism, joints):
        driven = place.actuator >= 0
        rows.append(jacobian[:, place.actuator] if driven else rates[:, place.limb, place.joint])
        drifts.append(motors[:, place.actuator] if driven else drift[:, place.limb, place.joint])
    return Numbers(mass, bias, jacobian, np.stack(rows, axis=1), np.stack(drifts, axis=1))


def forces(numbers: Setting, level: float, seed: int = 6) -> Array:
    """Return the forces that balance the bias, and as much again as friction may hold: less and more."""
    random = np.random.default_rng(seed)
    size = random.uniform(0.0, 2.0, (len(numbers.speed), 1)) * level
    held = np.einsum("sji,sj->si", numbers.rows, random.normal(size=numbers.rows.shape[:2]) * size)
    pulled = random.normal(size=held.shape) * np.einsum("sii->si", numbers.mass)
    wanted = numbers.bias + held + pulled * random.choice([0.0, 1.0], (len(held), 1))
    good = np.isfinite(numbers.jacobian).all(axis=(1, 2))
    jacobian = np.where(good[:, None, None], numbers.jacobian, 0.0)
    found = np.einsum("saf,sf->sa", np.linalg.pinv(np.swapaxes(jacobian, 1, 2)), np.where(good[:, None], wanted, 0.0))
    return np.nan_to_num(found)


def parameters(law: str, level: float) -> dict[str, Any]:
    """Return the law with its dry friction at a level."""
    shares = {
        "coulomb_viscous": {"coulomb": 1.0},
        "stribeck": {"coulomb": 1.0, "static": 1.3},
        "stiction": {"coulomb": 1.0, "kinetic": 1.3, "static": 1.6},
    }
    return {**LAWS[law], **{name: level * share for name, share in shares[LAWS[law]["law"]].items()}}


def limits(law: Mapping[str, Any], count: int) -> tuple[Array, Array]:
    """Return the forces that joints at rest hold, above and below zero."""
    most = law.get("static", law["coulomb"])
    return np.full(count, most), np.full(count, most * law.get("negative", 1.0))


def at(numbers: Setting, law: Mapping[str, Any], force: Array) -> Any:
    """Return the accelerations in question."""
    state: dict[str, Any] = dict(numbers.state)
    friction = {**law, "joints": numbers.joints}
    return forward_dynamics(numbers.robot, gravity=GRAVITY, forces=Forces(friction=friction, actuator=force), **state)


def faults(numbers: Setting, force: Array, law: Mapping[str, Any], found: Any) -> Array:
    """Return a mask of the samples that break the conditions of friction (sample,)."""
    rows, qdd = numbers.rows, found.acceleration[:, _free(numbers.robot)]
    change = np.einsum("sji,si->sj", rows, qdd) + numbers.drift
    pushed = np.einsum("saf,sa->sf", numbers.jacobian, force)
    braked = np.einsum("sji,sj->si", rows, found.friction)
    terms = (np.einsum("sij,sj->si", numbers.mass, qdd), numbers.bias, -pushed, braked)
    size = np.sum([np.abs(each).max(axis=1) for each in terms], axis=0)[:, None]
    wrong = (np.abs(sum(terms)) > BALANCE * size).any(axis=1)
    above, below = limits(law, rows.shape[1])
    limit, still = np.where(found.friction < 0.0, below, above), numbers.still()
    beyond = np.abs(found.friction) > limit * (1.0 + LIMIT) + BALANCE * size
    heavy = np.where(np.isfinite(numbers.mass).all(axis=(1, 2), keepdims=True), numbers.mass, np.eye(qdd.shape[1]))
    mobile = np.einsum("sji,sij->sj", rows, np.linalg.pinv(heavy) @ np.swapaxes(rows, 1, 2))
    largest = np.abs(qdd).max(axis=1)[:, None]
    parts = np.abs(change).max(axis=1, keepdims=True) + np.abs(rows).sum(axis=2) * largest + mobile * limit
    ahead = np.where(change < 0.0, -below, above)
    slips = (np.abs(change) > SLIP * parts) & (np.abs(found.friction - ahead) > LIMIT * limit + BALANCE * size)
    back = ~still & (found.friction * numbers.velocity < -BALANCE * size)
    lost = ~np.isfinite(qdd).all(axis=1)
    return np.asarray(wrong | (still & (beyond | slips)).any(axis=1) | back.any(axis=1) | lost)


def rest(size: Size) -> Iterator[Figure]:
    """Count for each robot and law wrong states whose status is OK, and states that have not settled."""
    count = size.designs if size.full else 24
    for name, chosen in ROBOTS.items():
        if name in LONG and not size.full:
            continue
        robot = machine(name)
        for joints in chosen:
            numbers = setting(robot, joints, count)
            for law in LAWS if size.full or name == "irb6" else ("coulomb",):
                yield _figure(numbers, law, COMPARED if size.full else 3)


class Tally(NamedTuple):
    """States in all, of these without result, those whose friction is not unique, and why there is no result.

    compared: states that the other solver has solved too.
    """

    total: int
    unsettled: int
    several: int
    compared: int
    reasons: tuple[str, ...]


def compared(
    numbers: Setting, force: Array, law: Mapping[str, Any], found: Any, first: int = COMPARED
) -> tuple[int, int]:
    """Count the `first` states that another solver has solved too, and those with other accelerations.

    Bounded least squares of SciPy: a problem in friction alone, with no partition and no interior point.
    """
    above, below = limits(law, numbers.rows.shape[1])
    velocity, still, free = numbers.velocity, numbers.still(), _free(numbers.robot)
    sliding = Curve(law["law"], {key: x for key, x in law.items() if key != "law"}, np.zeros_like(velocity))
    count = different = 0
    for k in np.flatnonzero(found.status[:first] == Status.OK).tolist():
        rests, rows, mass = still[k], numbers.rows[k], numbers.mass[k]
        moving = np.where(rests, 0.0, sliding(k, velocity[k], np.ones(len(rests))))
        push = numbers.jacobian[k].T @ force[k] - numbers.bias[k] - rows.T @ moving
        own = rest_friction.solve(mass, push, rows[rests], numbers.drift[k][rests], above[rests], below[rests])
        if own.bound > ALIKE:
            continue
        unforced = np.linalg.solve(mass, push)
        apart = own.acceleration - found.acceleration[k][free]
        rounding = ROUNDED**2 * (numbers.bias[k] @ np.linalg.solve(mass, numbers.bias[k]))
        wide = float(apart @ mass @ apart) > (2.0 * ALIKE) ** 2 * (unforced @ mass @ unforced) + rounding
        count, different = count + 1, different + wide
    return count, different


def tally(numbers: Setting, law: str, first: int = COMPARED) -> Tally:
    """Count the states of all friction levels, with as many of the `first` states of each compared as there are.

    Raises CheckError where a state is wrong although its status is OK, or has other accelerations.
    """
    unsettled, wrong, several, total, alike, apart = 0, 0, 0, 0, 0, 0
    reasons: set[str] = set()
    for level in LEVELS:
        values, force = parameters(law, level), forces(numbers, level)
        motion = at(numbers, values, force)
        good = motion.status == Status.OK
        wrong += int((faults(numbers, force, values, motion) & good).sum())
        unsettled, total = unsettled + int((~good).sum()), total + len(good)
        several += int((good & ~motion.unique).sum())
        same, other = compared(numbers, force, values, motion, first)
        alike, apart = alike + same, apart + other
        reasons |= {Status(code).name for code in motion.status[~good].tolist()}
    label = f"{numbers.robot.name}, {_named(numbers.joints)}, {law}"
    require(wrong == 0, f"{label}: {wrong} of {total} states are wrong with status OK")
    require(apart == 0, f"{label}: {apart} of {alike} states have other accelerations by bounded least squares")
    return Tally(total, unsettled, several, alike, tuple(sorted(reasons)))


def _figure(numbers: Setting, law: str, first: int) -> Figure:
    counts = tally(numbers, law, first)
    remark = f"{counts.total} states, 0 wrong, {counts.several} whose friction is not unique"
    label = f"{numbers.robot.name}, {_named(numbers.joints)}, {law}"
    return Figure(label, counts.unsettled / counts.total, "not settled", ", ".join((remark, *counts.reasons)))


def _named(joints: Any) -> str:
    return joints if isinstance(joints, str) else " ".join(joints)


HEAD = (
    "robot", "joints", "law", "states", "wrong with status OK", "other solver alike", "friction not unique",
    "not settled", "status",
)  # fmt: skip


def abouts(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield each robot by choice of joints and law."""
    for name in names or ROBOTS:
        yield from itertools.product([name], map(_named, ROBOTS[name]), LAWS)


def cells(about: tuple[str, ...]) -> tuple[str, ...]:
    """Return the states of a row, wrong ones, unsettled ones and the reason. Raises CheckError if a state is wrong."""
    name, joints, law = about
    total, unsettled, several, alike, reasons = tally(_states(name, joints), law)
    return str(total), "0", str(alike), f"{several / total:.1%}", f"{unsettled / total:.2%}", " ".join(reasons)


@functools.lru_cache(maxsize=1)
def _states(name: str, named: str) -> Setting:
    """Return the same for all laws."""
    joints = next(joints for joints in ROBOTS[name] if _named(joints) == named)
    return setting(machine(name), joints, FEW.get(name, STATES))
