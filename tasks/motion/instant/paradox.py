"""Whether friction whose loads are reactions has no motion, or several (Painleve's paradoxes), for one sample.

Loads N belong to a motion where N = G(N): friction under N, accelerations, reactions, loads. G goes round in searches,
which are the phases of one loop:

    FIRST    from loads without friction, as quickly as it goes: its end is the motion
    GROWTH   under loads so large that friction alone makes them: the factor by which a round enlarges loads
    SLOWLY   from no loads and no friction, in small shares: loads grow until they belong to a motion

What bearings carry is affine in friction, so that for one loaded joint in motion N = |c_0 + c_1 N|. A factor |c_1|
below 1 gives one solution. Above it there are two where c_0 and c_1 are opposite, and none else. With several joints G
is of lengths of vectors that are affine in N, which grow at most as N does: where the factor passes 1 the number of
solutions changes from one to an even number. At rest a joint that holds may be one that would slide as well; then the
slow search ends at another motion than the first. Sources: Painleve 1895, Lecons sur le frottement; Klein 1910; Leine,
Brogliato and Nijmeijer 2002, Periodic motion and bifurcations induced by the Painleve paradox.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.kernels.types import Array, Scalar, Scalars
from tasks.mathematics.algebra import total, where

FIRST, GROWTH, SLOWLY = 0.0, 1.0, 2.0

GROWTH_ROUNDS = 8
"""Rounds after which the direction of large loads is that which grows."""

LARGE = 1e9
"""Sum of large loads, relative to that without friction: what is beside friction does not count among them."""

SLOW_STEPS = 3000
"""Rounds and steps of the problem of rest in the slow search."""

SHARE = 0.9
"""Of loads that a round of the slow search keeps."""

ENDED = 1e-11
"""Change of loads in a round, relative, at which the slow search has an end."""

AWAY, GONE = 1e6, 1e30
"""Sum of loads, relative to that without friction, from which they run away in the slow search, and in the first."""

ANOTHER = 1e-6
"""Difference of accelerations, relative to all that they are the sum of, of another motion."""

ALIKE, OTHER, LOST = 1.0, 2.0, 3.0
"""Ends of the slow search: the same motion as the first, another one, loads without bound; 0 while there is none."""

HELD = 1e150
"""Loads from which squares have no number."""


@dataclass(frozen=True)
class Searches:
    """Where the searches are: phase, rounds and steps in all, the end of the first one, and what came of the others.

    loads (joint,), partition and acceleration (freedom,) are those of the first search once it has ended; settled is 1
    where it has one. growth: factors of the last two rounds; second: end of the slow search.
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
        """All of it."""
        head = (self.phase, self.count, self.settled, *self.growth, self.second)
        return [*head, *self.loads, *self.partition, *self.acceleration]

    @classmethod
    def of(cls, numbers: Scalars, loads: int, partition: int) -> Searches:
        """From what `numbers` gives."""
        phase, count, settled, before, last, second, *others = numbers
        first, rest = others[:loads], others[loads:]
        return cls(phase, count, settled, (before, last), second, first, rest[:partition], rest[partition:])

    @property
    def grows(self) -> Scalar:
        """1 where large loads do not become smaller."""
        return where(self.growth[0] * self.growth[1] >= 1.0, 1.0, 0.0)


def equal(number: Scalar, code: float) -> Scalar:
    """1 where a number is this whole one."""
    return where(abs(number - code) < 0.5, 1.0, 0.0)


def large(loads: Sequence[Scalar], size: Scalar) -> list[Scalar]:
    """Loads of the same proportions whose sum is LARGE times a size; all alike where there are none, or no numbers."""
    whole = total(loads)
    good = where(whole > 0.0, where(whole < HELD, 1.0, 0.0), 0.0)
    scale = where(good > 0.5, size * LARGE / where(good > 0.5, whole, 1.0), 0.0)
    return [where(good > 0.5, x * scale, size * LARGE) for x in loads]


def differs(acceleration: Array, other: Sequence[Scalar], size: Scalar) -> Scalar:
    """1 where accelerations are those of another motion; `size` is that of what they are the sum of."""
    apart = total([a - b for a, b in zip(acceleration, other, strict=True)])
    return where(apart > size * ANOTHER, 1.0, 0.0)
