"""Limits of a motion along a path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from robots.drives import Motor


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
    drop: np.ndarray | None = None
    """R / K of the motors (actuator,) [V / (N m) or V / N], beside their `voltage` [V] and `rotation` K; or None."""
    voltage: np.ndarray | None = None
    rotation: np.ndarray | None = None

    def supplied(self, motors: Sequence[Motor]) -> PathLimits:
        """The limits with those of the motors' amplifiers, where these have any."""
        table = [(m.torque_constant, m.resistance, m.voltage, m.current) for m in motors]
        if not table:
            return self
        constant, resistance, voltage, current = (np.array(column, dtype=float) for column in zip(*table, strict=True))
        limits = replace(self, force=np.minimum(self.force, constant * current))
        if not np.isfinite(voltage).any():
            return limits
        # without resistance, voltage is a limit of the speed alone
        free = np.where(resistance == 0.0, voltage / constant, np.inf)
        velocity = np.minimum(self.velocity, free)
        voltage = np.where(resistance == 0.0, np.inf, voltage)
        return replace(limits, velocity=velocity, drop=resistance / constant, voltage=voltage, rotation=constant)

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
