"""Forces on bodies from outside the mechanism: records of a limb and of a platform, in numbers or symbols.

What a user declares, with parameters and motions over time, is in `robots.loads`; the wrenches are computed by
`tasks.mechanics.recursion`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from robots.types import BASE, ZERO, Number, Vector

Acts = Literal["both", "pull", "push"]
"""Ways in which a spring acts."""


@dataclass(frozen=True)
class AppliedWrench:
    """A moment [N m] and a force [N] at a point of a body, which is given in its frame [m].

    `body` counts in `Limb.links`; it says nothing for a platform. Components are in the axes of the base, or with
    `turning` in those of the body.
    """

    body: int
    point: Vector
    moment: Vector
    force: Vector
    turning: bool = False


@dataclass(frozen=True)
class Spring:
    """The pull of a spring on a point of a body, in its frame, towards a point `anchor` of another one [m].

    `other`: the link of the same limb that has the anchor, in its frame, or the base, in the frame of the robot. A
    spring between two links is two of these. It pulls with preload + stiffness (length - rest_length) + damping (rate
    of the length): [N], [N/m], [m], [N s/m]. Without `damped` velocity does not matter. `acts`: both ways, or
    one-sided: it pulls alone, where it is longer than its rest length (a rope), or pushes alone, where it is shorter (a
    stop).
    """

    body: int
    point: Vector = ZERO
    anchor: Vector = ZERO
    stiffness: Number = 0.0
    rest_length: Number = 0.0
    damping: Number = 0.0
    preload: Number = 0.0
    damped: bool = False
    other: int = BASE
    acts: Acts = "both"


ForceElement = AppliedWrench | Spring


@dataclass(frozen=True)
class JointSpring:
    """A spring along joints of a tree: it acts on the sum of ratios times positions beyond `rest_position`.

    It acts on that sum [rad or m] with -(stiffness times it + damping times its rate); within a `backlash` of that
    width, which has `rest_position` in its middle, with nothing, and beyond it counts from its end. `ratios`: of joints
    by index.
    """

    ratios: tuple[tuple[int, Number], ...]
    stiffness: Number = 0.0
    damping: Number = 0.0
    rest_position: Number = 0.0
    backlash: Number = 0.0
