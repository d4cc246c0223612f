"""Posture and tasks of a redundant chain at one configuration: conditions on the joints that its pose leaves free.

All joints are theta(x, s), with the columns H_s of the embedding. The distance from the posture p, with weights W, is
least where g = H_s^T W (theta - p) = 0 and A = dg/ds is positive definite. Second derivatives of theta come from the
drift, which is bilinear in the rates; third derivatives are derivatives of traced values.

Tasks are conditions phi(theta) = b with values, gradients and the part of accelerations that comes from rates: the
second derivative of a condition along a motion is gradient @ theta'' + bend(theta'). They have the rows
G = (d phi / d theta) H_s. As many tasks as free joints give s' = G^-1 (b' - the rate of phi at s' = 0). Source: Seraji
1989, configuration control; fewer conditions than joints leave the part that G^+ does not reach.

A posture beside fewer tasks than free joints is the least distance where the tasks hold. With slopes g and curvature A
of the distance, the conditions of Karush, Kuhn and Tucker are g + G^T lambda = 0 and phi = b. Newton's step for the
remaining error r of the tasks is

    ds = G^+ r - T (g + A G^+ r),    T = P (P A P + c (1 - P))^-1 P,    P = 1 - G^+ G

with A of the Lagrangian, where lambda = -(G^+)^T g. Tasks that are not linear add lambda times their own curvature to
A, and its derivatives to accelerations. Source: Nocedal, Wright 2006, sections 16.2 and 18.3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import matmul, mul
from typing import Any

import numpy as np

from robots.data_classes import dataclass, replace
from robots.model import Limb
from robots.redundancy import ArmAngle, LinearTask, Task
from robots.status import Status
from tasks.kernels.expression import ZERO, Array, Dual, Expression, Mask, Scalar
from tasks.kernels.tangent import tangent
from tasks.mathematics.algebra import array, atan2, cross, either, every, sincos, sqrt, total, where
from tasks.mathematics.systems import determinant, inverse, pseudo_inverse
from tasks.mechanics.chain import Chain
from tasks.mechanics.equations import state_seeds
from tasks.mechanics.kinematics import JointState, columns, motions, path, poses
from tasks.mechanics.limb_motion import Solved
from tasks.mechanics.loops import Embedding

LEVEL = Dual(1e-6, 1e-3)
"""Product of the sines of elbow and reference with the line from shoulder to wrist up to which there is no angle."""

Jet = tuple[Any, Any, Any]
"""A value and its first and second derivative over time."""


@dataclass(frozen=True)
class Condition:
    """`value`, its `gradient` over the joints of the tree, `bend` of rates; `defined`: whether it has a value."""

    value: Scalar
    gradient: Array
    bend: Callable[[Array], Scalar]
    defined: Mask = True
    angle: bool = False

    def bent(self, one: Array, other: Array) -> Scalar:
        """Return the bilinear form of `bend` for two rates: half of `bend` of their sum less `bend` of each."""
        if one is other:
            return self.bend(one)
        return (self.bend(one + other) - self.bend(one) - self.bend(other)) * 0.5

    def left(self, wanted: Scalar) -> Scalar:
        """Return the difference to a wanted value; that of an angle is within half a turn."""
        if not self.angle:
            return wanted - self.value
        (sine, cosine), (mine, beside) = sincos(wanted), sincos(self.value)
        return atan2(sine * beside - cosine * mine, cosine * beside + sine * mine)


def condition(task: Task, limb: Limb, states: Sequence[JointState], positions: Mapping[int, Scalar]) -> Condition:
    """Return a task at these states; `positions` are positions of joints that count all their turns."""
    return _linear(task, limb, states, positions) if isinstance(task, LinearTask) else _arm_angle(task, limb, states)


def _linear(task: LinearTask, limb: Limb, states: Sequence[JointState], positions: Mapping[int, Scalar]) -> Condition:
    gradient = np.array(np.zeros(len(limb.links)), dtype=object)
    value: Scalar = 0.0
    for name, coefficient in zip(task.joints, task.coefficients, strict=True):
        joint = limb.index(name)
        at = positions[joint] if joint in positions else states[joint].position(limb.links[joint])
        gradient[joint] = gradient[joint] + coefficient
        value = value + at * coefficient
    return Condition(value, array(gradient), lambda rates: 0.0)


def _arm_angle(task: ArmAngle, limb: Limb, states: Sequence[JointState]) -> Condition:
    """Return the arm angle, e and u from shoulder to elbow, wrist: of y / x with x^2 + y^2 = (|e x u| |u x v|)^2."""
    links, at = limb.links, poses(limb.links, states)
    shoulder, elbow, wrist = (limb.index(name) for name in task.joints)
    v = array(task.reference)
    e, u = (at[body].position - at[shoulder].position for body in (elbow, wrist))
    x, y = _components((e, np.zeros(3), np.zeros(3)), (u, np.zeros(3), np.zeros(3)), v)
    square: Scalar = x[0] * x[0] + y[0] * y[0]
    w, n = u @ u, sqrt(u @ u)
    plane = cross(u, v)
    by_elbow = (plane * (n * x[0]) - (v * w - u * (u @ v)) * y[0]) * (1.0 / square)
    x_wrist = u * (2.0 * (e @ v)) - e * (u @ v) - v * (e @ u)
    y_wrist = cross(v, e) * n + u * ((e @ plane) / n)
    by_wrist = (y_wrist * x[0] - x_wrist * y[0]) * (1.0 / square)
    gradient = np.array(np.zeros(len(links)), dtype=object)
    for body, by_point in ((elbow, by_elbow), (wrist, by_wrist), (shoulder, -by_elbow - by_wrist)):
        for joint, (_, velocity) in columns(links, at, path(links, body), at[body].position).items():
            gradient[joint] = gradient[joint] + by_point @ velocity

    def bend(rates: Array) -> Scalar:
        moving = motions(links, at, rates)
        base = moving[shoulder]
        pair = [(part, moving[k].v - base.v, moving[k].a - base.a) for part, k in ((e, elbow), (u, wrist))]
        (x0, x1, x2), (y0, y1, y2) = _components(pair[0], pair[1], v)
        turned = (x0 * y1 - y0 * x1) / square
        result: Scalar = (x0 * y2 - y0 * x2) / square - turned * ((x0 * x1 + y0 * y1) / square) * 2.0
        return result

    sides = (e @ e) * (w * w) * (v @ v)
    return Condition(atan2(y[0], x[0]), array(gradient), bend, square > sides * LEVEL * LEVEL, angle=True)


def _components(e: Jet, u: Jet, v: Array) -> tuple[Jet, Jet]:
    """Return |u|^2 times the components of e along the part of v across u, and |u| times those along u x v."""
    square, still = _product(matmul, u, u), (v, np.zeros(3), np.zeros(3))
    far, near = (
        _product(mul, *pair)
        for pair in (
            (_product(matmul, e, still), square),
            (_product(matmul, e, u), _product(matmul, u, still)),
        )
    )
    size = sqrt(square[0])
    rate = square[1] / size * 0.5
    length = (size, rate, (square[2] * 0.5 - rate * rate) / size)
    y = _product(mul, length, _product(matmul, e, _product(cross, u, still)))
    return (far[0] - near[0], far[1] - near[1], far[2] - near[2]), y


def _product(times: Callable[[Any, Any], Any], a: Jet, b: Jet) -> Jet:
    """Return a product of two values that change."""
    return (
        times(a[0], b[0]),
        times(a[1], b[0]) + times(a[0], b[1]),
        (times(a[2], b[0]) + times(a[1], b[1]) * 2.0 + times(a[0], b[2])),
    )


@dataclass(frozen=True)
class FreeJoints(ABC):
    """The joints `resolved` of a chain at one configuration, and their posture and tasks.

    Vectors are over the joints of the tree; `aimed` and `wanted` over tasks, of which a posture has none. Steps, rates
    and accelerations of the resolved joints are in their `units`, so that slides are as large as angles.
    """

    limb: Chain
    embedding: Embedding
    states: Sequence[JointState]
    resolved: tuple[int, ...]
    units: Array

    @cached_property
    def ways(self) -> list[Array]:
        """H_s: rates of all joints by the rate of each resolved joint."""
        place = {joint: k for k, joint in enumerate(self.embedding.choice.independent)}
        pairs = zip(self.resolved, self.units, strict=True)
        return [self.embedding.matrix[:, place[joint]] * unit for joint, unit in pairs]

    def moved(self, step: Array) -> Array:
        """Compute the displacements of all joints for a step of the resolved joints."""
        return sum((way * value for way, value in zip(self.ways, step, strict=True)), start=np.zeros(len(self.states)))

    def tree(self, rates: Array) -> Array:
        """Return the rates of all joints from the rates of the independent joints."""
        return self.embedding.matrix @ rates

    def bent(self, one: Array, other: Array) -> Array:
        """Return the accelerations of all joints that are bilinear in two rates: half of the mixed term."""
        drift = self.embedding.drift
        if one is other:
            return drift(one)
        return (drift(one + other) - drift(one) - drift(other)) * 0.5

    def pairs(self, free: Array, resolved: Array) -> list[tuple[Scalar, Array, Array]]:
        """Expand a bilinear form of the joint rates into a sum over pairs of rates, each with its share.

        The rates are `free` plus those that the `resolved` rates cause. No pair contains the rates of the resolved
        joints, so its derivative along a joint holds them constant.
        """
        result: list[tuple[Scalar, Array, Array]] = [(1.0, free, free)]
        for k, (way, rate) in enumerate(zip(self.ways, resolved, strict=True)):
            result.append((rate * 2.0, free, way))
            for other, another in zip(self.ways[: k + 1], resolved, strict=False):
                result.append((rate * another * (1.0 if other is way else 2.0), way, other))
        return result

    def seeds(self, way: Array) -> dict[Expression, Scalar]:
        """Return the rates of the joint states, by symbol, where all joints move at the rates `way`."""
        tips = self.limb.tips(self.states)
        moving = Solved(tips, self.states, way, np.zeros(len(self.states)), float(Status.OK))
        return state_seeds(self.limb, moving)

    @property
    @abstractmethod
    def regular(self) -> Mask:
        """Return whether the resolved joints are determined."""

    @abstractmethod
    def step(self, caused: Array | None, aimed: Array) -> Array:
        """Return Newton's step of the resolved joints; joints also move by `caused`, and tasks by `aimed`."""

    @abstractmethod
    def rates(self, stated: Array, wanted: Array) -> Array:
        """Return s' from rates of the independent joints, zero if resolved, and rates of tasks."""

    @abstractmethod
    def accelerations(self, rates: Array, resolved: Array, stated: Array, wanted: Array) -> Array:
        """Return s'' from rates and accelerations of the independent joints, zero if resolved, s', and tasks."""


FLAT = Dual(1e-6, 1e-3)
"""Pivot of A, relative to the pivot of H_s^T W H_s, up to which the distance has no minimum."""


@dataclass(frozen=True)
class Departure(FreeJoints):
    """Distance of the joints from a posture, with its slopes and curvature."""

    weights: Array
    distance: Array

    @cached_property
    def slopes(self) -> Array:
        """g (resolved,)."""
        return array([self.distance @ way for way in self.ways])

    def along(self, rates: Array) -> Array:
        """Compute the rate of g for given rates of all joints, which need not close the loops."""
        return array([(self.weights * rates) @ way + self.distance @ self.bent(way, rates) for way in self.ways])

    @cached_property
    def curvature(self) -> Array:
        """A (resolved, resolved)."""
        return array(np.stack([self.along(way) for way in self.ways], axis=1))

    @cached_property
    def stiffness(self) -> Array:
        """H_s^T W H_s, which is A without curvature of the ways."""
        return array([[(self.weights * one) @ other for other in self.ways] for one in self.ways])

    @cached_property
    def regular(self) -> Mask:
        """Return whether A is positive definite, judged by its pivots."""
        pairs = zip(pivots(self.curvature), pivots(self.stiffness), strict=True)
        return every([pivot > FLAT * size for pivot, size in pairs])

    @cached_property
    def answer(self) -> Array:
        """The inverse of A; if A leads to no minimum, of a matrix that leads downhill; zero where none does."""
        unit, shape = np.eye(len(self.ways)), self.curvature.shape
        firm = every([pivot > 0.0 for pivot in pivots(self.stiffness)])
        triples = zip(self.curvature.ravel(), self.stiffness.ravel(), unit.ravel(), strict=True)
        chosen = [where(self.regular, curved, where(firm, stiff, one)) for curved, stiff, one in triples]
        back = inverse(array(chosen).reshape(shape))
        known = either(self.regular, firm)
        return array([where(known, value, 0.0) for value in back.ravel()]).reshape(shape)

    def step(self, caused: Array | None, aimed: Array) -> Array:
        """Return Newton's step of the resolved joints; joints also move by `caused`."""
        slopes = self.slopes if caused is None else self.slopes + self.along(caused)
        return -(self.answer @ slopes)

    def rates(self, stated: Array, wanted: Array) -> Array:
        """Return s' from rates of the independent joints, zero if resolved."""
        return -(self.answer @ self.along(self.tree(stated)))

    def accelerations(self, rates: Array, resolved: Array, stated: Array, wanted: Array) -> Array:
        """Return s'' from rates and accelerations of the independent joints, zero if resolved, and s'."""
        return -(self.answer @ self.bending(rates, resolved, stated))

    def bending(self, rates: Array, resolved: Array, stated: Array, pulled: Array | None = None) -> Array:
        """Return the second derivative of g at s'' = 0; `pulled`: change of the distance in addition to the motion."""
        free = self.tree(rates)
        moving = free + self.moved(resolved)
        drift, slopes = self.embedding.drift(moving), self.along(self.tree(stated))
        parts = [(share, self.bent(one, other)) for share, one, other in self.pairs(free, resolved)]
        result = []
        for way, value in zip(self.ways, slopes, strict=True):
            seeds = self.seeds(way)
            change = sum((array(tangent(list(part), seeds)) * share for share, part in parts), start=ZERO)
            changed = self.weights * moving if pulled is None else self.weights * moving + pulled
            direct = (self.weights * drift) @ way + changed @ self.bent(way, moving) * 2.0
            result.append(value + direct + self.distance @ change)
        return array(result)


def pivots(matrix: Array) -> list[Scalar]:
    """Return the pivots of a symmetric matrix, without exchanges, in their order."""
    rest, result = [list(row) for row in matrix], []
    for k in range(len(rest)):
        pivot = rest[k][k]
        result.append(pivot)
        for i in range(k + 1, len(rest)):
            share = rest[i][k] / pivot
            for j in range(k + 1, len(rest)):
                rest[i][j] = rest[i][j] - share * rest[k][j]
    return result


DEPENDENT = Dual(1e-6, 1e-3)
"""Volume of the rows G, relative to the volume of their parts without cancellation, up to which G is singular."""


@dataclass(frozen=True)
class TaskRows(FreeJoints):
    """Conditions on joints, and the distance `left` of each to its target."""

    conditions: tuple[Condition, ...]
    left: Array

    @cached_property
    def matrix(self) -> Array:
        """G (condition, resolved)."""
        return array([[entry.gradient @ way for way in self.ways] for entry in self.conditions])

    @cached_property
    def regular(self) -> Mask:
        """Return whether the rows are independent and defined, so that the free joints can meet the conditions."""
        box: Scalar = DEPENDENT * DEPENDENT
        for entry in self.conditions:
            parts = [part * part for way in self.ways for part in entry.gradient * way]
            box = sum(parts) * box
        size = determinant(self.matrix @ self.matrix.T)
        return every([size > box, *(entry.defined for entry in self.conditions)])

    @cached_property
    def answer(self) -> Array:
        """G^+ (resolved, condition): the inverse of G, or with fewer rows its right inverse; zero where it has none."""
        rows, columns = self.matrix.shape
        back = inverse(self.matrix) if rows == columns else pseudo_inverse(self.matrix.T).T
        return array([where(self.regular, value, 0.0) for value in back.ravel()]).reshape(columns, rows)

    def caused(self, rates: Array) -> Array:
        """Return the rates of the conditions from those of all joints."""
        return array([entry.gradient @ rates for entry in self.conditions])

    def step(self, caused: Array | None, aimed: Array) -> Array:
        """Return Newton's step of the resolved joints; joints also move by `caused`, and values by `aimed`."""
        wanted = self.left + aimed
        return self.answer @ (wanted if caused is None else wanted - self.caused(caused))

    def rates(self, stated: Array, wanted: Array) -> Array:
        """Return s' from rates of the independent joints, zero if resolved, and rates of the values."""
        return self.answer @ (wanted - self.caused(self.tree(stated)))

    def accelerations(self, rates: Array, resolved: Array, stated: Array, wanted: Array) -> Array:
        """Return s'' from rates and accelerations of the independent joints and of the values, and s'."""
        moving = self.tree(rates) + self.moved(resolved)
        second = self.tree(stated) + self.embedding.drift(moving)
        bent = array([entry.bend(moving) for entry in self.conditions])
        return self.answer @ (wanted - bent - self.caused(second))

    def pull(self, forces: Array) -> Array:
        """Compute the generalised forces along the joints that forces along the conditions cause."""
        return sum(
            (entry.gradient * force for entry, force in zip(self.conditions, forces, strict=True)),
            start=np.zeros(len(self.states)),
        )

    def turned_over(self, start: TaskRows) -> Mask:
        """Return whether the tasks have passed a singularity since `start`.

        False where there are fewer conditions than joints: such tasks are not checked.
        """
        if len(self.conditions) < len(self.ways):
            return False
        return determinant(self.matrix) * determinant(start.matrix) < 0.0


@dataclass(frozen=True)
class PostureBesideTasks(FreeJoints):
    """The distance from a posture, and tasks that hold."""

    distance: Departure
    tasks: TaskRows

    @cached_property
    def _forces(self) -> Array:
        """lambda, the forces that hold the tasks."""
        return -(self.tasks.answer.T @ self.distance.slopes)

    @cached_property
    def _pulled(self) -> Departure:
        """The distance with the forces that hold the tasks: the slopes of the Lagrangian."""
        return replace(self.distance, distance=self.distance.distance + self.tasks.pull(self._forces))

    def _along(self, rates: Array) -> Array:
        """Compute the rate of the slopes of the Lagrangian for given rates of all joints and constant forces."""
        return self._pulled.along(rates) + self._bent(self._forces, rates)

    def _bent(self, forces: Array, rates: Array) -> Array:
        """Project forces of the tasks onto the free joints, by the change of the task rows at rates of all joints."""
        pairs = list(zip(self.tasks.conditions, forces, strict=True))
        return array([sum(entry.bent(way, rates) * force for entry, force in pairs) for way in self.ways])

    @cached_property
    def _lagrangian(self) -> Array:
        """A of the Lagrangian."""
        return array(np.stack([self._along(way) for way in self.ways], axis=1))

    @cached_property
    def _within(self) -> Array:
        """P: the part of a step that does not change the tasks."""
        return np.eye(len(self.ways)) - self.tasks.answer @ self.tasks.matrix

    def _bordered(self, curvature: Array) -> Array:
        """Return a matrix along P, and across P the mean curvature of the distance, which makes it regular."""
        inside, across = self._within, array(np.eye(len(self.ways)) - self._within)
        return inside @ curvature @ inside + across * (np.trace(self.distance.stiffness) / len(self.ways))

    @cached_property
    def _definite(self) -> Mask:
        pairs = [pivots(self._bordered(matrix)) for matrix in (self._lagrangian, self.distance.stiffness)]
        return every([pivot > FLAT * size for pivot, size in zip(*pairs, strict=True)])

    @property
    def regular(self) -> Mask:
        """Return whether the tasks are independent and the curvature is positive definite where they hold."""
        return every([self.tasks.regular, self._definite])

    @cached_property
    def _curvature(self) -> Array:
        """A; if A leads to no minimum, a matrix that leads downhill, as stiff as A in its stiffest direction."""
        stiff = self.distance.stiffness
        more = total(self._lagrangian.ravel()) / np.trace(stiff)
        pairs = zip(self._lagrangian.ravel(), (stiff * (more + 1.0)).ravel(), strict=True)
        chosen = [where(self._definite, curved, stiff) for curved, stiff in pairs]
        return array(chosen).reshape(len(self.ways), len(self.ways))

    @cached_property
    def _answer(self) -> Array:
        """The matrix T; zero where no direction leads downhill, and where the tasks are dependent."""
        firm = every([self.tasks.regular, *(x > 0.0 for x in pivots(self._bordered(self.distance.stiffness)))])
        back = self._within @ inverse(self._bordered(self._curvature)) @ self._within
        return array([where(firm, value, 0.0) for value in back.ravel()]).reshape(back.shape)

    def _held(self, held: Array, slopes: Array) -> Array:
        """Return a step with the part `held` of the tasks, which makes up for slopes of the Lagrangian."""
        return held - self._answer @ (slopes + self._curvature @ held)

    def step(self, caused: Array | None, aimed: Array) -> Array:
        """Return Newton's step of the resolved joints."""
        slopes = self._pulled.slopes if caused is None else self._pulled.slopes + self._along(caused)
        return self._held(self.tasks.step(caused, aimed), slopes)

    def rates(self, stated: Array, wanted: Array) -> Array:
        """Return s' along g + G^T lambda = 0 and the tasks."""
        return self._held(self.tasks.rates(stated, wanted), self._along(self.tree(stated)))

    def accelerations(self, rates: Array, resolved: Array, stated: Array, wanted: Array) -> Array:
        """Return s'' along g + G^T lambda = 0 and the tasks."""
        free = self.tree(rates)
        moving, drift = free + self.moved(resolved), self.embedding.drift(free + self.moved(resolved))
        changes = -(self.tasks.answer.T @ (self._along(free) + self._curvature @ resolved))
        second = self._pulled.bending(rates, resolved, stated, self.tasks.pull(changes))
        second = second + self._bent(self._forces, self.tree(stated) + drift) + self._bent(changes, moving) * 2.0
        second = second + self._turned(self.pairs(free, resolved))
        return self._held(self.tasks.accelerations(rates, resolved, stated, wanted), second)

    def _turned(self, pairs: Sequence[tuple[Scalar, Array, Array]]) -> Array:
        """Compute the derivatives along the free joints of the tasks' bilinear terms, by third derivatives."""
        result = []
        for way in self.ways:
            change: Scalar = 0.0
            for entry, force in zip(self.tasks.conditions, self._forces, strict=True):
                bent = tangent([entry.bent(one, other) for _, one, other in pairs], self.seeds(way))
                change = change + sum(part * share for part, (share, *_) in zip(bent, pairs, strict=True)) * force
            result.append(change)
        return array(result)
