"""A chain with joint friction under its actuator forces, for one sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tasks.friction.forward import ForwardFriction
from tasks.friction.joints import LimbFriction
from tasks.kernels.types import Array
from tasks.mathematics.algebra import array
from tasks.mechanics.reactions import LimbStatics
from tasks.motion.instant.forward import Pushed
from tasks.motion.instant.limbs import LimbDynamics


@dataclass(frozen=True)
class PushedChain(Pushed):
    """A chain is one limb; its freedoms are its independent joints."""

    limb: LimbDynamics

    @property
    def bias(self) -> Array:
        """b (freedom,)."""
        return self.limb.bias

    @property
    def jacobian(self) -> Array:
        """J (actuator, freedom)."""
        return self.limb.jacobian

    @property
    def mass(self) -> Array:
        """M (freedom, freedom)."""
        return self.limb.mass

    @cached_property
    def rows(self) -> Array:
        """W (joint, freedom)."""
        if not self.joints:
            return np.zeros((0, len(self.speed)))
        statics = LimbStatics(self.limb.mounted, self.limb.solved)
        return array(np.stack([self._row(each, statics) for each in self.joints]))

    def _row(self, each: ForwardFriction, statics: LimbStatics) -> Array:
        place = each.joint.place
        if place.actuator >= 0:
            return self.jacobian[place.actuator]
        return self.limb.passive_row(place.joint, statics)

    @cached_property
    def drift(self) -> Array:
        """W' V (joint,)."""
        return self.limb.drift(self.rows)

    def shares(self, acceleration: Array, wanted: Sequence[LimbFriction]) -> Mapping[str, Any]:
        """Reactions at this acceleration, without a platform that they hold."""
        solved = self.limb.solved
        accelerations = solved.accelerations + self.limb.unit_rates @ acceleration
        statics = LimbStatics(self.limb.mounted, replace(solved, accelerations=accelerations))
        share = self.limb.shares(statics, self.limb.gravity, wanted[0])
        return {name: {0: value} for name, value in share.items()} | {"held": np.zeros(0)}
