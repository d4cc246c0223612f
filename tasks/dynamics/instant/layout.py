"""Places of the parts of a state of a motion with friction, and of its external inputs."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Literal

import numpy as np

from robots.data_classes import dataclass
from robots.friction.groups import FrictionGroup
from robots.model import Family
from robots.types import TWIST
from tasks.mechanics.recursion import MOVING

Form = Literal["explicit", "implicit", "under loads"]
"""Form of a motion: with or without the inputs of a linearly implicit stage, or under given normal loads."""


OF_JOINTS = ("braking", "velocity", "limit", "remembered", "breaking", "rates")
"""Values of every joint with friction: `braking`, its friction; `velocity`; `limit`, the largest friction in the
direction of its present friction; `remembered`, the memory of its law at this state; `breaking`, the relative
acceleration of a joint at rest that breaks away; `rates`, the sum of the magnitudes of the terms of its velocity."""


POSE = 7
"""Length of the position of a platform: of its reference point, then the unit quaternion of its axes, scalar first."""


@dataclass(frozen=True)
class StateLayout:
    """Places of the parts of a state: q, q', memory of friction, work that friction takes, work of actuators.

    Numbers of `free` freedoms, of `joints` with friction and of `actuators`. With a `platform` q is its pose,
    position and unit quaternion (POSE,) in world axes, q' the free components of its twist, and the work of the
    load follows. The last parts are not states of kernels: `windings`, number of motors whose currents are states,
    followed by `integrals` of controllers for each; `angles`, number of joints that are states, with the largest drift
    of loops.
    """

    free: int
    joints: int
    actuators: int
    platform: bool = False
    signals: int = 0
    windings: int = 0
    integrals: int = 0
    angles: int = 0

    @property
    def positions(self) -> int:
        """Length of q."""
        return POSE if self.platform else self.free

    @functools.cached_property
    def at(self) -> Mapping[str, slice]:
        """Rows of `q`, `qd`, `memory`, `loss`, `work`, and, where they are, of the states that kernels do not know."""
        sizes = {"q": self.positions, "qd": self.free, "memory": self.joints, "loss": self.joints}
        sizes |= {"work": self.actuators} | ({"load_work": 1} if self.platform else {})
        sizes |= {"current": self.windings} if self.windings else {}
        sizes |= {"integral": self.integrals * self.windings} if self.integrals else {}
        return _rows(sizes | ({"angles": self.angles, "drift": 1} if self.angles else {}))

    @functools.cached_property
    def of_joints(self) -> Mapping[str, slice]:
        """Rows of OF_JOINTS in the output `joints`."""
        return _rows(dict.fromkeys(OF_JOINTS, self.joints))

    @functools.cached_property
    def acting(self) -> Mapping[str, slice]:
        """Rows of the external forces.

        `force` of the actuators, `load` on the platform, `signals` of loads over time, and `base`, where it moves.
        """
        load = len(TWIST) if self.platform else 0
        return _rows({"force": self.actuators, "load": load, "signals": self.signals, "base": MOVING})

    @property
    def moving(self) -> int:
        """Length of q and q'."""
        return self.positions + self.free

    @property
    def size(self) -> int:
        """Length of a state."""
        return max(rows.stop for rows in self.at.values())


def _rows(sizes: Mapping[str, int]) -> dict[str, slice]:
    ends = np.cumsum([0, *sizes.values()])
    return {name: slice(int(a), int(b)) for name, a, b in zip(sizes, ends[:-1], ends[1:], strict=True)}


def layout(family: Family, groups: tuple[FrictionGroup, ...]) -> StateLayout:
    """Return the layout of a robot's states."""
    mechanism, joints = family.reference, sum(len(each.places) for each in groups)
    sizes = len(mechanism.freedoms), joints, len(mechanism.actuators)
    return StateLayout(*sizes, platform=not mechanism.is_chain, signals=len(family.signals))


def loaded_joints(groups: tuple[FrictionGroup, ...]) -> int:
    """Return the number of joints whose normal load is a reaction."""
    return sum(len(group.places) for group in groups if group.load == "reaction")


def program_name(family: Family, groups: tuple[FrictionGroup, ...], form: Form) -> str:
    """Return the name of the program of a motion."""
    kind = form.replace(" ", "-")
    name = "-".join(f"{group.law}.{group.load}" for group in groups) or "none"
    return f"{family.name}.motion.{kind}.{name}"
