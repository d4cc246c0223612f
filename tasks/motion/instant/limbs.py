"""What one limb, or a chain, puts into the equations of motion that joint friction acts on, for one sample.

    M V' + b = J^T u - W^T tau,    rates of actuators J V, of joints with friction W V

V are the rates of the robot's freedoms: components of the platform's twist, of a chain rates of its independent joints.
M and b are what inverse dynamics gives for unit accelerations and for none, so that the two problems are inverse to
each other. Sources: hybrid-limb paper, Eqs. (97), (140); joint-friction paper, section 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tasks.criteria.sharing import ElasticSharing
from tasks.friction import joints as joint_friction
from tasks.friction.joints import LimbFriction
from tasks.kernels.tangent import tangent
from tasks.kernels.types import Array, Scalars
from tasks.mathematics.algebra import array
from tasks.mechanics import limb
from tasks.mechanics import reactions as reactions
from tasks.mechanics.equations import Seeds, state_seeds
from tasks.mechanics.kinematics import REST
from tasks.mechanics.limb import Mounted, Solved
from tasks.mechanics.reactions import LimbStatics


@dataclass(frozen=True)
class LimbDynamics:
    """A limb at one state: `solved` is its motion without acceleration of the freedoms, `speed` (freedom,) their rates.

    gravity: a vector, or where the base moves what `tasks.mechanics.field.Field` is made of. pose_seeds: how the pose
    of the platform changes along the motion, see `tasks.mechanics.equations.pose_seeds`; none of a chain. sharing: the
    elasticity by which its joints share what statics leaves open; None: they do with the least norm.
    """

    mounted: Mounted
    solved: Solved
    speed: Array
    gravity: Array
    pose_seeds: Seeds = field(default_factory=dict)
    sharing: ElasticSharing | None = None

    @cached_property
    def unit_rates(self) -> Array:
        """Rates of all joints of the tree for one unit of each freedom (tree joint, freedom)."""
        return self.mounted.unit_rates(self.solved.tips)

    @cached_property
    def _dynamics(self) -> tuple[Array, Array]:
        bias, jacobian = limb.dynamics(self.mounted, self.solved, self.gravity)
        return array(bias), array(np.array(jacobian, dtype=object).reshape(-1, len(self.speed)))

    @property
    def bias(self) -> Array:
        """B (freedom,)."""
        return self._dynamics[0]

    @property
    def jacobian(self) -> Array:
        """J (actuator, freedom)."""
        return self._dynamics[1]

    @property
    def unit_motions(self) -> Iterator[Solved]:
        """The limb without motion but for a unit acceleration of each freedom."""
        still = np.zeros(len(self.solved.rates))
        return (replace(self.solved, rates=still, accelerations=column) for column in self.unit_rates.T)

    @cached_property
    def mass(self) -> Array:
        """M (freedom, freedom)."""
        mounted = self.mounted.unforced
        columns = [array(limb.dynamics(mounted, each, np.zeros(3))[0]) for each in self.unit_motions]
        return array(np.stack(columns, axis=1))

    def shares(self, statics: LimbStatics, gravity: Array, wanted: LimbFriction) -> dict[str, Scalars]:
        """What normal loads need of the limb, at the motion of `statics`."""
        shares = joint_friction.share(statics, REST, gravity, wanted) | reactions.share(statics, gravity)
        if self.sharing is not None:
            shares |= self.sharing.of(statics, gravity, wanted.passive)
        return shares

    def passive_row(self, joint: int, statics: LimbStatics) -> Array:
        """Rates (freedom,) of a joint, by its number in `Limb.joints`, for unit rates of the freedoms."""
        return array(self.mounted.outward(statics.on_platform(statics.friction(joint))))

    def passive_rows(self, joints: Sequence[int]) -> Array:
        """The same of several joints (joint, freedom)."""
        statics = LimbStatics(self.mounted, self.solved)
        rows = [self.passive_row(joint, statics) for joint in joints]
        return array(np.stack(rows)) if rows else np.zeros((0, len(self.speed)))

    def drift(self, rows: Array) -> Array:
        """W' V (row,) of rows W (row, freedom): what velocity alone adds to accelerations."""
        change = tangent(list(rows.ravel()), {**state_seeds(self.mounted, self.solved), **self.pose_seeds})
        return array(np.array(change, dtype=object).reshape(rows.shape)) @ array(self.speed)
