"""Robots in motion as a batch of cases: state, step and what is seen of them, by the methods of `tasks.motion`."""

from __future__ import annotations

import numpy as np

from robots.status import Status
from tasks.kernels.kernel import padded
from tasks.motion.chains import begun
from tasks.motion.events import Moment, Stepper
from tasks.motion.pushes import Parabola, Pushes
from tasks.motion.steps import METHODS
from tasks.motion.system import ChainSystem
from tasks.simulation.drives import Push


def whole_lanes(columns: np.ndarray) -> np.ndarray:
    """Columns, the last one repeated so that they fill whole groups of lanes."""
    return np.concatenate([columns, np.repeat(columns[-1:], padded(len(columns)) - len(columns))])


class MovingChains:
    """Chains of one family from positions and rates q, qd (freedom, samples) on; `step` [s] and the name of a method."""

    def __init__(self, system: ChainSystem, q: np.ndarray, qd: np.ndarray, step: float, method: str):
        self.system, self.step, self.method = system, step, METHODS[method]
        self._state = np.zeros((system.layout.size, q.shape[1]))
        self._state[system.layout.at["q"]], self._state[system.layout.at["qd"]] = q, qd
        self._now: Moment | None = None

    def begin(self, push: Push) -> None:
        """Find out which joints hold at the start."""
        pushes = Pushes(push.begin.T, len(push.begin), (push.begin.shape[1],))
        self._now = begun(self.system, self._state, pushes, 0.0, self.step)

    def advance(self, start: float, push: Push) -> None:
        """One step under forces."""
        assert self._now is not None
        held = push.begin is push.middle
        parabola = Parabola(push.begin, push.begin, push.begin) if held else Parabola(*push)
        stepper = Stepper(self.system, self.method, self.step, parabola)
        self._now = stepper.taken(self._pushed(self._now, push.begin))

    def _pushed(self, now: Moment, force: np.ndarray) -> Moment:
        """The moment under forces that have just changed: joints at rest may not hold any more."""
        after = Moment(now.state, now.modes, self.system.rates(now.state, now.modes, force))
        after.rates.status[:] = np.where(now.rates.status > 0.5, now.rates.status, after.rates.status)
        loose = ((now.modes.rest > 0.5) & (after.rates.breaking != 0.0)).any(axis=0)
        if not loose.any():
            return after
        columns = whole_lanes(np.flatnonzero(loose))
        part, acting = after.of(columns), np.ascontiguousarray(force[:, columns])
        stopping = np.zeros(part.modes.rest.shape, dtype=bool)
        settled = self.system.settled(part.state, part.modes, stopping, lambda state: acting)
        return after.replaced(columns, Moment(*settled))

    @property
    def state(self) -> np.ndarray:
        """The state as `tasks.motion.programs.Layout` says."""
        return self._state if self._now is None else self._now.state

    def motion(self) -> np.ndarray:
        """Positions, rates, and no accelerations."""
        at = self.system.layout.at
        q, qd = self.state[at["q"]], self.state[at["qd"]]
        return np.concatenate([q, qd, np.zeros_like(q)])

    def speed(self) -> np.ndarray:
        """Rates of the freedoms."""
        return self.state[self.system.layout.at["qd"]]

    @property
    def status(self) -> np.ndarray:
        """Status; INTEGRATION_FAILED where there is no rate without another reason."""
        if self._now is None:
            return np.zeros(self._state.shape[1])
        rates = self._now.rates
        ended = ~np.isfinite(rates.rate).all(axis=0)
        return np.where(ended & (rates.status < 0.5), float(Status.INTEGRATION_FAILED), rates.status)

    @property
    def friction(self) -> np.ndarray:
        """Friction of all joints of the groups."""
        assert self._now is not None
        return self._now.rates.braking

    @property
    def loss(self) -> np.ndarray:
        """Work that friction has taken."""
        return self.state[self.system.layout.at["loss"]]

    @property
    def work(self) -> np.ndarray:
        """Work of the actuators."""
        return self.state[self.system.layout.at["work"]]
