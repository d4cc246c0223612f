"""Forward dynamics of any chain or parallel robot on a base that moves in a given way, in Pinocchio.

The base is a free-flyer, whose motion is given: its columns of the mass matrix times its acceleration, with all that
velocities and gravity do, are what `rnea` gives for joints without acceleration. Accelerations of all joints and the
multipliers of their closures follow from one system; closures are between bodies that the base carries alike.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from .chain_pinocchio import ClosedChain
from .delta_bodies import GRAVITY, Array
from .mechanism_pinocchio import ClosedMechanism, _body, _least
from .tree_pinocchio import BASE, TreeBody

FREE = 6


class BaseMotion(NamedTuple):
    """Rotation of the base (3, 3), its twist and the derivative of that (6,), angular first, world axes."""

    rotation: Array
    twist: Array
    acceleration: Array


class _Floating:
    """A tree of bodies on a free-flyer; values of joints in the order of the list."""

    def __init__(self, bodies: list[TreeBody], gravity: Any) -> None:
        self.model = pin.Model()
        self.model.gravity = pin.Motion(np.asarray(gravity, dtype=float), np.zeros(3))
        root = self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
        numbers: dict[int, int] = {BASE: root}

        def grow(parent: int) -> None:
            for index, body in enumerate(bodies):
                if body.parent == parent:
                    numbers[index] = self._add(numbers[parent], body, str(index))
                    grow(index)

        grow(BASE)
        self.slots = [self.model.joints[numbers[k]].idx_v for k in range(len(bodies))]
        self.data = self.model.createData()

    def _add(self, parent: int, body: TreeBody, name: str) -> int:
        kinds = {"revolute": pin.JointModelRevoluteUnaligned, "prismatic": pin.JointModelPrismaticUnaligned}
        placement = pin.SE3(np.asarray(body.rotation, dtype=float), np.asarray(body.position, dtype=float))
        number = self.model.addJoint(parent, kinds[body.kind](np.asarray(body.axis, dtype=float)), placement, name)
        inertia = pin.Inertia(body.mass, np.asarray(body.centre, dtype=float), np.asarray(body.tensor, dtype=float))
        self.model.appendBodyToJoint(number, inertia, pin.SE3.Identity())
        return int(number)

    def terms(self, q: Array, qd: Array, base: BaseMotion) -> tuple[Array, Array]:
        """Mass matrix of the joints (n, n), and what they take without accelerations of their own (n,)."""
        inward = base.rotation.T
        omega, speed = inward @ base.twist[:3], inward @ base.twist[3:]
        turn, change = inward @ base.acceleration[:3], inward @ base.acceleration[3:] - np.cross(omega, speed)
        quaternion = pin.Quaternion(base.rotation).coeffs()
        place, rate, accelerated = np.zeros(self.model.nq), np.zeros(self.model.nv), np.zeros(self.model.nv)
        place[3:7] = quaternion
        place[[slot + 1 for slot in self.slots]] = q
        rate[:FREE], accelerated[:FREE] = np.concatenate([speed, omega]), np.concatenate([change, turn])
        rate[self.slots] = qd
        bias = pin.rnea(self.model, self.data, place, rate, accelerated)[self.slots]
        upper = np.triu(pin.crba(self.model, self.data, place))
        whole = upper + np.triu(upper, 1).T
        return whole[np.ix_(self.slots, self.slots)], bias


class FloatingRobot:
    """A mechanism whose base moves: accelerations relative to the base, in its axes, from actuator forces."""

    def __init__(self, mechanism: Any, gravity: Any = GRAVITY) -> None:
        self.chain = mechanism.is_chain
        if self.chain:
            self.closed: Any = ClosedChain(mechanism, gravity)
            bodies = [_body(link, mechanism.instances[0].base) for link in mechanism.limbs[0].links]
        else:
            self.closed = ClosedMechanism(mechanism, gravity)
            bodies = list(self.closed.bodies)
        self.floating = _Floating(bodies, gravity)

    def solve(self, at: tuple[Array, ...], speed: Array, force: Array, base: BaseMotion) -> Array:
        """Solve a chain at q (freedom,) and q', or a parallel robot at (position, rotation) and twist (6,)."""
        closed, size = self.closed, self.closed.size
        q = closed._positions(*at)
        jacobian, _, _ = closed._rows(q, np.zeros(size))
        if self.chain:
            seat = np.eye(size)[closed.given]
        else:
            jacobian, seat = jacobian[:-FREE], jacobian[-FREE:]
        zero = np.zeros(len(jacobian))
        qd = _least(np.vstack([jacobian, seat]), np.concatenate([zero, speed]))
        drift = closed._rows(q, qd)[2]
        mass, bias = self.floating.terms(q, qd, base)
        driven, armature = np.zeros(size), np.zeros(size)
        driven[closed.motors] = force
        armature[closed.motors] = closed.armature[closed.motors] if self.chain else closed.armature
        whole = np.block([[mass + np.diag(armature), jacobian.T], [jacobian, np.zeros((len(zero), len(zero)))]])
        right = np.concatenate([driven - bias, -drift[: len(zero)]])
        change = np.linalg.lstsq(whole, right, rcond=1e-12)[0][:size]
        if self.chain:
            return np.asarray(change[closed.given])
        return np.asarray(seat @ change + drift[-FREE:])
