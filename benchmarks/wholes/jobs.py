"""Sweeps that all contestants compute: designs and trajectories in plain numbers, and the same as a sweep file.

Two kinds: inverse dynamics of given motions, and simulations of closed loops that are released under constant forces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar

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

    together: ClassVar[int] = 8
    """Designs of a task of scripts."""
    shares: ClassVar[Mapping[str, float]] = {"MuJoCo": 0.1, "MJX": 0.002, "NumPy": 0.1}
    """Share of the designs that slow scripts compute, by engine."""
    dims: ClassVar[tuple[str, ...]] = ("design", "trajectory", "actuator")
    """Dimensions of what is compared."""

    @property
    def title(self) -> str:
        """The sweep in words."""
        stored = "all forces stored, peaks and root mean squares" if self.series else "peaks and root mean squares"
        return (
            f"{self.robot}, {self.designs} designs x {self.trajectories} trajectories x {self.samples} times, {stored}"
        )

    @property
    def numbers(self) -> dict[str, Any]:
        """Kind and fields, from which `job_of` makes it again."""
        return {"kind": type(self).__name__, **asdict(self)}

    def compared(self, group: Any) -> dict[str, Array]:
        """Return what is compared, of limbsweep's store or a script's: (design, trajectory, actuator) by name."""
        found = {name: np.asarray(group[name]) for name in ("peak_force", "rms_force")}
        return {name: each.reshape(len(each), -1, each.shape[-1]) for name, each in found.items()}

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


class Release(Job):
    """Simulations from rest under constant forces of actuators: `trajectories` forces, at most `reach` [N, N m].

    samples: steps of each. The position of the platform at the end is stored.
    """

    together: ClassVar[int] = 1
    shares: ClassVar[Mapping[str, float]] = {"Kamino": 0.5}
    dims: ClassVar[tuple[str, ...]] = ("design", "trajectory", "axis")
    seconds: ClassVar[float] = 0.1
    """Duration of a simulation [s]."""

    @property
    def title(self) -> str:
        """The sweep in words."""
        taken = f"{self.samples} steps of {self.seconds / self.samples:g} s"
        return f"{self.robot}, {self.designs} designs x {self.trajectories} constant forces x {taken}, last positions"

    def compared(self, group: Any) -> dict[str, Array]:
        """Return what is compared: the last position of the platform (design, trajectory, 3)."""
        found = np.asarray(group["platform_position"])
        return {"platform_position": found.reshape(self.designs, self.trajectories, -1, 3)[:, :, -1]}

    @cached_property
    def forces(self) -> Array:
        """Forces (trajectory, actuator)."""
        width = len(self.build().mechanism.actuators)
        return np.random.default_rng(45).uniform(-self.reach, self.reach, (self.trajectories, width)).round(3)

    @property
    def sweep(self) -> Mapping[str, object]:
        """The sweep file, as a mapping."""
        shared = {key: super(Release, self).sweep[key] for key in ("limbsweep", "robot", "design", "gravity")}
        pushes = {f"push_{k}": {"values": force} for k, force in enumerate(self.forces.tolist())}
        return {
            **shared,
            "time": {"stop": self.seconds, "step": self.seconds},
            "simulation": {"forces": pushes, "step": self.seconds / self.samples},
            "outputs": ["platform_position"],
        }


KINDS = {kind.__name__: kind for kind in (Job, Release)}


def job_of(numbers: Mapping[str, Any]) -> Job:
    """Return the job of its `numbers`."""
    fields = dict(numbers)
    return KINDS[fields.pop("kind")](**fields)


def jobs(scale: float) -> tuple[Job, ...]:
    """Return the sweeps, with `scale` times their designs: an arm of 7 joints, and a Delta, whose loops are closed."""
    arm, delta, released = (max(2, round(count * scale)) for count in (1000, 100, 20))
    return (
        Job("iiwa14", "payload_mass", 0.0, 10.0, 1.0, arm, 10, 1000, series=False),
        Job("iiwa14", "payload_mass", 0.0, 10.0, 1.0, arm, 10, 1000, series=True),
        Job("delta_3rr2rrr", "upper_arm", 0.2, 0.3, 0.1, delta, 10, 1000, series=False),
        Release("delta_3rr2rrr", "upper_arm", 0.2, 0.3, 0.5, released, 100, 100, series=False),
    )
