"""Limits of a motion along a path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class PathLimits:
    """Largest sizes of each actuator (actuator,) in SI units, infinite where there is none.

    `speed` [m/s] is that of the platform's reference point, `joints` [rad/s or m/s] those of all joints (limb, joint).
    """

    force: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    power: np.ndarray
    jerk: np.ndarray
    speed: float = np.inf
    joints: np.ndarray | None = None

    @classmethod
    def of(cls, actuators: int, *, force: ArrayLike, speed: float | None, **sizes: ArrayLike | None) -> PathLimits:
        """From one number for all actuators, one for each, or None for no limit. Raises ValueError."""
        unlimited = np.full(actuators, np.inf)
        arrays = {name: unlimited if size is None else _sizes(name, size, actuators) for name, size in sizes.items()}
        if speed is not None and not speed > 0.0:
            raise ValueError(f"speed: got {speed!r}; expected a number above zero [m/s]")
        return cls(_sizes("force", force, actuators), **arrays, speed=np.inf if speed is None else float(speed))


def _sizes(name: str, values: ArrayLike, count: int) -> np.ndarray:
    result = np.broadcast_to(np.asarray(values, dtype=float), (count,)) if np.size(values) in (1, count) else None
    if result is None or not (result > 0.0).all():
        raise ValueError(f"{name}: got {values!r}; expected {count} numbers above zero, or one for all actuators")
    return result
