"""One step in time of a robot, cut where joints come to rest or break away, and where it is too rough for its method.

Samples without an event take the step whole. The others go on alone, each with steps of its own, until all have come to
the end. A sample that needs too many steps has come to its end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tasks.kernels.kernel import padded
from tasks.motion.pushes import Push
from tasks.motion.steps import Step
from tasks.motion.system import Moment, MotionSystem

MOST = 200
"""Steps that one step may be cut into."""

SHORTEST = 2.0**-12
"""Share of a step that is not cut further for roughness."""

LOCATED = 1e-13
"""Share of a step to which the time of an event is found."""

TRIES = 60

SATURATED = 1e-11
"""Margin that does not tell how far the event is: a joint may be at its limit long before those beside it are."""


def forced(system: MotionSystem, now: Moment, acting: np.ndarray) -> Moment:
    """The moment where what acts (rows, samples) has jumped: joints at rest may not hold any more."""
    after = Moment(now.state, now.modes, system.rates(now.state, now.modes, acting))
    after.rates.status[:] = np.where(now.rates.status > 0.5, now.rates.status, after.rates.status)
    loose = ((now.modes.rest > 0.5) & (after.rates.breaking != 0.0)).any(axis=0)
    if not loose.any():
        return after
    columns = whole_lanes(np.flatnonzero(loose))
    part, chosen = after.of(columns), np.ascontiguousarray(acting[:, columns])
    stopping = np.zeros(part.modes.rest.shape, dtype=bool)
    settled = system.part(columns).settled(part.state, part.modes, stopping, lambda state: chosen)
    return after.replaced(columns, Moment(*settled))


@dataclass(frozen=True)
class Stepper:
    """Takes a batch over one step of `length` [s]; `push` gives what acts at shares of it in states."""

    system: MotionSystem
    step: Step
    length: float
    push: Push

    def of(self, columns: np.ndarray) -> Stepper:
        """That of some samples."""
        return Stepper(self.system.part(columns), self.step, self.length, self.push.of(columns))

    def taken(self, start: Moment) -> Moment:
        """The batch at the end of the step; NaN where a sample did not come there."""
        width = start.state.shape[1]
        end, rough = self._moved(start, np.zeros(width), np.ones(width))
        cut = rough | (self._margins(start, end) < 0.0).any(axis=0)
        if cut.any():
            columns = whole_lanes(np.flatnonzero(cut))
            end = end.replaced(columns, self.of(columns)._in_pieces(start.of(columns)))
        ended = ~np.isfinite(start.rates.rate).all(axis=0)
        end.rates.status[ended] = start.rates.status[ended]
        return end

    def _margins(self, start: Moment, end: Moment) -> np.ndarray:
        return self.system.margins(start.rates, start.modes, end.rates)

    def _moved(self, start: Moment, begun: np.ndarray, share: np.ndarray) -> tuple[Moment, np.ndarray]:
        """The end of a piece of the step in unchanged modes, and where it was too rough."""
        push = self.push

        def along(part: np.ndarray, state: np.ndarray) -> np.ndarray:
            return push(begun + part * share, state)

        state, rough = self.step(self.system, start.state, start.modes, start.rates, share * self.length, along)
        state = self.system.normalised(state)
        rates = self.system.rates(state, start.modes, push(begun + share, state))
        memory = self.system.layout.at["memory"]
        if (rates.remembered != state[memory]).any():
            state[memory] = rates.remembered
            rates = self.system.rates(state, start.modes, push(begun + share, state))
        return Moment(state, start.modes, rates), rough

    def _in_pieces(self, now: Moment) -> Moment:
        """The same for samples that need it."""
        begun, piece = np.zeros(now.state.shape[1]), np.ones(now.state.shape[1])
        for _ in range(MOST):
            left = whole_lanes(np.flatnonzero(begun < 1.0))
            if not len(left):
                return now
            since, share, mine = begun[left], np.minimum(piece[left], 1.0 - begun[left]), self.of(left)
            there, rough = mine._moved(now.of(left), since, share)
            rough &= share > SHORTEST
            there, reached = mine._to_event(now.of(left), there, since, share, ~rough)
            good = np.flatnonzero(~rough)
            now = now.replaced(left[good], there.of(good))
            begun[left[good]] = _ended(since + reached)[good]
            piece[left] = np.where(rough, share * 0.5, np.minimum(piece[left] * 2.0, 1.0))
        now.state[:, begun < 1.0] = np.nan
        now.rates.rate[:, begun < 1.0] = np.nan
        return now

    def _to_event(
        self, start: Moment, end: Moment, begun: np.ndarray, share: np.ndarray, wanted: np.ndarray
    ) -> tuple[Moment, np.ndarray]:
        """Samples whose mode ends in this piece, at the moment where it does, with the modes after it."""
        chosen = whole_lanes(np.flatnonzero((self._margins(start, end) < 0.0).any(axis=0) & wanted))
        if not len(chosen):
            return end, share
        at, since, mine = start.of(chosen), begun[chosen], self.of(chosen)
        there, reached = mine._located(at, end.of(chosen), since, share[chosen])
        stopping = (self._margins(at, there) <= 0.0) & (at.modes.rest < 0.5)
        fastest = np.abs(at.rates.velocity).max(axis=0, initial=0.0)

        def force(state: np.ndarray) -> np.ndarray:
            return mine.push(since + reached, state)

        after = mine.system.settled(there.state, at.modes, stopping, force, fastest)
        share = share.copy()
        share[chosen] = reached
        return end.replaced(chosen, Moment(*after)), share

    def _located(self, start: Moment, end: Moment, begun: np.ndarray, share: np.ndarray) -> tuple[Moment, np.ndarray]:
        """Just past the first event of each sample, by regula falsi that does not get stuck (Illinois)."""
        low, high, last = np.zeros_like(share), share.copy(), np.zeros_like(share)
        below = np.maximum(self._margins(start, start).min(axis=0), 0.0)
        above = self._margins(start, end).min(axis=0)
        for k in range(TRIES):
            wide = high - low > LOCATED * share
            if not wide.any():
                break
            part = np.clip(below / (below - above), 1e-3, 1.0 - 1e-3)
            part = np.where((k % 4 == 3) | (below <= SATURATED), 0.5, part)
            middle = np.where(wide, low + (high - low) * part, high)
            there, _ = self._moved(start, begun, middle)
            value = self._margins(start, there).min(axis=0)
            past, before = wide & (value < 0.0), wide & ~(value < 0.0)
            end = end.replaced(np.flatnonzero(past), there.of(np.flatnonzero(past)))
            above = np.where(before & (last > 0.0), above * 0.5, np.where(past, value, above))
            below = np.where(past & (last < 0.0), below * 0.5, np.where(before, value, below))
            low, high, last = np.where(before, middle, low), np.where(past, middle, high), np.where(past, -1.0, 1.0)
        return end, high


def _ended(begun: np.ndarray) -> np.ndarray:
    return np.where(begun >= 1.0 - LOCATED, 1.0, begun)


def whole_lanes(columns: np.ndarray) -> np.ndarray:
    """Whole groups of lanes: the last sample fills up."""
    if not len(columns):
        return columns
    return np.concatenate([columns, np.repeat(columns[-1:], padded(len(columns)) - len(columns))])
