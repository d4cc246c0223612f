"""Many friction sets on one trajectory of a Delta: peak and root mean square of the forces for each set.

No engine has the laws in inverse dynamics. The work of a user of Pinocchio is done in NumPy: forces without friction
once, the law on velocities that are there anyway, for as many sets at once as stay in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from benchmarks import delta
from benchmarks.figures import Figure, Size
from benchmarks.peers.bodies import skeleton
from benchmarks.peers.closure import Closure, Target
from benchmarks.peers.contest import Contest, Entry
from benchmarks.peers.engines import able
from benchmarks.robots import Job
from robots import catalog
from robots.friction.groups import FrictionGroup, group_parameters, select
from tasks.dynamics.inputs import moving_input
from tasks.dynamics.records import Moving
from tasks.features.friction.feature import FrictionForces
from tasks.kernels.kernel import kernel
from tasks.stages.assembly import actuation_program
from tasks.stages.metrics import actuators
from tasks.stages.parts import VELOCITY

Array = np.ndarray
SETS, SAMPLES = 10_000, 1000
THEIRS = 1000
TOGETHER = 8
LIMITS = {"coulomb": (0.1, 0.3), "static": (0.3, 0.6), "viscous": (0.0, 0.1), "stribeck_velocity": (0.01, 0.1)}
METRICS = ("peak_force", "rms_force")


def figures(size: Size) -> Iterator[Figure]:
    """Yield the contest of 10 000 sets."""
    count, few, samples = (SETS, THEIRS, SAMPLES) if size.full else (size.designs, size.designs, size.samples)
    yield from contest(count, few, samples).figures(size)


def contest(count: int, few: int, samples: int) -> Contest:
    """Compare `count` sets by limbsweep with the first `few` of them by others."""
    mine = _Ours(count, samples)
    ours = Entry(
        mine, count, f"{count} sets x {samples} samples, inverse dynamics once, compiled", lambda all_: all_[:few]
    )
    others = {
        engine.name: Entry(
            _Theirs(mine, engine.tree(mine.bones, delta.GRAVITY[0]), few),
            few,
            f"{few} sets; {engine.ways['inverse_dynamics']} and closures once, the rest in NumPy; positions given",
        )
        for engine in able("inverse_dynamics")
        if engine.name == "Pinocchio"
    }
    return Contest(f"{delta.ROBOT}, {SETS} friction sets", ours, others, "us/set")


class _Ours:
    """Stribeck friction in the motors; the result is (set, metric, actuator)."""

    def __init__(self, count: int, samples: int):
        self.robot = catalog.build(delta.ROBOT)
        self.bones = skeleton(self.robot.mechanism)
        self.states = delta.states(samples)
        _, moved = moving_input(self.robot, cast(Moving, self.states))
        self.job, self.samples = Job(self.robot, moved, statics=False), samples
        names = tuple(each.name for each in group_parameters("stribeck", "constant"))
        random = np.random.default_rng(7)
        self.friction = np.stack([random.uniform(*LIMITS[name], count) for name in names], axis=1)
        self.of = {name: self.friction[:, k] for k, name in enumerate(names)}
        motors = FrictionGroup("", "stribeck", "constant", select(self.robot.mechanism, "actuated"), names)
        self.run = kernel(actuation_program(self.robot.family, (FrictionForces((motors,)),), (), METRICS))
        self.weights = actuators.trapezoid_weights(np.arange(samples) * (delta.PERIOD / samples))
        self.out = self.run.allocate(count, samples)

    def __call__(self) -> Array:
        self.job()
        found = {name: self.job.values[name] for name in ("force", "status")}
        found["velocity"] = self.job.values[VELOCITY]
        self.run({**found, "weight": self.weights[None, None], "friction": self.friction}, self.samples, self.out)
        duration = float(self.weights.sum())
        return np.stack([actuators.METRICS[name].finish(self.out[name], duration) for name in METRICS], axis=1)


class _Theirs:
    """The same around the tree of an engine, a few sets at once."""

    def __init__(self, mine: _Ours, tree: Any, few: int):
        self.tree, self.weights, self.target = tree, mine.weights, Target.of(mine.states)
        self.of = {name: values[:few, None, None] for name, values in mine.of.items()}
        q, _, _ = mine.bones.motion(mine.robot, mine.states)
        self.q, self.closure, self.few = np.ascontiguousarray(q.T), Closure(mine.bones, q), few

    def __call__(self) -> Array:
        closure, motors = self.closure, list(self.closure.skeleton.motors)
        qd, qdd, unit = closure.motion(self.target, self.q)
        force = closure.projected(self.tree.inverse_dynamics(np.ascontiguousarray(self.q.T), qd, qdd), unit).T
        velocity = np.ascontiguousarray(qd[:, motors].T)
        parts = [self._metrics(slice(k, k + TOGETHER), force, velocity) for k in range(0, self.few, TOGETHER)]
        return np.concatenate(parts)

    def _metrics(self, part: slice, force: Array, velocity: Array) -> Array:
        """Return the peak and root mean square (set, metric, actuator) of some sets."""
        own, size = {name: values[part] for name, values in self.of.items()}, np.abs(velocity)
        dry = own["coulomb"] + (own["static"] - own["coulomb"]) * np.exp(-((size / own["stribeck_velocity"]) ** 2))
        total = np.sign(velocity) * dry
        total += own["viscous"] * velocity
        total += force
        mean = np.sqrt(np.matmul(total * total, self.weights) / self.weights.sum())
        return np.stack([np.abs(total).max(axis=2), mean], axis=1)
