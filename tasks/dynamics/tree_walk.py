"""A batch of cases under way in the joints of their trees, in constant steps or in those that an error allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import DOP853, DenseOutput

from robots.loads.signals import Breaks, Piece
from robots.status import Status
from tasks.dynamics.effort import Effort
from tasks.dynamics.forces_over_step import Push
from tasks.dynamics.records import AdaptiveSteps
from tasks.dynamics.tree_equations import CLOSED, TreeMachine, TreeState
from tasks.dynamics.tree_events import advanced, first_past, landed, margin
from tasks.dynamics.tree_stops import Contacts

Numbers = NDArray[np.float64]

STAYS = 20
"""Steps in a row in which rows are lost, after which the motion is not decided."""

BOUNCE = 1e-2
"""Share of the time of an adaptive motion that stands for a step, where it is judged whether a joint bounces."""


class OverTime(Protocol):
    """External inputs of a batch over time, as `tasks.dynamics.forces_over_step.Pushes` are."""

    @property
    def breaks(self) -> Breaks:
        """Times at which loads jump, or their slopes do."""
        ...

    def over(self, start: float, step: float, state: Numbers, inside: float | None = None) -> Push:
        """Return the external inputs in one step without a jump."""
        ...


@dataclass(frozen=True)
class Walk:
    """A batch under way: state, status and contacts of its samples, and for how many steps rows have been lost."""

    machine: TreeMachine
    now: TreeState
    status: Numbers
    contacts: Contacts
    lost: Numbers

    @property
    def is_ok(self) -> NDArray[np.bool_]:
        """Mask of the samples that have not come to an end."""
        return np.asarray(self.status == Status.OK)

    @property
    def is_over(self) -> bool:
        """Return whether all samples have come to an end."""
        return not self.is_ok.any()

    def on(self, push: Push, seconds: float) -> Walk:
        """Take a step of so many seconds, or a piece of one."""
        now, contacts = advanced(self.machine, push, seconds, self.now, self.contacts)
        return replace(self, contacts=contacts).closed(now, push, share=1.0)

    def closed(
        self, now: TreeState, push: Push, share: float = 0.0, undecided: Status = Status.SINGULAR
    ) -> Walk:  # fmt: skip
        """Close the loops of a state after a step, and judge it; undecided: status where rows stay lost."""
        now, rank, open_by = self.machine.closed(now, push, share)
        lost = np.where(rank < self.machine.dependent, self.lost + 1.0, 0.0)
        torn = ~(now.is_finite & (open_by <= CLOSED))
        status = np.where(self.is_ok & torn, float(Status.INTEGRATION_FAILED), self.status)
        status = np.where((status == Status.OK) & (lost >= STAYS), float(undecided), status)
        return replace(self, now=now, status=status, lost=lost)

    def landed(self, push: Push, seconds: float) -> Walk:
        """Return the same after impacts and leavings of stops."""
        now, contacts = landed(self.machine, push, np.zeros(self.machine.count), seconds, self.now, self.contacts)
        return replace(self, now=now, contacts=contacts)

    def failed(self) -> Walk:
        """Return the same at its end."""
        return replace(self, status=np.where(self.is_ok, float(Status.INTEGRATION_FAILED), self.status))


class AdaptiveTree:
    """One case in steps of scipy's DOP853, between impacts at stops and jumps of loads."""

    def __init__(self, pushes: OverTime, clock: AdaptiveSteps):
        self.pushes, self.clock = pushes, clock
        self.waiting = [float(time) for time in clock.instants[1:]]
        self.first, self.last = float(clock.instants[0]), float(clock.instants[-1])
        self.effort = Effort(self.last - self.first)

    def moments(self, walk: Walk) -> Iterator[tuple[float, Walk]]:
        """Yield the case at all later times, up to where it comes to its end."""
        for piece in self.pushes.breaks.pieces(self.first, self.last - self.first):
            time, end = piece.start, piece.start + piece.length
            while time < end:
                for reached, after, dense in self._steps(walk, piece, time):
                    while self.waiting and (self.waiting[0] <= reached or reached >= self.last):
                        instant = self.waiting.pop(0)
                        yield instant, self._between(walk, dense, instant, piece)
                    time, walk = reached, after
                if walk.is_over:
                    yield from [(self.waiting[0], walk)] if self.waiting else []
                    return

    def _steps(self, walk: Walk, piece: Piece, time: float) -> Iterator[tuple[float, Walk, DenseOutput]]:
        """Yield times, the case there, and the way to it, up to an event; less where the solver gets stuck."""

        def change(time: float, flat: Numbers) -> Numbers:
            self.effort.evaluations += 1
            there = self._unpacked(walk, flat)
            return _flat(walk.machine.change(self._push(walk, piece, time, there), 0.0, there, walk.contacts).rates)

        end, contacts = piece.start + piece.length, walk.contacts
        solver = DOP853(change, time, _flat(walk.now), end, rtol=self.clock.rtol, atol=self.clock.atol)
        while solver.status == "running":
            solver.step()
            if solver.status == "failed" or self.effort.crawls(float(solver.t)) or not np.isfinite(solver.y).all():
                yield np.nan, walk.failed(), solver.dense_output()
                return
            dense = solver.dense_output()
            time = self._event(walk, piece, dense)
            there = self._unpacked(walk, solver.y if time == solver.t else dense(time))
            undecided = Status.SINGULAR if self.waiting else Status.OK
            walk = walk.closed(there, self._push(walk, piece, time, there), undecided=undecided)
            if len(walk.machine.stops) and self._room(walk, piece, time, there) < 0.0:
                walk = walk.landed(self._push(walk, piece, time, walk.now), BOUNCE * (self.last - self.first))
            yield time, walk, dense
            if walk.is_over or time < solver.t or walk.contacts is not contacts:
                return
            solver.y = _flat(walk.now)
            solver.f = change(solver.t, solver.y)

    def _event(self, walk: Walk, piece: Piece, dense: DenseOutput) -> float:
        """Return the time just past the first event of a step, or its end."""
        begin, length = float(dense.t_old), np.array([float(dense.t) - float(dense.t_old)])

        def room(parts: Numbers) -> Numbers:
            time = begin + float(parts[0])
            return np.array([self._room(walk, piece, time, self._unpacked(walk, dense(time)))])

        if not len(walk.machine.stops) or room(length)[0] >= 0.0:
            return float(dense.t)
        part = float(first_past(room, length, float(walk.machine.stops.beyond.max()))[0])
        return begin + part if part < length[0] else float(dense.t)

    def _room(self, walk: Walk, piece: Piece, time: float, there: TreeState) -> float:
        return float(margin(walk.machine, self._push(walk, piece, time, there), 0.0, there, walk.contacts)[0])

    def _push(self, walk: Walk, piece: Piece, time: float, there: TreeState) -> Push:
        return self.pushes.over(time, 0.0, walk.machine.wide(there), piece.start + 0.5 * piece.length)

    def _between(self, walk: Walk, dense: DenseOutput, time: float, piece: Piece) -> Walk:
        """Return the case at a time within the last step."""
        there = self._unpacked(walk, dense(time))
        return replace(walk, now=walk.machine.closed(there, self._push(walk, piece, time, there), 0.0)[0])

    def _unpacked(self, walk: Walk, flat: Numbers) -> TreeState:
        sizes = np.cumsum([part.shape[1] for part in walk.now])
        return TreeState(*(part[None] for part in np.split(flat, sizes[:-1])))


def _flat(now: TreeState) -> Numbers:
    """Return the state of one sample as one array."""
    return np.concatenate([part[0] for part in now])
