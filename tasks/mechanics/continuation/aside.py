"""Ways of the independent joints that turn aside before singularities of the loops, where no straight one leads on.

At each step the joints head for where they are wanted. Where that leads too near to a singularity, the direction is
turned by the next of some angles, always to the same hand in a plane of two joints; where none serves, steps become
shorter. So a way slides along the boundary of what loops can reach, and through necks of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from tasks.kernels.types import Mask, Scalar, Scalars
from tasks.mathematics.algebra import either, every, opposite, where
from tasks.mechanics.continuation.steps import GROWTH

ANGLES = tuple(math.radians(degrees) for degrees in (0.0, 30.0, 60.0, 88.0, 130.0))
LONGEST = 0.05  # step [rad, or in sizes of the loops]
SHORTEST = 0.0005
NEAR_END = 0.1  # way that is left from which singularities may be near: the end may be close to one
SHRINKING = 0.7  # share of the determinant of a block that is left after a step, at least: then its loops can be closed
LEAST_ROOM = 0.1  # determinant of a block, relative to the reference configuration's, below which nothing goes nearer


@dataclass(frozen=True)
class Aside:
    """Where a sample is that turns aside."""

    at: Scalars
    """Positions of the independent joints in loops."""
    slopes: Scalars
    """Dependent joints over these, row by row."""
    volumes: Scalars
    """Determinants of all blocks."""
    angle: Scalar
    """Which of the angles the next step is turned by."""
    length: Scalar
    """Of the next step."""
    going: Scalar
    """1 where the independent joints go in the next round, 0 where they wait for the dependent ones."""

    def flat(self) -> list[Scalar]:
        """All numbers."""
        return [*self.at, *self.slopes, *self.volumes, self.angle, self.length, self.going]

    @classmethod
    def of(cls, flat: Sequence[Scalar], sizes: tuple[int, int, int]) -> Aside:
        """The same from all numbers, and from how many joints are independent and dependent, and how many blocks."""
        count, dependent, blocks = sizes
        a, b, c = accumulate((count, count * dependent, blocks))
        return cls(flat[:a], flat[a:b], flat[b:c], *flat[c:])

    @classmethod
    def beginning(cls, sizes: tuple[int, int, int]) -> Aside:
        """At the reference configuration."""
        count, dependent, blocks = sizes
        return cls([0.0] * count, [0.0] * (count * dependent), [0.0] * blocks, 0.0, LONGEST, 0.0)

    @property
    def moves(self) -> Mask:
        """Whether the independent joints go."""
        return self.going > 0.5

    @property
    def straight(self) -> Mask:
        """Whether they head for where they are wanted."""
        return self.angle < 0.5

    @property
    def ended(self) -> Mask:
        """Whether no direction and no shorter step is left."""
        return every([self.moves, self.length < SHORTEST])

    def direction(self) -> tuple[Scalar, Scalar]:
        """Cosine and sine of the angle."""
        cos: Scalar = 1.0
        sin: Scalar = 0.0
        for k, angle in enumerate(ANGLES[1:], start=1):
            chosen = abs(self.angle - float(k)) < 0.5
            cos, sin = where(chosen, math.cos(angle), cos), where(chosen, math.sin(angle), sin)
        return cos, sin

    def blocked(self, singular: Mask) -> Aside:
        """After a step that was not taken: half of it; where it led to a singularity, first all other directions."""
        last = self.angle > len(ANGLES) - 1.5
        turns = every([self.moves, singular, opposite(last)])
        halved = every([self.moves, opposite(turns)])
        angle = where(turns, self.angle + 1.0, where(every([halved, singular]), 0.0, self.angle))
        length = where(halved, 0.5 * self.length, self.length)
        return Aside(self.at, self.slopes, self.volumes, angle, length, self.going)

    def onward(self, at: Scalars, slopes: Scalars, volumes: Scalars, onward: Mask) -> Aside:
        """On from a step that was taken; onward: whether loops are closed there."""
        longer = GROWTH * self.length
        longer = where(longer < LONGEST, longer, LONGEST)
        going = where(onward, 1.0, 0.0)
        return Aside(at, slopes, volumes, 0.0, where(onward, longer, self.length), going)

    def closable(self, volumes: Scalars) -> Mask:
        """Whether determinants of all blocks have shrunk by so little in a step that loops can be closed after it."""
        masks = [abs(y) >= SHRINKING * abs(x) for x, y in zip(self.volumes, volumes, strict=True)]
        return either(opposite(self.moves), every(masks))

    def singular(self, volumes: Scalars, home: Scalars, left: Scalar) -> Mask:
        """Whether a step led too near to a singularity, and nearer than before.

        volumes: determinants of all blocks after it, home: at the reference configuration; left: way to where they are
        wanted.
        """
        away: list[Mask] = []
        for before, after, at_home in zip(self.volumes, volumes, home, strict=True):
            away.append(either(abs(after) >= LEAST_ROOM * abs(at_home), abs(after) >= abs(before)))
        return every([self.moves, left >= NEAR_END, opposite(every(away))])
