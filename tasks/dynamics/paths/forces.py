"""Forces and rates of actuators along a path, as a search for the fastest motion needs them.

Along a path X(s) forces are linear in the acceleration a of s and in the square x of its speed: u = A a + B x + C.
Rates of the actuators are q'(s) times the speed of s; their derivatives q'', q''' follow from q' at Chebyshev points
of each piece of the path, on which it is smooth.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.polynomial import chebyshev

from robots.data_classes import dataclass
from tasks.dynamics.paths.power import Curves, PathLimits


class PathForces(NamedTuple):
    """A, B, C (point, actuator) of u = A a + B x + C, rates q' (point, actuator) by the progress, status (point,).

    top (point,): the largest x by limits of speeds.
    """

    push: np.ndarray
    sweep: np.ndarray
    hold: np.ndarray
    rate: np.ndarray
    top: np.ndarray
    status: np.ndarray

    def curves(self, limits: PathLimits) -> list[Curves]:
        """Return the limits of power, and of voltage if there are any."""
        line = self.push, self.sweep, self.hold
        with np.errstate(divide="ignore"):
            parts = [Curves.of(*line, falling=np.where(self.rate == 0.0, np.inf, limits.power / np.abs(self.rate)))]
        if limits.voltage is not None and limits.drop is not None and limits.rotation is not None:
            drop = np.where(limits.drop == 0.0, 1.0, limits.drop)
            most, shift = limits.voltage / drop, -limits.rotation * self.rate / drop
            parts.append(Curves.of(*line, most=most, shift=shift))
        return parts


@dataclass(frozen=True)
class ActuatorDerivatives:
    """Derivatives of the actuators' positions by the progress, as Chebyshev series (order, actuator) on each piece."""

    breaks: np.ndarray
    series: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, breaks: np.ndarray, rates: Callable[[np.ndarray], np.ndarray | None]) -> ActuatorDerivatives | None:
        """Return the derivatives from the rates q' (point, actuator) at values of the progress, between its breaks.

        None if there are no rates, or rates are not smooth between the breaks.
        """
        pieces = list(pairwise(breaks))
        series: dict[int, np.ndarray] = {}
        for degree in DEGREES:
            nodes = np.cos(np.pi * (np.arange(degree) + 0.5) / degree)
            waiting = [k for k in range(len(pieces)) if k not in series]
            progress = np.concatenate([_scaled(nodes, *pieces[k]) for k in waiting])
            velocity = rates(progress)
            if velocity is None:
                return None
            values = velocity.reshape(len(waiting), degree, -1)
            transform = chebyshev.chebvander(nodes, degree - 1).T * (2.0 / degree)
            transform[0] *= 0.5
            coefficients = np.einsum("cn,kna->kca", transform, values)
            largest = np.abs(coefficients).max(axis=(1, 2))
            smooth = np.abs(coefficients[:, -2:]).max(axis=(1, 2)) <= SMOOTH * np.maximum(largest, LEAST)
            series |= {k: coefficients[i] for i, k in enumerate(waiting) if smooth[i]}
            if len(series) == len(pieces):
                return cls(breaks, tuple(series[k] for k in range(len(pieces))))
        return None

    def at(self, progress: np.ndarray, piece: np.ndarray) -> np.ndarray:
        """Return q', q'', q''' (3, point, actuator) at points, each as seen from within the stated piece."""
        result = np.empty((3, len(progress), self.series[0].shape[1]))
        for k in np.unique(piece):
            low, high = self.breaks[k], self.breaks[k + 1]
            here, factor = piece == k, 2.0 / (high - low)
            x = (progress[here] - low) * factor - 1.0
            for order in range(3):
                derivative = chebyshev.chebder(self.series[k], order) * factor**order
                result[order, here] = chebyshev.chebval(x, derivative).T
        return result


DEGREES = (12, 24, 48, 96)
"""Numbers of Chebyshev points of a piece that are tried, one after the other."""


LEAST = 1e-300
"""Reference size of a comparison where all sizes are zero."""


SMOOTH = 1e-8
"""Size of the last coefficients, relative to the largest, up to which a series counts as converged."""


def _scaled(nodes: np.ndarray, low: float, high: float) -> np.ndarray:
    return 0.5 * (low + high) + 0.5 * (high - low) * nodes


class DrivenPath(Protocol):
    """Interface of a robot on a path for the search of its fastest motion."""

    @property
    def limits(self) -> PathLimits:
        """Limits of actuators and speed."""

    @property
    def breaks(self) -> np.ndarray:
        """Values of the progress between which the path is smooth."""

    def forces(self, progress: np.ndarray) -> PathForces:
        """Compute actuator forces and the speed limit at values of the progress (point,)."""

    def derivatives(self) -> ActuatorDerivatives | None:
        """Return the derivatives of the actuators' positions by the progress; None if they are not known."""
