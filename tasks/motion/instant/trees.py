"""A tree under its actuator forces, with friction that moves with it or not at all, for one sample.

Where no joint can be at rest, nothing asks for the mass matrix: accelerations come from articulated bodies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tasks.inertia.articulated import ArticulatedTree
from tasks.kernels.types import Array
from tasks.mechanics.field import Field
from tasks.motion.instant.chains import PushedChain


@dataclass(frozen=True)
class PushedTree(PushedChain):
    """A chain without loops and couplings, none of whose joints can be at rest."""

    tree: ArticulatedTree

    def accelerated(self, driving: Array, braking: Array) -> Array:
        """The same without the mass matrix."""
        field = Field.of(self.limb.gravity).seen_from(self.limb.mounted.base)
        return self.tree.accelerations(self.limb.solved.rates, driving - braking, field)

    @property
    def massless(self) -> Any:
        """Whether M has lost rank."""
        return self.tree.massless
