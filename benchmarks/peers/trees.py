"""Jobs on trees: inverse dynamics, inertia matrix, accelerations from torques, reactions of all joints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from benchmarks.figures import Figure, Size
from benchmarks.peers.bodies import Skeleton, as_tree, skeleton
from benchmarks.peers.closure import placed
from benchmarks.peers.contest import Contest, Entry, in_place, repeated
from benchmarks.peers.engines import OF_PINOCCHIO, able
from benchmarks.peers.made import made_tree
from benchmarks.regions import ACCELERATION, TURN
from benchmarks.robots import Job
from robots import catalog
from robots.model import Family, Robot
from tasks.dynamics.inertia import matrix_program
from tasks.dynamics.inputs import moving_input, parameters
from tasks.dynamics.instant.moments import JointModes
from tasks.dynamics.motion_system import MotionSystem
from tasks.kernels.kernel import kernel

Array = np.ndarray
SAMPLES = 1024
GRAVITY = (0.0, 0.0, -9.81)

TREES: Mapping[str, Callable[[], Family]] = {
    "five_axis_tree": lambda: catalog.family("five_axis_tree"),
    "rover_rocker": lambda: catalog.family("rover_rocker"),
    "irb6_tree": lambda: as_tree(catalog.family("irb6"), "irb6_tree"),
    "arm_7": lambda: made_tree("arm_7", 7),
    "tree_30": lambda: made_tree("tree_30", 30, branches=True),
}
"""Trees of the catalogue, that of irb6 without its loop and its motors, and two made ones in general position."""

SMALL = ("five_axis_tree", "rover_rocker")
"""Names of the trees that compile at once."""

MASSLESS = ("rover_rocker",)
"""Trees whose inertia matrix has no inverse."""


class Setting:
    """A tree, random states of it, and its torques there."""

    def __init__(self, name: str, count: int):
        self.robot = Robot.of(TREES[name](), {})
        self.skeleton: Skeleton = skeleton(self.robot.mechanism)
        self.order = [body.joint for body in self.skeleton.bodies]
        random, shape = np.random.default_rng(5), (count, self.skeleton.size)
        self.q, self.qd = random.uniform(*TURN, shape), random.normal(size=shape)
        self.qdd, self.count = ACCELERATION * random.normal(size=shape), count
        states: Any = {name: self.ours(getattr(self, name)) for name in ("q", "qd", "qdd")}
        self.motion = repeated(moving_input(self.robot, states)[1], shape[1])
        self.states = self.motion.shape[-1]

    def ours(self, values: Array) -> Array:
        """Reorder values from the bodies to the links, (sample, body, ...)."""
        result = np.empty_like(values)
        result[:, self.order] = values
        return result

    def trees(self, job: str) -> Iterator[tuple[str, Any, str]]:
        """Yield the engines that can do a job: name, tree, way."""
        for engine in able(job):
            yield engine.name, engine.tree(self.skeleton, GRAVITY), engine.ways[job]


def figures(size: Size) -> Iterator[Figure]:
    """Yield the figures of all jobs on all trees."""
    for name in TREES if size.full else SMALL:
        setting = Setting(name, SAMPLES if size.full else size.samples)
        for job in JOBS:
            if not (job is forward_dynamics and name in MASSLESS):
                yield from job(name, setting).figures(size)


def inverse_dynamics(name: str, setting: Setting) -> Contest:
    """Compare the torques of all joints."""
    job, count = Job(setting.robot, setting.motion, statics=False), setting.count
    mine = Entry(job, job.states, "compiled kernels", lambda _: job.values["force"][0, :, :count].T)
    others = {
        engine: Entry(partial(tree.inverse_dynamics, setting.q, setting.qd, setting.qdd), count, way, setting.ours)
        for engine, tree, way in setting.trees("inverse_dynamics")
    }
    return Contest(f"{name}, inverse dynamics", mine, others)


def inertia_matrix(name: str, setting: Setting) -> Contest:
    """Return the inertia matrix; one triangle of it is compared, as Pinocchio gives no more."""
    robot, count, size = setting.robot, setting.count, setting.skeleton.size
    run = kernel(matrix_program(robot.family))
    given, out = {"parameters": parameters(robot), "q": setting.motion[:, :size]}, run.allocate(1, setting.states)
    upper = np.triu_indices(size)

    def triangle(found: Array) -> Array:
        whole = np.triu(found) + np.triu(found, 1).swapaxes(1, 2)
        return np.asarray(setting.ours(setting.ours(whole).swapaxes(1, 2))[:, upper[0], upper[1]])

    mine = Entry(
        in_place(lambda: run(given, setting.states, out, filled=True)),
        setting.states,
        "composite rigid bodies, compiled",
        lambda made: made[0]["inertia"][0, :, :count].T.reshape(-1, size, size)[:, upper[0], upper[1]],
    )
    others = {
        engine: Entry(partial(tree.inertia_matrix, setting.q), count, way, triangle)
        for engine, tree, way in setting.trees("inertia_matrix")
    }
    return Contest(f"{name}, inertia matrix", mine, others)


def forward_dynamics(name: str, setting: Setting) -> Contest:
    """Compare joint accelerations; torques come from known accelerations, so that an error may be of either way."""
    job, count, size = Job(setting.robot, setting.motion, statics=False), setting.count, setting.skeleton.size
    job()
    system, force = MotionSystem.of(setting.robot, None, GRAVITY), np.array(job.values["force"][0])
    state, modes = np.zeros((system.layout.size, setting.states)), JointModes.of(*np.zeros((2, 0, setting.states)))
    state[system.layout.at["q"]], state[system.layout.at["qd"]] = (
        setting.motion[0, :size],
        setting.motion[0, size : 2 * size],
    )
    torque = np.ascontiguousarray(force[:, :count].T[:, setting.order])
    rows = system.layout.at["qd"]
    mine = Entry(
        in_place(lambda: system.rates(state, modes, force)),
        setting.states,
        "compiled kernel",
        lambda made: made[-1]["rate"][0, rows, :count].T,
    )
    others = {
        engine: Entry(partial(tree.forward_dynamics, setting.q, setting.qd, torque), count, way, setting.ours)
        for engine, tree, way in setting.trees("forward_dynamics")
    }
    return Contest(f"{name}, forward dynamics", mine, others, tolerance=1e-7)


def reactions(name: str, setting: Setting) -> Contest:
    """Return the wrenches of all joints."""
    job, count, size = Job(setting.robot, setting.motion, statics=True), setting.count, setting.skeleton.size
    turns = np.moveaxis(np.stack(placed(setting.skeleton, setting.q.T).rotation), -1, 0)  # sample, body, 3, 3

    def in_world(found: Array) -> Array:
        parts = np.split(found, 2, axis=2)
        turned = [np.einsum("sbij,sbj->sbi", turns, part) for part in reversed(parts)]
        return setting.ours(np.concatenate(turned, axis=2))

    mine = Entry(job, job.states, "compiled kernels", lambda _: job.reactions[0][0, :, :count].T.reshape(-1, size, 6))
    others = {
        engine: Entry(
            partial(tree.reactions, setting.q, setting.qd, setting.qdd),
            count,
            way,
            in_world if engine in OF_PINOCCHIO else setting.ours,
        )
        for engine, tree, way in setting.trees("reactions")
    }
    return Contest(f"{name}, all reactions", mine, others)


JOBS = (inverse_dynamics, inertia_matrix, forward_dynamics, reactions)
