"""Conditions on the joints of a chain at one configuration: values, gradients, and what rates add to accelerations.

The second derivative of a condition along a motion is gradient @ theta'' + bend(theta').
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import matmul, mul
from typing import Any

import numpy as np

from robots.model import Limb
from robots.redundancy.resolution import ArmAngle, LinearTask, Task
from tasks.kernels.expression import Dual
from tasks.kernels.types import Array, Mask, Scalar
from tasks.mathematics.algebra import array, cross, sqrt
from tasks.mathematics.elementary import atan2, sincos
from tasks.mechanics.kinematics import JointState, columns, motions, path, poses

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
        """What two rates do together: half of what both cause beyond each."""
        if one is other:
            return self.bend(one)
        return (self.bend(one + other) - self.bend(one) - self.bend(other)) * 0.5

    def left(self, wanted: Scalar) -> Scalar:
        """What is left to a wanted value; of an angle within half a turn."""
        if not self.angle:
            return wanted - self.value
        (sine, cosine), (mine, beside) = sincos(wanted), sincos(self.value)
        return atan2(sine * beside - cosine * mine, cosine * beside + sine * mine)


def condition(task: Task, limb: Limb, states: Sequence[JointState], positions: Mapping[int, Scalar]) -> Condition:
    """A task at these states; `positions` are those of joints that count all their turns."""
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
    """With e and u from the shoulder to elbow and wrist: the angle of y / x, where x^2 + y^2 = (|e x u| |u x v|)^2."""
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
    """|u|^2 times the components of e along the part of v across u, and |u| times those along u x v."""
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
    """A product of two values that change."""
    return (
        times(a[0], b[0]),
        times(a[1], b[0]) + times(a[0], b[1]),
        (times(a[2], b[0]) + times(a[1], b[1]) * 2.0 + times(a[0], b[2])),
    )
