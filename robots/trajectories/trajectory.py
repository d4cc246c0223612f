"""Trajectory of a robot, load along it, and finite Fourier series, as plain data.

A sweep reads a trajectory from its file; the tasks of a block evaluate it. Fourier series start and end at rest, scaled
to limits: the motions of the kind `fourier`, in numbers. Source: Swevers et al. 1997, Optimal robot excitation and
identification; Park 2006, for the conditions at the ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robots.data_classes import dataclass
from robots.trajectories.kinds import HARMONICS, Turn, Value
from robots.trajectories.time_grid import TimeGrid
from robots.types import LoadAxes

WRENCH = ("mx", "my", "mz", "fx", "fy", "fz")
"""Components of a wrench, moment [N m] before force [N], as files name them."""


@dataclass(frozen=True, eq=False)
class PlatformLoad:
    """Load on the platform at its reference point, in the axes of the world or of the platform.

    `points` is (points, 7): t [s], then moment and force as in WRENCH, linear in between; of a constant load one row.
    """

    points: NDArray[np.float64]
    axes: LoadAxes = "world"


class SweptValue(NamedTuple):
    """A number of a trajectory that is swept: the coordinate that has it, its unit, the number."""

    coordinate: str
    unit: str
    value: float


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion of a robot: its kind, all parameters of that kind (SI, defaults included), its points.

    Kinds and parameters are defined in `robots.trajectories.kinds`. `points` is (points, 1 + coordinates): t [s], then
    x, y, z [m] or the independent joints of a chain; None for a kind that reads no file. `turn` is the rotation of a
    platform during the motion; None: the orientation of the reference pose. `load` is the load on the platform during
    the motion. Its `name` in the sweep has no effect on results.
    """

    kind: str
    values: Mapping[str, Any]
    points: NDArray[np.float64] | None = None
    turn: Turn | None = None
    load: PlatformLoad | None = None
    name: str = ""
    swept: tuple[SweptValue, ...] = ()
    """Swept values in which the trajectories of one section differ."""
    grid: TimeGrid | None = None
    """Times of the trajectory if trajectories of a sweep have different times; None: the times of the sweep."""


Numbers = NDArray[np.float64]

LOOKED_AT = 500
"""Samples of a period at which limits are kept: 50 for a turn of the fastest harmonic."""

NUMBERS = np.arange(1.0, HARMONICS + 1)


def _null_space(rows: Numbers) -> Numbers:
    """Return orthonormal vectors (n, k) that are perpendicular to all rows."""
    return np.asarray(np.linalg.svd(rows)[2][len(rows) :].T)


SINES, COSINES = _null_space(NUMBERS[None]), _null_space(np.stack([np.ones(HARMONICS), NUMBERS**2]))
"""Amplitudes of sines without velocity, and of cosines without position and acceleration, at both ends."""

FREE = SINES.shape[1] + COSINES.shape[1]
"""Numbers of a coordinate that are free."""


@dataclass(frozen=True)
class Series:
    """A motion: centre (coordinate,), period [s], amplitudes of sines and cosines (coordinate, harmonic)."""

    centre: Numbers
    period: float
    sines: Numbers
    cosines: Numbers

    @classmethod
    def within(
        cls, free: ArrayLike, centre: ArrayLike, period: float, limits: Sequence[ArrayLike], sharpness: float = np.inf
    ) -> Self:
        """Return the series of free numbers (coordinate, FREE), each coordinate scaled just to keep its limits.

        limits: largest distance from the centre, velocity, acceleration; one number for all coordinates or one each;
        distances below and above the centre (2, coordinate) if these differ.
        sharpness: order of a mean that replaces the largest value, as the largest value has a kink where two are equal;
        limits are then kept approximately.
        """
        numbers = np.asarray(free, dtype=float).reshape(-1, FREE)
        sines, cosines = numbers[:, : SINES.shape[1]] @ SINES.T, numbers[:, SINES.shape[1] :] @ COSINES.T
        raw = cls(np.zeros(len(numbers)), period, sines, cosines)
        excess, shares = np.zeros(len(numbers)), []
        for moved, limit in zip(raw.at(raw.times(LOOKED_AT)), limits, strict=True):
            most = np.asarray(limit, dtype=float)
            most = most if most.ndim < 2 else np.where(moved < 0.0, most[0], most[1])
            shares.append(np.abs(moved) / most)
            excess = np.maximum(excess, shares[-1].max(axis=0))
        if np.isfinite(sharpness):
            highest = np.maximum(excess, np.finfo(float).tiny)
            excess = highest * np.mean((np.concatenate(shares) / highest) ** sharpness, axis=0) ** (1.0 / sharpness)
        scale = 1.0 / np.maximum(excess, np.finfo(float).tiny)
        return cls(np.asarray(centre, dtype=float), period, sines * scale[:, None], cosines * scale[:, None])

    def times(self, samples: int) -> Numbers:
        """Return times over one period, without its end."""
        return np.arange(samples, dtype=float) * (self.period / samples)

    def at(self, times: ArrayLike) -> tuple[Numbers, Numbers, Numbers]:
        """Return position, velocity and acceleration (time, coordinate)."""
        turning = 2.0 * np.pi / self.period * NUMBERS
        angle = np.asarray(times, dtype=float)[:, None] * turning
        s, c = np.sin(angle), np.cos(angle)
        position = s @ self.sines.T + c @ self.cosines.T
        velocity = (c * turning) @ self.sines.T - (s * turning) @ self.cosines.T
        return self.centre + position, velocity, -((s * turning**2) @ self.sines.T + (c * turning**2) @ self.cosines.T)

    def shrunk(self, factor: float) -> Series:
        """Return the motion with smaller amplitudes."""
        return Series(self.centre, self.period, self.sines * factor, self.cosines * factor)

    def part(self, coordinates: slice) -> Series:
        """Return the motion of some of the coordinates."""
        return Series(self.centre[coordinates], self.period, self.sines[coordinates], self.cosines[coordinates])

    @property
    def values(self) -> dict[str, Value]:
        """Parameters of the kind `fourier` of `robots.trajectories.kinds`: tuples by coordinate."""
        named: dict[str, Value] = {"centre": tuple(self.centre.tolist()), "period": self.period}
        for k in range(HARMONICS):
            named[f"sine_{k + 1}"] = tuple(self.sines[:, k].tolist())
            named[f"cosine_{k + 1}"] = tuple(self.cosines[:, k].tolist())
        return named
