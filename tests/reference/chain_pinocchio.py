"""Any chain in Pinocchio, from its description as plain numbers: its loops closed by least squares, no row dropped.

The joints of the tree are those of the description. What a cut joint holds are rows over the Jacobians of frames on
both of its sides; the motion of the independent joints is given, and all others follow. Nothing falls into blocks or
clusters.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from .delta_bodies import GRAVITY, Array
from .mechanism_pinocchio import Cut, _body, _closure, _least, _null_space, _placement
from .tree_pinocchio import tree_pinocchio


class ChainSolution(NamedTuple):
    """One state: forces of the actuated joints, all joints of the tree, and how far loops are open."""

    force: Array
    q: Array
    qd: Array
    qdd: Array
    freedoms: int
    closure: Array


class ClosedChain:
    """A chain as a tree with closures."""

    def __init__(self, mechanism: Any, gravity: Any = GRAVITY) -> None:
        (self.limb,), (instance,) = mechanism.limbs, mechanism.instances
        self.size = len(self.limb.links)
        self.tree = tree_pinocchio([_body(link, instance.base) for link in self.limb.links], gravity)
        self.cuts = [
            Cut(
                "weld" if cut.kind == "fixed" else cut.kind,
                self._frame(f"{cut.joint}.a", cut.a, cut.frame_a),
                self._frame(f"{cut.joint}.b", cut.b, cut.frame_b),
            )
            for cut in self.limb.loops
        ]
        self.data = self.tree.model.createData()
        names = [link.joint for link in self.limb.links]
        self.motors = [names.index(name) for name in self.limb.actuated]
        self.given = [names.index(name) for name in mechanism.freedoms]
        self.armature = np.array([link.armature for link in self.limb.links])

    def solve(self, q: Any, qd: Any, qdd: Any) -> ChainSolution:
        """Inverse dynamics of a state of the independent joints, in the order of the mechanism's freedoms."""
        place = self._positions(np.asarray(q))
        closing, value, _ = self._rows(place, np.zeros(self.size))
        given = np.eye(self.size)[self.given]
        matrix, zero = np.vstack([closing, given]), np.zeros(len(closing))
        rate = _least(matrix, np.concatenate([zero, qd]))
        drift = self._rows(place, rate)[2]
        change = _least(matrix, np.concatenate([-drift, qdd]))
        free, motors = _null_space(closing) if len(closing) else np.eye(self.size), np.eye(self.size)[:, self.motors]
        wanted = self.tree.rnea(place, rate, change) + self.armature * change
        force = _least(free.T @ motors, free.T @ wanted)
        opening = np.array([np.abs(v).max(initial=0.0) for v in (value, closing @ rate, closing @ change + drift)])
        return ChainSolution(force, place, rate, change, free.shape[1], opening)

    def _positions(self, wanted: Array) -> Array:
        """All joints, followed from the reference pose in short steps."""
        q = np.zeros(self.size)
        others = [k for k in range(self.size) if k not in self.given]
        for share in np.linspace(0.1, 1.0, 10):
            q[self.given] = share * wanted
            for _ in range(30):
                matrix, value, _ = self._rows(q, np.zeros(self.size))
                if not len(value) or np.abs(value).max() < 1e-14:
                    break
                q[others] -= _least(matrix[:, others], value)
        return q

    def _rows(self, q: Array, qd: Array) -> tuple[Array, Array, Array]:
        model, data, slots = self.tree.model, self.data, list(self.tree.slot)
        if not self.cuts:
            return np.zeros((0, self.size)), np.zeros(0), np.zeros(0)
        pin.forwardKinematics(model, data, self.tree.inner(q), self.tree.inner(qd), np.zeros(self.size))
        pin.computeJointJacobians(model, data)
        pin.updateFramePlacements(model, data)
        rows, value, drift = (
            np.concatenate(part) for part in zip(*(_closure(model, data, cut) for cut in self.cuts), strict=True)
        )
        return rows[:, slots], value, drift

    def _frame(self, name: str, body: int, frame: Any) -> int:
        joint = 0 if body < 0 else self.tree.joint[body]
        return int(self.tree.model.addFrame(pin.Frame(name, joint, 0, _placement(frame), pin.FrameType.OP_FRAME)))
