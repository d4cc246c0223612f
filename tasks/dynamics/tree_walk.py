"""Integration of a batch of cases in the joints of their trees, in constant or adaptive steps.

Steps are cut where a joint meets a stop or leaves it. The instant is found by secants and bisection of the whole step,
for all samples side by side; a sample without an event keeps its whole step. `landed` computes the event: impulses, and
the contacts after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import DOP853

from robots.data_classes import dataclass, field, replace
from robots.loads.signals import Breaks, Piece
from robots.status import Status
from tasks.dynamics.corners import StepPath, Tolerances, Watch, steps_up_to
from tasks.dynamics.forces_over_step import Push
from tasks.dynamics.records import AdaptiveSteps, Effort
from tasks.dynamics.tree_equations import CLOSED, LOST, RK4, SOFT, Held, TreeMachine, TreeState
from tasks.dynamics.tree_stops import Contacts, TreeStops

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]

STAYS = 20
"""Steps in a row in which rows are lost, after which the motion is not decided."""

BOUNCE = 1e-2
"""Share of the time of an adaptive motion that stands for a step in the criterion for a bounce."""

HOPS, FADING = 32, 0.7
"""Number of parts of a usual adaptive step where rows nearly depend on each other; and the factor by which a shorter
step reduces the usual step at most."""

EVENTS = 1000
"""Largest number of events of a sample in one step; a sample with more ends."""

SEARCHES, SHRINKS = 60, 40
"""Steps of the search for an instant, and halvings of the time in which a joint that bounced is off its stop."""

LASTING = 1e-4
"""Duration of a bounce, as a share of a step, below which the joint rests instead."""

HIGH = 20.0
"""Height of a bounce below which the joint rests instead, in multiples of the tolerance of a passed end."""

TOUCHES = 2.0
"""Distance beyond an end within which a returning joint has no event, in multiples of the tolerance of a passed end."""

PULLS = 1e-12
"""Pulling force of a stop, relative to the largest multiplier, above which the joint leaves it."""


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
    """A batch under way: state, status and contacts of its samples, and for how many steps rows have been lost.

    firmness: see `TreeMachine.closed`.
    """

    machine: TreeMachine
    now: TreeState
    status: Numbers
    contacts: Contacts
    lost: Numbers
    firmness: Numbers = field(default_factory=lambda: np.ones(1))

    @property
    def is_ok(self) -> NDArray[np.bool_]:
        """Mask of the samples that have not come to an end."""
        return np.asarray(self.status == Status.OK)

    @property
    def is_over(self) -> bool:
        """Return whether all samples have come to an end."""
        return not self.is_ok.any()

    def on(self, push: Push, seconds: float) -> Walk:
        """Take a step, or a part of one, with a length in seconds."""
        now, contacts = advanced(self.machine, push, seconds, self.now, self.contacts, self.is_ok)
        return replace(self, contacts=contacts).closed(now, push, share=1.0)

    def closed(
        self, now: TreeState, push: Push, share: float = 0.0, undecided: Status = Status.SINGULAR
    ) -> Walk:  # fmt: skip
        """Close the loops of a state after a step, and judge it; undecided: status where rows stay lost."""
        now, firmness, open_by = self.machine.closed(now, push, share)
        lost = np.where(firmness <= LOST, self.lost + 1.0, 0.0)
        torn = ~(now.is_finite & (open_by <= CLOSED))
        status = np.where(self.is_ok & torn, float(Status.INTEGRATION_FAILED), self.status)
        status = np.where((status == Status.OK) & (lost >= STAYS), float(undecided), status)
        return replace(self, now=now, status=status, lost=lost, firmness=firmness)

    def landed(self, push: Push, seconds: float) -> Walk:
        """Return the walk after impacts, and after joints have left stops."""
        now, contacts = landed(self.machine, push, np.zeros(self.machine.count), seconds, self.now, self.contacts)
        return replace(self, now=now, contacts=contacts)

    def failed(self) -> Walk:
        """Return the walk at its end."""
        return replace(self, status=np.where(self.is_ok, float(Status.INTEGRATION_FAILED), self.status))


Way = Callable[[float], Numbers]
"""State of one sample, as one array, over time within a step."""


class AdaptiveTree:
    """One case in steps of scipy's DOP853, between impacts at stops, corners of forces and jumps of loads.

    Where rows nearly depend on each other it takes parts of a usual step by the method of constant steps: rounding
    errors of forces would make an adaptive step shorter and shorter there.
    """

    def __init__(self, pushes: OverTime, clock: AdaptiveSteps, watch: Watch | None = None):
        self.pushes, self.clock, self.watch = pushes, clock, watch
        self.waiting = [float(time) for time in clock.instants[1:]]
        self.first, self.last = float(clock.instants[0]), float(clock.instants[-1])
        self.effort = Effort(self.last - self.first)
        self.usual = 0.0

    def moments(self, walk: Walk) -> Iterator[tuple[float, Walk]]:
        """Yield the case at all later times, up to where it comes to its end."""
        for piece in self.pushes.breaks.pieces(self.first, self.last - self.first):
            time, end = piece.start, piece.start + piece.length
            while time < end:
                is_soft = self.usual > 0.0 and walk.firmness[0] <= SOFT
                for reached, after, dense in (self._hop if is_soft else self._steps)(walk, piece, time):
                    while self.waiting and (self.waiting[0] <= reached or reached >= self.last):
                        instant = self.waiting.pop(0)
                        yield instant, self._between(walk, dense, instant, piece)
                    time, walk = reached, after
                if walk.is_over:
                    yield from [(self.waiting[0], walk)] if self.waiting else []
                    return

    def _hop(self, walk: Walk, piece: Piece, time: float) -> Iterator[tuple[float, Walk, Way]]:
        """Yield the time after a part of a usual step, the case there, and the way to it."""
        end = piece.start + piece.length
        until = min(time + self.usual / HOPS, end)

        def push(seconds: float) -> Push:
            state = walk.machine.wide(walk.now)
            return self.pushes.over(time, seconds, state, piece.start + 0.5 * piece.length)

        def way(instant: float) -> Numbers:
            seconds = instant - time
            return _flat(advanced(walk.machine, push(seconds), seconds, walk.now, walk.contacts, walk.is_ok)[0])

        self.effort.evaluations += len(RK4)
        after = walk.on(push(until - time), until - time)
        yield until, after.failed() if self.effort.crawls(until) else after, way

    def _steps(self, walk: Walk, piece: Piece, time: float) -> Iterator[tuple[float, Walk, Way]]:
        """Yield times, the case there, and the way to it, up to an event; less where the solver gets stuck."""

        def change(time: float, flat: Numbers) -> Numbers:
            self.effort.evaluations += 1
            there = self._unpacked(walk, flat)
            return _flat(walk.machine.change(self._push(walk, piece, time, there), 0.0, there, walk.contacts).rates)

        end, contacts = piece.start + piece.length, walk.contacts
        tolerances: Tolerances = {"rtol": self.clock.rtol, "atol": self.clock.atol}
        solver = DOP853(change, time, _flat(walk.now), end, **tolerances)
        while solver.status == "running":
            if self.watch is not None:
                self.watch.shorten(solver)
            solver.step()
            if solver.status == "failed" or self.effort.crawls(float(solver.t)) or not np.isfinite(solver.y).all():
                yield np.nan, walk.failed(), solver.dense_output()
                return
            dense = solver.dense_output()
            self.usual = max(FADING * self.usual, float(solver.t) - float(solver.t_old))
            time = self._event(walk, piece, dense, (float(solver.t_old), float(solver.t)))
            corner = (
                None
                if self.watch is None
                else self.watch.first(StepPath.of_step(solver, dense), float(solver.t_old), time)
            )
            if corner is not None:
                for reached, way in steps_up_to(DOP853, change, dense, corner, tolerances):
                    there = self._unpacked(walk, way(reached))
                    walk = walk.closed(there, self._push(walk, piece, reached, there))
                    yield reached, walk, way
                return
            there = self._unpacked(walk, solver.y if time == solver.t else dense(time))
            undecided = Status.SINGULAR if self.waiting else Status.OK
            walk = walk.closed(there, self._push(walk, piece, time, there), undecided=undecided)
            if len(walk.machine.stops) and self._room(walk, piece, time, there) < 0.0:
                walk = walk.landed(self._push(walk, piece, time, walk.now), BOUNCE * (self.last - self.first))
            yield time, walk, dense
            if walk.is_over or time < solver.t or walk.contacts is not contacts or walk.firmness[0] <= SOFT:
                return
            solver.y = _flat(walk.now)
            solver.f = change(solver.t, solver.y)

    def _event(self, walk: Walk, piece: Piece, dense: Way, ends: tuple[float, float]) -> float:
        """Return the time just past the first event of a step, or its end."""
        begin, length = ends[0], np.array([ends[1] - ends[0]])

        def room(parts: Numbers) -> Numbers:
            time = begin + float(parts[0])
            return np.array([self._room(walk, piece, time, self._unpacked(walk, dense(time)))])

        if not len(walk.machine.stops) or room(length)[0] >= 0.0:
            return ends[1]
        part = float(first_past(room, length, float(walk.machine.stops.beyond.max()))[0])
        return begin + part if part < length[0] else ends[1]

    def _room(self, walk: Walk, piece: Piece, time: float, there: TreeState) -> float:
        return float(margin(walk.machine, self._push(walk, piece, time, there), 0.0, there, walk.contacts)[0])

    def _push(self, walk: Walk, piece: Piece, time: float, there: TreeState) -> Push:
        return self.pushes.over(time, 0.0, walk.machine.wide(there), piece.start + 0.5 * piece.length)

    def _between(self, walk: Walk, dense: Way, time: float, piece: Piece) -> Walk:
        """Return the case at a time within the last step."""
        there = self._unpacked(walk, dense(time))
        return replace(walk, now=walk.machine.closed(there, self._push(walk, piece, time, there), 0.0)[0])

    def _unpacked(self, walk: Walk, flat: Numbers) -> TreeState:
        sizes = np.cumsum([part.shape[1] for part in walk.now])
        return TreeState(*(part[None] for part in np.split(flat, sizes[:-1])))


def _flat(now: TreeState) -> Numbers:
    """Return the state of one sample as one array."""
    return np.concatenate([part[0] for part in now])


def advanced(
    machine: TreeMachine, push: Push, seconds: float, now: TreeState, contacts: Contacts, moves: Mask
) -> tuple[TreeState, Contacts]:
    """Take a step of `seconds` [s] with the samples that move; NaN where one has too many events."""
    done = np.where(moves, 0.0, 1.0)
    if not len(machine.stops):
        return machine.step(push, 0.0, 1.0 - done, seconds, now, contacts), contacts
    for _ in range(EVENTS):
        left = 1.0 - done
        end = machine.step(push, done, left, seconds, now, contacts)
        events = (done < 1.0) & (margin(machine, push, 1.0, end, contacts) < 0.0)
        if not events.any():
            return now.where(done < 1.0, end), contacts
        part = np.where(events, _until(machine, push, done, np.where(events, left, 0.0), seconds, now, contacts), left)
        there = machine.step(push, done, part, seconds, now, contacts)
        done = np.where(events, done + part, np.where(done < 1.0, 1.0, done))
        now = now.where(left > 0.0, there)
        closed, _, _ = machine.closed(now, push, done)
        after, bears = landed(machine, push, done, seconds, closed, contacts)
        now, contacts = now.where(events, after), np.where(events[:, None], bears, contacts)
    return now.where(done < 1.0, now.moved(now, np.nan)), contacts


def margin(machine: TreeMachine, push: Push, share: float | Numbers, at: TreeState, contacts: Contacts) -> Numbers:
    """Return a number of each sample that is negative from an event on."""
    stops = machine.stops
    room = stops.room(at.angles, contacts) + stops.beyond
    returns = at.rates[:, stops.joints] * stops.side(at.angles) <= 0.0
    back = returns & (room >= -TOUCHES * stops.beyond)
    margin = np.where(back, np.maximum(room, 0.0), room).min(axis=1)
    if (np.abs(contacts) == 1).any():
        margin = np.minimum(margin, _pressed(machine, push, share, at, contacts).min(axis=1))
    return np.asarray(margin)


def _pressed(machine: TreeMachine, push: Push, share: float | Numbers, at: TreeState, contacts: Contacts) -> Numbers:
    """Return forces of stops (samples, stop), relative to the largest, positive if pushing; infinite without any."""
    bearing = machine.change(push, share, at, contacts).bearing
    most = np.abs(bearing).max(axis=1, keepdims=True) + np.finfo(float).tiny
    return np.where(np.abs(contacts) == 1, bearing * contacts / most + PULLS, np.inf)


def _until(
    machine: TreeMachine, push: Push, done: Numbers, left: Numbers, seconds: float, now: TreeState, contacts: Contacts
) -> Numbers:
    """Return the shares (samples,) of the step up to just after the first event, if one precedes the end."""

    def at(part: Numbers) -> Numbers:
        there = machine.step(push, done, part, seconds, now, contacts)
        return np.where(left > 0.0, margin(machine, push, done + part, there, contacts), np.inf)

    return first_past(at, left, float(machine.stops.beyond.max()))


def first_past(at: Callable[[Numbers], Numbers], end: Numbers, near: float) -> Numbers:
    """Return places (samples,) up to `end`, from zero on, where a margin has just become negative, by less than `near`.

    at: margins of places. A joint that has just bounced is at its stop: its search begins where it is off.
    """
    low, high = np.zeros_like(end), end.copy()
    above, below = at(low), at(high)
    for _ in range(SHRINKS):
        starts = (below < 0.0) & (above <= 2.0 * near)
        if not starts.any():
            break
        trial = np.where(starts, low + 0.5 * (high - low), low)
        found = at(trial)
        off, past = starts & (found > 2.0 * near), starts & (found < 0.0)
        low, above = np.where(off, trial, low), np.where(off, found, above)
        high, below = np.where(past, trial, high), np.where(past, found, below)
        if (starts & ~off & ~past).any():  # it hovers: no earlier contact
            above = np.where(starts & ~off & ~past, np.inf, above)
    for k in range(SEARCHES):
        if not ((below < 0.0) & (below < -near)).any():
            break
        chord = low + (high - low) * above / np.where(above > below, above - below, 1.0)
        takes = (k % 3 != 2) & (chord > low) & (chord < high)
        place = np.where(takes, chord, 0.5 * (low + high))
        value = at(place)
        past = value < 0.0
        high, below = np.where(past, place, high), np.where(past, value, below)
        low, above = np.where(past, low, place), np.where(past, above, value)
    return high


class Impact(NamedTuple):
    """Stops at an impact (samples, stop): stops that are hit, stops whose joint the impact lifts, and their sides."""

    hit: Mask
    lifted: Mask
    side: Contacts

    def rests(self, stops: TreeStops, free: Numbers, after: Numbers, seconds: float) -> Mask:
        """Return a mask of the joints that stay, by accelerations without these stops, and rates after a bounce.

        They latch, or fall back within a short time or from a low height. Lifted joints fall back like joints that are
        hit.
        """
        falls, speed = free * self.side, -after * self.side
        short, low = 2.0 * speed <= LASTING * seconds * falls, speed * speed <= 2.0 * falls * HIGH * stops.beyond
        return (self.hit & stops.latch) | ((self.hit | self.lifted) & (falls > 0.0) & (short | low))


def landed(
    machine: TreeMachine, push: Push, share: Numbers, seconds: float, now: TreeState, contacts: Contacts
) -> tuple[TreeState, Contacts]:
    """Return state and contacts after impacts of the joints that are at an end of their way, and after leavings."""
    stops, joints = machine.stops, machine.stops.joints
    side = stops.side(now.angles)
    hit = (stops.room(now.angles, contacts) <= stops.beyond) & (now.rates[:, joints] * side > 0.0)
    bears = _kept(machine, push, share, now, contacts)
    bounced, active = _struck(machine, push, share, now, bears, hit, side, stops.restitution)
    impact = Impact(hit, (np.abs(bears) == 1) & ~active, side)
    bears = np.where(active | hit, bears, 0).astype(np.int8)
    free = machine.change(push, share, bounced, bears).acceleration
    rests = impact.rests(stops, free[:, joints], bounced.rates[:, joints], seconds)
    after, _ = _struck(machine, push, share, now, bears, hit | rests, side, np.where(rests, 0.0, stops.restitution))
    after = bounced.where(np.asarray(rests.any(axis=1)), after)
    bears = np.where(rests, np.where(stops.latch, 2 * side, side), bears).astype(np.int8)
    return after, _kept(machine, push, share, after, bears)


def _struck(
    machine: TreeMachine, push: Push, share: Numbers, now: TreeState, contacts: Contacts, hit: Mask, side: Contacts,
    restitution: Numbers,
) -> tuple[TreeState, Mask]:  # fmt: skip
    """Return the state after impulses at all stops that are hit or bear, and a mask of stops with an impulse."""
    stops, active = machine.stops, hit | (contacts != 0)
    for _ in range(len(stops) + 1):
        taking = np.where(active, side, 0).astype(np.int8)
        equations = machine.equations(now, machine.acting(push, share, now), taking)
        held, count = Held.of(equations), len(stops)
        demand = np.einsum("srj,sj->sr", equations["rows"], now.rates)
        before = demand[:, -count:]
        demand = np.concatenate([demand[:, :-count], before * np.where(hit, 1.0 + restitution, 1.0)], axis=1)
        impulse = held.multipliers(demand)[:, -count:] - held.weight[:, None] * demand[:, -count:]
        pulling = active & (np.abs(contacts) < 2) & (impulse * side < 0.0) & ~hit & hit.any(axis=1, keepdims=True)
        if not pulling.any():
            break
        active &= ~pulling
    rates = now.rates - held.back(demand)
    after = rates[:, stops.joints]
    lost = np.where(active, 0.5 * impulse * (now.rates[:, stops.joints] + after), 0.0)
    return now._replace(rates=rates, impact_loss=now.impact_loss + lost), active


def _kept(machine: TreeMachine, push: Push, share: Numbers, now: TreeState, contacts: Contacts) -> Contacts:
    """Return contacts after removing contacts whose stops would have to pull, one after the other."""
    for _ in range(len(machine.stops)):
        pressed = np.where(np.abs(contacts) == 1, _pressed(machine, push, share, now, contacts), np.inf)
        worst = pressed.argmin(axis=1)
        leaves = pressed.min(axis=1) < 0.0
        if not leaves.any():
            break
        contacts = contacts.copy()
        rows = np.flatnonzero(leaves)
        contacts[rows, worst[rows]] = 0
    return contacts
