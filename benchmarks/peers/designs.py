"""Many designs of a Delta on one trajectory: the time to change the geometry counts, on both sides.

Ours goes from the parameters of all designs to forces. Engines get every number of every design beforehand, as objects
of theirs, and the motion of all joints; they put the numbers into their model, or make it anew where that cannot be
done, and compute torques of the tree; the projection to the actuators is done for all at once. That is a part of the
job; Pinocchio is also timed at all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks import delta
from benchmarks.delta import Solver, Work
from benchmarks.figures import Figure, Size
from benchmarks.peers.bodies import Skeleton, skeleton
from benchmarks.peers.closure import Closure, Target
from benchmarks.peers.contest import Contest, Entry
from benchmarks.peers.engines import able
from robots.model import Robot
from tasks.kernels.kernel import kernel
from tasks.mechanics.families import mount_values
from tasks.mechanics.structure import with_parameters

Array = np.ndarray
DESIGNS, SAMPLES = 10_000, 128
THEIRS = 50
"""Designs that are done by engines, spread over all; time is for one design."""
STRIP = 64


@dataclass(frozen=True)
class Design:
    """A design as engines take it: skeleton, motion of all joints (sample, body), joint rates for unit twists."""

    skeleton: Skeleton
    q: Array
    qd: Array
    qdd: Array
    unit: Array
    closure: Closure
    target: Target


def figures(size: Size) -> Iterator[Figure]:
    """Yield the contest of 10 000 designs."""
    count, few = (DESIGNS, THEIRS) if size.full else (size.designs, 3)
    yield from contest(count, few, SAMPLES if size.full else size.samples).figures(size)


def contest(count: int, few: int, samples: int) -> Contest:
    """Compare `count` designs by limbsweep with `few` of them by others."""
    work = delta.work(count, samples)
    chosen = np.linspace(0, count - 1, few).astype(int)
    values = delta.design_values(work.family, count)
    some = [_design(work, {name: float(value[k]) for name, value in values.items()}) for k in chosen]
    solve = _Ours(work, values)
    mine = Entry(
        solve, count, f"{count} designs x {samples} samples, all of it from parameters on", lambda all_: all_[chosen]
    )
    others = {}
    for engine in able("designs"):
        tree = engine.tree(some[0].skeleton, delta.GRAVITY[0])
        numbers = [tree.numbers(each.skeleton) for each in some]
        way = f"{few} of them; {engine.ways['designs']}"
        others[engine.name] = Entry(partial(_theirs, tree, numbers, some), few, f"{way}; all joint motion given")
        if engine.name == "Pinocchio":
            whole = f"{way}; Newton steps, closures and projection in NumPy"
            others["Pinocchio, all of it"] = Entry(partial(_all_of_it, tree, numbers, some), few, whole)
    return Contest(f"{work.family.name}, {DESIGNS} designs", mine, others, "us/design")


class _Ours:
    """From parameters (design,) by name to forces (design, actuator, sample), strip by strip."""

    def __init__(self, work: Work, values: dict[str, Array]):
        self.work, self.values, self.forces = work, values, np.empty((work.designs, 3, work.samples))
        self.solver = Solver(work, kernel, STRIP)

    def __call__(self) -> Array:
        family = self.work.family
        mounts = tuple(mount_values(family, self.values))
        self.solver.work = Work(family, with_parameters(family, self.values), mounts, self.work.motion)
        for part in self.work.strips(STRIP):
            self.forces[part] = self.solver(part)["force"]
        return self.forces


def _design(work: Work, values: dict[str, float]) -> Design:
    robot = Robot.of(work.family, values)
    bones, states = skeleton(robot.mechanism), delta.states(work.samples)
    q, qd, qdd = bones.motion(robot, states)
    closure, target = Closure(bones, q), Target.of(states)
    _, _, unit = closure.motion(target, np.ascontiguousarray(q.T))
    return Design(bones, q, qd, qdd, unit, closure, target)


def _theirs(tree: Any, numbers: Sequence[Any], designs: Sequence[Design]) -> Array:
    torque = np.empty((len(designs), *designs[0].q.shape))
    for k, (own, each) in enumerate(zip(numbers, designs, strict=True)):
        tree.change(own)
        torque[k] = tree.inverse_dynamics(each.q, each.qd, each.qdd)
    unit = np.stack([each.unit for each in designs])
    wrench = np.matmul(unit.swapaxes(2, 3), torque[..., None])
    jacobian = unit[:, :, list(designs[0].skeleton.motors)]
    return np.asarray(np.linalg.solve(jacobian.swapaxes(2, 3), wrench)[..., 0].swapaxes(1, 2))


def _all_of_it(tree: Any, numbers: Sequence[Any], designs: Sequence[Design]) -> Array:
    forces = []
    for own, each in zip(numbers, designs, strict=True):
        tree.change(own)
        forces.append(each.closure.forces(each.target, None, tree.inverse_dynamics).T)
    return np.stack(forces)
