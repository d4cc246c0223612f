"""The inertia matrix of a tree as factors that cost a tree of n joints n steps: articulated bodies, for one sample.

The articulated inertia of a link is its apparent inertia under a wrench, with free joints beyond it. With it M^-1 f
takes one pass inwards and one outwards, and the matrix itself is never computed. Quantities are in the axes of each
link, about its origin, as in `tasks.mechanics.recursion`. Source: Featherstone, Rigid Body Dynamics Algorithms, chapter
7.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from robots.data_classes import dataclass
from robots.model import Limb, Link
from robots.types import BASE
from tasks.kernels.expression import Array, Mask, Scalar, Scalars
from tasks.mathematics.algebra import array, dot, either, is_zero, plus_cross, reciprocal, sqrt
from tasks.mechanics import recursion
from tasks.mechanics.inertia.placed import symmetric, turned_tensor
from tasks.mechanics.kinematics import JointState, joint_rotation, slope, way
from tasks.mechanics.recursion import Field, Massing

STILL = np.zeros(6)

MASSLESS = 1e-12
"""Inertia of a joint relative to the bodies that it might carry, at and below which it counts as zero."""


@dataclass(frozen=True)
class Hinge:
    """A joint between its link and the parent link: its place, and the inertia for moving it alone.

    rotation (3, 3): from the axes of the link to the axes of the parent; position (3,): the link's origin in the
    parent; screw (6,): twist of the link for unit rate; moved (6,): wrench for unit acceleration of the joint with free
    joints beyond it; `inertia`: its component along the joint.
    """

    rotation: Array
    position: Array
    screw: Array
    moved: Array
    inertia: Scalar
    inverse: Scalar

    def outward(self, twist: Array) -> Array:
        """Return a twist of the parent, as the link has it."""
        omega, v = twist[:3], twist[3:]
        return array([*(self.rotation.T @ omega), *(self.rotation.T @ plus_cross(v, omega, self.position))])

    def inward(self, wrench: Array) -> Array:
        """Return a wrench on the link, as the parent feels it."""
        moment, force = self.rotation @ wrench[:3], self.rotation @ wrench[3:]
        return array([*plus_cross(moment, self.position, force), *force])


@dataclass(frozen=True)
class ArticulatedTree:
    """The links of a tree at one configuration; `armatures` (joint,) are felt by the joints alone [kg m^2 or kg]."""

    links: Sequence[Link]
    states: Sequence[JointState]
    armatures: Sequence[Scalar]

    @classmethod
    def of(cls, limb: Limb, states: Sequence[JointState]) -> ArticulatedTree | None:
        """Return a limb as a tree, loops left open.

        None if a spinning body acts on several joints or on its carrier, or external forces act on links or along
        joints.
        """
        if limb.forces or limb.springs:
            return None
        armatures = [link.armature for link in limb.links]
        for drive in limb.drives:
            simple = drive.constant and len(drive.ratios) == 1 and all(is_zero(spin.coupling) for spin in drive.spins)
            if drive.spins and not simple:
                return None
            for spin in drive.spins:
                joint, ratio = drive.ratios[0]
                turns, k = ratio * spin.share, limb.index(joint)
                armatures[k] = armatures[k] + spin.inertia * turns * turns
        return cls(limb.links, states, armatures)

    @cached_property
    def hinges(self) -> Sequence[Hinge]:
        """Hinges of all joints, in the order of the links."""
        result: dict[int, Hinge] = {}
        inertias = [Massing.of(link.inertia).spatial() for link in self.links]
        for i, (link, state) in reversed(list(enumerate(zip(self.links, self.states, strict=True)))):
            screw, inward = _screw(link, state), array(link.placement.rotation)
            moved = inertias[i] @ screw
            inertia = dot(screw, moved) + self.armatures[i]
            rotation = array(inward @ joint_rotation(link, state))
            position = array(link.placement.position) + (inward @ array(link.axis)) * way(link, state)
            result[i] = Hinge(rotation, position, screw, moved, inertia, reciprocal(inertia))
            if link.parent != BASE:
                yielding = _yielding(inertias[i], result[i], is_zero(self.armatures[i]))
                inertias[link.parent] = inertias[link.parent] + _seen_from_parent(yielding, result[i])
        return [result[i] for i in range(len(self.links))]

    def solve(self, forces: Scalars, own: Sequence[Array] | None = None) -> np.ndarray:
        """Return the accelerations (joint,) caused by generalised forces (joint,).

        With `own`, wrenches (6,) that links need for a motion without accelerations of joints, on top of that motion.
        """
        residuals, moving = self._left(forces, own), {BASE: STILL}
        result = np.array(np.zeros(len(self.links)), dtype=object)
        for i, (link, hinge) in enumerate(zip(self.links, self.hinges, strict=True)):
            carried = hinge.outward(moving[link.parent])
            result[i] = (residuals[i] - dot(hinge.moved, carried)) * hinge.inverse
            moving[i] = carried + hinge.screw * result[i]
        return array(result)

    def accelerations(self, rates: Array, forces: Array, field: Field) -> np.ndarray:
        """Compute the accelerations of all joints (joint,) under generalised forces (joint,).

        `field` is in the axes of the limb.
        """
        still = np.zeros(len(self.links))
        moving = recursion.body_motions(self.links, self.states, rates, still, field)
        inertial = [array([*moment, *force]) for moment, force in recursion.body_wrenches(self.links, moving)]
        return self.solve(forces, inertial)

    def _left(self, forces: Scalars, inertial: Sequence[Array] | None) -> list[Scalar]:
        """Compute the forces that remain at each joint with free joints beyond it."""
        wrenches = [STILL] * len(self.links) if inertial is None else list(inertial)
        result = list(forces)
        for i, link in reversed(list(enumerate(self.links))):
            hinge = self.hinges[i]
            result[i] = forces[i] - dot(hinge.screw, wrenches[i])
            if link.parent != BASE:
                felt = wrenches[i] + hinge.moved * (result[i] * hinge.inverse)
                wrenches[link.parent] = wrenches[link.parent] + hinge.inward(felt)
        return result

    @property
    def massless(self) -> Mask:
        """Return whether a joint has no inertia, relative to the most that it might carry.

        This bound assumes all links beyond the joint stretched out. It is constant if no joint slides, and then costs
        no time.
        """
        result: Mask = False
        bodies = [Massing.of(link.inertia) for link in self.links]
        carried = [(body.mass, _length(body.first), np.trace(body.second)) for body in bodies]
        for i, (link, state) in reversed(list(enumerate(zip(self.links, self.states, strict=True)))):
            hinge, (mass, first, spread) = self.hinges[i], carried[i]
            size = spread if link.joint_kind.turns else 0.0
            if link.joint_kind.slides:
                size = size + mass * slope(link, state) * slope(link, state)
            result = either(result, hinge.inertia <= (size + self.armatures[i]) * MASSLESS)
            if link.parent != BASE:
                far, before = _length(hinge.position), carried[link.parent]
                spread = spread + (first * 2.0 + mass * far) * far
                carried[link.parent] = before[0] + mass, before[1] + first + mass * far, before[2] + spread
        return result


def _length(v: Array) -> Scalar:
    return sqrt(dot(v, v))


def _screw(link: Link, state: JointState) -> Array:
    axis, still = array(link.axis), np.zeros(3)
    turning, sliding = link.joint_kind.turns, link.joint_kind.slides
    return array([*(axis if turning else still), *(axis * slope(link, state) if sliding else still)])


def _yielding(inertia: Array, hinge: Hinge, exactly: bool) -> Array:
    """Return an articulated inertia (6, 6) with its own joint free too; `exactly`: the joint has no armature.

    Without armature, the inertia along the screw is zero. If the screw is a coordinate axis, its row and column vanish
    exactly.
    """
    gone = [k for k, x in enumerate(hinge.screw) if not is_zero(x)]
    none = gone[0] if exactly and len(gone) == 1 else None
    with np.errstate(invalid="ignore"):  # on floats, where there is no inertia
        pushed = hinge.moved * hinge.inverse
    pairs = ((i, j) for i in range(6) for j in range(i + 1) if none not in (i, j))
    return symmetric(6, {(i, j): inertia[i, j] - hinge.moved[i] * pushed[j] for i, j in pairs})


def _seen_from_parent(inertia: Array, hinge: Hinge) -> Array:
    """Return an inertia (6, 6) of a link about its origin in its axes, about the origin of the parent in its axes."""
    turn, at = hinge.rotation, hinge.position
    angular, mixed, linear = inertia[:3, :3], inertia[:3, 3:], inertia[3:, 3:]
    angular, linear = turned_tensor(turn, angular), turned_tensor(turn, linear)
    mixed = turn @ mixed @ turn.T
    moved = np.stack([plus_cross(a, at, b) for a, b in zip(mixed.T, linear.T, strict=True)], axis=1)
    lifted = np.stack([plus_cross(a, at, b) for a, b in zip(angular.T, mixed, strict=True)], axis=1)
    carried = np.stack([plus_cross(a, at, b) for a, b in zip(lifted, moved, strict=True)], axis=0)
    values = {(i, j): carried[i, j] for i in range(3) for j in range(i + 1)}
    values |= {(3 + i, j): moved[j, i] for i in range(3) for j in range(3)}
    values |= {(3 + i, 3 + j): linear[i, j] for i in range(3) for j in range(i + 1)}
    return symmetric(6, values)
