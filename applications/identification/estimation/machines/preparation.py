"""From signals as recorded to motions and forces: outliers, uniform time, delay, zero-phase filter, derivatives.

All signals are in SI units and belong to the actuators of a robot. The order of the steps is that of `prepare`: gross
errors go before any filter could spread them, filters run on uniform time, derivatives are those of filtered positions.
Sources: Swevers, Verdonck, De Schutter 2007; Gautier, Janot, Vandanjon 2013; Hampel 1974 for outliers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline
from scipy.ndimage import maximum_filter1d, median_filter, uniform_filter1d
from scipy.signal import butter, periodogram, sosfiltfilt

from applications.identification.estimation.machines.choices import Preparation
from robots.parameters import ParameterError
from tasks.kernels.expression import Array
from tasks.mathematics.signals import rate

MEDIAN = 9
"""Samples of the running median that tells outliers."""
USUAL = 0.99
"""Share of samples whose distance from the median is taken for that of the signal itself."""
NORMAL = 1.4826
"""Standard deviation of normal noise over the median of its magnitude."""
MOTION = 0.99
"""Share of the power of velocity that counts as motion where a cutoff is estimated."""
ABOVE = 10.0
"""An estimated cutoff over the frequency below which that share is: 5 to 10 by Gautier, Janot and Vandanjon 2013."""
LOWEST = 3.0
"""An estimated cutoff is not below so many times that frequency, whatever the encoders are."""
QUIET = 0.02
"""Share of the accelerations that the steps of an encoder may have behind an estimated cutoff."""
BINS, OVER = 15, 30.0
"""Bins of a spectrum that are averaged, and how far above the errors of steps a motion is."""
LATTICE = 0.02
"""Distance from whole steps, relative to one, up to which changes of position count as steps of an encoder."""
BESIDE = 2.0
"""Periods of the cutoff beside a gap whose samples are not used."""
SHORTEST = 30
"""Samples that filters and differences need."""
JITTER = 1e-3
"""Time counts as uniform where steps differ by less than this, relative to their median."""


@dataclass(frozen=True)
class Signals:
    """One recording in SI units: a name for messages, its role, and arrays (samples,) and (samples, actuator).

    time [s], position [rad or m], force [N m or N]; velocity [rad/s or m/s] and the controller's reference of positions
    where they were recorded. notes: what was left out when it was read.
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
    controller as recorded, where there is one; usable (samples,): neither in a gap nor
    clipped; resting (samples, actuator): for longer than the filter remembers; replaced: outliers by signal; used: the
    preparation with all its choices made.
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

    @property
    def time(self) -> np.ndarray:
        """Time of the samples from the first one [s]."""
        return np.arange(len(self.force)) * self.step

    @property
    def every(self) -> int:
        """One of so many samples is kept after the filter."""
        assert self.used.cutoff is not None, "prepared recordings have a cutoff"
        wanted_rate = self.used.rate or 2.0 * self.used.cutoff
        return max(1, round(1.0 / (wanted_rate * self.step)))

    @property
    def kept(self) -> np.ndarray:
        """Numbers of the kept samples: none at the ends, where a filter lacks earlier or later samples."""
        ends = max(round(2.0 / ((self.used.cutoff or np.inf) * self.step)), 3)
        ends = min(ends, len(self.force) // 4)
        numbers = np.arange(ends, len(self.force) - ends, self.every)
        return numbers[self.usable[numbers]]

    def filtered(self, values: Array) -> np.ndarray:
        """Return a signal through the filter of this recording, zero phase, along the first dim."""
        assert self.used.cutoff is not None, "prepared recordings have a cutoff"
        return smoothed(values, self.used.cutoff, self.used.order, self.step)


def prepare(signals: Signals, options: Preparation) -> Prepared:
    """Prepare a recording. Raises ParameterError, which names it, for options that do not fit."""
    cleaned, replaced = without_outliers(signals, options.outliers, options.gap)
    uniform, step, bridged = resampled(cleaned, options.gap)
    trimmed, bridged = _trimmed(uniform, bridged, options, step)
    if len(trimmed.time) < SHORTEST:
        raise ParameterError(
            f"{signals.name}: {len(trimmed.time)} samples are left; expected at least {SHORTEST}; look at start, stop"
        )
    cutoff = options.cutoff
    if cutoff is None:
        cutoff = cutoff_of(_longest_part(trimmed.position, bridged), step, encoder_steps(signals.position))
    if not 0.0 < cutoff < 0.5 / step:
        raise ParameterError(
            f"{signals.name}: the cutoff is {cutoff:g} Hz; expected above 0 and less than half of the "
            f"{1.0 / step:.6g} samples a second"
        )
    used = replace(options, cutoff=cutoff)
    position = smoothed(trimmed.position, cutoff, used.order, step)
    if trimmed.velocity is None:
        velocity = rate(position, step)
    else:
        velocity = smoothed(trimmed.velocity, cutoff, used.order, step)
    force = advanced(trimmed.force, options.delay or 0.0, step)
    # straight lines across a gap have corners, which the filter carries further than what is clipped
    usable = ~widened(bridged, round(BESIDE / (cutoff * step))) & ~clipped(trimmed.force).any(axis=1)
    acceleration = rate(velocity, step)
    resting = at_rest(velocity, used.rest, max(1, round(1.0 / (cutoff * step))))
    return Prepared(
        signals.name,
        signals.role,
        step,
        position,
        velocity,
        acceleration,
        force,
        usable,
        resting,
        used,
        replaced,
        trimmed.reference,
    )


def at_rest(velocity: Array, share: float, shortest: int) -> np.ndarray:
    """Return a mask (samples, actuator) of runs of at least `shortest` samples below a share of the largest speed."""
    speed = np.abs(velocity)
    slow = speed < share * speed.max(axis=0)
    return np.stack([runs(column) >= shortest for column in slow.T], axis=1)


def without_outliers(signals: Signals, limit: float, gap: float = 0.0) -> tuple[Signals, dict[str, int]]:
    """Samples that are far from the running median become that median; and how many they were, by signal.

    gap: longest time without samples [s] that is none for the median, 0: ten times the step.
    """
    if not limit:
        return signals, {}
    cleaned, counts = {}, {}
    steps = np.diff(signals.time)
    ends = np.flatnonzero(steps > _longest(steps, gap)) + 1
    for name, values in signals.series.items():
        centre = _medians(values, ends)
        distance = np.abs(values - centre)
        # far from the median beside the noise, and beside what the signal itself does within the window
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
    """The longest part of a series between gaps, which have other frequencies than the motion; all if that is short."""
    lengths = runs(~bridged)
    first, count = int(lengths.argmax()), int(lengths.max())
    return np.asarray(values[first : first + count] if count >= SHORTEST else values)


def _longest(steps: Array, gap: float) -> float:
    """Return the longest time between samples that is no gap [s]."""
    return gap or 10.0 * float(np.median(steps))


def _change(values: Array) -> np.ndarray:
    """Typical change (actuator,) from a sample to the next where there is one: not below the step of an encoder."""
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


def cutoff_of(position: Array, step: float, encoders: ArrayLike = 0.0) -> float:
    """Return a cutoff [Hz] for positions (samples, actuator): well above the frequencies of the motion in any actuator.

    encoders (actuator,): steps of the encoders [rad or m]; where these are coarse the cutoff is lower, so that the
    accelerations that they make up stay small beside those of the motion. Errors of the motion bias parameters, while a
    cutoff above the motion costs independent samples only.
    """
    position = np.asarray(position)
    floor = np.broadcast_to(np.asarray(encoders, dtype=float), position.shape[1:]) ** 2 / 12.0 * 2.0 * step
    frequency, power = periodogram(position, fs=1.0 / step, window="hann", detrend="linear", axis=0)
    # of velocity, so that a slow drift does not hide the motion; accelerations would show the encoders' noise
    # beyond the first frequency with errors of steps alone there is no motion, but sums of these errors
    is_above = uniform_filter1d(power, BINS, axis=0) >= OVER * floor
    is_above |= np.arange(len(power))[:, None] <= power.argmax(axis=0)
    is_motion = np.logical_and.accumulate(is_above, axis=0)
    rates = np.where(is_motion, power, 0.0) * frequency[:, None] ** 2
    shares = np.cumsum(rates, axis=0)
    moving = shares[-1] > 0
    shares = shares[:, moving] / shares[-1, moving]
    last = [int(np.searchsorted(share, MOTION)) for share in shares.T]
    motion = max((frequency[row] for row in last), default=frequency[-1])
    highest = min(ABOVE * motion, 0.2 / step)
    for row, column in zip(last, np.flatnonzero(moving), strict=True):
        if floor[column]:
            # power of accelerations up to there, and of those that errors of steps, taken for white, have
            bound = QUIET**2 * float(np.sum((rates[:, column] * frequency**2)[: row + 1]) * frequency[1])
            highest = min(highest, max((5.0 * bound / floor[column]) ** 0.2, LOWEST * motion))
    return float(highest)


def encoder_steps(position: Array) -> np.ndarray:
    """Steps (actuator,) of the encoders that positions (samples, actuator) were read with; 0 where there are none.

    All changes of a position are whole multiples of the step then.
    """
    steps = np.zeros(np.shape(position)[1])
    for k, column in enumerate(np.asarray(position).T):
        changes = np.abs(np.diff(column))
        # sums of steps have the rounding of positions
        changes = changes[changes > 1e-12 * max(float(np.abs(column).max()), 1e-12)]
        if not len(changes):
            continue
        smallest = float(changes.min())
        near = changes[changes < 100.0 * smallest]
        if len(near) > SHORTEST and np.abs(near / smallest - np.round(near / smallest)).max() < LATTICE:
            steps[k] = smallest
    return steps


def smoothed(values: Array, cutoff: float, order: int, step: float) -> np.ndarray:
    """Return a signal through a Butterworth filter forth and back along the first dim, so that it is not late."""
    sections = butter(order, cutoff, fs=1.0 / step, output="sos")
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
    """Length of the run of marked samples (samples,) that each sample is in; 0 where it is not marked."""
    marked = np.asarray(marked, dtype=bool)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], marked.astype(int), [0]])))
    result = np.zeros(len(marked), dtype=int)
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        result[start:stop] = stop - start
    return result
