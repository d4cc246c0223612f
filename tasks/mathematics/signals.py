"""Simulated measurements of actuators from clean positions and forces: pure functions, a seed per signal and case.

Positions: noise, steps of the encoder, then the processing by a user: a zero-phase filter and differences for
velocity and acceleration. Forces: ripple over the position, offset, delay, noise, recorded as currents with steps;
then the same filter. Bits depend on the seed and the place of a case, not on how a sweep is cut.
Signals are (time, actuator) of one case, or (time, case, actuator) of many, with `Generators` for them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from robots.measurement import FORCES, MEASUREMENT, POSITIONS, Channels
from robots.parameter_errors import ParameterError
from robots.parameters import complete
from tasks.kernels.expression import Array


def generator(seed: int, place: tuple[int, ...]) -> np.random.Generator:
    """Return the random generator of the case at this place of a sweep: design, trajectory[, friction set]."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=place))


class Generators:
    """Random generators of many cases of a sweep, each at its place, which draws for its case alone."""

    def __init__(self, seed: int, places: Iterable[tuple[int, ...]]):
        self._each = [generator(seed, place) for place in places]

    def normal(self, size: tuple[int, ...]) -> np.ndarray:
        """Draw normal numbers (time, case, ...), each case from its own generator."""
        return np.stack([one.normal(size=(size[0], *size[2:])) for one in self._each], axis=1)


Random = np.random.Generator | Generators
"""Source of the noise of one case, or of many."""


Settings = Mapping[str, Channels]
"""Parameters of a measurement, as `settings` or a sweep file gives them."""


def settings(values: Mapping[str, float], step: float = 0.0) -> dict[str, float]:
    """Complete the parameters of a measurement that is sampled every `step` [s]. Raises ParameterError."""
    result = complete(MEASUREMENT, values, owner="measurement")
    if step and result["cutoff"] >= 0.5 / step:
        raise ParameterError(
            f"measurement: cutoff = {result['cutoff']!r} Hz of signals with {1.0 / step:.6g} samples a second; "
            "expected less than half of that"
        )
    return result


def positions(values: Settings, step: float, clean: Array, random: Random) -> dict[str, np.ndarray]:
    """Return POSITIONS (time, ..., actuator) from true positions [rad or m]; values as `settings` gives them."""
    arrays = {name: np.asarray(value) for name, value in values.items()}
    noise = random.normal(size=clean.shape) * arrays["position_noise"]
    noisy = jittered(values, step, clean, random) + noise
    raw = stepped(noisy, arrays["encoder_step"])
    smooth = filtered(values, step, raw)
    velocity = rate(smooth, step)
    return dict(zip(POSITIONS, (smooth, velocity, rate(velocity, step), raw), strict=True))


def forces(values: Settings, step: float, clean: Array, position: Array, random: Random) -> dict[str, np.ndarray]:
    """Return FORCES (time, ..., actuator) from true forces [N m or N] at true positions; values as of `settings`."""
    arrays = {name: np.asarray(value) for name, value in values.items()}
    real = clean + arrays["ripple"] * np.sin(position * arrays["ripple_number"]) + arrays["force_offset"]
    times = np.arange(len(clean)).reshape(-1, *(1 for _ in clean.shape[1:])) * step
    if arrays["drift"].any():
        real = real + arrays["drift"] * times
    if arrays["warming"].any():
        # a warm drive needs another current for the same force, which its user does not know
        real = real / (1.0 + arrays["warming"] * (1.0 - np.exp(-times / arrays["warming_time"])))
    noise = coloured(random.normal(size=clean.shape), arrays["noise_time"], step) * arrays["force_noise"]
    sampled = jittered(values, step, delayed(real, arrays["delay"], step), random)
    raw = stepped((sampled + noise) / arrays["force_constant"], arrays["current_step"])
    current = filtered(values, step, raw)
    return dict(zip(FORCES, (current, current * arrays["force_constant"], raw), strict=True))


def rate(values: Array, step: float) -> np.ndarray:
    """Return the derivative along time by central differences of order six, of lower order at the ends.

    Differences of order two have an error of a thousandth if a period of the fastest harmonic has 80 samples: more than
    the standard deviations of parameters.
    """
    result = np.gradient(values, step, axis=0)
    if len(values) > 6:
        near, far, most = (values[3 + k : len(values) - 3 + k] - values[3 - k : len(values) - 3 - k] for k in (1, 2, 3))
        result[3:-3] = (45.0 * near - 9.0 * far + most) / (60.0 * step)
    return np.asarray(result)


def jittered(values: Settings, step: float, signal: Array, random: Random) -> np.ndarray:
    """Return the signal at times that are off by the jitter, the same for all channels of a sample; to first order."""
    jitter = np.asarray(values["jitter"])
    if not jitter.any():
        return np.asarray(signal)
    return np.asarray(signal + rate(signal, step) * random.normal(size=(*signal.shape[:-1], 1)) * jitter)


def stepped(values: Array, step: ArrayLike) -> np.ndarray:
    """Return the nearest multiples of `step`, one for all channels or one each; as they are where it is zero."""
    step, values = np.asarray(step, dtype=float), np.asarray(values)
    size = np.where(step > 0, step, 1.0)
    return np.where(step > 0, np.round(values / size) * size, values)


def delayed(values: Array, delay: ArrayLike, step: float) -> np.ndarray:
    """Return the signal `delay` seconds ago (one for all, or each), linear between samples; before, its first value."""
    values, delay = np.asarray(values), np.asarray(delay, dtype=float)
    if not delay.any():
        return values
    times, delays = np.arange(len(values)) * step, np.broadcast_to(delay, values.shape[1:]).ravel()
    columns = zip(delays, values.reshape(len(values), -1).T, strict=True)
    return np.stack([np.interp(times - late, times, column) for late, column in columns], axis=1).reshape(values.shape)


def coloured(white: Array, time: ArrayLike, step: float) -> np.ndarray:
    """Return noise of equal variance, with correlation falling to 1/e within `time`: first-order, stationary.

    One time for all channels, or one each.
    """
    white, time = np.asarray(white), np.asarray(time, dtype=float)
    if not time.any():
        return white
    from scipy.signal import lfilter  # a third of all that a small run imports

    if time.ndim:
        columns = zip(np.broadcast_to(time, white.shape[-1:]), np.moveaxis(white, -1, 0), strict=True)
        return np.stack([coloured(column, colour, step) for colour, column in columns], axis=-1)
    keep = float(np.exp(-step / time))
    driven = white * np.sqrt(1.0 - keep * keep)
    driven[0] = white[0]
    return np.asarray(lfilter([1.0], [1.0, -keep], driven, axis=0))


def filtered(values: Settings, step: float, signal: Array) -> np.ndarray:
    """Return the signal after the Butterworth filter, forward and backward, so that it has no delay."""
    cutoff, order = float(np.asarray(values["cutoff"])), float(np.asarray(values["order"]))
    if not cutoff:
        return np.asarray(signal)
    from scipy.signal import sosfiltfilt

    return np.asarray(sosfiltfilt(butterworth(round(order), cutoff, 1.0 / step), signal, axis=0))


@functools.lru_cache(maxsize=64)
def butterworth(order: int, cutoff: float, rate: float) -> np.ndarray:
    """Return the sections of a Butterworth filter; to design one takes as long as to filter some thousand samples."""
    from scipy.signal import butter

    return np.asarray(butter(order, cutoff, fs=rate, output="sos"))  # SciPy takes no read-only array
