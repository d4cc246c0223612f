"""Inverse dynamics near singular poses of limbs and platforms, beside the same in more digits.

Rays go from random states of a robot's region in random directions to where samples are no longer OK, and states lie on
them at all distances from there. All of them are computed once more at inputs that differ by rounding errors: the
changes of their forces show the loss of accuracy of a state. The states with the largest loss, and some at random, are
computed in numbers of 64 bits (`benchmarks.motion.longer`); the worst of these, and some at random, in 50 digits and
more (`benchmarks.motion.exact`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks import regions
from benchmarks.figures import CheckError, require
from benchmarks.motion import longer
from benchmarks.motion.exact import ExactRobot, can_be_exact
from benchmarks.motion.machines import machine
from robots import catalog
from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks import inverse_dynamics, inverse_kinematics

Array = np.ndarray
States = dict[str, Array]

ESTIMATE = 1e-5
"""Error of an OK sample, relative to its largest force, up to which digits may be lost."""

STATES = 50_000
"""States of a robot; those of 20 robots are a million."""

DISTANCES = 100
"""States on a ray."""

SHIFTS = 8
"""Computations at shifted inputs."""

LONGER, ROUNDS = 500, 40
"""States of a robot that are computed in 64 bits at a time: random ones first, then the most sensitive, and how often:
as long as the others may be wrong."""

CHECKED = 5, 2
"""Numbers of states that are computed in many digits: those of the largest errors, and random ones."""

NO_CHANGE = 1e-16
"""Change of a force, relative, below which there is rounding alone."""

LONGEST, SCANNED, HALVINGS = 3.0, 60, 50
"""Length of a ray [rad, m], states on it that look for its end, and bisections that find it."""


class Lines(NamedTuple):
    """Random states of a robot, and directions in which they are moved (ray, freedom or twist)."""

    robot: Robot
    start: States
    direction: Array

    @classmethod
    def random(cls, robot: Robot, count: int) -> Lines:
        """Return rays from the region of a robot."""
        mechanism, random = robot.mechanism, np.random.default_rng(6)
        direction = random.normal(size=(count, len(mechanism.freedoms) if mechanism.is_chain else len(TWIST)))
        if not mechanism.is_chain:
            direction *= [name in mechanism.platform.mobility for name in TWIST]
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        return cls(robot, regions.states(robot, count, 7), direction)

    def at(self, rays: Array, way: Array) -> States:
        """Return states some way along rays (state,)."""
        result, move = {key: x[rays] for key, x in self.start.items()}, self.direction[rays] * way[:, None]
        if self.robot.mechanism.is_chain:
            return {**result, "q": result["q"] + move}
        turned = Rotation.from_rotvec(move[:, :3]).as_matrix() @ result["rotation"]
        return {**result, "rotation": turned, "position": result["position"] + move[:, 3:]}

    def forces(self, states: States) -> tuple[Array, Array]:
        """Return forces and status of states."""
        solved = inverse_dynamics(self.robot, **self.keywords(states))
        return np.asarray(solved.force), np.asarray(solved.status)

    def joints(self, states: States) -> Array:
        """Return joints of states (state, limb, joint)."""
        where = {key: x for key, x in states.items() if key in ("q", "position", "rotation")}
        return np.asarray(inverse_kinematics(self.robot, **self.keywords(where)).position)

    def keywords(self, states: States) -> dict[str, Any]:
        """Return states as fields of a motion: a platform that does not turn has no rotation."""
        turns = not set(TWIST[:3]).isdisjoint(self.robot.mechanism.platform.mobility)
        return {key: x for key, x in states.items() if turns or key != "rotation"}

    def ends(self) -> Array:
        """Return the last OK place of each ray, the whole length where all are OK."""
        count, places = len(self.direction), np.linspace(0.0, LONGEST, SCANNED)
        rays = np.repeat(np.arange(count), SCANNED)
        good = (self.forces(self.at(rays, np.tile(places, count)))[1] == Status.OK).reshape(count, SCANNED)
        first = np.where(good.all(axis=1), SCANNED - 1, np.argmin(good, axis=1))
        low, high = places[np.maximum(first - 1, 0)], places[first]
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            ok = self.forces(self.at(np.arange(count), middle))[1] == Status.OK
            low, high = np.where(ok, middle, low), np.where(ok, high, middle)
        return low


class Near(NamedTuple):
    """Status (state,), errors of OK states in 64 bits and in many digits, and the largest error of all others.

    The last follows from their changes, and from the largest ratio of error and change of the computed states.
    """

    status: Array
    longer: Array
    exact: Array
    others: float


def near(robot: Robot, count: int) -> Near:
    """Return the errors of OK samples near singular poses, relative to the largest force of each."""
    random = np.random.default_rng(8)
    lines = Lines.random(robot, max(1, count // DISTANCES))
    rays = np.repeat(np.arange(len(lines.direction)), DISTANCES)
    states = lines.at(rays, lines.ends()[rays] - 10.0 ** random.uniform(-13.0, 0.0, len(rays)))
    force, status = lines.forces(states)
    change = _changes(lines, states, force, random)
    if not longer.CAN_BE_LONGER:
        raise CheckError("singular: got a processor without numbers of 64 bits; expected one of x86")
    usable = random.permutation(np.flatnonzero(status == Status.OK))
    left = usable[np.argsort(-change[usable])]
    chosen, places, errors, others = usable[:LONGER], np.zeros(0, dtype=int), np.zeros(0), np.inf
    for _ in range(ROUNDS):
        wider = longer.forces(robot, lines.keywords({key: x[chosen] for key, x in states.items()}))
        places, errors = np.append(places, chosen), np.append(errors, _apart(force[chosen], wider))
        left = left[~np.isin(left, chosen)]
        others = float((errors / change[places]).max() * change[left].max(initial=0.0))
        if len(left) == 0 or (len(places) > LONGER and others <= ESTIMATE):
            break
        chosen = left[:LONGER]
    exact = _exact_errors(lines, states, force, places[np.argsort(-errors)], random)
    return Near(status, errors, exact, others)


def _changes(lines: Lines, states: States, force: Array, random: np.random.Generator) -> Array:
    """Return the largest changes of forces by rounding errors of the inputs (state,), infinite where one has none."""
    result = np.full(len(force), NO_CHANGE)
    for _ in range(SHIFTS):
        moved = {key: x + np.spacing(np.abs(x).max()) * random.normal(size=x.shape) for key, x in states.items()}
        result = np.maximum(result, np.nan_to_num(_apart(lines.forces(moved)[0], force), nan=np.inf))
    return result


def _apart(forces: Array, others: Array) -> Array:
    """Return the differences of forces (state, actuator), relative to the largest of each state."""
    return np.asarray(np.abs(forces - others).max(axis=1) / np.abs(others).max(axis=1), dtype=float)


def _exact_errors(
    lines: Lines, states: States, force: Array, places: Array, random: np.random.Generator
) -> Array:  # fmt: skip
    """Return the errors of the first of these places, and of some at random, beside forces in many digits."""
    if not can_be_exact(lines.robot.mechanism):
        return np.zeros(0)
    joints, reference = lines.joints(states), ExactRobot(lines.robot.mechanism)
    errors = []
    for k in (*places[: CHECKED[0]], *random.permutation(places[CHECKED[0] :])[: CHECKED[1]]):
        found = reference.forces({key: x[k] for key, x in states.items()}, joints[k])
        errors.append(_apart(force[k : k + 1], np.array([[float(x) for x in found]]))[0])
    return np.array(errors)


HEAD = (
    "robot", "states", "OK", "SINGULAR", "ILL_CONDITIONED", "other statuses", "in 64 bits", "largest error",
    "in many digits", "largest error of these", "largest error of the rest, at most",
)  # fmt: skip


def abouts(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield each robot of the catalogue."""
    yield from ((name,) for name in names or catalog.FAMILIES)


def cells(about: tuple[str, ...]) -> tuple[str, ...]:
    """Return the counts of states, and the largest errors. Raises CheckError if one is above the estimate."""
    found = near(machine(about[0]), STATES)
    sizes = [float(errors.max(initial=0.0)) for errors in (found.longer, found.exact)]
    for error, what in zip((*sizes, found.others), ("in 64 bits", "in many digits", "by its change"), strict=True):
        require(error <= ESTIMATE, f"{about[0]}: an OK sample is wrong by {error:.1e} of its largest force {what}")
    counts = [len(found.status)]
    counts += [int((found.status == code).sum()) for code in (Status.OK, Status.SINGULAR, Status.ILL_CONDITIONED)]
    exact = f"{sizes[1]:.0e}" if len(found.exact) else ""
    checked = str(len(found.longer)), f"{sizes[0]:.0e}", str(len(found.exact)), exact, f"{found.others:.0e}"
    return *map(str, counts), str(counts[0] - sum(counts[1:])), *checked
