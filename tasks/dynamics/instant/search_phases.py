"""Searches for motions under friction whose loads are reactions, and detection of Painleve's paradoxes, for one sample.

There may be no motion, or several. Loads N belong to a motion where N = G(N): friction under N, accelerations,
reactions, loads. `tasks.dynamics.instant.reaction_loads` iterates G in the phases of one loop:

    FIRST    from loads without friction, as quickly as possible: its end is the motion
    GROWTH   under loads so large that friction alone makes them: the factor by which a round enlarges loads
    SLOWLY   from no loads and no friction, in small shares: loads grow until they belong to a motion

Bearing loads are affine in friction, so that for one loaded joint in motion N = |c_0 + c_1 N|. A factor |c_1| below 1
gives one solution. Above 1 there are two if c_0 and c_1 are opposite, and none otherwise. With several joints, G has
lengths of vectors that are affine in N and grow at most in proportion to N. Where the factor passes 1, the number of
solutions changes from one to an even number. A sticking joint may have a second motion in which it slides; then the
slow search ends at another motion than the first search. Sources: Painleve 1895, Lecons sur le frottement; Klein 1910;
Leine, Brogliato and Nijmeijer 2002, Periodic motion and bifurcations induced by the Painleve paradox.
"""

from __future__ import annotations

from collections.abc import Sequence

from robots.data_classes import dataclass
from tasks.kernels.expression import Array, Scalar, Scalars
from tasks.mathematics.algebra import total, where

FIRST, GROWTH, SLOWLY = 0.0, 1.0, 2.0

GROWTH_ROUNDS = 8
"""Rounds after which the direction of large loads is that which grows."""

LARGE = 1e9
"""Sum of large loads, relative to the sum without friction; loads of other origin are not counted."""

SLOW_STEPS = 3000
"""Rounds and steps of the problem of rest in the slow search."""

SHARE = 0.9
"""Share of loads that a round of the slow search keeps."""

ENDED = 1e-11
"""Relative change of loads in a round at which the slow search has converged."""

AWAY, GONE = 1e6, 1e30
"""Sum of loads, relative to the sum without friction, that means divergence, in the slow and in the first search."""

ANOTHER = 1e-6
"""Difference of accelerations that means another motion, relative to the magnitudes of their terms."""

ALIKE, OTHER, LOST = 1.0, 2.0, 3.0
"""Ends of the slow search: the same motion as the first, another one, loads without bound; 0 before the end."""

OVERFLOW = 1e150
"""Loads whose squares overflow."""


@dataclass(frozen=True)
class Searches:
    """State of the searches: phase, rounds and steps in all, end of the first one, and results of the others.

    loads (joint,), partition and acceleration (freedom,) are results of the first search after its end; settled is 1 if
    it converged. growth: factors of the last two rounds; second: end of the slow search.
    """

    phase: Scalar
    count: Scalar
    settled: Scalar
    growth: Sequence[Scalar]
    second: Scalar
    loads: Sequence[Scalar]
    partition: Sequence[Scalar]
    acceleration: Sequence[Scalar]

    def numbers(self) -> list[Scalar]:
        """Return the state of the search as a flat list of numbers."""
        head = (self.phase, self.count, self.settled, *self.growth, self.second)
        return [*head, *self.loads, *self.partition, *self.acceleration]

    @classmethod
    def of(cls, numbers: Scalars, loads: int, partition: int) -> Searches:
        """Make the record from the result of `numbers`."""
        phase, count, settled, before, last, second, *flat = numbers
        first, remainder = flat[:loads], flat[loads:]
        return cls(phase, count, settled, (before, last), second, first, remainder[:partition], remainder[partition:])

    @property
    def grows(self) -> Scalar:
        """1 where large loads do not become smaller."""
        return where(self.growth[0] * self.growth[1] >= 1.0, 1.0, 0.0)


def equal(number: Scalar, code: float) -> Scalar:
    """Return 1 if a number equals this integer, else 0."""
    return where(abs(number - code) < 0.5, 1.0, 0.0)


def large(loads: Sequence[Scalar], size: Scalar) -> list[Scalar]:
    """Return loads of equal proportions whose sum is LARGE times a size; all equal if they are zero or not finite."""
    whole = total(loads)
    good = where(whole > 0.0, where(whole < OVERFLOW, 1.0, 0.0), 0.0)
    scale = where(good > 0.5, size * LARGE / where(good > 0.5, whole, 1.0), 0.0)
    return [where(good > 0.5, x * scale, size * LARGE) for x in loads]


def differs(acceleration: Array, other: Sequence[Scalar], size: Scalar) -> Scalar:
    """Return 1 if accelerations belong to another motion; `size` is the size of their terms."""
    apart = total([a - b for a, b in zip(acceleration, other, strict=True)])
    return where(apart > size * ANOTHER, 1.0, 0.0)
