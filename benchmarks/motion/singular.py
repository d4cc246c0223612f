"""Inverse dynamics near singular poses of limbs and platforms, beside the same in 50 digits and more.

Rays go from random states of a robot's region in random directions to where samples are no longer OK, and states lie on
them at all distances from there. Those of OK samples are kept whose forces change most where the state moves by a
rounding error, and some at random; `benchmarks.motion.exact` says what their forces are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks import regions
from benchmarks.figures import require
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

STATES = 2_000
"""States of a robot that are computed in double precision; 50 000 of 20 robots are a million."""

DISTANCES = 100
"""States on a ray."""

CHECKED = 10, 4
"""Of these the number that is computed in many digits: the most sensitive, and random ones."""

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
        solved = inverse_dynamics(self.robot, **self._keywords(states))
        return np.asarray(solved.force), np.asarray(solved.status)

    def joints(self, states: States) -> Array:
        """Return joints of states (state, limb, joint)."""
        where = {key: x for key, x in states.items() if key in ("q", "position", "rotation")}
        return np.asarray(inverse_kinematics(self.robot, **self._keywords(where)).position)

    def _keywords(self, states: States) -> dict[str, Any]:
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
    """States near singular poses: status of all, and errors of those that were computed in many digits."""

    status: Array
    errors: Array


def near(robot: Robot, count: int) -> Near:
    """Return the errors of OK samples near singular poses, relative to the largest force of each."""
    random = np.random.default_rng(8)
    lines = Lines.random(robot, max(1, count // DISTANCES))
    rays = np.repeat(np.arange(len(lines.direction)), DISTANCES)
    way = lines.ends()[rays] - 10.0 ** random.uniform(-13.0, 0.0, len(rays))
    states = lines.at(rays, way)
    force, status = lines.forces(states)
    moved = lines.forces(lines.at(rays, way * (1.0 + 1e-15) + 1e-16))[0]
    change = np.abs(moved - force).max(axis=1) / np.abs(force).max(axis=1)
    usable = np.flatnonzero(status == Status.OK)
    worst = usable[np.argsort(-np.nan_to_num(change[usable], nan=np.inf))][: CHECKED[0]]
    picked = np.unique(np.concatenate([worst, random.permutation(usable)[: CHECKED[1]]]))
    joints, reference = lines.joints(states), ExactRobot(robot.mechanism)
    errors = []
    for k in picked:
        found = np.array([float(x) for x in reference.forces({key: x[k] for key, x in states.items()}, joints[k])])
        errors.append(np.abs(force[k] - found).max() / np.abs(found).max())
    return Near(status, np.array(errors))


HEAD = ("robot", "states", "OK", "SINGULAR", "ILL_CONDITIONED", "others", "in many digits", "largest error of OK")


def abouts(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Each robot of the catalogue whose forces the reference can compute."""
    for name in names or catalog.FAMILIES:
        if names or can_be_exact(machine(name).mechanism):
            yield (name,)


def cells(about: tuple[str, ...]) -> tuple[str, ...]:
    """Counts of states, and the largest error. Raises CheckError where one is above the estimate."""
    found = near(machine(about[0]), STATES)
    largest, counts = float(found.errors.max(initial=0.0)), [len(found.status)]
    counts += [int((found.status == code).sum()) for code in (Status.OK, Status.SINGULAR, Status.ILL_CONDITIONED)]
    require(largest <= ESTIMATE, f"{about[0]}: an OK sample is wrong by {largest:.1e} of its largest force")
    return *map(str, counts), str(counts[0] - sum(counts[1:])), str(len(found.errors)), f"{largest:.0e}"
