"""Sweeps that all contestants compute: designs and trajectories in plain numbers, and the same as a sweep file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robots import catalog
from robots.model import Robot

Array = np.ndarray
GRAVITY = (0.0, 0.0, -9.81)
DURATION = 2.0
"""Duration of a trajectory [s]."""


@dataclass(frozen=True)
class Job:
    """Sweep of one robot: `designs` values of a parameter, `trajectories` quintic motions, `samples` instants of each.

    series: whether the forces of all samples are stored, beside their peaks and root mean squares.
    """

    robot: str
    parameter: str
    low: float
    high: float
    reach: float
    designs: int
    trajectories: int
    samples: int
    series: bool

    @property
    def count(self) -> int:
        """Number of samples of the sweep."""
        return self.designs * self.trajectories * self.samples

    @cached_property
    def values(self) -> Array:
        """Values of the parameter (design,)."""
        return np.linspace(self.low, self.high, self.designs)

    def build(self, value: float | None = None) -> Robot:
        """Build the robot with a value of the parameter, or with its default."""
        return Robot.of(catalog.family(self.robot), {} if value is None else {self.parameter: float(value)})

    @property
    def is_chain(self) -> bool:
        """Return whether the robot is a chain, whose trajectories are those of its joints."""
        return self.build().mechanism.is_chain

    @cached_property
    def ends(self) -> tuple[Array, Array]:
        """Starts and ends of the trajectories (trajectory, coordinate) [rad], or [m] from the reference position."""
        width = len(self.build().mechanism.actuators) if self.is_chain else 3
        start, end = np.random.default_rng(45).uniform(-self.reach, self.reach, (2, self.trajectories, width)).round(3)
        return start, end

    @cached_property
    def motion(self) -> tuple[Array, Array, Array]:
        """Positions, rates and accelerations (trajectory, time, coordinate) of quintics from rest to rest."""
        u = np.linspace(0.0, 1.0, self.samples)[:, None]
        start, end = (each[:, None] for each in self.ends)
        shares = (
            u**3 * (10.0 - 15.0 * u + 6.0 * u**2),
            30.0 * u**2 * (1.0 - u) ** 2 / DURATION,
            60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / DURATION**2,
        )
        place, rate, change = ((end - start) * share for share in shares)
        return start + place, rate, change

    @property
    def sweep(self) -> Mapping[str, object]:
        """The sweep file, as a mapping."""
        start, end = (each.tolist() for each in self.ends)
        moves = {
            f"move_{k}": {"kind": "quintic", "start": start[k], "end": end[k], "duration": DURATION}
            for k in range(self.trajectories)
        }
        return {
            "limbsweep": 1,
            "robot": self.robot,
            "design": {"grid": {self.parameter: {"start": self.low, "stop": self.high, "num": self.designs}}},
            "trajectories": moves,
            "time": {"stop": DURATION, "samples": self.samples},
            "gravity": list(GRAVITY),
            "outputs": ["actuator_force"] if self.series else [],
            "metrics": ["peak_force", "rms_force"],
        }


def jobs(scale: float) -> tuple[Job, ...]:
    """Return the sweeps, with `scale` times their designs: an arm of 7 joints, and a Delta, whose loops are closed."""
    arm, delta = (max(2, round(count * scale)) for count in (1000, 100))
    return (
        Job("iiwa14", "payload_mass", 0.0, 10.0, 1.0, arm, 10, 1000, series=False),
        Job("iiwa14", "payload_mass", 0.0, 10.0, 1.0, arm, 10, 1000, series=True),
        Job("delta_3rr2rrr", "upper_arm", 0.2, 0.3, 0.1, delta, 10, 1000, series=False),
    )
