"""Integration of a batch of cases in the joints of their trees, in constant or adaptive steps.

Steps are cut where a joint meets a stop or leaves it. The instant is found by cubics through angles and rates, chords
through forces of stops, and bisection, for all samples side by side; a sample without an event keeps its whole step.
`landed` computes the event: impulses, and the contacts after it.
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

SEARCHES, HALVED, NEWTON = 60, 4, 12
"""Steps of the search for an instant, which of them are halvings, and steps towards the root of a cubic."""

LASTING = 1e-4
"""Duration of a bounce, as a share of a step, below which the joint rests instead."""

HIGH = 20.0
"""Height of a bounce below which the joint rests instead, in multiples of the tolerance of a passed end."""

TOUCHES = 2.0
"""Distance beyond an end within which a returning joint has no event, in multiples of the tolerance of a passed end."""

PULLS, NEARLY = 1e-12, 2.0
"""Pulling force of a stop, relative to the largest multiplier, above which the joint leaves it, and for how many times
this force the search for that instant aims."""


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
            if len(walk.machine.stops) and self._room(walk, piece, time, there).is_past[0]:
                walk = walk.landed(self._push(walk, piece, time, walk.now), BOUNCE * (self.last - self.first))
            yield time, walk, dense
            if walk.is_over or time < solver.t or walk.contacts is not contacts or walk.firmness[0] <= SOFT:
                return
            solver.y = _flat(walk.now)
            solver.f = change(solver.t, solver.y)

    def _event(self, walk: Walk, piece: Piece, dense: Way, ends: tuple[float, float]) -> float:
        """Return the time just past the first event of a step, or its end."""
        begin, length = ends[0], np.array([ends[1] - ends[0]])

        def room(parts: Numbers) -> Margin:
            time = begin + float(parts[0])
            return self._room(walk, piece, time, self._unpacked(walk, dense(time)))

        if not len(walk.machine.stops) or not (last := room(length)).is_past[0]:
            return ends[1]
        near = float(walk.machine.stops.beyond.max())
        part = float(first_past(room, room(np.zeros(1)), last, length, near)[0])
        return begin + part if part < length[0] else ends[1]

    def _room(self, walk: Walk, piece: Piece, time: float, there: TreeState) -> Margin:
        return margin(walk.machine, self._push(walk, piece, time, there), 0.0, there, walk.contacts)

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
        last = margin(machine, push, 1.0, end, contacts)
        events = (done < 1.0) & last.is_past
        if not events.any():
            return now.where(done < 1.0, end), contacts
        way = StepWay(machine, push, done, seconds, now, contacts, end)
        before, length = margin(machine, push, done, now, contacts).over(seconds), np.where(events, left, 0.0)
        near = float(machine.stops.beyond.max())
        part = np.where(events, first_past(way, before, last.over(seconds), length, near, way.keep), left)
        there = way.there
        done = np.where(events, done + part, np.where(done < 1.0, 1.0, done))
        now = now.where(left > 0.0, there)
        closed, _, _ = machine.closed(now, push, done)
        after, bears = landed(machine, push, done, seconds, closed, contacts)
        now, contacts = now.where(events, after), np.where(events[:, None], bears, contacts)
    return now.where(done < 1.0, now.moved(now, np.nan)), contacts


class Margin(NamedTuple):
    """Distances of samples from an event, negative from one on.

    room: to the nearest end [rad or m], and its rate; force with which the stop that bears least is pressed, infinite
    without; pull: the largest one with which it is not left. Forces between zero and -pull count as zero.
    """

    room: Numbers
    rate: Numbers
    force: Numbers
    pull: Numbers

    @property
    def is_past(self) -> Mask:
        """Mask of the samples past an event."""
        return np.asarray((self.room < 0.0) | (self.force < 0.0))

    def is_far(self, near: float, pull: Numbers) -> Mask:
        """Return a mask of the samples past an event by more than `near`, or by more than twice a force `pull`."""
        return np.asarray((self.room < -near) | (self.force < -2.0 * pull))

    def over(self, seconds: float) -> Margin:
        """Return the same with rates over shares of a step of `seconds` [s]."""
        return self._replace(rate=self.rate * seconds)

    def where(self, mask: Mask, other: Margin) -> Margin:
        """Return another margin where a mask is true."""
        return Margin(*(np.where(mask, y, x) for x, y in zip(self, other, strict=True)))


def margin(machine: TreeMachine, push: Push, share: float | Numbers, at: TreeState, contacts: Contacts) -> Margin:
    """Return the distances from an event, with rates over seconds."""
    stops, samples = machine.stops, np.arange(len(contacts))
    room = stops.room(at.angles, contacts) + stops.beyond
    rate = -at.rates[:, stops.joints] * stops.side(at.angles)
    back = (rate >= 0.0) & (room >= -TOUCHES * stops.beyond)
    room = np.where(back, np.maximum(room, 0.0), room)
    nearest = room.argmin(axis=1)
    force, pull = np.full(len(room), np.inf), np.zeros(len(room))
    if (np.abs(contacts) == 1).any():
        pressed, pull = _pressed(machine, push, share, at, contacts)
        force = pressed.min(axis=1)
        force = np.where(force < -pull, force, np.maximum(force, 0.0))
    return Margin(room[samples, nearest], rate[samples, nearest], force, pull)


def _pressed(
    machine: TreeMachine, push: Push, share: float | Numbers, at: TreeState, contacts: Contacts
) -> tuple[Numbers, Numbers]:
    """Return forces of stops (samples, stop), infinite without any, and what counts as zero among them (samples,)."""
    bearing = machine.change(push, share, at, contacts).bearing
    most = np.abs(bearing).max(axis=1) + np.finfo(float).tiny
    return np.where(np.abs(contacts) == 1, bearing * contacts, np.inf), PULLS * most


class StepWay:
    """Margins on the way of a step from `done`, and the states at the last places that were kept; at first `there`."""

    def __init__(
        self, machine: TreeMachine, push: Push, done: Numbers, seconds: float, now: TreeState, contacts: Contacts,
        there: TreeState,
    ):  # fmt: skip
        self._machine, self._push, self._done, self._seconds = machine, push, done, seconds
        self._now, self._contacts, self._last, self.there = now, contacts, there, there

    def __call__(self, part: Numbers) -> Margin:
        """Return the margins after parts of the step."""
        self._last = self._machine.step(self._push, self._done, part, self._seconds, self._now, self._contacts)
        return margin(self._machine, self._push, self._done + part, self._last, self._contacts).over(self._seconds)

    def keep(self, samples: Mask) -> None:
        """Keep the states of the last place."""
        self.there = self.there.where(samples, self._last)


def first_past(
    at: Callable[[Numbers], Margin], above: Margin, below: Margin, end: Numbers, near: float,
    keep: Callable[[Mask], None] = lambda _: None,
) -> Numbers:  # fmt: skip
    """Return places (samples,) up to `end`, from zero on, where there has just been an event, by less than `near`.

    at: margins of places; above, below: those of zero and `end`; keep: called with the samples whose last place is past
    an event.
    """
    low, high, pull = np.zeros_like(end), end.copy(), NEARLY * np.maximum(above.pull, below.pull)
    for k in range(SEARCHES):
        searched = below.is_far(near, pull) & (high > 0.0)
        if not searched.any():
            break
        place, middle = low + (high - low) * _crossing(above, below, high - low, near, pull), 0.5 * (low + high)
        inside = (k % HALVED != HALVED - 1) & (place > low) & (place < high)
        place = np.where(searched, np.where(inside, place, middle), high)
        found = at(place)
        past, short = searched & found.is_past, searched & ~found.is_past
        keep(past)
        high, below = np.where(past, place, high), below.where(past, found)
        low, above = np.where(short, place, low), above.where(short, found)
    return high


def _crossing(above: Margin, below: Margin, length: Numbers, near: float, pull: Numbers) -> Numbers:
    """Return the share (samples,) of a way up to its first event: by a cubic for room, by a chord for forces."""
    aim = -0.5 * near
    begin, leaving, coming = above.room - aim, above.rate * length, below.rate * length
    rise = below.room - above.room
    bend, twist = 3.0 * rise - 2.0 * leaving - coming, leaving + coming - 2.0 * rise
    first, last, x = np.zeros_like(length), np.ones_like(length), begin / np.where(rise < 0.0, -rise, 1.0)
    for _ in range(NEWTON):
        value = ((twist * x + bend) * x + leaving) * x + begin
        first, last = np.where(value > 0.0, x, first), np.where(value > 0.0, last, x)
        there = x - value / ((3.0 * twist * x + 2.0 * bend) * x + leaving)
        x = np.where((there >= first) & (there <= last), there, 0.5 * (first + last))
    chord = (above.force + pull) / np.where(below.force < above.force, above.force - below.force, np.inf)
    rooms, forces = np.where(below.room < 0.0, x, 1.0), np.where(below.force < 0.0, chord, 1.0)
    return np.minimum(rooms, forces)


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
        pressed, pull = _pressed(machine, push, share, now, contacts)
        worst = pressed.argmin(axis=1)
        leaves = pressed.min(axis=1) < -pull
        if not leaves.any():
            break
        contacts = contacts.copy()
        rows = np.flatnonzero(leaves)
        contacts[rows, worst[rows]] = 0
    return contacts
