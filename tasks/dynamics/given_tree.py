"""Motion of all joints of the spanning tree as an input: its record, checks and columns for kernels."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robots.data_classes import dataclass
from robots.model import Mechanism, Robot
from tasks.dynamics.records import Moving, Record
from tasks.features.tree_motion import ALLOWED, ORDERS, TREE
from tasks.kernels.kernel import Batch, checked, common_batch, rows
from tasks.kernels.keys import Indexed, Values
from tasks.mechanics.families import structure_of


@dataclass(frozen=True, kw_only=True, eq=False)
class JointMotion(Record):
    """Motion of all joints of a robot's spanning tree: positions, and rates and accelerations (absent: zero).

    (*batch, limb, joint) [rad or m] as in the result of `limbsweep.inverse_kinematics`, zero at the reference pose.
    Joints in the order of `Limb.links`; values after the last link of a limb, such as cut joints, are ignored.

        >>> robot = ls.robots.build("five_bar")
        >>> joints = ls.inverse_kinematics(robot, position=[0.05, 0.0, -0.6])
        >>> ls.JointMotion(position=joints.position).position.shape  # (limb, joint)
        (2, 3)
    """

    prefix: ClassVar[str] = "joint_"

    position: ArrayLike
    velocity: ArrayLike | None = None
    acceleration: ArrayLike | None = None


@dataclass(frozen=True)
class GivenTree:
    """Checked motion of all joints (*batch, order, limb, joint), and residuals that are allowed (order,), if any."""

    motion: np.ndarray
    allowed: np.ndarray | None

    @classmethod
    def of(cls, robot: Robot, joints: JointMotion, tolerance: ArrayLike | None) -> GivenTree:
        """Return the motion of a robot's joints. Raises ValueError for shapes and tolerances that do not fit."""
        allowed = None if tolerance is None else checked("tolerance", tolerance, (ORDERS,))
        if allowed is not None and (allowed.ndim != 1 or not (allowed > 0.0).all()):
            raise ValueError(
                f"tolerance: got {tolerance!r}; expected three numbers above zero, for positions, rates, accelerations"
            )
        counts = [len(robot.mechanism.limbs[each.limb].links) for each in robot.mechanism.instances]
        parts, core = joints.present(), np.shape(joints.position)[-2:]
        if len(core) != 2 or core[0] != len(counts) or core[1] < max(counts):
            expected = f"(*batch, {len(counts)}, {max(counts)}), or more joints"
            raise ValueError(
                f"joints: got an array of shape {np.shape(joints.position)}; expected {expected}: limbs of "
                f"{robot.name} have {', '.join(map(str, counts))} joints in their trees"
            )
        arrays = [checked(f"joints, {name}", values, (core[0], core[1])) for name, values in parts.items()]
        batch = common_batch({name: array.shape[:-2] for name, array in zip(parts, arrays, strict=True)})
        by_name = {name: np.broadcast_to(array, (*batch, *core)) for name, array in zip(parts, arrays, strict=True)}
        still = np.zeros((*batch, *core))
        orders = [by_name.get(name, still) for name in ("position", "velocity", "acceleration")]
        return cls(np.stack(orders, axis=-3), allowed)

    @property
    def batch(self) -> Batch:
        """Batch dims."""
        return self.motion.shape[:-3]

    def of_chain(self, robot: Robot) -> Moving:
        """Return the motion of the independent joints of a chain, which are among those of its tree."""
        independent = list(structure_of(robot.family).choices[0].independent)
        q, qd, qdd = (self.motion[..., order, 0, independent] for order in range(ORDERS))
        return {"q": q, "qd": qd, "qdd": qdd}

    def values(self, mechanism: Mechanism, batch: Batch) -> Values:
        """Return the inputs of the limbs' kernels."""
        inputs: Values = {}
        for k, instance in enumerate(mechanism.instances):
            mine = self.motion[..., k, : len(mechanism.limbs[instance.limb].links)]
            inputs[Indexed(TREE, k)] = rows(mine.reshape(*mine.shape[:-2], -1), batch)[None]
            if self.allowed is not None:
                inputs[Indexed(ALLOWED, k)] = self.allowed[None]
        return inputs
