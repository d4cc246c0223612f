"""Corners of forces in adaptive steps, which end there.

A force has a corner where a gap closes or opens: `tasks.dynamics.gaps`. An integrator of high order loses its order in
a step with a corner inside, and may pass over a short contact. Gaps are evaluated inside a step at places so close that
they cannot come to zero and back between them, by bounds of their rates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import DenseOutput, OdeSolver
from scipy.optimize import brentq

from robots.data_classes import dataclass

Numbers = NDArray[np.float64]

BEYOND = 1e-11
"""Least gap [rad, m] of a crossing; smaller gaps are rounding, or a touch."""

TOUCH = 100.0 * BEYOND
"""Largest gap at the end of a step with which the step counts as ending at its corner."""

FASTER = 1.5
"""Bound of the rate of a gap between two places, relative to the larger rate at both."""

PROBE = 1e-3
"""Share of the next step over which rates of gaps are differences."""

BETWEEN, ROUNDS = 8, 4
"""Number of parts of a stretch of a step in which a gap may come to zero and back, and number of subdivisions."""


class Gap(NamedTuple):
    """One gap at some places (n,), and bounds of the magnitudes of its rates there."""

    value: Numbers
    rate: Numbers


class Gaps(NamedTuple):
    """Gaps at some places (n, corner), and bounds of the magnitudes of their rates."""

    values: Numbers
    rates: Numbers

    @classmethod
    def of(cls, gaps: Sequence[Gap]) -> Gaps:
        """Stack single gaps as columns."""
        return cls(np.stack([gap.value for gap in gaps], axis=1), np.stack([gap.rate for gap in gaps], axis=1))


GapsOver = Callable[[Numbers, Numbers], Gaps]
"""Function from times (n,) and states (size, n) to gaps."""


class Tolerances(TypedDict):
    """Tolerances of an integrator of scipy."""

    rtol: float
    atol: float


def steps_up_to(
    solver: type[OdeSolver], change: Callable[[float, Numbers], Numbers], dense: DenseOutput, corner: float,
    tolerances: Tolerances,
) -> Iterator[tuple[float, DenseOutput]]:  # fmt: skip
    """Repeat a step up to a corner inside it; yield the ends of the new steps and their dense outputs.

    Ends before the corner if the solver fails.
    """
    begin = float(dense.t_old)
    if not begin < corner < float(dense.t):
        yield corner, dense
        return
    again = solver(change, begin, dense(begin), corner, first_step=corner - begin, **tolerances)
    while again.status == "running":
        again.step()
        if again.status == "failed" or not np.isfinite(again.y).all():
            return
        yield float(again.t), again.dense_output()


class Watch:
    """Sides of the corners of a case under way: the sign of each gap, zero while it is not determined."""

    def __init__(self, gaps: GapsOver):
        self.gaps = gaps
        self.sides: Numbers | None = None

    def shorten(self, solver: OdeSolver) -> None:
        """Let the next step of a solver of scipy end where a gap closes, extrapolated with its second derivative."""
        span = PROBE * solver.h_abs
        at = np.array([0.0, span, 2.0 * span])
        change = np.asarray(solver.fun(solver.t, solver.y))
        after = np.asarray(solver.fun(solver.t + span, solver.y + span * change))
        states = solver.y[:, None] + change[:, None] * at + (after - change)[:, None] * (0.5 * at * at / span)
        values = self.gaps(solver.t + at, states).values
        bend = (values[2] - 2.0 * values[1] + values[0]) / span**2
        slope = (values[1] - values[0]) / span - 0.5 * bend * span
        closing = [_closing(*numbers) for numbers in zip(values[0], slope, bend, strict=True)]
        first = min(closing, default=np.inf)
        if first < solver.h_abs:
            solver.h_abs = first

    def first(self, path: StepPath, begin: float, end: float) -> float | None:
        """Return the first instant of a step at which a corner is met, its end where it comes to one; None without."""
        times, values = self._places(path, begin, end)
        sides = np.zeros(values.shape[1]) if self.sides is None else self.sides
        met = [self._met(path, times, values[:, k], k, side) for k, side in enumerate(sides)]
        first = min((instant for instant, _ in met if instant is not None), default=None)
        earlier = values if first is None else values[times < first]
        for k, (_, side) in enumerate(met):
            if first is None:
                sides[k] = side
            elif sides[k] * earlier[0, k] < -BEYOND or sides[k] == 0.0:
                sides[k] = _side(earlier[:, k])
        self.sides = sides
        comes = (np.abs(values[-1]) <= TOUCH) & (np.abs(values[0]) > TOUCH)
        return end if first is None and comes.any() else first

    def _met(self, path: StepPath, times: Numbers, values: Numbers, k: int, side: float) -> tuple[float | None, float]:
        """Return the time at which a gap changes its side, None if it does not, and its side at the end.

        A gap that is beyond its corner at the begin of the step has crossed before.
        """
        for place, value in enumerate(values):
            if side == 0.0 and abs(value) > BEYOND:
                side = float(np.sign(value))
            elif side * value < -BEYOND:
                if place > 0 and side * values[place - 1] > BEYOND:
                    return self._root(path, k, float(times[place - 1]), float(times[place])), side
                side = -side
        return None, side

    def _places(self, path: StepPath, begin: float, end: float) -> tuple[Numbers, Numbers]:
        """Return times (n,) of a step and gaps there, so close that no gap comes to zero and back in between."""
        times = np.linspace(begin, end, 3)
        gaps = self.gaps(times, path(times))
        for _ in range(ROUNDS):
            sizes = np.abs(gaps.values)
            near, least = sizes[1:] + sizes[:-1], np.minimum(sizes[1:], sizes[:-1])
            longest = FASTER * np.maximum(gaps.rates[1:], gaps.rates[:-1]) * np.diff(times)[:, None]
            stays = (gaps.values[1:] * gaps.values[:-1] > 0.0) | (least <= BEYOND)
            wide = np.flatnonzero((stays & (near > 2.0 * BEYOND) & (near < longest)).any(axis=1))
            if not len(wide):
                break
            added = np.concatenate([np.linspace(times[k], times[k + 1], BETWEEN + 1)[1:-1] for k in wide])
            order = np.argsort(np.concatenate([times, added]), kind="stable")
            more = self.gaps(added, path(added))
            times = np.concatenate([times, added])[order]
            gaps = Gaps(*(np.concatenate(parts)[order] for parts in zip(gaps, more, strict=True)))
        return times, gaps.values

    def _root(self, path: StepPath, k: int, begin: float, end: float) -> float:
        def gap(time: float) -> float:
            return float(self.gaps(np.array([time]), path(np.array([time]))).values[0, k])

        return float(brentq(gap, begin, end, xtol=1e-15, rtol=8.9e-16))


def _side(values: Numbers) -> float:
    """Return the sign of the first of some gaps that is not zero; zero without."""
    clear = values[np.abs(values) > BEYOND]
    return float(np.sign(clear[0])) if len(clear) else 0.0


def _closing(gap: float, slope: float, bend: float) -> float:
    """Return the first future time at which gap + slope t + bend t^2 / 2 is zero; infinite without such a time."""
    if abs(gap) <= TOUCH or not np.isfinite([gap, slope, bend]).all():
        return np.inf
    gap, slope, bend = (x * np.sign(gap) for x in (gap, slope, bend))
    root = slope * slope - 2.0 * bend * gap
    if root < 0.0 or (slope >= 0.0 and bend >= 0.0):
        return np.inf
    return float(2.0 * gap / (np.sqrt(root) - slope))


@dataclass(frozen=True)
class StepPath:
    """Cubic between the ends of a step, by states and their rates there.

    It does not depend on forces in between. If a step has passed over a short contact, the polynomial of its integrator
    is not valid.
    """

    begin: float
    end: float
    states: tuple[Numbers, Numbers]
    rates: tuple[Numbers, Numbers]

    @classmethod
    def of_step(cls, solver: OdeSolver, dense: DenseOutput) -> StepPath:
        """Return the path of the last step of a solver."""
        begin, end = float(solver.t_old), float(solver.t)
        states = np.asarray(dense(begin)), np.asarray(solver.y)
        return cls(
            begin, end, states, (np.asarray(solver.fun(begin, states[0])), np.asarray(solver.fun(end, states[1])))
        )

    def __call__(self, times: Numbers) -> Numbers:
        """Return the states (size, n) at some times (n,)."""
        length = self.end - self.begin
        x = (times - self.begin) / length
        (first, last), (leaving, coming) = self.states, self.rates
        shapes = (1.0 + 2.0 * x) * (1.0 - x) ** 2, x * x * (3.0 - 2.0 * x), x * (1.0 - x) ** 2, x * x * (x - 1.0)
        parts = first, last, length * leaving, length * coming
        return np.asarray(sum(part[:, None] * shape for part, shape in zip(parts, shapes, strict=True)))
