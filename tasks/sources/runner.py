"""Motion of a batch of cases over time: the loop of steps and its stored results.

Arrays are (size, samples), a case in each column. A case that has come to its end holds NaN from there on, and its
status gives the reason. Errors of tracking count all steps of a simulation, not the stored ones alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from robots.data_classes import dataclass, field, replace
from robots.status import Status
from tasks.dynamics.drive_values import DriveModel
from tasks.kernels.advance import tell
from tasks.kernels.keys import Values
from tasks.sources.drives import ForceSource, Seen, StepForces

SETTLED = 0.02
"""Share of the way of an actuator, or of its first error, within which its error counts as settled."""


class Tracking:
    """Errors of all actuators over time: their size, the last time outside the band, the overshoot beyond the end.

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
        """Take consecutive instants (instant, ...), the first by its number: positions of actuators and reference.

        away: distance of the platform from its reference [m].
        """
        error = target - position
        size, numbers = np.abs(error), np.arange(number, number + len(error))
        if number == 0:
            self._start = position[0]
            self._limit = self._band * np.maximum(self._reach, size[0])
        weight = self.step * np.where((numbers == 0) | (numbers == self.steps), 0.5, 1.0)
        self._squares = _added(self._squares, weight[:, None, None] * (error * error))
        self.peak = np.maximum(self.peak, size.max(axis=0))
        outside = (size > self._limit).any(axis=1)
        latest = numbers[-1] - np.argmax(outside[::-1], axis=0)
        self._outside = np.where(outside.any(axis=0), latest * self.step, self._outside)
        travel = self.last - self._start
        share = np.where(travel == 0.0, 0.0, (position - self.last) / np.where(travel == 0.0, 1.0, travel))
        self._beyond = np.maximum(self._beyond, share.max(axis=0))
        if away is not None:
            self._path_squares = _added(self._path_squares, weight[:, None] * (away * away))
            self.path_peak = np.maximum(self.path_peak, away.max(axis=0))

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
        """The last instant at which an actuator was outside its band (samples,); 0 if no actuator was."""
        return self._outside

    @property
    def overshoot(self) -> np.ndarray:
        """Largest share of its travel by which an actuator was beyond its last target (actuator, samples)."""
        return self._beyond


def _added(start: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """Return a sum and further terms (term, ...), added one after the other."""
    return np.asarray(np.add.accumulate(np.concatenate([start[None], terms]))[-1])


FASTEST = 1e4
"""Rate [rad/s or m/s] beyond which a motion is no motion of a machine any more."""

SAMPLE = "sample"
"""Name in place of a series: all inputs of a sample to stages of inverse dynamics, see `Plant.sample`."""

SERIES = ("motion", "given_force", "sensed_force", "tracking_error", "target")
"""Series: motion inputs of the state and of its reference, the target; forces of actuators.

A held force jumps at the begin of a step. `given_force` is the force after the jump, like acceleration and friction of
the sample. `sensed_force` is the mean of the forces before and after it, which belongs to the mean of both
accelerations, as differences of positions measure it.
"""

RUNAWAY = 10.0
"""Times the largest rate of its reference with which a case that ends has run away."""


class Plant(Protocol):
    """A batch of robots in motion."""

    def motion(self) -> np.ndarray:
        """Return the state as a motion input of kernels (size, samples), without accelerations."""
        ...

    def speed(self) -> np.ndarray:
        """Return the rates of the freedoms (freedom, samples)."""
        ...

    def advance(self, number: int, push: StepForces) -> None:
        """Take the step of that number, under forces."""
        ...

    def begin(self, push: StepForces) -> None:
        """Find out which joints hold at the start."""
        ...

    def given(self, asked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the actual actuator forces (actuator, samples) for the requested ones, and where they differ."""
        ...

    def sample(self, number: int, push: StepForces, *, rates: bool = True) -> Values:
        """Return the values of the stages at the begin of a step, under the forces from there on (size, samples)."""
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


class Meter(Protocol):
    """Reducer of the samples at the starts of all steps to metrics."""

    takes_motion: bool
    takes_rates: bool

    def take(self, values: Values) -> None:
        """Take one instant: values of the stages (size, samples) by key, and forces and friction just before it."""
        ...

    def finished(self, steps: int) -> dict[str, np.ndarray]:
        """Return the metrics (size, samples) by name."""
        ...


@dataclass(frozen=True)
class Schedule:
    """Steps of a simulation: `step` [s], how many, and every how many are kept; the start is."""

    step: float
    steps: int
    every: int = 1

    def refined(self, factor: int) -> Schedule:
        """Return the same times with steps divided by a factor."""
        return Schedule(self.step / factor, self.steps * factor, self.every * factor)

    @property
    def kept(self) -> int:
        """Instants that are kept."""
        return self.steps // self.every + 1


@dataclass
class KeptSeries:
    """Kept results, by name: series (kept, size, samples); status (kept, samples)."""

    series: dict[str, list[np.ndarray]] = field(default_factory=dict)
    status: list[np.ndarray] = field(default_factory=list)

    def take(self, values: Mapping[Any, np.ndarray], status: np.ndarray, count: int) -> None:
        """Take `count` equal instants (instant, size, samples); NaN where the status is not OK."""
        self.status.append(np.repeat(status.astype(np.int8)[None], count, axis=0))
        ok = status == Status.OK
        good = bool(ok.all())
        for name, value in values.items():
            self.series.setdefault(name, []).append(value.copy() if good else np.where(ok, value, np.nan))


@dataclass(frozen=True)
class Instants:
    """Consecutive instants at which steps begin: arrays (instant, rows, samples), the first by its number.

    sample: as of `Plant.sample`, with `motion`. force: of the actuators from the instant on; before: up to it;
    friction: of joints up to it. position, target (actuator) and wanted, the motion input: of the reference, or None.
    """

    number: int
    sample: Values
    force: np.ndarray
    before: np.ndarray
    friction: np.ndarray
    position: np.ndarray | None = None
    target: np.ndarray | None = None
    wanted: np.ndarray | None = None


@dataclass(frozen=True)
class TakenSteps:
    """Steps that were taken at once: their ends, and the forces over the step after them."""

    ends: Instants
    push: StepForces

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.ends.force)


class ManySteps(Protocol):
    """Plant and drive over several steps at once."""

    def advance(
        self, number: int, steps: int, push: StepForces, live: np.ndarray, *, rates: bool
    ) -> TakenSteps | None:  # fmt: skip
        """Take steps from step `number` on, at most `steps`; None if the next step has to be taken alone.

        push: forces over the first step; live (samples,): cases that have not ended; rates: with accelerations and
        friction in the samples.
        """
        ...


@dataclass(frozen=True)
class Outcome:
    """A simulated batch: `series` (kept, size, samples), `status` (kept, samples), `tallies` (size, samples)."""

    series: dict[str, np.ndarray]
    status: np.ndarray
    tallies: dict[str, np.ndarray]

    def part(self, samples: np.ndarray) -> Outcome:
        """Return the outcome of some samples; of all in order it is this one."""
        if len(samples) == self.status.shape[1] and (np.diff(samples, prepend=-1) == 1).all():
            return self
        series = {name: np.ascontiguousarray(values[..., samples]) for name, values in self.series.items()}
        tallies = {name: np.ascontiguousarray(values[:, samples]) for name, values in self.tallies.items()}
        return Outcome(series, np.ascontiguousarray(self.status[:, samples]), tallies)


@dataclass(frozen=True)
class SimulatedBatch:
    """A batch that can be run, at its step or at a part of it: makers of plant and drive for a schedule.

    `fastest` (samples,): the largest rates of the references, infinite without; `reach`, `last` (actuator, samples):
    the range of the references in coordinates of actuators, and where they end; None without.
    """

    model: DriveModel
    plant: Callable[[Schedule], Plant]
    drive: Callable[[Schedule], ForceSource]
    schedule: Schedule
    fastest: np.ndarray
    reach: np.ndarray | None = None
    last: np.ndarray | None = None
    keep: frozenset[str] = frozenset(SERIES)
    """Names of the series to keep, of SERIES and SAMPLE."""
    meter: Callable[[Schedule], Meter] | None = None
    """Factory of the reducer that gathers metrics over all steps of a schedule; None if no metric is requested."""
    loop: Callable[[Plant, ForceSource, Schedule], ManySteps | None] | None = None
    """Factory of a loop that takes several steps at once; None if each step is taken alone."""

    def run(self, factor: int = 1, *, measured: bool = True) -> Outcome:
        """Run the steps, `factor` times as many as the schedule has; without metrics where not `measured`."""
        schedule = self.schedule.refined(factor)
        if not measured:
            return replace(self, meter=None).run(factor)
        with np.errstate(all="ignore"):  # a case that has come to its end holds NaN
            return _SimulatedRun(self, schedule).outcome()


class _SimulatedRun:
    def __init__(self, simulation: SimulatedBatch, schedule: Schedule):
        self.simulation, self.schedule = simulation, schedule
        self.plant, self.drive = simulation.plant(schedule), simulation.drive(schedule)
        self.status = np.zeros(len(simulation.fastest))
        self.speed = np.zeros(len(simulation.fastest))
        self.kept = KeptSeries()
        self.saturated = np.zeros((len(simulation.model.family.reference.actuators), len(simulation.fastest)))
        self.loop = None if simulation.loop is None else simulation.loop(self.plant, self.drive, schedule)
        self.before: np.ndarray | None = None
        self.tracking: Tracking | None = None
        self.meter = None if simulation.meter is None else simulation.meter(schedule)
        if simulation.reach is not None and simulation.last is not None:
            self.tracking = Tracking(schedule.steps, schedule.step, simulation.reach, simulation.last)

    def outcome(self) -> Outcome:
        schedule, plant = self.schedule, self.plant
        seen = self._seen(0)
        plant.begin(seen.push)
        self._judge(seen)
        self._keep(0, seen)
        number = 0
        while number < schedule.steps:
            tell(number, schedule.steps)
            push = StepForces(*(np.where(self.status == Status.OK, force, np.nan) for force in seen.push))
            stretch = None if self.loop is None else self._stretch(number, push)
            if stretch is not None:
                seen, number = Seen(stretch.push), number + stretch.steps
                continue
            _, cut = plant.given(push.begin)
            self.saturated += schedule.step * cut
            plant.advance(number, push)
            self.before, _ = plant.given(push.end)
            number += 1
            seen = self._seen(number)
            self._judge(seen)
            self._keep(number, seen)
        return Outcome(
            {name: np.concatenate(rows) for name, rows in self.kept.series.items()},
            np.concatenate(self.kept.status),
            {name: np.where(self.status == Status.OK, value, np.nan) for name, value in self._tallies().items()}
            | {"lost_steps": self.drive.lost},
        )

    def _stretch(self, number: int, push: StepForces) -> TakenSteps | None:
        """Take several steps at once, during which no case ends, and keep their results."""
        assert self.loop is not None
        live = self.status == Status.OK
        stretch = self.loop.advance(number, self.schedule.steps - number, push, live, rates=self._with_rates)
        if stretch is not None:
            self._take(stretch.ends)
            self.before = stretch.ends.force[-2] if stretch.steps > 1 else push.end
            speed = np.abs(self.plant.speed()).max(axis=0, initial=0.0)
            self.speed = np.where(np.isfinite(speed), speed, self.speed)
        return stretch

    @property
    def _with_rates(self) -> bool:
        """True if accelerations and friction of all instants are of use."""
        return SAMPLE in self.simulation.keep or (self.meter is not None and self.meter.takes_rates)

    def _seen(self, number: int) -> Seen:
        return self.drive.at(number, self.plant.motion())

    def _judge(self, seen: Seen) -> None:
        """Find the cases that have ended, and the reasons."""
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
        """Take one instant."""
        aim, meter = seen.aim, self.meter
        force, _ = self.plant.given(seen.push.begin)
        stored = number % self.schedule.every == 0 and SAMPLE in self.simulation.keep
        values: Values = {"motion": self.plant.motion()}
        if stored or (meter is not None and meter.takes_motion):
            rates = stored or (meter is not None and meter.takes_rates)
            values = self.plant.sample(number, seen.push, rates=rates)
        before = force if self.before is None else self.before
        sample: Values = {key: value[None] for key, value in values.items()}
        of_aim = () if aim is None else (aim.here.position, aim.there.position, aim.wanted)
        rows = (force, before, self.plant.friction, *of_aim)
        self._take(Instants(number, sample, *(each[None] for each in rows)))

    def _take(self, ends: Instants) -> None:
        """Take instants: for tracking, for metrics, and where they are stored."""
        meter, count = self.meter, len(ends.force)
        if self.tracking is not None and ends.position is not None and ends.target is not None:
            self.tracking.take(ends.number, ends.position, ends.target, self._away(ends))
        if meter is not None:
            taken = ends.sample if meter.takes_motion else {}
            of_forces = {"given_force": ends.force, "force_before": ends.before, "friction_before": ends.friction}
            for k in range(count):
                values = {key: rows[k] for key, rows in (taken | of_forces).items()}
                meter.take({**values, "given_status": self.status[None]})
        chosen = range(-ends.number % self.schedule.every, count, self.schedule.every)
        if len(chosen):
            part = slice(chosen.start, chosen.stop, chosen.step)
            self.kept.take({key: rows[part] for key, rows in self._stored(ends).items()}, self.status, len(chosen))

    def _away(self, ends: Instants) -> np.ndarray | None:
        """Return the distance of platforms from their references (instant, samples)."""
        motion = ends.sample["motion"]
        if self.simulation.model.family.reference.is_chain or ends.wanted is None or motion.shape[1] not in (9, 24):
            return None
        x, y, z = np.moveaxis(ends.wanted[:, :3] - motion[:, :3], 1, 0)
        return np.asarray(np.sqrt(x * x + y * y + z * z))

    def _stored(self, ends: Instants) -> Values:
        """Return the series of instants that are kept, by name."""
        keep = self.simulation.keep
        values: Values = {**ends.sample, "given_force": ends.force, "sensed_force": 0.5 * (ends.before + ends.force)}
        if ends.position is not None and ends.target is not None and ends.wanted is not None:
            values |= {"tracking_error": ends.target - ends.position, "target": ends.wanted}
        whole = SAMPLE in keep
        return {name: value for name, value in values.items() if name in keep or (whole and name not in SERIES[2:])}

    def _tallies(self) -> dict[str, np.ndarray]:
        tallies = {"work": self.plant.work, "dissipated_energy": self.plant.loss.sum(axis=0)[None]}
        tallies |= {"saturated_time": self.saturated}
        if self.meter is not None:
            tallies |= self.meter.finished(self.schedule.steps)
        if self.tracking is not None:
            t = self.tracking
            tallies |= {"rms_tracking_error": t.rms, "peak_tracking_error": t.peak, "overshoot": t.overshoot}
            tallies |= {"settling_time": t.settling_time[None]}
            tallies |= {"rms_position_error": t.path_rms[None], "peak_position_error": t.path_peak[None]}
        return tallies
