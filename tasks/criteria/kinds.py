"""Which parts of a limb give way: what programs of stiffness and of reactions depend on, without values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

LinkKind = Literal["round", "beam", "block"]
NUMBERS: Mapping[LinkKind, int] = {"round": 4, "beam": 9, "block": 21}


@dataclass(frozen=True)
class LimbElasticity:
    """Which parts of a limb give way: actuators all, joints and links by number. Hashable; values are a case input.

    `spatial`: whether joints or links of the robot give way, so that compliance counts along all that limbs hold.
    """

    actuators: int = 0
    joints: tuple[int, ...] = ()
    links: tuple[tuple[int, LinkKind], ...] = ()
    spatial: bool = False

    @property
    def size(self) -> int:
        """Length of the case input `elasticity`: actuators, six for each joint, links."""
        return self.actuators + 6 * len(self.joints) + sum(NUMBERS[kind] for _, kind in self.links)
