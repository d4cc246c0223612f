"""A tree under its actuator forces, with friction that moves with it or not at all, for one sample.

Where no joint can be at rest, nothing asks for the mass matrix: accelerations come from articulated bodies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tasks.inertia.articulated import ArticulatedTree
from tasks.kernels.types import Array
from tasks.mathematics.algebra import array
from tasks.mechanics import recursion
from tasks.mechanics.field import Field
from tasks.motion.instant.chains import PushedChain
from tasks.motion.instant.forward import MASSLESS


@dataclass(frozen=True)
class PushedTree(PushedChain):
    """A chain without loops and couplings, none of whose joints can be at rest."""

    tree: ArticulatedTree

    def accelerated(self, driving: Array, braking: Array) -> Array:
        """The same without the mass matrix."""
        links, solved, count = self.tree.links, self.limb.solved, len(self.tree.links)
        field = Field.of(self.limb.gravity).seen_from(self.limb.mounted.base)
        moving = recursion.body_motions(links, solved.states, solved.rates, np.zeros(count), field)
        own = [array([*moment, *force]) for moment, force in recursion.body_wrenches(links, moving)]
        return self.tree.solve(driving - braking, own)

    @property
    def massless(self) -> Any:
        """Whether M has lost rank."""
        return self.tree.massless(MASSLESS)
