"""Steps in time of a batch of robots with friction, which are cut at events.

A step is cut where joints come to rest or break away, and where it is too long for its method. Samples without an event
take the whole step. The others continue alone, each with its own shorter steps, until all have reached the end of the
step. A sample that needs too many steps ends there.

The layout of states and the rates at them are in `tasks.dynamics.motion_system`, the methods in
`tasks.dynamics.step_methods`, and the modes after an event in `tasks.dynamics.resting_joints`.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from robots.data_classes import dataclass
from robots.status import Status
from tasks.dynamics import resting_joints
from tasks.dynamics.forces_over_step import Push
from tasks.dynamics.instant.moments import ROUNDING, Moment
from tasks.dynamics.resting_joints import FrictionSystem
from tasks.dynamics.step_methods import Step
from tasks.kernels.keys import whole_lanes

MOST = 200
"""Steps that one step may be cut into."""

SHORTEST = 2.0**-12
"""Share of a step that is not cut further for roughness."""

LOCATED = 1e-13
"""Share of a step to which the time of an event is found."""

TRIES, HALVED, NEARLY = 60, 6, 0.5 * ROUNDING
"""Largest number of trials, which of them are halvings, and the margin past an event that counts as none."""

SATURATED = 1e-11
"""Margin up to which a joint counts as at its limit. Such a margin does not tell the time of the event."""


class SteppedSystem(FrictionSystem, Protocol):
    """The part of `tasks.dynamics.motion_system.MotionSystem` that steps with events need."""

    def normalised(self, state: np.ndarray) -> np.ndarray:
        """Return the state with a unit quaternion."""
        ...

    def part(self, columns: np.ndarray) -> SteppedSystem:
        """Return the system of some of the samples."""
        ...


def forced(system: SteppedSystem, now: Moment, acting: np.ndarray) -> Moment:
    """Return the moment where a force (rows, samples) has jumped: joints at rest may break away."""
    after = Moment(now.state, now.modes, system.rates(now.state, now.modes, acting))
    after.rates.status[:] = np.where(now.rates.status > 0.5, now.rates.status, after.rates.status)
    loose = ((now.modes.rest > 0.5) & (after.rates.breaking != 0.0)).any(axis=0)
    if not loose.any():
        return after
    columns = whole_lanes(np.flatnonzero(loose))
    part, columns_of_batch = after.of(columns), np.ascontiguousarray(acting[:, columns])
    stopping = np.zeros(part.modes.rest.shape, dtype=bool)
    some = system.part(columns)
    settled = resting_joints.settled(some, part.state, part.modes, stopping, lambda state: columns_of_batch)
    return after.replaced(columns, Moment(*settled))


@dataclass(frozen=True)
class Stepper:
    """Integrator of a batch over one step of `length` [s]; `push` gives the forces at shares of it in states."""

    system: SteppedSystem
    step: Step
    length: float
    push: Push

    def of(self, columns: np.ndarray) -> Stepper:
        """Return the stepper of some samples."""
        return Stepper(self.system.part(columns), self.step, self.length, self.push.of(columns))

    def taken(self, start: Moment) -> Moment:
        """Return the batch at the end of the step; NaN for a sample that did not reach it."""
        width = start.state.shape[1]
        end, rough = self._moved(start, np.zeros(width), np.ones(width))
        cut = rough | (self._margins(start, end) < 0.0).any(axis=0)
        if cut.any():
            columns = whole_lanes(np.flatnonzero(cut))
            end = end.replaced(columns, self.of(columns)._in_pieces(start.of(columns)))
        ended = ~np.isfinite(start.rates.rate).all(axis=0)
        end.rates.status[ended] = start.rates.status[ended]
        lost = ~ended & ~np.isfinite(end.state).all(axis=0)
        if lost.any():
            acting = [self.push(share * np.ones(width), start.state) for share in (0.5, 1.0)]
            end.rates.status[lost & ~np.isfinite(acting).all(axis=(0, 1))] = float(Status.NONFINITE)
        return end

    def _margins(self, start: Moment, end: Moment) -> np.ndarray:
        return resting_joints.margins(self.system, start.rates, start.modes, end.rates)

    def _moved(self, start: Moment, begun: np.ndarray, share: np.ndarray) -> tuple[Moment, np.ndarray]:
        """Return the end of a piece of the step in unchanged modes, and a mask of samples that it is too rough for."""
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
        """Return the same for samples that need it."""
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
        """Return the samples whose mode ends in this piece, at that moment, with the modes after it."""
        chosen = whole_lanes(np.flatnonzero((self._margins(start, end) < 0.0).any(axis=0) & wanted))
        if not len(chosen):
            return end, share
        at, since, mine = start.of(chosen), begun[chosen], self.of(chosen)
        there, reached = mine._located(at, end.of(chosen), since, share[chosen])
        stopping = (self._margins(at, there) <= 0.0) & (at.modes.rest < 0.5)
        fastest = np.abs(at.rates.velocity).max(axis=0, initial=0.0)

        def force(state: np.ndarray) -> np.ndarray:
            return mine.push(since + reached, state)

        after = resting_joints.settled(mine.system, there.state, at.modes, stopping, force, fastest)
        share = share.copy()
        share[chosen] = reached
        return end.replaced(chosen, Moment(*after)), share

    def _located(self, start: Moment, end: Moment, begun: np.ndarray, share: np.ndarray) -> tuple[Moment, np.ndarray]:
        """Return the moment just after each sample's first event, by parabolas through the last three margins."""
        low, high, third = np.zeros_like(share), share.copy(), share
        (_, below, held), (margin, above, _) = self._least(start, start), self._least(start, end)
        beside = above
        for k in range(TRIES):
            wide = (high - low > LOCATED * share) & (margin < -NEARLY)
            if not wide.any():
                break
            trial = _interpolated((low, high, third), (below, above, beside))
            inside = (k % HALVED != HALVED - 1) & ~held & (trial > low) & (trial < high)
            trial = np.where(wide, np.where(inside, trial, low + (high - low) * 0.5), high)
            there, _ = self._moved(start, begun, trial)
            reached, curve, holds = self._least(start, there)
            past, before = wide & (reached < 0.0), wide & ~(reached < 0.0)
            end = end.replaced(np.flatnonzero(past), there.of(np.flatnonzero(past)))
            third = np.where(past, high, np.where(before, low, third))
            beside = np.where(past, above, np.where(before, below, beside))
            low, below, held = np.where(before, (trial, curve, holds), (low, below, held))
            high, above, margin = np.where(past, (trial, curve, reached), (high, above, margin))
            held = held > 0.5
        return end, high

    def _least(self, start: Moment, end: Moment) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the least margin of each sample; the same without bounds; and a mask of joints held at their limit.

        A velocity is relative to that at the start, so that its margin is smooth.
        """
        margins, samples = self._margins(start, end), np.arange(end.state.shape[1])
        least = margins.argmin(axis=0)
        margin, rest = margins[least, samples], start.modes.rest[least, samples] > 0.5
        first, last = (np.abs(moment.rates.velocity)[least, samples] for moment in (start, end))
        faster = ~rest & (last > first) & (first > 0.0)
        curve = np.where(faster, (margin - ROUNDING) * last / np.where(faster, first, 1.0) + ROUNDING, margin)
        return margin, curve, rest & (margin <= SATURATED)


def _interpolated(places: tuple[np.ndarray, ...], margins: tuple[np.ndarray, ...]) -> np.ndarray:
    """Return where a parabola of places over margins, or a chord of the first two, is just past zero.

    Source: Brent 1973, Algorithms for Minimization without Derivatives, section 4.2 (inverse quadratic interpolation).
    """
    (a, b, c), (f, g, h) = places, (margin + 0.5 * NEARLY for margin in margins)
    chord = a + (b - a) * f / (f - g)
    curved = a * g * h / ((f - g) * (f - h)) + b * f * h / ((g - f) * (g - h)) + c * f * g / ((h - f) * (h - g))
    return np.where(np.isfinite(curved) & (curved > a) & (curved < b), curved, chord)


def _ended(begun: np.ndarray) -> np.ndarray:
    return np.where(begun >= 1.0 - LOCATED, 1.0, begun)
