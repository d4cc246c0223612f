"""Motion of a batch of cases over time: the loop of steps, what is kept of it, and how a case comes to its end.

Arrays are (size, samples), a case in each column. A case that has come to its end holds NaN from there on, and its
status says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from robots.limits import Limits
from robots.status import Status
from tasks.control.model import InverseModel
from tasks.simulation.drives import ForceSource, Seen, StepForces
from tasks.simulation.tallies import LeastMargins, Pushing, Tracking

FASTEST = 1e4
"""Rate [rad/s or m/s] beyond which a motion is no motion of a machine any more."""

SERIES = frozenset(
    (
        *("motion", "actuator_force", "sensed_force", "actuator_position", "actuator_velocity"),
        *("friction", "tracking_error", "target"),
    )
)
"""Series: motion inputs of the state and of its reference, the target; of actuators; friction of joints.

A force that is held changes at once where a step begins: `actuator_force` is that from there on, `sensed_force` the
mean of before and after, which belongs to the mean of the accelerations, as differences of positions give it.
"""

JOINT_SERIES = ("joint_position", "joint_velocity")

OF_MODEL = frozenset(("actuator_position", "actuator_velocity"))

RUNAWAY = 10.0
"""Times the largest rate of its reference with which a case that ends has run away."""


class Plant(Protocol):
    """A batch of robots in motion."""

    def motion(self) -> np.ndarray:
        """The state as a motion input of kernels (size, samples), without accelerations."""
        ...

    def speed(self) -> np.ndarray:
        """Rates of the freedoms (freedom, samples)."""
        ...

    def advance(self, number: int, push: StepForces) -> None:
        """The step of that number, under forces."""
        ...

    def begin(self, push: StepForces) -> None:
        """Find out which joints hold at the start."""
        ...

    def given(self, asked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Forces (actuator, samples) of the actuators for those that they are asked for, and where these differ."""
        ...

    @property
    def status(self) -> np.ndarray:
        """Status (samples,)."""
        ...

    @property
    def friction(self) -> np.ndarray:
        """Friction of all joints of the groups (joint, samples)."""
        ...

    @property
    def loss(self) -> np.ndarray:
        """Work that friction has taken in each of them [J]."""
        ...

    @property
    def work(self) -> np.ndarray:
        """Work that the actuators have done (actuator, samples) [J]."""
        ...


@dataclass(frozen=True)
class Schedule:
    """Steps of a simulation: `step` [s], how many, and every how many are kept; the start is."""

    step: float
    steps: int
    every: int = 1

    def refined(self, factor: int) -> Schedule:
        """The same times by so many times more steps."""
        return Schedule(self.step / factor, self.steps * factor, self.every * factor)

    @property
    def kept(self) -> int:
        """Instants that are kept."""
        return self.steps // self.every + 1


@dataclass
class KeptSeries:
    """What is kept, by name: series (kept, size, samples); status (kept, samples)."""

    series: dict[str, list[np.ndarray]] = field(default_factory=dict)
    status: list[np.ndarray] = field(default_factory=list)

    def take(self, values: dict[str, np.ndarray], status: np.ndarray) -> None:
        """One instant; NaN where the status is not OK."""
        self.status.append(status.astype(np.int8))
        for name, value in values.items():
            self.series.setdefault(name, []).append(np.where(status == Status.OK, value, np.nan))


@dataclass(frozen=True)
class Outcome:
    """A simulated batch: `series` (kept, size, samples), `status` (kept, samples), `tallies` (size, samples)."""

    series: dict[str, np.ndarray]
    status: np.ndarray
    tallies: dict[str, np.ndarray]

    def part(self, samples: np.ndarray) -> Outcome:
        """That of some samples."""
        series = {name: np.ascontiguousarray(values[..., samples]) for name, values in self.series.items()}
        tallies = {name: np.ascontiguousarray(values[:, samples]) for name, values in self.tallies.items()}
        return Outcome(series, np.ascontiguousarray(self.status[:, samples]), tallies)


@dataclass(frozen=True)
class SimulatedBatch:
    """A batch that can be run, at its step or at a part of it: makers of plant and drive for a schedule.

    `fastest` (samples,): the largest rates of the references, infinite without; `reach`, `last` (actuator, samples):
    the range of the references in coordinates of actuators, and where they end; None without.
    """

    model: InverseModel
    plant: Callable[[Schedule], Plant]
    drive: Callable[[Schedule], ForceSource]
    schedule: Schedule
    fastest: np.ndarray
    reach: np.ndarray | None = None
    last: np.ndarray | None = None
    keep: frozenset[str] = SERIES
    """Names of the series to keep, of SERIES and of those of the model."""
    limits: Limits | None = None
    """Limits whose margins are told; then JOINT_SERIES are among the series of the model."""

    def run(self, factor: int = 1) -> Outcome:
        """All steps, so many times more of them than the schedule has."""
        schedule = self.schedule.refined(factor)
        with np.errstate(all="ignore"):  # a case that has come to its end holds NaN
            return _Run(self, schedule).outcome()


class _Run:
    def __init__(self, simulation: SimulatedBatch, schedule: Schedule):
        self.simulation, self.schedule = simulation, schedule
        self.plant, self.drive = simulation.plant(schedule), simulation.drive(schedule)
        self.status = np.zeros(len(simulation.fastest))
        self.speed = np.zeros(len(simulation.fastest))
        self.kept = KeptSeries()
        self.saturated = np.zeros((len(simulation.model.family.reference.actuators), len(simulation.fastest)))
        self.before: np.ndarray | None = None
        self.pushing: Pushing | None = None
        self.tracking: Tracking | None = None
        self.margins: LeastMargins | None = None
        if simulation.limits is not None:
            actuators = len(simulation.model.family.reference.actuators)
            self.margins = LeastMargins(simulation.limits, actuators, len(simulation.fastest))
        if simulation.reach is not None and simulation.last is not None:
            self.tracking = Tracking(schedule.steps, schedule.step, simulation.reach, simulation.last)

    def outcome(self) -> Outcome:
        schedule, plant = self.schedule, self.plant
        seen = self._seen(0)
        plant.begin(seen.push)
        pushing = self.pushing = Pushing(schedule.steps, schedule.step, seen.push.begin.shape)
        self._judge(seen)
        self._keep(0, seen)
        for number in range(schedule.steps):
            push = StepForces(*(np.where(self.status == Status.OK, force, np.nan) for force in seen.push))
            begin, cut = plant.given(push.begin)
            self.saturated += schedule.step * cut
            plant.advance(number, push)
            self.before, _ = plant.given(push.end)
            pushing.take(begin, self.before)
            seen = self._seen(number + 1)
            self._judge(seen)
            self._keep(number + 1, seen)
        return Outcome(
            {name: np.stack(rows) for name, rows in self.kept.series.items()},
            np.stack(self.kept.status),
            {name: np.where(self.status == Status.OK, value, np.nan) for name, value in self._tallies().items()}
            | {"lost_steps": self.drive.lost},
        )

    def _seen(self, number: int) -> Seen:
        return self.drive.at(number, self.plant.motion())

    def _judge(self, seen: Seen) -> None:
        """Cases that have come to their end, and why."""
        speed = np.abs(self.plant.speed()).max(axis=0, initial=0.0)
        reason = self.plant.status.copy()
        if seen.aim is not None:
            reason = np.where(reason > 0.5, reason, seen.aim.status)
        lost = ~np.isfinite(speed) | ~np.isfinite(seen.push.begin).all(axis=0)
        reason = np.where((reason < 0.5) & lost, float(Status.INTEGRATION_FAILED), reason)
        runs = np.fmax(speed, self.speed) > RUNAWAY * self.simulation.fastest
        reason = np.where((reason > 0.5) & runs, float(Status.DIVERGED), reason)
        reason = np.where((speed > FASTEST) | (np.isinf(speed)), float(Status.DIVERGED), reason)
        self.status = np.where(self.status > 0.5, self.status, reason)
        self.speed = np.where(np.isfinite(speed), speed, self.speed)

    def _keep(self, number: int, seen: Seen) -> None:
        motion, aim = self.plant.motion(), seen.aim
        force, _ = self.plant.given(seen.push.begin)
        away = None
        if aim is not None:
            if motion.shape[0] in (9, 24) and not self.simulation.model.family.reference.is_chain:
                apart = aim.wanted[:3] - motion[:3]
                away = np.sqrt(apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2])
            if self.tracking is not None:
                self.tracking.take(number, aim.here.position, aim.there.position, away)
        model, keep = self.simulation.model, self.simulation.keep
        if self.margins is not None:
            here = model.run(motion) if aim is None else aim.here
            position, rate = (here.of_limbs(name) for name in JOINT_SERIES)
            self.margins.take(position, rate, force, here.velocity)
        if number % self.schedule.every:
            return
        values = {"motion": motion, "actuator_force": force, "friction": self.plant.friction}
        values["sensed_force"] = force if self.before is None else 0.5 * (self.before + force)
        if model.series or keep & OF_MODEL:
            here = model.run(motion) if aim is None else aim.here
            values |= {"actuator_position": here.position, "actuator_velocity": here.velocity}
            for name in keep & {*model.series}:
                values |= {f"{name}.{k}": rows for k, rows in enumerate(here.of_limbs(name))}
        if aim is not None:
            values |= {"tracking_error": aim.there.position - aim.here.position, "target": aim.wanted}
        chosen = {name: value for name, value in values.items() if name in keep or name not in SERIES}
        self.kept.take(chosen, self.status)

    def _tallies(self) -> dict[str, np.ndarray]:
        assert self.pushing is not None
        tallies = {"work": self.plant.work, "loss": self.plant.loss}
        tallies |= {"peak_force": self.pushing.peak, "rms_force": self.pushing.rms}
        tallies |= {"saturated_time": self.saturated}
        if self.tracking is not None:
            t = self.tracking
            tallies |= {"rms_tracking_error": t.rms, "peak_tracking_error": t.peak, "overshoot": t.overshoot}
            tallies |= {"settling_time": t.settling_time[None]}
            tallies |= {"rms_position_error": t.path_rms[None], "peak_position_error": t.path_peak[None]}
        if self.margins is not None:
            m = self.margins
            tallies |= {
                "actuator_margin": m.actuator,
                "limit_margin": m.position[None],
                "velocity_margin": m.rate[None],
            }
        return tallies
