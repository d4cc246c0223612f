"""Redundancy resolution: independent joints that a posture or tasks decide, for one traced sample.

A redundant chain has freedoms s beside the freedoms x that its motion gives. All joints are theta(x, s), with the
columns H_s of the embedding. The freedoms s minimize the distance from the posture p, with weights W:

    g(x, s) = H_s^T W (theta - p) = 0,    A = dg/ds positive definite

or they fulfil as many tasks, phi(theta) = b. These are the conditions of Karush, Kuhn and Tucker after the closures
have been solved. They belong to a pose, not to a path to it, so that samples do not depend on each other. Rates and
accelerations of s follow exactly from g = 0:

    s' = -A^-1 dg/dx x',    s'' = -A^-1 (d2g/dt2 at s'' = 0)

Where theta = p this s' is the weighted pseudo-inverse. Sources: Baillieul 1985 for the conditions (extended Jacobian);
Seraji 1989 for tasks; Nakamura 1991, section 4.2, for weighted pseudo-inverses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from robots.data_classes import dataclass, replace
from robots.redundancy import RestPosture
from robots.status import Status
from tasks.features.redundancy.posture import Departure, FreeJoints, PostureBesideTasks, TaskRows, condition
from tasks.kernels.expression import ABSENT, Array, Dual, Mask, Scalar
from tasks.mathematics.algebra import array, every, iterate, largest, opposite, total, where
from tasks.mechanics import chain
from tasks.mechanics.chain import STEP_LIMIT, Chain
from tasks.mechanics.kinematics import HOME, JointState, Pose, SpatialMotion, state_at, unpacked
from tasks.mechanics.limb_motion import Mounted, Solved
from tasks.mechanics.loops import Embedding
from tasks.mechanics.solving import mounted_limb
from tasks.mechanics.structure import Structure
from tasks.mechanics.tolerances import CONVERGED
from tasks.stages.parts import LimbSolver, SolvedLimb
from tasks.stages.request import Feature, Request

ITERATIONS = 800
CALM = 0.05
"""Longest step of a free joint [rad, or relative to the chain] with which the given coordinates continue to move."""
TURNING = 2.0
"""Factor by which steps are shorter with tasks, whose rows turn on the way."""
SETTLED = Dual(1e-7, 1e-3)
"""Longest step of a free joint [rad, or relative to the chain] after which one more step is exact to rounding."""
LEAST = Dual(1e-9, 1e-4)
"""Longest next step [rad, or relative to the chain] with which a sample counts as solved."""
APART = Dual(1e-7, 1e-3)
"""Difference of cosines, sines and displacements, relative to the chain, up to which two solutions count as equal."""


@dataclass(frozen=True)
class Redundancy(Feature):
    """Resolution of a redundant chain whose `motion` gives some joints; nothing is resolved if it gives all."""

    resolved: bool = False

    def solver(self, request: Request) -> LimbSolver | None:
        """Return the search for the other joints."""
        return GivenJoints() if self.resolved else None


@dataclass(frozen=True)
class GivenJoints(LimbSolver):
    """The way from a motion of given joints and tasks to all joints of a chain, see `Resolution`."""

    motion: ClassVar[str] = "resolved_motion"

    def size(self, structure: Structure) -> int:
        """Return the length of the input `motion`."""
        return 3 * len(structure.mechanism.given)

    def solve(self, structure: Structure, limb_index: int, inputs: Mapping[str, Array]) -> SolvedLimb:
        """Return the solved chain."""
        signals = inputs.get("signals", ABSENT)
        return solved_limb(structure, inputs["parameters"], inputs["mount"], inputs["motion"], signals)


def solved_limb(
    structure: Structure, parameters: Array, mount: Array, motion: Array, signals: Array = ABSENT
) -> tuple[Mounted, Solved, Pose, SpatialMotion, Array]:
    """Return a redundant chain solved for the motion of its given freedoms (3 given,): as `solving.solved_limb`.

    The last value is the motion vector of all its freedoms. All inputs are traced. Status NOT_CONVERGED: no least
    distance was reached, or tasks are not fulfilled; SINGULAR: the distance has no minimum, or tasks do not determine
    the free joints; WRONG_BRANCH: the chain is in another assembly, or a singularity of the tasks lies between it and
    the reference configuration.
    """
    mounted, _, pose, moving = mounted_limb(structure, 0, parameters, mount, motion, signals)
    posture = mounted.limb.posture
    assert isinstance(mounted, Chain)
    assert posture is not None
    problem = Resolution(mounted, posture)
    (x, b), (rates, tasks), (accelerations, seconds) = map(problem.parts, np.split(motion, 3))
    states, s, settled = problem.positions(x, problem.values(b))
    near = problem.free_joints(states, problem.joined(x, s), problem.values(b))
    first = near.rates(problem.columns(rates), problem.changes(tasks))
    second = near.accelerations(problem.columns(rates), first, problem.columns(accelerations), problem.changes(seconds))
    parts = ((x, s), (rates, first * problem.units), (accelerations, second * problem.units))
    whole = array([x for part in parts for x in problem.joined(*part)])
    solved = chain.solve(mounted, *np.split(whole, 3))
    apart = total(problem.difference(states, solved.states))
    status: Scalar = where(apart <= APART, float(Status.OK), float(Status.WRONG_BRANCH))
    if posture.tasks:
        status = where(problem.turned_over(near), float(Status.WRONG_BRANCH), status)
    status = where(near.regular, status, float(Status.SINGULAR))
    missed = problem.longest(near, near.step(None, np.zeros(len(posture.tasks))))
    status = where(every([settled, missed <= LEAST]), status, float(Status.NOT_CONVERGED))
    status = where(solved.status > 0.5, solved.status, status)
    return mounted, replace(solved, status=status), pose, moving, whole


@dataclass(frozen=True)
class Resolution:
    """The search for the least distance of a chain from its posture, or for where its tasks hold."""

    chain: Chain
    posture: RestPosture

    @cached_property
    def resolved(self) -> tuple[int, ...]:
        """Joints of the tree that the posture decides, in their order among the independent ones."""
        mine = {self.chain.limb.index(name) for name in self.posture.resolved}
        return tuple(joint for joint in self.chain.choice.independent if joint in mine)

    @cached_property
    def given(self) -> tuple[int, ...]:
        """The other independent joints."""
        return tuple(joint for joint in self.chain.choice.independent if joint not in self.resolved)

    @cached_property
    def size(self) -> Scalar:
        """A length of the chain [m], of which displacements are parts."""
        return chain.loop_size(self.chain.tips([HOME] * len(self.chain.limb.links)))

    @cached_property
    def scale(self) -> Array:
        """Factors (joint of the tree,) that make displacements relative to the size."""
        part = 1.0 / self.size
        return array([1.0 if link.joint_kind.turns else part for link in self.chain.limb.links])

    @cached_property
    def task_scale(self) -> Array:
        """Factors (task,) that make tasks as large as the angles and relative displacements of their joints."""
        still = dict.fromkeys(self.chain.choice.independent, 0.0)
        states = [HOME] * len(self.chain.limb.links)
        conditions = [condition(task, self.chain.limb, states, still) for task in self.posture.tasks]
        return array([1.0 if entry.angle else 1.0 / total(entry.gradient / self.scale) for entry in conditions])

    @cached_property
    def units(self) -> Array:
        """Units of the resolved joints (resolved,): 1 rad, or the size."""
        turns = (self.chain.limb.links[joint].joint_kind.turns for joint in self.resolved)
        return array([1.0 if turning else self.size for turning in turns])

    def longest(self, near: FreeJoints, step: Array) -> Scalar:
        """Return the longest step of a joint [rad, or relative to the size] in a step of the resolved joints."""
        return largest(near.moved(step) * self.scale)

    def difference(self, one: Sequence[JointState], other: Sequence[JointState]) -> list[Scalar]:
        """Return the differences of cosines, sines, and displacements relative to the size, of all joints."""
        joints = zip(self.chain.limb.links, one, other, self.scale, strict=True)
        return [
            (x - y) * part for link, a, b, part in joints for x, y in zip(a.packed(link), b.packed(link), strict=True)
        ]

    def parts(self, motion: Array) -> tuple[Array, Array]:
        """Split a motion vector into values of the given joints and values of the tasks."""
        return motion[: len(self.given)], motion[len(self.given) :]

    def changes(self, stated: Array) -> Array:
        """Return the rates or accelerations of all tasks, zero for tasks with a value."""
        values = iter(stated)
        return array([next(values) if task.value is None else 0.0 for task in self.posture.tasks])

    def joined(self, stated: Array, resolved: Array) -> list[Scalar]:
        """Return the values of the independent joints in their order."""
        values = dict(zip((*self.given, *self.resolved), (*stated, *resolved), strict=True))
        return [values[joint] for joint in self.chain.choice.independent]

    def columns(self, stated: Array) -> Array:
        """Return values of the given joints as values of all independent joints, with zero for resolved joints."""
        return array(self.joined(stated, np.zeros(len(self.resolved))))

    def free_joints(
        self, states: Sequence[JointState], independent: Sequence[Scalar], wanted: Sequence[Scalar]
    ) -> FreeJoints:
        """Return the free joints, and their posture and tasks at these states; independent joints count all turns.

        `wanted` are values of the tasks.
        """
        limb, posture = self.chain.limb, self.posture
        values = dict(zip(self.chain.choice.independent, independent, strict=True))
        weights, distance = self._distance(states, values)
        here = (self.chain, Embedding.of(limb, self.chain.choice, states), states, self.resolved, self.units)
        departure = Departure(*here, weights, distance)
        if not posture.tasks:
            return departure
        conditions = tuple(condition(task, limb, states, values) for task in posture.tasks)
        left = [entry.left(value) for entry, value in zip(conditions, wanted, strict=True)]
        tasks = TaskRows(*here, conditions, array(left))
        return PostureBesideTasks(*here, departure, tasks) if posture.joints else tasks

    def _distance(self, states: Sequence[JointState], values: Mapping[int, Scalar]) -> tuple[Array, Array]:
        """Return the weights of the joints, and their weighted distances from the posture."""
        limb = self.chain.limb
        count = len(limb.links)
        weights = np.array(np.zeros(count), dtype=object)
        distance = np.array(np.zeros(count), dtype=object)
        for name, place, weight in zip(self.posture.joints, self.posture.positions, self.posture.weights, strict=True):
            joint = limb.index(name)
            at = values[joint] if joint in values else states[joint].position(limb.links[joint])
            weights[joint] = weights[joint] + weight
            distance[joint] = distance[joint] + (at - place) * weight
        return array(weights), array(distance)

    def values(self, stated: Array) -> list[Scalar]:
        """Return the values of all tasks; tasks without a value take the next of `stated`."""
        given = iter(stated)
        return [next(given) if task.value is None else task.value for task in self.posture.tasks]

    @cached_property
    def at_start(self) -> FreeJoints:
        """The joints that are free at the reference configuration, with tasks that want zero."""
        still = self.joined(np.zeros(len(self.given)), np.zeros(len(self.resolved)))
        return self.free_joints([HOME] * len(self.chain.limb.links), still, [0.0] * len(self.posture.tasks))

    def turned_over(self, near: FreeJoints) -> Mask:
        """Return whether tasks without posture have a singularity between the reference configuration and here."""
        start = self.at_start
        return isinstance(near, TaskRows) and isinstance(start, TaskRows) and near.turned_over(start)

    def _ways(self, wanted: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        """Return the tasks' values at the reference configuration and the wanted ones, angles by the shorter way."""
        if not self.posture.tasks:
            return [], []
        values = [HOME] * len(self.chain.limb.links), dict.fromkeys(self.chain.choice.independent, 0.0)
        starts = [condition(task, self.chain.limb, *values) for task in self.posture.tasks]
        return [entry.value for entry in starts], [
            entry.value + entry.left(value) for entry, value in zip(starts, wanted, strict=True)
        ]

    def positions(self, stated: Array, wanted: Sequence[Scalar]) -> tuple[list[JointState], Array, Mask]:
        """Return states of all joints that meet posture and tasks, the resolved joints, and whether they were reached.

        The given coordinates and the values of tasks move in a straight line from the reference configuration, in steps
        that keep the posture near its least distance and tasks near their values.
        """
        limb, links = self.chain.limb, self.chain.limb.links
        enough = CONVERGED * self.size
        targets = [
            value if limb.winds else chain.within_turn(links[joint], value)
            for joint, value in zip(self.given, stated, strict=True)
        ]
        starts, ends = self._ways(wanted)
        search = _Search(self, targets, ends, enough)
        first = [x for joint in search.dependent for x in HOME.packed(links[joint])]
        first += [*([0.0] * (len(self.given) + len(self.resolved))), *starts]
        with np.errstate(invalid="ignore", divide="ignore"):  # constants are computed while this is traced
            begun = search.step([*first, np.inf, np.inf])[0]
        *flat, open_by, length = iterate(search.step, begun, ITERATIONS)
        states, _, s, _ = search.unpacked(flat)
        for joint, value in zip(self.given, stated, strict=True):
            states[joint] = state_at(links[joint], value)
        return states, array(s), every([open_by <= enough, length <= SETTLED])


@dataclass(frozen=True)
class _Search:
    """A search from the reference configuration: `targets` of given coordinates, `ends` of tasks, closure to `enough`.

    Its state in numbers: dependent joints, given and resolved joints so far, tasks so far.
    """

    problem: Resolution
    targets: Sequence[Scalar]
    ends: Sequence[Scalar]
    enough: Scalar

    @cached_property
    def dependent(self) -> list[int]:
        """Joints that follow from the independent ones."""
        return [joint for cluster in self.problem.chain.choice.clusters for joint in cluster.dependent]

    def unpacked(self, flat: Sequence[Scalar]) -> tuple[list[JointState], list[Scalar], list[Scalar], list[Scalar]]:
        """Return states of all joints, given and resolved coordinates, and values of tasks from a state."""
        problem, links = self.problem, self.problem.chain.limb.links
        values, states = iter(flat), [HOME] * len(links)
        for joint in self.dependent:
            states[joint] = unpacked(links[joint], values)
        reached, s = [next(values) for _ in problem.given], [next(values) for _ in problem.resolved]
        for joint, value in zip((*problem.given, *problem.resolved), (*reached, *s), strict=True):
            states[joint] = state_at(links[joint], value)
        return states, reached, s, [next(values) for _ in self.ends]

    def step(self, flat: Sequence[Scalar]) -> tuple[list[Scalar], Mask]:
        """Return the state after a step, its open residuals, the length of the change, and whether it is the last."""
        states, reached, s, aims = self.unpacked(flat)
        problem = self.problem
        near = problem.free_joints(states, problem.joined(array(reached), array(s)), aims)
        closing = near.embedding.correction()
        calm = problem.longest(near, near.step(closing, np.zeros(len(self.ends)))) <= CALM
        left = [target - value for target, value in zip(self.targets, reached, strict=True)]
        whole, ahead, longest = self._ahead(near, left, aims)
        close = opposite(longest > STEP_LIMIT)
        share = where(calm, where(close, 1.0, STEP_LIMIT / where(close, STEP_LIMIT, longest)), 0.0)
        caused = whole * share + closing
        change = near.step(caused, array([rest * share for rest in ahead]))
        length = problem.longest(near, change)
        short = opposite(length > STEP_LIMIT)
        change = change * where(short, 1.0, STEP_LIMIT / where(short, STEP_LIMIT, length))
        following = self._moved(states, caused + near.moved(change))
        arrived = every([calm, close])
        following += _towards(arrived, share, self.targets, reached, left)
        following += [value + part for value, part in zip(s, change * problem.units, strict=True)]
        following += _towards(arrived, share, self.ends, aims, ahead)
        ways = [gap * problem.scale[joint] for joint, gap in zip(problem.given, left, strict=True)]
        remaining = [*ways, *(array(ahead) * problem.task_scale)]
        open_by = total([*near.embedding.residuals(problem.size), *(x * problem.size for x in remaining)])
        # NaN counts as done: it will not get better
        return [*following, open_by, length], every([opposite(open_by > self.enough), opposite(length > SETTLED)])

    def _ahead(
        self, near: FreeJoints, left: Sequence[Scalar], aims: Sequence[Scalar]
    ) -> tuple[Array, list[Scalar], Scalar]:
        """Return the remaining ways of all joints and of tasks, and the longest of them."""
        place = {joint: k for k, joint in enumerate(self.problem.chain.choice.independent)}
        moves = np.array(np.zeros(len(place)), dtype=object)
        for joint, value in zip(self.problem.given, left, strict=True):
            moves[place[joint]] = value
        whole = near.embedding.matrix @ array(moves)
        ahead = [end - aim for end, aim in zip(self.ends, aims, strict=True)]
        scale = self.problem.scale
        longest = largest(whole * scale)
        if self.ends:  # for tasks, free joints may move further than given joints
            carried = near.moved(near.rates(array(moves), array(ahead)))
            tasks = array(ahead) * self.problem.task_scale
            longest = largest([*((whole + carried) * scale), *tasks]) * TURNING
        return whole, ahead, longest

    def _moved(self, states: Sequence[JointState], steps: Array) -> list[Scalar]:
        """Return the numbers of the dependent joints after a step of all joints."""
        links = self.problem.chain.limb.links
        moved = {joint: states[joint].moved(links[joint], steps[joint]) for joint in self.dependent}
        return [x for joint in self.dependent for x in moved[joint].packed(links[joint])]


def _towards(
    arrived: Mask, share: Scalar, ends: Sequence[Scalar], values: Sequence[Scalar], ways: Sequence[Scalar]
) -> list[Scalar]:
    """Return values moved by a share of their ways, or at their ends if they arrive."""
    moved = zip(ends, values, ways, strict=True)
    return [where(arrived, end, value + way * share) for end, value, way in moved]
