"""From signals as recorded to motions and forces: clock, outliers, uniform time, delay, zero-phase filter, derivatives.

All signals are in SI units and belong to the actuators of a robot. The order of the steps is that of `prepare`: gross
errors go before any filter could spread them, filters run on uniform time, derivatives are those of filtered positions.
Sources: Swevers, Verdonck, De Schutter 2007; Gautier, Janot, Vandanjon 2013; Hampel 1974 for outliers.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.ndimage import maximum_filter1d, median_filter
from scipy.signal import sosfiltfilt

from applications.identification.estimation.machines.choices import Preparation
from applications.identification.estimation.machines.clock import JITTER, clock_of
from applications.identification.estimation.machines.noise import (
    ORDERS,
    NoiseFloors,
    Spectrum,
    best_filter,
    encoder_steps,
    is_still,
    noise_floors,
    spectrum,
)
from robots.data_classes import dataclass, field, replace
from robots.parameter_errors import ParameterError
from tasks.kernels.expression import Array
from tasks.mathematics.signals import butterworth, rate

MEDIAN = 9
"""Samples of the running median from which outliers are found."""
USUAL = 0.99
"""Share of samples whose distance from the median counts as the usual one of the signal."""
NORMAL = 1.4826
"""Standard deviation of normal noise over the median of its magnitude."""
BESIDE = 2.0
"""Periods of the cutoff beside a gap whose samples are not used."""
SHORTEST = 30
"""Samples that filters and differences need."""
SPECTRAL_LINES = 4096
"""Frequencies that the power of noise behind a filter is summed over."""


@dataclass(frozen=True)
class Signals:
    """One recording in SI units: a name for messages, its role, and arrays (samples,) and (samples, actuator).

    time [s], position [rad or m], force [N m or N]; velocity [rad/s or m/s] and the controller's reference of positions
    where they were recorded. notes: parts that were left out when it was read.
    """

    name: str
    role: str
    time: np.ndarray
    position: np.ndarray
    force: np.ndarray
    velocity: np.ndarray | None = None
    reference: np.ndarray | None = None
    notes: tuple[str, ...] = ()

    @property
    def series(self) -> dict[str, np.ndarray]:
        """The arrays (samples, actuator) by name."""
        signals = {"position": self.position, "force": self.force}
        recorded = {"velocity": self.velocity, "reference": self.reference}
        return signals | {name: values for name, values in recorded.items() if values is not None}

    def with_series(self, series: Mapping[str, np.ndarray]) -> Signals:
        """Return the same recording with other arrays, those of `series`."""
        return replace(
            self,
            position=series.get("position", self.position),
            force=series.get("force", self.force),
            velocity=series.get("velocity", self.velocity),
            reference=series.get("reference", self.reference),
        )


@dataclass(frozen=True)
class Prepared:
    """A recording on uniform time: motion of the actuators, forces before the filter, and the steps of preparation.

    step [s]; position, velocity, acceleration, force (samples, actuator); reference (samples, actuator): that of the
    controller as recorded, where there is one; usable (samples,): neither in a gap nor clipped; resting (samples,
    actuator): for longer than the filter remembers; replaced: outliers by signal; used: the preparation with all its
    choices made; noise: noise of the signals; clock: note about changes of times; uniform: the signals before the
    filter.
    """

    name: str
    role: str
    step: float
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    force: np.ndarray
    usable: np.ndarray
    resting: np.ndarray
    used: Preparation
    replaced: dict[str, int] = field(default_factory=dict)
    reference: np.ndarray | None = None
    noise: NoiseFloors | None = None
    clock: str = ""
    uniform: UniformSignals | None = field(default=None, repr=False)

    @property
    def time(self) -> np.ndarray:
        """Time of the samples from the first one [s]."""
        return np.arange(len(self.force)) * self.step

    @property
    def every(self) -> int:
        """Decimation after the filter: one of `every` samples is kept."""
        assert self.used.cutoff is not None, "prepared recordings have a cutoff"
        wanted_rate = self.used.rate or 2.0 * self.used.cutoff
        return max(1, round(1.0 / (wanted_rate * self.step)))

    @property
    def colour(self) -> float:
        """Power at low frequencies of white noise in the kept samples of a filtered signal, over its mean."""
        cutoff, order = self.filter
        rate = 1.0 / (self.every * self.step)
        frequency = np.linspace(0.0, 0.5 / self.step, SPECTRAL_LINES)
        passed = 1.0 / (1.0 + (frequency / cutoff) ** (2 * order)) ** 2
        return float(0.5 * rate / np.trapezoid(passed, frequency))

    @property
    def kept(self) -> np.ndarray:
        """Numbers of the kept samples: none at the ends, where a filter lacks earlier or later samples."""
        ends = max(round(2.0 / ((self.used.cutoff or np.inf) * self.step)), 3)
        ends = min(ends, len(self.force) // 4)
        numbers = np.arange(ends, len(self.force) - ends, self.every)
        return numbers[self.usable[numbers]]

    def filtered(self, values: Array) -> np.ndarray:
        """Return a signal through the filter of this recording, zero phase, along the first dim."""
        return smoothed(values, *self.filter, self.step)

    def with_gains(self, factors: np.ndarray) -> Prepared:
        """Return the recording with its forces times factors (actuator,), before the filter as well."""
        uniform, noise = self.uniform, self.noise
        if uniform is not None:
            signals = replace(uniform.signals, force=uniform.signals.force * factors)
            uniform = replace(uniform, signals=signals)
        if noise is not None:
            noise = replace(noise, force=noise.force * np.abs(factors))
        return replace(self, force=self.force * factors, uniform=uniform, noise=noise)

    @property
    def filter(self) -> tuple[float, int]:
        """Cutoff [Hz] and order of the filter."""
        cutoff, order = self.used.cutoff, self.used.order
        assert cutoff is not None, "prepared recordings have a cutoff"
        assert order is not None, "prepared recordings have an order"
        return cutoff, order


def prepare(signals: Signals, options: Preparation) -> Prepared:
    """Prepare a recording. Raises ParameterError, which names it, for options that do not fit."""
    timed, clock = retimed(signals)
    cleaned, replaced = without_outliers(timed, options.outliers, options.gap)
    evened, step, bridged = resampled(cleaned, options.gap)
    trimmed, bridged = _trimmed(evened, bridged, options, step)
    if len(trimmed.time) < SHORTEST:
        raise ParameterError(
            f"{signals.name}: {len(trimmed.time)} samples are left; expected at least {SHORTEST}; look at start, stop"
        )
    # outliers that were replaced are between the steps of an encoder
    seen = spectrum(_longest_part(trimmed.position, bridged), step, encoder_steps(signals.position))
    used = _with_filter(signals.name, options, seen, step)
    uniform = UniformSignals(trimmed, step, bridged, seen, replaced, clock)
    return filtered_motion(uniform, used)


@dataclass(frozen=True)
class UniformSignals:
    """A recording on uniform time before any filter: signals, step [s], mask of gaps (samples,), spectra of positions.

    replaced: outliers by signal; clock: note about changes of times.
    """

    signals: Signals
    step: float
    bridged: np.ndarray
    seen: Spectrum
    replaced: dict[str, int]
    clock: str


def filtered_motion(uniform: UniformSignals, used: Preparation) -> Prepared:
    """Return motion and forces of a recording through the filter of `used`, which has a cutoff and an order."""
    signals, step = uniform.signals, uniform.step
    cutoff, order = used.cutoff or 0.0, used.order or 0
    noise = noise_floors(
        uniform.seen, _longest_part(signals.force, uniform.bridged), signals.velocity, step, cutoff, order
    )
    position = smoothed(signals.position, cutoff, order, step)
    velocity = rate(position, step)
    if signals.velocity is not None:
        velocity = np.where(noise.is_velocity_quiet, smoothed(signals.velocity, cutoff, order, step), velocity)
    # straight lines across a gap have corners, which the filter carries further than clipped samples
    usable = ~widened(uniform.bridged, round(BESIDE / (cutoff * step))) & ~clipped(signals.force).any(axis=1)
    return Prepared(
        name=signals.name,
        role=signals.role,
        step=step,
        position=position,
        velocity=velocity,
        acceleration=rate(velocity, step),
        force=advanced(signals.force, used.delay or 0.0, step),
        usable=usable,
        resting=at_rest(velocity, used.rest, max(1, round(1.0 / (cutoff * step))))
        | np.array([is_still(column) for column in signals.position.T]),
        used=used,
        replaced=uniform.replaced,
        reference=signals.reference,
        noise=noise,
        clock=uniform.clock,
        uniform=uniform,
    )


def retimed(signals: Signals) -> tuple[Signals, str]:
    """Return the recording at times that agree with its positions, and a note about the change; empty: none."""
    if not (np.diff(signals.time) > 0).all() or not np.isfinite(signals.position).all():
        return signals, ""
    clock = clock_of(signals.time, signals.position)
    if not clock.note:
        return signals, ""
    series = {name: values[clock.rows] for name, values in signals.series.items()}
    return replace(signals.with_series(series), time=clock.time), clock.note


def _with_filter(name: str, options: Preparation, seen: Spectrum, step: float) -> Preparation:
    """Return the options with cutoff and order. Raises ParameterError for a cutoff that does not fit."""
    if options.cutoff is None:
        cutoff, order = best_filter(seen, step, options.order)
    else:
        cutoff, order = options.cutoff, options.order or ORDERS[0]
    if not 0.0 < cutoff < 0.5 / step:
        raise ParameterError(
            f"{name}: the cutoff is {cutoff:g} Hz; expected above 0 and less than half of the "
            f"{1.0 / step:.6g} samples a second"
        )
    return replace(options, cutoff=cutoff, order=order)


def at_rest(velocity: Array, share: float, shortest: int) -> np.ndarray:
    """Return a mask (samples, actuator) of runs of at least `shortest` samples below a share of the largest speed."""
    speed = np.abs(velocity)
    slow = speed < share * speed.max(axis=0)
    return np.stack([runs(column) >= shortest for column in slow.T], axis=1)


def without_outliers(signals: Signals, limit: float, gap: float = 0.0) -> tuple[Signals, dict[str, int]]:
    """Replace samples far from the running median by that median; return also how many they were, by signal.

    gap: longest time without samples [s] that the median ignores; 0: ten times the step.
    """
    if not limit:
        return signals, {}
    cleaned, counts = {}, {}
    steps = np.diff(signals.time)
    ends = np.flatnonzero(steps > _longest(steps, gap)) + 1
    for name, values in signals.series.items():
        centre = _medians(values, ends)
        distance = np.abs(values - centre)
        # far from the median beside the noise, and beside the change of the signal within the window
        noise = NORMAL * np.median(distance, axis=0)
        local = NORMAL * median_filter(distance, size=(5 * MEDIAN, 1), mode="nearest")
        usual = np.quantile(distance, USUAL, axis=0)
        scale = np.maximum(np.maximum(noise, local), _change(values))
        wrong = distance > np.maximum(limit * scale, 3.0 * usual) + 1e-9 * np.ptp(values, axis=0)
        cleaned[name] = np.where(wrong, centre, values)
        counts[name] = int(wrong.sum())
    return signals.with_series(cleaned), counts


def _medians(values: Array, ends: np.ndarray) -> np.ndarray:
    """Return the running median of a series (samples, column), none of it across the gaps that parts end at."""
    parts = np.split(np.asarray(values), ends)
    return np.concatenate([median_filter(part, size=(MEDIAN, 1), mode="nearest") for part in parts])


def _longest_part(values: Array, bridged: np.ndarray) -> np.ndarray:
    """Return the longest part of a series between gaps, which have frequencies of their own; all if it is short."""
    lengths = runs(~bridged)
    first, count = int(lengths.argmax()), int(lengths.max())
    return np.asarray(values[first : first + count] if count >= SHORTEST else values)


def _longest(steps: Array, gap: float) -> float:
    """Return the longest time between samples that is no gap [s]."""
    return gap or 10.0 * float(np.median(steps))


def _change(values: Array) -> np.ndarray:
    """Return the typical change (actuator,) between samples where there is one: not below an encoder step."""
    changes = np.abs(np.diff(values, axis=0))
    return np.array([np.median(column[column > 0]) if (column > 0).any() else 0.0 for column in changes.T])


def resampled(signals: Signals, gap: float = 0.0) -> tuple[Signals, float, np.ndarray]:
    """Return the recording at uniform time, its step [s], and which samples (samples,) lie in a gap of the recording.

    Jitter is taken out by splines through positions and straight lines through forces, at the median rate. Raises
    ParameterError for time that does not increase.
    """
    steps = np.diff(signals.time)
    if not (steps > 0).all():
        row = int(np.argmin(steps > 0)) + 1
        raise ParameterError(f"{signals.name}: time does not increase at sample {row}; expected increasing time")
    step = float(np.median(steps))
    step = float(np.mean(steps)) if np.ptp(steps) <= JITTER * step else step
    if np.ptp(steps) <= JITTER * step:
        return replace(signals, time=np.arange(len(signals.time)) * step), step, np.zeros(len(signals.time), bool)
    time = np.arange(0.0, signals.time[-1] - signals.time[0] + 0.5 * step, step) + signals.time[0]
    time = time[time <= signals.time[-1]]
    following = np.clip(np.searchsorted(signals.time, time), 1, len(steps))
    bridged = steps[following - 1] > _longest(steps, gap)

    def straight(values: np.ndarray) -> np.ndarray:
        return np.stack([np.interp(time, signals.time, column) for column in values.T], axis=1)

    velocity = None if signals.velocity is None else straight(signals.velocity)
    position = CubicSpline(signals.time, signals.position)(time)
    # a spline swings in a gap, whose samples are not used: they must not leave the workspace
    position[bridged] = straight(signals.position)[bridged]
    reference = None if signals.reference is None else straight(signals.reference)
    force = straight(signals.force)
    result = Signals(signals.name, signals.role, time - time[0], np.asarray(position), force, velocity, reference)
    return result, step, bridged


def _trimmed(signals: Signals, bridged: np.ndarray, options: Preparation, step: float) -> tuple[Signals, np.ndarray]:
    inside = (signals.time >= options.start - 0.5 * step) & (signals.time <= options.stop + 0.5 * step)
    series = {name: values[inside] for name, values in signals.series.items()}
    return replace(signals.with_series(series), time=signals.time[inside]), bridged[inside]


def smoothed(values: Array, cutoff: float, order: int, step: float) -> np.ndarray:
    """Return a signal through a Butterworth filter forth and back along the first dim, so that it is not late."""
    sections = butterworth(order, cutoff, 1.0 / step)
    padding = min(3 * (2 * len(sections) + 1) * max(1, round(0.1 / (cutoff * step))), len(values) - 1)
    return np.asarray(sosfiltfilt(sections, values, axis=0, padlen=padding))


def advanced(values: Array, delay: float, step: float) -> np.ndarray:
    """Return the signal `delay` seconds later, linear between samples, to undo a delay of recording."""
    values = np.asarray(values, dtype=float)
    if not delay:
        return values
    times = np.arange(len(values)) * step
    return np.stack([np.interp(times + delay, times, column) for column in values.T], axis=1)


def widened(marked: Array, samples: int) -> np.ndarray:
    """Return a mask of the samples (samples,) that are marked or within `samples` samples of a marked one."""
    marked = np.asarray(marked, dtype=bool)
    return maximum_filter1d(marked, 2 * samples + 1, mode="constant") if marked.any() else marked


def clipped(values: Array, shortest: int = 4) -> np.ndarray:
    """Return a mask of samples (samples, actuator) that stay at the largest or smallest value for several in a row."""
    values = np.asarray(values)
    result = np.zeros(values.shape, dtype=bool)
    for k, column in enumerate(values.T):
        if np.ptp(column) == 0.0:
            continue
        for extreme in (column.max(), column.min()):
            lengths = runs(column == extreme)
            # one run is a plateau of a coarse current; several are a limit
            long = lengths >= shortest
            if long.sum() and (len(np.flatnonzero(np.diff(long.astype(int)) == 1)) > 1 or long.mean() > 0.01):
                result[:, k] |= long
    return result


def runs(marked: Array) -> np.ndarray:
    """Return the run length of marked samples (samples,) around each sample; 0 where it is not marked."""
    marked = np.asarray(marked, dtype=bool)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], marked.astype(int), [0]])))
    result = np.zeros(len(marked), dtype=int)
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        result[start:stop] = stop - start
    return result
