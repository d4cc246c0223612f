"""Actuator forces of a chain over one step in time: constants, functions of time, or functions of the state.

Functions of time are called at the ends and in the middle of a step; a sample whose step is cut takes the parabola
through these. Functions of the state are called for the whole batch.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tasks.kernels.batches import Batch, checked, rows
from tasks.kernels.types import Array

Acting = Any
"""Forces (*batch, actuator): an array, a function of time [s], or one of time (*batch,), q and qd (*batch, freedom)."""


class Push(Protocol):
    """Forces (actuator, samples) at shares of a step (samples,) and states (size, samples)."""

    def __call__(self, share: np.ndarray, state: np.ndarray) -> np.ndarray:
        """The forces."""
        ...

    def of(self, columns: np.ndarray) -> Push:
        """Those of some samples."""
        ...


@dataclass(frozen=True)
class Parabola:
    """Forces (actuator, samples) at the beginning, in the middle and at the end of a step."""

    begin: np.ndarray
    middle: np.ndarray
    end: np.ndarray

    def __call__(self, share: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Lagrange's weights are exactly 0 and 1 at the three points."""
        weights = ((1.0 - share) * (1.0 - 2.0 * share), 4.0 * share * (1.0 - share), share * (2.0 * share - 1.0))
        if self.begin is self.end:
            return self.begin
        return self.begin * weights[0] + self.middle * weights[1] + self.end * weights[2]

    def of(self, columns: np.ndarray) -> Parabola:
        """Those of some samples."""
        if self.begin is self.end:
            chosen = self.begin.take(columns, axis=1)
            return Parabola(chosen, chosen, chosen)
        return Parabola(*(each.take(columns, axis=1) for each in (self.begin, self.middle, self.end)))


@dataclass(frozen=True)
class Feedback:
    """Forces from time and state; `whole` (2 freedom, samples) holds q and qd of the batch, `columns` those wanted."""

    function: Callable[[Array, Array, Array], Array]
    batch: Batch
    start: float
    step: float
    whole: np.ndarray
    columns: np.ndarray

    def __call__(self, share: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Called with what other samples had at the beginning of the step."""
        samples, both = int(np.prod(self.batch, dtype=int)), len(self.whole)
        moved, times = self.whole.copy(), np.full(self.whole.shape[1], self.start)
        moved[:, self.columns] = state[:both]
        times[self.columns] += share * self.step
        q, qd = (part[:, :samples].T.reshape(*self.batch, -1) for part in np.split(moved, 2))
        given = self.function(times[:samples].reshape(self.batch), q, qd)
        return rows(np.asarray(given, dtype=float), self.batch).take(self.columns, axis=1)

    def of(self, columns: np.ndarray) -> Feedback:
        """Those of some samples."""
        return Feedback(self.function, self.batch, self.start, self.step, self.whole, self.columns[columns])


class Pushes:
    """What acts on a batch. Raises ValueError for shapes that do not fit, TypeError for other functions."""

    def __init__(self, force: Acting, actuators: int, batch: Batch):
        self.force, self.core, self.batch = force, (actuators,), batch
        self.kind = kind_of(force)
        self.constant = rows(checked("force", force, self.core), batch) if self.kind == "array" else None

    def over(self, start: float, step: float, state: np.ndarray) -> Push:
        """The forces of one step."""
        if self.constant is not None:
            return Parabola(self.constant, self.constant, self.constant)
        if self.kind == "state":
            return Feedback(self.force, self.batch, start, step, state, np.arange(state.shape[1]))
        return Parabola(*(self._at(start + part * step) for part in (0.0, 0.5, 1.0)))

    def _at(self, time: float) -> np.ndarray:
        return rows(checked("force", self.force(time), self.core), self.batch)


def kind_of(force: Acting) -> str:
    """`array`, function of `time`, or function of time and `state`. Raises TypeError for other functions."""
    if not callable(force):
        return "array"
    parameters = inspect.signature(force).parameters.values()
    count = sum(each.default is inspect.Parameter.empty for each in parameters)
    if count not in (1, 3):
        raise TypeError(f"force: got a function of {count} arguments; expected one of time, or of time, q and qd")
    return "time" if count == 1 else "state"


def first_shape(force: Acting, time: float, q: Array, qd: Array, actuators: int) -> Batch:
    """Batch dims of forces at the start, for q and qd (*batch, freedom) as they are given. Raises ValueError."""
    kind = kind_of(force)
    if kind == "state":
        batch = np.broadcast_shapes(np.shape(q)[:-1], np.shape(qd)[:-1])
        wide = (np.broadcast_to(np.asarray(each, dtype=float), (*batch, np.shape(each)[-1])) for each in (q, qd))
        force = force(np.full(batch, time), *wide)
    elif kind == "time":
        force = force(time)
    return checked("force", force, (actuators,)).shape[:-1]
