"""Strains of the parts of a limb, rows over unit causes of the wrenches in its joints: bearings, beams and blocks.

What a part stores is half the sum of weight times square of its rows; see `tasks.criteria.compliance`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.criteria.arms import Arm, joint_point
from tasks.criteria.kinds import NUMBERS, LimbElasticity, LinkKind
from tasks.kernels.expression import Dual
from tasks.kernels.types import Array, Scalar
from tasks.mathematics.algebra import array, cross, dot, from_columns, sqrt, where
from tasks.mathematics.symmetric import Factors
from tasks.mechanics.reactions import LimbStatics

REGULAR = Dual(1e-11, 1e-4)
"""Least pivot of a matrix relative to its diagonal element, up to which it is taken for singular."""
Strains = list[tuple[Scalar, Array]]
"""Weights, and rows over x (numbers of x,): the energy is half the sum of weight times square."""


def stacked(wrenches: Sequence[tuple[Array, Array]]) -> np.ndarray:
    """Wrenches of joints (joint, 6)."""
    return array([[*moment, *force] for moment, force in wrenches])


def energy(strains: Strains, count: int) -> np.ndarray:
    """The matrix F of the sum of weight times square of rows; its lower triangle is enough."""
    result = np.array(np.zeros((count, count)), dtype=object)
    for weight, row in strains:
        for i in range(count):
            scaled = row[i] * weight
            for j in range(i + 1):
                result[i, j] = result[i, j] + scaled * row[j]
    return result


def is_regular(factors: Factors, diagonal: Sequence[Scalar]) -> Scalar:
    """1 where all pivots are above zero, relative to the diagonal of the matrix, else 0."""
    good: Scalar = 1.0
    for pivot, whole in zip(factors.pivots, diagonal, strict=True):
        good = where(pivot > whole * REGULAR, good, 0.0)
    return good


@dataclass(frozen=True)
class Parts:
    """Strains of the parts of a limb; `wrenches` (joint, 6) of each unit of x, in the axes of the mount frame."""

    statics: LimbStatics
    wrenches: Sequence[np.ndarray]

    def _of(self, joint: int) -> tuple[np.ndarray, np.ndarray]:
        """Moment (3, x) and force (3, x) in a joint."""
        columns = [wrench[joint] for wrench in self.wrenches]
        return from_columns([c[:3] for c in columns], 3), from_columns([c[3:] for c in columns], 3)

    def at_joint(self, joint: int) -> list[Array]:
        """Moment about and force along the axes of a joint's frame, six rows (x,)."""
        tips, tree = self.statics.solved.tips, len(self.statics.mounted.limb.links)
        axes = tips.at[joint].rotation if joint < tree else tips.cut_joints[joint - tree].a.axes
        moment, force = self._of(joint)
        return [*(axes.T @ moment), *(axes.T @ force)]

    def joint(self, joint: int, compliance: Sequence[Scalar]) -> Strains:
        """A bearing: what it carries about and along the axes of its frame, but for the joint's own freedom."""
        rows, limb, free = self.at_joint(joint), self.statics.mounted.limb, set()
        tree = len(limb.links)
        if joint < tree and (kind := limb.joint_kinds[joint]).turns != kind.slides:
            free = {int(np.flatnonzero(limb.links[joint].axis)[0]) + (0 if kind.turns else 3)}
        return [(c, array(row)) for k, (c, row) in enumerate(zip(compliance, rows, strict=True)) if k not in free]

    def _on_link(self, arm: Arm) -> tuple[np.ndarray, np.ndarray]:
        """Moment and force on the link at the end of an arm: what the link does to another is the reverse."""
        limb = self.statics.mounted.limb
        tree = len(limb.links)
        child = arm.end == arm.link if arm.end < tree else limb.cuts[arm.end - tree].b == arm.link
        moment, force = self._of(arm.end)
        return (moment, force) if child else (-moment, -force)

    def _line(self, arm: Arm) -> tuple[np.ndarray, Scalar]:
        """Direction from the hub to the end, zero where these are one point, and length."""
        tips = self.statics.solved.tips
        along = array(joint_point(tips, arm.end) - joint_point(tips, arm.hub))
        length = sqrt(dot(along, along))
        return array(along * where(length > 0.0, 1.0 / where(length > 0.0, length, 1.0), 0.0)), length

    def in_link(self, arm: Arm) -> np.ndarray:
        """Moment and force at the end of an arm (6, x), in the axes of the link."""
        rotation = self.statics.solved.tips.at[arm.link].rotation
        moment, force = self._of(arm.end)
        return np.vstack([rotation.T @ moment, rotation.T @ force])

    def pull(self, arm: Arm) -> tuple[np.ndarray, Scalar]:
        """Tension in an arm (x,), and its length."""
        e, length = self._line(arm)
        return array(e @ self._on_link(arm)[1]), length

    def arm(self, arm: Arm, kind: LinkKind, values: Sequence[Scalar]) -> Strains:
        """A beam held at the hub, under the wrench of the joint at its end; or a block, in the axes of the link."""
        tips = self.statics.solved.tips
        moment, force = self._of(arm.end)
        rotation = tips.at[arm.link].rotation
        if kind == "block":
            return _block(self.in_link(arm), values)
        e, length = self._line(arm)
        if kind == "round":
            return _round_beam(moment, force, e, length, values)
        return _beam(moment, force, e, length, values[:6], rotation @ array(values[6:]))


def _round_beam(moment: Array, force: Array, e: Array, length: Scalar, values: Sequence[Scalar]) -> Strains:
    """At x from the end the section bends under moment + x e x force; the integral of its square as two squares."""
    axial, torsion, bending, shear = values
    swept = from_columns([cross(e, force[:, k]) for k in range(force.shape[1])], 3)
    middle = moment + swept * (length * 0.5)
    strains: Strains = [(axial * length, e @ force), (torsion * length, e @ moment)]
    bent = bending * length
    # about the axis itself nothing bends
    transverse = [array(row) for row in middle - np.outer(e, e @ moment)]
    strains += [(bent, row) for row in transverse]
    strains += [(bent * length * length * (1.0 / 12.0) + shear * length, array(row)) for row in swept]
    return strains


def _beam(moment: Array, force: Array, e: Array, length: Scalar, values: Sequence[Scalar], across: Array) -> Strains:
    """The same with two principal axes, a and b, of deflection."""
    axial, torsion, bend_a, bend_b, shear_a, shear_b = values
    a = array(across - e * dot(across, e))
    a = a / sqrt(dot(a, a))
    b = cross(e, a)
    strains: Strains = [(axial * length, e @ force), (torsion * length, e @ moment)]
    cubic = length * length * length * (1.0 / 12.0)
    for bending, shear, side, about, sign in ((bend_a, shear_a, a, b, 0.5), (bend_b, shear_b, b, a, -0.5)):
        push: Array = side @ force
        strains += [(bending * length, array(about @ moment + push * (length * sign)))]
        strains += [(bending * cubic + shear * length, array(push))]
    return strains


def _block(wrench: Array, values: Sequence[Scalar]) -> Strains:
    """A compliance matrix by its factors L D L^T, so that it is a sum of squares as well."""
    matrix = np.array(np.zeros((6, 6)), dtype=object)
    entries = iter(values)
    for i in range(6):
        for j in range(i + 1):
            matrix[i, j] = next(entries)
    factors = Factors.of(matrix)
    rows = factors.lower.T @ wrench
    return [(pivot, array(row)) for pivot, row in zip(factors.pivots, rows, strict=True)]


def elastic_strains(parts: Parts, asked: LimbElasticity, numbers: Sequence[Scalar], arms: Sequence[Arm]) -> Strains:
    """Those of joints and links that give way, by the numbers of the case input `elasticity` behind the actuators'."""
    strains: Strains = []
    rest = iter(numbers)
    for joint in asked.joints:
        strains += parts.joint(joint, [next(rest) for _ in range(6)])
    for link, kind in asked.links:
        values = [next(rest) for _ in range(NUMBERS[kind])]
        for arm in (arm for arm in arms if arm.link == link):
            strains += parts.arm(arm, kind, values)
    return strains
