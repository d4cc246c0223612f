"""Errors of OK samples beside those that rounding the robot's data and the state brings about.

States lie up to three times as far out as a robot's region, and on rays beside where samples are no longer OK. The
reference is the same in numbers of 64 bits (`benchmarks.motion.longer`), which has rounding errors 2000 times smaller.
In it states, parameters, frames and masses of all bodies are also moved by a rounding error each, relative to the
largest number of their kind: the largest change of a result is the condition of the problem times that error. A method
that is stable backward makes errors of a few such changes; more than MOST fail the command.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from benchmarks import regions
from benchmarks.figures import require
from benchmarks.motion.longer import LongKernel
from benchmarks.motion.machines import machine
from benchmarks.motion.singular import Lines
from robots import catalog
from robots.model import Closure, Frame, Inertia, Instance, Limb, Link, Mechanism, Robot
from robots.status import Status
from tasks.dynamics import equations
from tasks.dynamics.inverse import Dynamics
from tasks.dynamics.records import Motion
from tasks.kernels.kernel import kernel
from tasks.kernels.keys import Indexed, Values
from tasks.stages.stages import stages

Array = np.ndarray
States = dict[str, Array]
Results = dict[str, Array]
"""Results by name, (value, state)."""

MOST = 50.0
"""Largest error of a result of an OK sample, in changes of the result by rounding of the problem's data."""

STATES, FAR, ON_A_RAY = 256, 3.0, 16
"""States of a robot; way from home to those far out, relative to those of its region, at most; states on a ray."""

MOVES = 3
"""Problems with moved data."""

OF_LIMBS = {
    "joint_position": "positions",
    "joint_velocity": "rates",
    "joint_acceleration": "accelerations",
    "joint_reaction": "reactions",
}
HEAD = ("robot", "states", "OK", *OF_LIMBS.values(), "forces", "accelerations from forces", "largest error in changes")


class Moved(NamedTuple):
    """A robot whose numbers are moved by rounding errors, the same ones each time it is assembled."""

    robot: Robot
    seed: int

    def build(self) -> Robot:
        """Return the robot."""
        family, limbs = self.robot.family, self.robot.mechanism.limbs
        places = [x for limb in limbs for link in limb.links for x in link.placement.position]
        size = max(abs(float(x)) for x in places) or 1.0
        changed = replace(family, assemble=lambda values: self._mechanism(family.assemble(values), size))
        return Robot(changed, self.robot.values)

    def _mechanism(self, mechanism: Mechanism, size: float) -> Mechanism:
        random = np.random.default_rng(self.seed)

        def error() -> float:
            return float(np.finfo(float).eps * random.uniform(-1.0, 1.0))

        def frame(each: Frame) -> Frame:
            x, y, z = error(), error(), error()
            turn = np.array([[1.0, -z, y], [z, 1.0, -x], [-y, x, 1.0]], dtype=object)
            rotation: Any = tuple(map(tuple, turn @ np.array(each.rotation, dtype=object)))
            position: Any = tuple(x + error() * size for x in each.position)
            return Frame(rotation, position)

        def inertia(each: Inertia) -> Inertia:
            centre: Any = tuple(x + error() * size for x in each.centre)
            return replace(each, mass=each.mass * (1.0 + error()), centre=centre)

        def link(each: Link) -> Link:
            return replace(each, placement=frame(each.placement), inertia=inertia(each.inertia))

        def cut(each: Closure) -> Closure:
            return replace(each, frame_a=frame(each.frame_a), frame_b=frame(each.frame_b))

        def limb(each: Limb) -> Limb:
            loops, tips = (tuple(map(cut, part)) for part in (each.loops, each.tips))
            return replace(each, links=tuple(map(link, each.links)), loops=loops, tips=tips)

        def mounted(each: Instance) -> Instance:
            return replace(each, base=frame(each.base), platform=frame(each.platform))

        platform = replace(mechanism.platform, inertia=inertia(mechanism.platform.inertia))
        limbs, instances = tuple(map(limb, mechanism.limbs)), tuple(map(mounted, mechanism.instances))
        return replace(mechanism, limbs=limbs, instances=instances, platform=platform)


def results(robot: Robot, states: States, run: Any, force: Array | None = None) -> tuple[Results, Array, Array]:
    """Return results of states by compiled kernels or in 64 bits; their status (state,); and forces as an input.

    Accelerations are those from the actuators' `force`, absent: from the forces of the states.
    """
    dynamics = Dynamics(robot, Motion(**states).moving, tuple(OF_LIMBS))
    values: Values = dict(dynamics.values)
    for stage in stages(dynamics.request):
        values |= stage.run(run, values, dynamics.samples)
    count, limbs = dynamics.samples, range(len(robot.mechanism.instances))
    found = {
        name: np.concatenate([np.asarray(values[Indexed(key, k)])[0, :, :count] for k in limbs])
        for key, name in OF_LIMBS.items()
    }
    found["forces"] = np.asarray(values["force"])[0, :, :count]
    force = np.ascontiguousarray(values["force"]) if force is None else force
    change, forward = _from_forces(robot, values, run, force)
    found["accelerations from forces"] = change[:, :count]
    status = np.asarray(values["status"])[0, 0, :count]
    return found, np.where(status == Status.OK, forward[:count], status), force


def _from_forces(robot: Robot, values: Values, run: Any, force: Array) -> tuple[Array, Array]:
    """Return accelerations of the freedoms (freedom, state) from forces, and their status."""
    with patch.object(equations, "kernel", run):
        model = equations.Model(robot)
        model.constants |= {name: values[name] for name in ("parameters", "gravity")}
        motion = values["motion"]
        return model.acceleration(motion, model.shares(motion), force, model.unloaded(motion)[None])


def far_states(robot: Robot, count: int) -> States:
    """Return OK states, half of them far out, half of them on rays beside the end of the OK states."""
    random, lines = np.random.default_rng(5), Lines.random(robot, max(count // ON_A_RAY, 1))
    far, mechanism = regions.states(robot, 4 * count, 5), robot.mechanism
    place, home = ("q", 0.0) if mechanism.is_chain else ("position", mechanism.platform.home.position)
    ways = random.uniform(1.0, FAR, (4 * count, 1))
    far[place] = np.asarray(home, dtype=float) + ways * (far[place] - np.asarray(home, dtype=float))
    rays = np.repeat(np.arange(len(lines.direction)), ON_A_RAY)
    near = lines.at(rays, lines.ends()[rays] - 10.0 ** random.uniform(-9.0, 0.0, len(rays)))
    parts = []
    for states in (lines.keywords(far), lines.keywords(near)):
        good = np.flatnonzero(results(robot, states, kernel)[1] == Status.OK)[: count // 2]
        parts.append({key: x[good] for key, x in states.items()})
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def _rounding(values: Array, random: np.random.Generator) -> Array:
    """Return rounding errors of numbers of a state; of those that are not zero, as platforms do not turn in others."""
    size = np.finfo(float).eps * np.abs(values).max()
    return np.asarray(size * random.uniform(-1.0, 1.0, values.shape) * (values != 0.0))


class Errors(NamedTuple):
    """Errors (state,) of a result, relative to its largest number, and in changes by rounding of the data."""

    relative: Array
    in_changes: Array


def errors(robot: Robot, states: States, moves: int = MOVES) -> dict[str, Errors]:
    """Return the errors of all results at OK states."""
    found, _, force = results(robot, states, kernel)
    truth, *_ = results(robot, states, LongKernel, force)
    eps, random = np.finfo(float).eps, np.random.default_rng(9)
    sizes = {name: np.nanmax(np.abs(x), axis=0, initial=0.0) for name, x in truth.items()}
    changes = {name: eps * size for name, size in sizes.items()}
    for seed in range(moves):
        turned = {key: x + _rounding(x, random) for key, x in states.items()}
        pushed = force * (1.0 + eps * random.uniform(-1.0, 1.0, force.shape))
        other, *_ = results(Moved(robot, seed).build(), turned, LongKernel, pushed)
        for name, x in other.items():
            apart = np.nanmax(np.abs(x - truth[name]), axis=0, initial=0.0)
            changes[name] = np.maximum(changes[name], apart)
    missed = {name: np.nanmax(np.abs(found[name] - x), axis=0, initial=0.0) for name, x in truth.items()}
    least = np.finfo(float).tiny  # of robots at rest, or without weight
    return {
        name: Errors(*(np.asarray(x / np.maximum(y[name], least), dtype=float) for y in (sizes, changes)))
        for name, x in missed.items()
    }


def abouts(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield each robot of the catalogue."""
    yield from ((name,) for name in names or catalog.FAMILIES)


def cells(about: tuple[str, ...]) -> tuple[str, ...]:
    """Return the largest errors of a robot. Raises CheckError if one is more than MOST changes."""
    robot = machine(about[0])
    states = far_states(robot, STATES)
    found, count = errors(robot, states), len(next(iter(states.values())))
    most = {name: float(each.in_changes.max()) for name, each in found.items()}
    for name, ratio in most.items():
        require(ratio <= MOST, f"{about[0]}: {name} of an OK sample are wrong by {ratio:.1f} changes by rounding")
    largest = [f"{each.relative.max():.0e}" for each in found.values()]
    return str(STATES), str(count), *largest, f"{max(most.values()):.1f}"
