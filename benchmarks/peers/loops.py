"""Jobs on closed loops: inverse dynamics from the platform's motion, reactions of all joints, forward dynamics.

No engine has inverse dynamics of closed loops. Functions of each engine are combined to do the same job: torques of the
tree by the engine, loops and the projection to the actuators for all samples at once by `closure`. Pinocchio is also
timed for parts of the job, with more and more of it given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, cast

import numpy as np

from benchmarks import delta, regions
from benchmarks.figures import Figure, Size
from benchmarks.peers.bodies import skeleton
from benchmarks.peers.closure import Closure, Rnea, Target, placed
from benchmarks.peers.contest import Contest, Entry, in_place, repeated
from benchmarks.peers.engines import OF_PINOCCHIO, able
from benchmarks.robots import Job
from robots import catalog
from robots.model import Robot
from tasks import inverse_kinematics
from tasks.checks.newton_euler_system import unique
from tasks.dynamics.equations import Model
from tasks.dynamics.given_tree import GivenTree, JointMotion
from tasks.dynamics.inputs import moving_input
from tasks.dynamics.records import Moving
from tasks.dynamics.tree_inverse import TOLERANCE
from tasks.features.table import request
from tasks.features.tree_motion import FORCE, TreeMotion, tree_stage
from tasks.kernels.keys import Indexed, Key
from tasks.stages.stages import stages

Array = np.ndarray
LINE = "delta_3rr2rrr on a line"
ROBOTS: Mapping[str, str] = {
    "five_bar": "five_bar",
    "delta_3rr2rrr": "delta_3rr2rrr",
    LINE: "delta_3rr2rrr",
    "hexapod_6rrrprr": "hexapod_6rrrprr",
}
"""Robots, at random states but where a name says otherwise."""
HELD_BY_JOINTS = ("delta_3rr2rrr", "hexapod_6rrrprr")
"""Robots whose joints hold the platform; that of five_bar is a point, which nothing keeps from turning."""
WITH_MASS = ("delta_3rr2rrr", "hexapod_6rrrprr")
"""Robots whose trees have an inertia matrix of full rank; the platform of five_bar is a point that turns idly."""

SAMPLES = 256
"""NumPy is quickest with about as many: its arrays stay in the cache."""
GRAVITY = (0.0, 0.0, -9.81)
GIVEN = {
    "joint positions given": "{way}; closures, rates, accelerations and projection in NumPy",
    "all joint motion and unit rates given": "{way}; projection to the actuators in NumPy",
    "all joint motion given, torques of the tree alone": "{way}; not closed, no forces of actuators",
}


class Setting:
    """A robot, random states in its region, the motion of all joints of its tree there, and its loop closures."""

    def __init__(self, name: str, count: int):
        self.robot: Robot = catalog.build(ROBOTS[name])
        self.skeleton, self.count = skeleton(self.robot.mechanism), count
        self.states = delta.states(count) if name == LINE else regions.states(self.robot, count)
        self.q, self.qd, self.qdd = self.skeleton.motion(self.robot, self.states)
        self.closure, self.target = Closure(self.skeleton, self.q), Target.of(self.states)
        _, self.motion = moving_input(self.robot, cast(Moving, self.states))
        _, _, self.unit = self.closure.motion(self.target, np.ascontiguousarray(self.q.T))

    def repeated(self, values: Array) -> Array:
        """Return samples (..., sample), repeated to the number at which limbsweep's kernels are fastest."""
        return repeated(values, len(self.robot.mechanism.freedoms) + 6)

    def trees(self, job: str) -> Iterator[tuple[str, Any, str]]:
        """Yield the engines that can do a job on the tree: name, tree, way."""
        for engine in able(job):
            yield engine.name, engine.tree(self.skeleton, GRAVITY), engine.ways[job]


def figures(size: Size) -> Iterator[Figure]:
    """Yield the figures of all jobs on all robots."""
    for name in ROBOTS:
        setting = Setting(name, SAMPLES if size.full else size.samples)
        for contest in inverse_dynamics(name, setting):
            yield from contest.figures(size)
        if name in HELD_BY_JOINTS:
            yield from reactions(name, setting).figures(size)
        if name in WITH_MASS:
            yield from forward_dynamics(name, setting).figures(size)


def inverse_dynamics(name: str, setting: Setting) -> Iterator[Contest]:
    """Yield the whole job, from the motion of the platform to forces of actuators, and parts of it by Pinocchio."""
    whole: dict[str, Entry] = {}
    given: dict[str, dict[str, Entry]] = {what: {} for what in GIVEN}
    for engine, tree, way in setting.trees("inverse_dynamics"):
        run = partial(setting.closure.forces, setting.target, None, tree.inverse_dynamics)
        whole[engine] = Entry(run, setting.count, f"{way}; Newton steps, closures and projection in NumPy")
        if engine in OF_PINOCCHIO:
            for what, part in zip(GIVEN, parts(setting, tree.inverse_dynamics, way), strict=True):
                given[what][engine] = part
    job = f"{name}, closed-loop inverse dynamics"
    yield Contest(job, _ours(setting), whole)
    for what, mine in zip(GIVEN, (_ours(setting), *_given(setting)), strict=True):
        if given[what]:
            yield Contest(f"{job}, {what}", mine, given[what])


def parts(setting: Setting, rnea: Rnea, way: str) -> Iterator[Entry]:
    """Yield the parts of the job, by their given inputs."""
    q, closure, target, unit = np.ascontiguousarray(setting.q.T), setting.closure, setting.target, setting.unit
    tree = partial(rnea, setting.q, setting.qd, setting.qdd)
    runs: tuple[tuple[Callable[[], Array], Callable[[Array], Array]], ...] = (
        (partial(closure.forces, target, q, rnea), np.asarray),
        (lambda: closure.projected(tree(), unit), np.asarray),
        (tree, lambda torque: closure.projected(torque, unit)),
    )
    for text, (run, result) in zip(GIVEN.values(), runs, strict=True):
        yield Entry(run, setting.count, text.format(way=way), result)


def _ours(setting: Setting) -> Entry:
    job = Job(setting.robot, setting.repeated(setting.motion), statics=False)
    return Entry(job, job.states, "all of it, compiled kernels", lambda _: job.values["force"][0, :, : setting.count].T)


def _given(setting: Setting) -> tuple[Entry, Entry]:
    """Return limbsweep's forces of actuators, and of the tree alone, from the motion of all joints."""
    robot, motion = setting.robot, setting.repeated(setting.motion)
    made, limbs = request(robot.family, (), TreeMotion(given=True)), range(len(robot.mechanism.instances))
    found = inverse_kinematics(robot, **cast("dict[str, Any]", setting.states))
    joints = JointMotion(position=found.position, velocity=found.velocity, acceleration=found.acceleration)

    def given(tolerance: tuple[float, ...] | None) -> dict[Key, Array]:
        tree = GivenTree.of(robot, joints, tolerance)
        columns = tree.values(robot.mechanism, tree.batch).items()
        return {key: setting.repeated(values) if values.ndim == 3 else values for key, values in columns}

    whole = Job(robot, motion, statics=False, run=stages(made), given=given(TOLERANCE))
    run = [tree_stage(made, k, closed=False) for k in limbs]
    alone = Job(robot, motion, statics=False, run=run, given=given(None))

    def torques(_: Any) -> Array:
        result = np.zeros(found.position.shape)
        for k in limbs:
            values = alone.values[Indexed(FORCE, k)][0, :, : setting.count].T
            result[:, k, : values.shape[1]] = values
        whole()
        platform = whole.values["platform_wrench"][0, :, : setting.count].T
        return setting.closure.projected(setting.skeleton.tree_order(result), setting.unit, platform)

    told = "compiled kernels; not closed, "
    return (
        Entry(whole, whole.states, f"{told}unit rates and projection; closure of all loops checked",
              lambda _: whole.values["force"][0, :, : setting.count].T),
        Entry(alone, alone.states, f"{told}no forces of actuators", torques),
    )  # fmt: skip


def reactions(name: str, setting: Setting) -> Contest:
    """Return the wrenches of all joints of the tree; engines are given the motion of all joints.

    The comparison covers components that statics determines: all of the hexapod, some of the Delta, which is 12 times
    redundant.
    """
    job = Job(setting.robot, setting.repeated(setting.motion), statics=True)
    limbs, joints = ([getattr(body, what) for body in setting.skeleton.bodies] for what in ("limb", "joint"))
    determined = unique(setting.robot)[limbs, joints]

    def ours(_: Any) -> Array:
        parts = [each[0, :, : setting.count].T.reshape(setting.count, -1, 6) for each in job.reactions]
        return np.asarray(np.stack(parts, axis=1)[:, limbs, joints][:, determined])

    closure, others = Closure(setting.skeleton, setting.q, held=False), {}
    q = np.ascontiguousarray(setting.q.T)
    at = placed(setting.skeleton, q)
    turns = np.moveaxis(np.stack(at.rotation), -1, 0)
    for engine, tree, way in setting.trees("reactions"):
        local = engine in OF_PINOCCHIO  # (force, moment) in the axes of the bodies

        def run(tree: Any = tree, local: bool = local) -> Array:
            found = tree.reactions(setting.q, setting.qd, setting.qdd)
            return closure.reactions(q, _in_world(found, turns) if local else found)

        told = f"{way}; closures and their multipliers in NumPy; joint motion given"
        others[engine] = Entry(run, setting.count, told, lambda found: found[:, determined])
    mine = Entry(job, job.states, "all of it, compiled kernels", ours)
    return Contest(f"{name}, closed-loop reactions", mine, others)


def _in_world(found: Array, turns: Array) -> Array:
    force, moment = (np.matmul(turns, part[..., None])[..., 0] for part in np.split(found, 2, axis=2))
    return np.concatenate([moment, force], axis=2)


def forward_dynamics(name: str, setting: Setting) -> Contest:
    """Compare the platform's accelerations from actuator forces; engines are given joint positions and rates."""
    robot, model = setting.robot, Model(setting.robot, GRAVITY)
    job = Job(robot, setting.motion, statics=False)
    job()
    few, force_of_few = setting.motion, job.values["force"]
    motion, force = setting.repeated(few), setting.repeated(force_of_few)
    load = model.unloaded(motion)[None]

    def in_strips() -> None:
        for place, part, seen in model.strips(motion):
            part.acceleration(seen, part.shares(seen), force[..., place], load[..., place])

    mine = Entry(
        in_place(in_strips),
        motion.shape[-1],
        "all of it, inverse kinematics as well; compiled kernels",
        lambda _: model.acceleration(few, model.shares(few), force_of_few, load[..., : setting.count])[0].T,
    )
    actuated = np.ascontiguousarray(job.values["force"][0].T)
    others = {
        engine: Entry(partial(tree.closed_loops(setting.closure), setting.q, setting.qd, actuated), setting.count, way)
        for engine, tree, way in setting.trees("closed_loops")
    }
    return Contest(f"{name}, closed-loop forward dynamics", mine, others, tolerance=1e-6)
