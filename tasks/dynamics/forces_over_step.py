"""External inputs of a robot over one step in time: constants, functions of time, and forces from the state.

Functions of time are called at the ends and in the middle of a step; a sample whose step is cut takes the parabola
through these. Functions of the state are called for the whole batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import argument_count
from robots.data_classes import dataclass, replace
from robots.labels import in_order_of
from robots.loads.family import signal_breaks, signal_values
from robots.loads.signals import Breaks
from robots.model import Family
from tasks.dynamics.records import GRAVITY, ServoLike, WoundActing
from tasks.kernels.kernel import Batch, checked, rows

OfTime = Callable[[float], ArrayLike]
OfState = Callable[..., ArrayLike]

Acting = ArrayLike | OfTime | OfState
"""Forces (*batch, actuator): an array, a function of time [s], or one of time (*batch,) and the state.

The state of a chain is q and qd (*batch, freedom). The state of a parallel robot is position (*batch, 3), rotation
(*batch, 3, 3) and twist (*batch, 6) of its platform."""


def asked_of(acting: object, windings: int = 0) -> object:
    """Return the command of motors. Raises ValueError for motors with an inductance where no current is a state."""
    if not isinstance(acting, WoundActing):
        return acting
    if not windings:
        got = "got motors with an inductance, whose forces follow from currents of their own"
        raise ValueError(f"actuator: {got}; expected them in simulate, or forces")
    return acting.command


Seen = Callable[[np.ndarray], Sequence[np.ndarray]]
"""Function from states (size, samples) to the arguments of forces: arrays (*core, samples)."""

NAMES: Mapping[int, str] = {3: "time, q and qd", 4: "time, position, rotation and twist"}
"""Arguments of a force function, by their number."""


class Push(Protocol):
    """External inputs (`StateLayout.acting`, samples) at shares of a step (samples,) and states (size, samples)."""

    def __call__(self, share: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Return the rows."""
        ...

    def of(self, columns: np.ndarray) -> Push:
        """Return the inputs of some samples."""
        ...


@dataclass(frozen=True)
class Parabola:
    """External inputs (rows, samples) at the beginning, in the middle and at the end of a step."""

    begin: np.ndarray
    middle: np.ndarray
    end: np.ndarray

    def __call__(self, share: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Interpolate the rows by a parabola; Lagrange's weights are exactly 0 and 1 at the three points."""
        weights = ((1.0 - share) * (1.0 - 2.0 * share), 4.0 * share * (1.0 - share), share * (2.0 * share - 1.0))
        if self.begin is self.end:
            return self.begin
        return self.begin * weights[0] + self.middle * weights[1] + self.end * weights[2]

    def of(self, columns: np.ndarray) -> Parabola:
        """Return the inputs of some samples."""
        if self.begin is self.end:
            begin_of_columns = self.begin.take(columns, axis=1)
            return Parabola(begin_of_columns, begin_of_columns, begin_of_columns)
        return Parabola(*(values.take(columns, axis=1) for values in (self.begin, self.middle, self.end)))


@dataclass(frozen=True)
class Feedback:
    """Forces from time and state; `whole` (size, samples) holds the states of the batch, `columns` those wanted."""

    source: Source
    batch: Batch
    start: float
    step: float
    whole: np.ndarray
    columns: np.ndarray
    seen: Seen

    def __call__(self, share: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Call the function, with the values of other samples at the beginning of the step."""
        samples = int(np.prod(self.batch, dtype=int))
        moved, times = self.whole.copy(), np.full(self.whole.shape[1], self.start)
        moved[:, self.columns] = state
        times[self.columns] += share * self.step
        parts = (_first(part[..., :samples], self.batch) for part in self.seen(moved))
        function: Any = self.source.value
        forces = function(times[:samples].reshape(self.batch), *parts)
        forces = np.asarray(in_order_of(self.source.labels, self.source.name, forces), dtype=float)
        expected = (*self.batch, self.source.size)
        if forces.shape[-1:] != expected[-1:] or forces.ndim > len(expected):
            raise ValueError(f"{self.source.name}: got an array of shape {forces.shape}; expected {expected}")
        return rows(forces, self.batch).take(self.columns, axis=1)

    def of(self, columns: np.ndarray) -> Feedback:
        """Return the inputs of some samples."""
        return replace(self, columns=self.columns[columns])


def _first(part: np.ndarray, batch: Batch) -> np.ndarray:
    """Return (*core, samples) as (*batch, *core)."""
    return np.moveaxis(part, -1, 0).reshape(*batch, *part.shape[:-1])


@dataclass(frozen=True)
class Together:
    """Several of them, rows below each other."""

    parts: tuple[Push, ...]

    def __call__(self, share: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Return the rows."""
        return np.concatenate([part(share, state) for part in self.parts])

    def of(self, columns: np.ndarray) -> Together:
        """Return the inputs of some samples."""
        return Together(tuple(part.of(columns) for part in self.parts))


@dataclass(frozen=True)
class HeldForces:
    """Another one whose first rows, the forces (actuator, samples), are held over the step."""

    other: Push
    force: np.ndarray

    def __call__(self, share: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Return the rows."""
        return np.concatenate([self.force, self.other(share, state)[len(self.force) :]])

    def of(self, columns: np.ndarray) -> HeldForces:
        """Return the inputs of some samples."""
        return HeldForces(self.other.of(columns), self.force.take(columns, axis=1))


@dataclass(frozen=True)
class Source:
    """A force input: its name in messages, its description, its number of rows and their names."""

    name: str
    value: Acting
    size: int
    labels: Sequence[str]

    def first(self, time: float) -> np.ndarray:
        """Return a constant, or the value of a function of time (*batch, size). Raises ValueError for another shape."""
        return checked(self.name, self.value(time) if callable(self.value) else self.value, (self.size,), self.labels)

    def at(self, time: float, batch: Batch) -> np.ndarray:
        """Return the inputs as rows (size, padded samples)."""
        return rows(self.first(time), batch)

    def over(self, start: float, step: float, batch: Batch, inside: float | None = None) -> list[np.ndarray]:
        """Return the rows at start, middle and end of a step without a jump, or with loads as at the time `inside`."""
        return [self.at(start + part * step, batch) for part in (0.0, 0.5, 1.0)]


@dataclass(frozen=True)
class SignalSource(Source):
    """Signals of loads that change with time, between the instants at which they jump."""

    family: Family

    @classmethod
    def of(cls, family: Family) -> SignalSource:
        """Return the signal source of a family."""
        return cls("signals", lambda time: signal_values(family, time), len(family.signals), (), family)

    def over(self, start: float, step: float, batch: Batch, inside: float | None = None) -> list[np.ndarray]:
        """Return the rows at start, middle and end of a step, signals as inside of it; by default as in its middle."""
        middle = start + 0.5 * step if inside is None else inside
        times = np.array([start, start + 0.5 * step, start + step])
        return [rows(values, batch) for values in signal_values(self.family, times, middle).T]


class Pushes:
    """External inputs of a batch, in the order of `StateLayout.acting`; forces, the first, may depend on the state.

    `breaks`: times at which load signals jump, or their slopes do. Raises ValueError for shapes that do not fit,
    TypeError for functions of other arguments.
    """

    def __init__(self, sources: Sequence[Source], batch: Batch, seen: Seen):
        self.sources, self.batch, self.seen = sources, batch, seen
        self.feedback = arguments(sources[0].value) > 1
        families = [source.family for source in sources if isinstance(source, SignalSource)]
        self.breaks = signal_breaks(families[0]) if families else Breaks()
        timed = [source for source in sources if callable(source.value)]
        constant = None if timed else np.concatenate([source.at(0.0, batch) for source in sources])
        self.constant = None if constant is None else Parabola(constant, constant, constant)

    def over(self, start: float, step: float, state: np.ndarray, inside: float | None = None) -> Push:
        """Return the external inputs in one step without a jump.

        Where there may be a jump, loads are as at the time `inside`.
        """
        if self.constant is not None:
            return self.constant
        timed = self.sources[1:] if self.feedback else self.sources
        parabola = None
        if timed:
            parts = zip(*(source.over(start, step, self.batch, inside) for source in timed), strict=True)
            parabola = Parabola(*(np.concatenate(part) for part in parts))
        if not self.feedback:
            assert parabola is not None
            return parabola
        everything = np.arange(state.shape[1])
        feedback = Feedback(self.sources[0], self.batch, start, step, state, everything, self.seen)
        return feedback if parabola is None else Together((feedback, parabola))


def is_of_time(force: Acting) -> TypeGuard[OfTime]:
    """Return whether a force is a function of time alone. Raises TypeError for other functions."""
    return arguments(force) == 1


def is_of_state(force: Acting) -> TypeGuard[OfState]:
    """Return whether a force is a function of time and state. Raises TypeError for other functions."""
    return arguments(force) > 1


def arguments(force: Acting, expected: Sequence[int] = tuple(NAMES)) -> int:
    """Return the number of arguments of a force: 0 for an array, 1 for time, a key of NAMES for the state.

    `expected` are the numbers that suit the robot. Raises TypeError for others.
    """
    if not callable(force):
        return 0
    count = argument_count(force)
    if count not in (1, *expected):
        names = " or of ".join(NAMES[number] for number in expected)
        raise TypeError(f"force: got a function of {count} arguments; expected one of time, or of {names}")
    return count


def first_shape(force: Acting, time: float, seen: Sequence[np.ndarray], actuators: Sequence[str]) -> Batch:
    """Return the batch dims of the initial forces for q and qd (*batch, freedom) as given. Raises ValueError."""
    if not callable(force):
        forces = force
    elif is_of_state(force):
        batch = np.broadcast_shapes(*(values.shape[:-1] for values in seen))
        wide = (np.broadcast_to(values, (*batch, values.shape[-1])) for values in seen)
        forces = force(np.full(batch, time), *wide)
    elif is_of_time(force):
        forces = force(time)
    return checked("force", forces, (len(actuators),), actuators).shape[:-1]


class Cases(NamedTuple):
    """Batch dims, the state (size, padded samples) at the `start` [s], and the forces; with a servo, its gravity."""

    batch: Batch
    state: np.ndarray
    pushes: Pushes
    start: float
    servo: ServoLike | None = None
    gravity: ArrayLike = GRAVITY
