"""Numbers that are kept of every step of a simulation, not of the stored ones alone; a case in each column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robots.limits import Capacity, Limits

SETTLED = 0.02
"""Share of what an actuator has to move, or is off at the start, within which its error counts as settled."""


class Tracking:
    """Errors of all actuators over time: how large, until when they were outside the band, how far beyond the end.

    `targets` (actuator, samples) of the first and the last step; `reach` (actuator, samples): the range of the
    reference.
    """

    def __init__(self, steps: int, step: float, reach: np.ndarray, last: np.ndarray, band: float = SETTLED):
        self.step, self.steps, self.last = step, steps, last
        self._reach, self._band = reach, band
        self._squares = np.zeros(reach.shape)
        self.peak = np.zeros(reach.shape)
        self._outside = np.zeros(reach.shape[1])
        self._beyond = np.zeros(reach.shape)
        self._start = np.zeros(reach.shape)
        self._limit = np.zeros(reach.shape)
        self._path_squares, self.path_peak = np.zeros(reach.shape[1]), np.zeros(reach.shape[1])

    def take(self, number: int, position: np.ndarray, target: np.ndarray, away: np.ndarray | None) -> None:
        """One instant: positions of actuators and reference, and how far the platform is off [m]."""
        error = target - position
        if number == 0:
            self._start = position
            self._limit = self._band * np.maximum(self._reach, np.abs(error))
        weight = self.step * (0.5 if number in (0, self.steps) else 1.0)
        self._squares += weight * (error * error)
        self.peak = np.maximum(self.peak, np.abs(error))
        outside = (np.abs(error) > self._limit).any(axis=0)
        self._outside = np.where(outside, number * self.step, self._outside)
        travel = self.last - self._start
        share = np.where(travel == 0.0, 0.0, (position - self.last) / np.where(travel == 0.0, 1.0, travel))
        self._beyond = np.maximum(self._beyond, share)
        if away is not None:
            self._path_squares += weight * (away * away)
            self.path_peak = np.maximum(self.path_peak, away)

    @property
    def rms(self) -> np.ndarray:
        """Root mean squares of the errors (actuator, samples), by the trapezoidal rule."""
        return np.sqrt(self._squares / (self.step * self.steps))

    @property
    def path_rms(self) -> np.ndarray:
        """Root mean square of the platform's distance (samples,)."""
        return np.sqrt(self._path_squares / (self.step * self.steps))

    @property
    def settling_time(self) -> np.ndarray:
        """The last instant at which an actuator was outside its band (samples,); 0 where none was."""
        return self._outside

    @property
    def overshoot(self) -> np.ndarray:
        """Largest share of its travel by which an actuator was beyond its last target (actuator, samples)."""
        return self._beyond


class Pushing:
    """Forces over time: the largest, their root mean squares, the largest power."""

    def __init__(self, steps: int, step: float, shape: tuple[int, ...]):
        self.step, self.steps = step, steps
        self.peak, self._squares = np.zeros(shape), np.zeros(shape)

    def take(self, begin: np.ndarray, end: np.ndarray) -> None:
        """Forces at both ends of a step, between which they are taken as a straight line."""
        self.peak = np.maximum(self.peak, np.maximum(np.abs(begin), np.abs(end)))
        self._squares += self.step / 3.0 * (begin * begin + begin * end + end * end)

    @property
    def rms(self) -> np.ndarray:
        """Root mean squares (actuator, samples)."""
        return np.sqrt(self._squares / (self.step * self.steps))


class LeastMargins:
    """Least margins to ranges and rates of joints (samples,), and to capacities of actuators (actuator, samples).

    As in `tasks.metrics.margins`: 1 in the middle of what is allowed, 0 at its end, below zero beyond it.
    """

    def __init__(self, limits: Limits, actuators: int, samples: int):
        self._joints = limits.joints
        capacities = [limits.actuators.get(k, Capacity()) for k in range(actuators)]
        self._most = [
            np.array([[getattr(capacity, name)] for capacity in capacities]) for name in ("force", "velocity", "power")
        ]
        self.position, self.rate = np.ones(samples), np.ones(samples)
        self.actuator = np.ones((actuators, samples))

    def take(
        self, positions: Sequence[np.ndarray], rates: Sequence[np.ndarray], force: np.ndarray, velocity: np.ndarray
    ) -> None:
        """One instant: positions and rates of the joints of each limb, forces and rates of the actuators."""
        for (limb, joint), limit in self._joints.items():
            at = positions[limb][joint]
            if limit.ends:
                share = np.minimum(at - limit.low, limit.high - at) / ((limit.high - limit.low) * 0.5)
                self.position = np.minimum(self.position, share)
            self.rate = np.minimum(self.rate, 1.0 - np.abs(rates[limb][joint]) / limit.velocity)
        for values, most in zip((force, velocity, force * velocity), self._most, strict=True):
            self.actuator = np.minimum(self.actuator, 1.0 - np.abs(values) / most)
