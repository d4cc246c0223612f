"""The sweeps that benchmarks of whole runs use, the times of a run, and the results of one of its designs alone."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks import delta
from benchmarks.figures import require
from pipeline.monitor.log import BlockDone, BlockRetried, Event, Finished, Started
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from robots import catalog
from tasks import inverse_dynamics

TEXT = """\
limbsweep: 1
robot: {robot}
design:
  grid:
    upper_arm: {arms}
    base_radius: {radii}
trajectories:
  line: {{kind: line_sine, amplitude: [0.3, 0.4, 0.1], period: 1.0}}
time: {{stop: 1.0, samples: {samples}}}
outputs: {outputs}
metrics: {metrics}
"""


SERIES = (
    "actuator_force",
    "actuator_position",
    "actuator_velocity",
    "actuator_power",
    "joint_position",
    "joint_velocity",
    "joint_acceleration",
)
"""Full time series: all that a Delta has of float64 for each design, 66 numbers for each sample."""


def text(arms: int, radii: int, samples: int, *, series: bool) -> str:
    """Return a sweep of `arms` x `radii` designs, with full time series or with metrics only."""
    outputs, metrics = (SERIES, ()) if series else ((), ("peak_force", "rms_force"))
    names = {name: f"[{', '.join(each)}]" for name, each in (("outputs", outputs), ("metrics", metrics))}
    axes = {"arms": _axis(0.245, 0.255, arms), "radii": _axis(0.145, 0.155, radii)}
    return TEXT.format(robot=delta.ROBOT, samples=samples, **axes, **names)


def _axis(start: float, stop: float, count: int) -> str:
    """Format `count` values between two ends, or only the first: between two ends there are at least two."""
    return f"[{start}]" if count == 1 else f"{{start: {start}, stop: {stop}, num: {count}}}"


@dataclass
class Stopwatch:
    """A listener that keeps when a run had its cluster, when its blocks were done, and when it was through [s].

    `busy` is the time that this process, which coordinates and for a local cluster schedules, computed meanwhile.
    """

    started: float = 0.0
    finished: float = 0.0
    busy: float = 0.0
    done: list[tuple[float, int]] = field(default_factory=list)
    retried: list[str] = field(default_factory=list)
    """Why blocks were tried again, as where a worker died: such a run is no measure of speed."""

    def __call__(self, event: Event) -> None:
        """Note the time of an event."""
        now = time.perf_counter()
        if isinstance(event, Started):
            self.started, self.busy = now, -time.process_time()
        elif isinstance(event, BlockDone):
            self.done.append((now, event.samples))
        elif isinstance(event, BlockRetried):
            self.retried.append(event.reason)
        elif isinstance(event, Finished):
            self.finished = now
            self.busy += time.process_time()

    def require_undisturbed(self) -> None:
        """Raise CheckError if a block was tried again."""
        require(not self.retried, f"{len(self.retried)} blocks were tried again: {', '.join(self.retried[:1])}")

    @property
    def whole(self) -> float:
        """Samples a second from the cluster being there, workers still without their imports, to the end."""
        return sum(samples for _, samples in self.done) / (self.finished - self.started)

    @property
    def steady(self) -> float:
        """Samples a second from the first block that was done to the last."""
        return sum(samples for _, samples in self.done[1:]) / (self.done[-1][0] - self.done[0][0])


def alone(sweep: Sweep) -> np.ndarray:
    """Return the forces (time, actuator) of the last design, computed without the pipeline."""
    count = sweep.design.size
    values = {name: float(value[0]) for name, value in sweep.designs(count - 1, count).items()}
    position, velocity, acceleration = _line(sweep.times, plan(sweep).origin)
    zero = np.zeros_like(position)
    twist, second = np.hstack([zero, velocity]), np.hstack([zero, acceleration])
    robot = catalog.build(sweep.robot, **values)
    return np.asarray(inverse_dynamics(robot, position=position, twist=twist, acceleration=second).force)


def _line(times: np.ndarray, origin: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return position, velocity and acceleration (time, 3) of the trajectory in TEXT."""
    rate, amplitude = 2.0 * np.pi / delta.PERIOD, np.array(delta.AMPLITUDE)
    sine, cosine = np.sin(rate * times)[:, None], np.cos(rate * times)[:, None]
    return np.asarray(origin) + amplitude * sine, amplitude * rate * cosine, -amplitude * rate**2 * sine
