"""Actuator forces of a chain over one step in time: constants, functions of time, or functions of the state.

Functions of time are called at the ends and in the middle of a step; a sample whose step is cut takes the parabola
through these. Functions of the state are called for the whole batch.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from tasks.kernels.batches import Batch, checked, rows

OfTime = Callable[[float], ArrayLike]
OfState = Callable[[np.ndarray, np.ndarray, np.ndarray], ArrayLike]

Acting = ArrayLike | OfTime | OfState
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
        return Parabola(*(forces.take(columns, axis=1) for forces in (self.begin, self.middle, self.end)))


@dataclass(frozen=True)
class Feedback:
    """Forces from time and state; `whole` (2 freedom, samples) holds q and qd of the batch, `columns` those wanted."""

    function: OfState
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
        forces = self.function(times[:samples].reshape(self.batch), q, qd)
        return rows(np.asarray(forces, dtype=float), self.batch).take(self.columns, axis=1)

    def of(self, columns: np.ndarray) -> Feedback:
        """Those of some samples."""
        return Feedback(self.function, self.batch, self.start, self.step, self.whole, self.columns[columns])


class Pushes:
    """What acts on a batch. Raises ValueError for shapes that do not fit, TypeError for other functions."""

    def __init__(self, force: Acting, actuators: int, batch: Batch):
        self.force, self.core, self.batch = force, (actuators,), batch
        self.constant = None if callable(force) else rows(checked("force", force, self.core), batch)

    def over(self, start: float, step: float, state: np.ndarray) -> Push:
        """The forces of one step."""
        if self.constant is not None:
            return Parabola(self.constant, self.constant, self.constant)
        if is_of_state(self.force):
            return Feedback(self.force, self.batch, start, step, state, np.arange(state.shape[1]))
        return Parabola(*(self._at(start + part * step) for part in (0.0, 0.5, 1.0)))

    def _at(self, time: float) -> np.ndarray:
        assert is_of_time(self.force)
        return rows(checked("force", self.force(time), self.core), self.batch)


def is_of_time(force: Acting) -> TypeGuard[OfTime]:
    """Whether it is a function of time alone. Raises TypeError for a function of something else."""
    return _arguments(force) == 1


def is_of_state(force: Acting) -> TypeGuard[OfState]:
    """Whether it is a function of time and state. Raises TypeError for a function of something else."""
    return _arguments(force) == 3


def _arguments(force: Acting) -> int:
    """How many arguments it takes: none, an array; one, time; three, time and state. Raises TypeError for others."""
    if not callable(force):
        return 0
    parameters = inspect.signature(force).parameters.values()
    count = sum(parameter.default is inspect.Parameter.empty for parameter in parameters)
    if count not in (1, 3):
        raise TypeError(f"force: got a function of {count} arguments; expected one of time, or of time, q and qd")
    return count


def first_shape(force: Acting, time: float, q: np.ndarray, qd: np.ndarray, actuators: int) -> Batch:
    """Batch dims of forces at the start, for q and qd (*batch, freedom) as they are given. Raises ValueError."""
    if not callable(force):
        forces = force
    elif is_of_state(force):
        batch = np.broadcast_shapes(q.shape[:-1], qd.shape[:-1])
        wide = (np.broadcast_to(values, (*batch, values.shape[-1])) for values in (q, qd))
        forces = force(np.full(batch, time), *wide)
    elif is_of_time(force):
        forces = force(time)
    return checked("force", forces, (actuators,)).shape[:-1]
