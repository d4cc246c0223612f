"""Friction that depends on the loads it causes, along a given motion, for one sample: tau = G(tau).

G is one round: friction -> reactions -> normal loads -> friction. Loads are lengths of vectors affine in friction.
Searches are the phases of one loop, as in `tasks.dynamics.instant.search_phases` for accelerations:

    FIRST    from friction under the loads without friction, as quickly as possible; the result where it converges
    GROWTH   under friction so large that it causes all loads: the factor by which a round enlarges it
    SLOWLY   from no friction, a tenth of a round at a time: until it belongs to the motion, or without bound

GROWTH and SLOWLY are for samples in which FIRST does not converge. A factor below 1 means one solution, which the slow
search finds. Above 1 the number of solutions is even, two or none, and the search finds the smaller one or diverges.
For one joint alone, and factors up to `PROVEN`, a search that diverges proves that no solution exists: a round enlarges
a difference of loads by no more than the factor, so that a step of a tenth passes no solution. For several joints it
proves nothing, and the status tells only that friction has not converged.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from robots.data_classes import dataclass
from robots.status import Status
from tasks.kernels.expression import Array, Dual, Mask, Scalar
from tasks.mathematics.algebra import array, either, every, iterate, opposite, total, where

FIRST, GROWTH, SLOWLY, ENDED, LOST = 0.0, 1.0, 2.0, 3.0, 4.0
"""Phases; the last two are ends of the slow search, at a solution and without bound."""

ITERATIONS = 300
"""Rounds of the first search."""

GROWTH_ROUNDS = 8
"""Rounds after which the direction of large friction is that which grows."""

SLOW_ROUNDS = 3000

SETTLED = Dual(1e-13, 1e-5)
"""Change of all friction in a round, relative to its size, at which the first search ends."""

ACCURATE = Dual(1e-9, 1e-4)
"""The same above which it has not settled."""

SLOW_SETTLED = Dual(1e-11, 1e-5)
"""The same at which the slow search has an end."""

SHARE = 0.9
"""Share of friction that a round of the slow search keeps."""

PROVEN = 8.0
"""Factor up to which the slow search passes no solution: below 1 / (1 - SHARE) - 1."""

LARGE = Dual(1e9, 1e6)
"""Large friction, relative to friction under the loads without friction."""

AWAY, GONE = Dual(1e6, 1e6), Dual(1e30, 1e15)
"""Friction, relative to friction under the loads without friction, that means divergence of the slow and first search.
"""

TINY = 1e-300


@dataclass(frozen=True)
class SettledFriction:
    """Friction of passive joints, 1 where it has not settled, its last change, and the status if it has not."""

    tau: Array
    unsettled: Scalar
    residual: Scalar
    status: Scalar


def settled(friction_of: Callable[[Array], Array], start: Array, alone: bool) -> SettledFriction:
    """Return the friction consistent with the loads that it causes; `start` is friction under loads without friction.

    alone: whether only one passive joint has a reaction as its load, so that it can be proven that no solution exists.
    """
    size = total(start)

    def step(state: Sequence[Scalar]) -> tuple[list[Scalar], Mask]:
        phase, count, before, last, *now = state
        first, slow = phase < FIRST + 0.5, phase > GROWTH + 0.5
        growing = opposite(either(first, slow))
        following = friction_of(array(now))
        change, whole = total(following - array(now)), total(following)
        # NaN counts as done: it will not get better
        resting = opposite(change > SETTLED * whole + TINY)
        spent = count > ITERATIONS - 0.5
        kept = every([spent, change <= ACCURATE * whole + TINY])
        failed = every([first, opposite(resting), opposite(kept), either(spent, whole > GONE * size)])
        arrived = every([slow, change <= SLOW_SETTLED * whole + TINY])
        lost = every([slow, whole > AWAY * size])
        begun = every([growing, count > GROWTH_ROUNDS - 1.5])
        scale, enlarged = LARGE * size / where(whole > 0.0, whole, 1.0), either(failed, growing)

        def after(x: Scalar, y: Scalar) -> Scalar:
            slowly = where(arrived, y, x * SHARE + y * (1.0 - SHARE))
            large = where(begun, 0.0, y * scale)
            return where(slow, slowly, where(enlarged, large, where(kept, x, y)))

        after_phase = where(failed, GROWTH, where(begun, SLOWLY, where(arrived, ENDED, where(lost, LOST, phase))))
        rate = whole / where(total(now) > 0.0, total(now), 1.0)
        growth = [where(growing, last, before), where(growing, rate, last)]
        over = either(either(arrived, lost), opposite(whole <= sys.float_info.max))
        done = either(every([first, either(resting, kept)]), over)
        counted = where(either(failed, begun), 0.0, count + 1.0)
        return [after_phase, counted, *growth, *(after(x, y) for x, y in zip(now, following, strict=True))], done

    rounds = ITERATIONS + GROWTH_ROUNDS + SLOW_ROUNDS + 2
    phase, _, before, last, *tau = iterate(step, [FIRST, 0.0, 0.0, 0.0, *start], rounds, newton=False)
    final = array(tau)
    again = friction_of(final)
    residual = total(again - final)
    grows, ended = before * last >= 1.0, every([phase > ENDED - 0.5, phase < ENDED + 0.5])
    several = every([ended, grows])
    unsettled = where(opposite(residual <= ACCURATE * total(again) + TINY), 1.0, where(several, 1.0, 0.0))
    none = every([phase > LOST - 0.5, grows, before * last <= PROVEN * PROVEN]) if alone else False
    status = where(several, float(Status.FRICTION_SEVERAL_SOLUTIONS), float(Status.FRICTION_NOT_CONVERGED))
    return SettledFriction(final, unsettled, residual, where(none, float(Status.FRICTION_NO_SOLUTION), status))
