"""Noise of recorded signals from their spectra, and the filter that balances noise against its own distortion.

A motion is slow, noise is not: the spectrum of accelerations falls from the motion to a valley and rises with noise
behind it. The density of positions at the valley is taken as that of the noise below it. A cutoff far above the valley
lets noise into the regressor, which biases parameters; one far below distorts the motion. `best_filter` takes the
cutoff and the order with the least sum of both in the accelerations. Sources: Gautier, Janot and Vandanjon 2013, for
cutoffs over the bandwidth of a motion; Bendat and Piersol 2010, for errors of spectra.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import median_filter
from scipy.signal import periodogram

from robots.data_classes import dataclass
from tasks.kernels.expression import Array

MOTION = 0.99
"""Share of the power of velocity that counts as motion."""
ABOVE = 10.0
"""Highest cutoff over the frequency below which that share is: 5 to 10 by Gautier, Janot and Vandanjon 2013."""
LOWEST = 3.0
"""Lowest cutoff over that frequency, whatever the noise is."""
HIGHEST = 0.2
"""Highest cutoff over the samples a second."""
BANDS = 12
"""Bands of an octave whose powers are averaged."""
FEW = 5
"""Lines of a spectrum that a band has at least."""
LINE = 30.0
"""Density of a band over the median of the octave around it, from which it is a line of a motion that repeats."""
LINES = 1e-3
"""Share of the power of velocity that such a line has at least; machines vibrate with less."""
REACH = 4.0
"""Frequency of such a line over that of the one before, at most; what is farther is a vibration."""
TOLERABLE = 1e-5
"""Power of errors over that of accelerations that needs no lower cutoff: a thirtieth of a percent of them."""
TRIALS = 60
"""Cutoffs that are tried."""
ORDERS = (4, 3, 5, 6)
"""Orders of the Butterworth filter that are tried; the first is order_taken unless another one is clearly better."""
BETTER = 0.9
"""Error of another order over that of the first, below which it is taken."""
STILL = 0.5
"""Correlation from sample to sample below which a position is noise, not motion."""
SHORTEST = 30
"""Least number of changes of a position that determine the step of an encoder."""
LATTICE = 0.02
"""Distance from whole steps, relative to one, up to which changes of position count as steps of an encoder."""


@dataclass(frozen=True)
class Spectrum:
    """Spectra of positions (line, actuator) over frequency (line,) [Hz]: of the motion and of the noise.

    motion, noise: densities [rad^2/Hz or m^2/Hz]; bandwidth (actuator,): below it is most of the power of velocity
    [Hz]; floor (actuator,): standard deviation of the noise of one sample [rad or m].
    """

    frequency: np.ndarray
    motion: np.ndarray
    noise: np.ndarray
    bandwidth: np.ndarray
    floor: np.ndarray

    def errors(self, cutoff: float, order: int) -> tuple[np.ndarray, np.ndarray]:
        """Return power of distortions and of noise (actuator,) in accelerations, over that of the motion."""
        lost, passed = self._errors(np.array([cutoff]), order)
        return lost[0], passed[0]

    def total_errors(self, cutoffs: np.ndarray, order: int) -> np.ndarray:
        """Return the sum of both (cutoff, actuator) for each of some cutoffs."""
        return np.add(*self._errors(cutoffs, order))

    def _errors(self, cutoffs: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
        # forth and back: the square of the response of one way
        response = 1.0 / (1.0 + (self.frequency / cutoffs[:, None]) ** (2 * order))
        motion, noise = self._weighted
        power = np.sum(motion, axis=0)
        power = np.where(power > 0, power, np.inf)
        return (1.0 - response) ** 2 @ motion / power, response**2 @ noise / power

    @cached_property
    def _weighted(self) -> tuple[np.ndarray, np.ndarray]:
        """Densities of accelerations: motion and noise."""
        weight = self.frequency[:, None] ** 4
        return self.motion * weight, self.noise * weight


def spectrum(position: Array, step: float, encoders: ArrayLike = 0.0) -> Spectrum:
    """Split the spectra of positions (samples, actuator) into motion and noise.

    step: of time [s]; encoders (actuator,): steps of the encoders [rad or m], whose errors are noise at least.
    """
    position = np.asarray(position, dtype=float)
    frequency, power = periodogram(position, fs=1.0 / step, window="hann", detrend="linear", axis=0)
    steps = np.broadcast_to(np.asarray(encoders, dtype=float), position.shape[1:])
    least = steps**2 / 12.0 * 2.0 * step
    rates = np.cumsum(power * frequency[:, None] ** 2, axis=0)
    floors, first = np.zeros(power.shape[1]), np.zeros(power.shape[1], dtype=int)
    for k in range(power.shape[1]):
        if is_still(position[:, k]):
            first[k], floors[k] = 0, float(np.mean(power[:, k]))
        else:
            first[k], floors[k] = _valley(frequency, power[:, k], least[k])
    is_behind = np.arange(len(frequency))[:, None] >= first
    noise = np.where(is_behind, power, np.minimum(power, floors))
    motion = np.where(is_behind, 0.0, power - noise)
    rates = np.cumsum(motion * frequency[:, None] ** 2, axis=0)
    bandwidth = np.array([frequency[np.searchsorted(r, MOTION * r[-1])] if r[-1] > 0 else 0.0 for r in rates.T])
    return Spectrum(frequency, motion, noise, bandwidth, np.sqrt(floors * 0.5 / step))


def is_still(column: Array) -> bool:
    """Return whether a position (samples,) is noise alone: hardly correlated from sample to sample."""
    column = np.asarray(column, dtype=float)
    column = column / max(float(np.abs(column).max(initial=0.0)), 1e-300)
    before, after = column[:-1] - column.mean(), column[1:] - column.mean()
    size = float(np.sqrt(np.sum(before**2) * np.sum(after**2)))
    return not size or float(before @ after) < STILL * size


def _valley(frequency: np.ndarray, power: np.ndarray, least: float) -> tuple[int, float]:
    """Return the line where noise begins to be more of the accelerations than motion, and the density of noise there.

    least: density of noise that is known [1/Hz]. The number of lines where no noise is seen.
    """
    edges = _bands(frequency)
    counts = np.diff(edges)
    means = np.add.reduceat(power, edges[:-1]) / counts
    middles = np.add.reduceat(frequency, edges[:-1]) / counts
    # medians over half an octave, as motions from point to point have spectra with notches
    rising = median_filter(means * middles**4, BANDS // 2, mode="nearest")
    motion = _last_of_motion(means, middles, counts)
    lowest = motion + int(np.argmin(rising[motion:]))
    # beyond the first band with known noise alone there is no motion, but sums of these errors
    smooth = median_filter(means, BANDS // 2, mode="nearest")
    drowned = np.flatnonzero((np.arange(len(means)) > motion) & (smooth < 4.0 * least))
    lowest = min(lowest, int(drowned[0])) if len(drowned) else lowest
    if lowest >= len(means) - 1:
        return len(power), 0.0
    behind = slice(lowest, min(lowest + BANDS, len(means)))
    # the noise of the next octave; medians, as machines vibrate in some band
    return int(edges[lowest]), max(float(np.median(means[behind])), least)


def _last_of_motion(density: np.ndarray, frequency: np.ndarray, lines: np.ndarray) -> int:
    """Return the first band that may be noise: that of the largest velocities, or the one behind the last line.

    A motion that repeats many times has lines, and noise alone between them; a line far beyond these is a vibration of
    the machine. density, frequency, lines (band,): mean density of positions, mean frequency and number of lines of a
    band.
    """
    velocity = density * frequency**2
    is_line = density > LINE * median_filter(density, BANDS, mode="nearest")
    is_line &= velocity * lines > LINES * np.sum(velocity * lines)
    last = int(np.argmax(velocity))
    for line in np.flatnonzero(is_line):
        if last <= line and frequency[line] < REACH * frequency[last]:
            last = int(line)
    return min(last + int(is_line[last]), len(density) - 1)


def _bands(frequency: np.ndarray) -> np.ndarray:
    """Return the first lines (band + 1,) of bands that grow with frequency; the last entry is the number of lines."""
    edges = [1]
    while edges[-1] < len(frequency):
        edges.append(max(edges[-1] + FEW, int(np.ceil(edges[-1] * 2.0 ** (1.0 / BANDS)))))
    if len(edges) > 2 and len(frequency) - edges[-2] < FEW:
        edges.pop()
    return np.array([*edges[:-1], len(frequency)])


def best_filter(seen: Spectrum, step: float, order: int | None = None) -> tuple[float, int]:
    """Return cutoff [Hz] and order of the Butterworth filter with the least errors of accelerations.

    Errors are those of distortion and noise together, averaged over the actuators that move. order: of the filter,
    None: chosen.
    """
    moving = seen.bandwidth > 0
    if not moving.any():
        return HIGHEST / step, order or ORDERS[0]
    motion = float(seen.bandwidth[moving].max())
    highest = min(ABOVE * motion, HIGHEST / step)
    cutoffs = np.geomspace(min(LOWEST * motion, highest), highest, TRIALS)

    def best(trial: int) -> tuple[float, float]:
        errors = seen.total_errors(cutoffs, trial)[:, moving].mean(axis=1)
        # the highest of equally good cutoffs: it leaves the most independent samples
        place = int(np.flatnonzero(errors <= max(1.02 * errors.min(), TOLERABLE))[-1])
        return float(errors[place]), float(cutoffs[place])

    by_order = {trial: best(trial) for trial in ((order,) if order else ORDERS)}
    first = next(iter(by_order))
    least = min(by_order, key=lambda trial: by_order[trial][0])
    order_taken = least if max(by_order[least][0], TOLERABLE) < BETTER * by_order[first][0] else first
    return by_order[order_taken][1], order_taken


def encoder_steps(position: Array) -> np.ndarray:
    """Return the encoder steps (actuator,) with which positions (samples, actuator) were read; 0 without steps.

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


@dataclass(frozen=True)
class NoiseFloors:
    """Noise of the signals of a recording: standard deviations (actuator,) of one sample, before the filter.

    position [rad or m], force [N m or N], velocity [rad/s or m/s] where it was recorded; distortion, noise (actuator,):
    root of the power that filter and noise put into accelerations, over that of the motion; is_velocity_quiet
    (actuator,): whether recorded velocities give accelerations with less noise than positions do.
    """

    position: np.ndarray
    force: np.ndarray
    velocity: np.ndarray | None
    distortion: np.ndarray
    noise: np.ndarray
    is_velocity_quiet: np.ndarray


def noise_floors(
    seen: Spectrum, force: Array, velocity: Array | None, step: float, cutoff: float, order: int
) -> NoiseFloors:
    """Return the noise of positions with a spectrum, forces and perhaps velocities (samples, actuator)."""
    distortion, noise = seen.errors(cutoff, order)
    quiet = np.zeros(len(noise), dtype=bool)
    rates = None
    if velocity is not None:
        rates = floor_of(velocity, step)
        response = 1.0 / (1.0 + (seen.frequency / cutoff) ** (2 * order))
        weight = (2.0 * np.pi * seen.frequency[:, None] * response[:, None]) ** 2
        by_velocity = np.sum(weight, axis=0) * rates**2 * 2.0 * step
        by_position = np.sum(seen.noise * weight * (2.0 * np.pi * seen.frequency[:, None]) ** 2, axis=0)
        quiet = by_velocity < by_position
    return NoiseFloors(seen.floor, floor_of(force, step), rates, np.sqrt(distortion), np.sqrt(noise), quiet)


def floor_of(values: Array, step: float) -> np.ndarray:
    """Return standard deviations (actuator,) of the noise of signals (samples, actuator), from their fastest octave."""
    frequency, power = periodogram(np.asarray(values, dtype=float), fs=1.0 / step, window="hann", axis=0)
    fastest = power[frequency >= 0.5 * frequency[-1]]
    # the median of a density with two freedoms is log 2 times its mean
    return np.asarray(np.sqrt(np.median(fastest, axis=0) / np.log(2.0) * 0.5 / step))
