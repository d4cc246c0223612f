"""What is measured of clean positions and forces of actuators: pure functions, seeded for each signal of each case.

Positions: noise, steps of the encoder, then what a user makes of them: a zero-phase filter and differences for velocity
and acceleration. Forces: ripple over the position, offset, delay, noise, recorded as currents with steps; then the same
filter. Bits depend on the seed and the place of a case, not on how a sweep is cut.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robots.measurement import FORCES, MEASUREMENT, POSITIONS
from robots.parameters import ParameterError, complete
from tasks.kernels.types import Array


def generator(seed: int, place: tuple[int, ...]) -> np.random.Generator:
    """Random numbers of the case at this place of a sweep: of a design and trajectory, or with a friction set."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=place))


def settings(values: Mapping[str, float], step: float = 0.0) -> dict[str, float]:
    """All parameters of a measurement, sampled every `step` [s]. Raises ParameterError."""
    result = complete(MEASUREMENT, values, owner="measurement")
    if step and result["cutoff"] >= 0.5 / step:
        raise ParameterError(
            f"measurement: cutoff = {result['cutoff']!r} Hz of signals with {1.0 / step:.6g} samples a second; "
            "expected less than half of that"
        )
    return result


def positions(
    values: Mapping[str, float], step: float, clean: Array, random: np.random.Generator
) -> dict[str, np.ndarray]:
    """POSITIONS (time, actuator) of clean positions [rad or m]; values as `settings` gives them."""
    noise = random.normal(size=clean.shape) * values["position_noise"]
    noisy = jittered(values, step, clean, random) + noise
    smooth = filtered(values, step, stepped(noisy, values["encoder_step"]))
    velocity = rate(smooth, step)
    return dict(zip(POSITIONS, (smooth, velocity, rate(velocity, step)), strict=True))


def forces(
    values: Mapping[str, float], step: float, clean: Array, position: Array, random: np.random.Generator
) -> dict[str, np.ndarray]:
    """FORCES (time, actuator) of clean forces [N m or N] at clean positions; values as `settings` gives them."""
    real = clean + values["ripple"] * np.sin(position * values["ripple_number"]) + values["force_offset"]
    times = np.arange(len(clean))[:, None] * step
    if values["drift"]:
        real = real + values["drift"] * times
    if values["warming"]:
        # a warm drive needs another current for the same force, which its user does not know
        real = real / (1.0 + values["warming"] * (1.0 - np.exp(-times / values["warming_time"])))
    noise = coloured(random.normal(size=clean.shape), values["noise_time"], step) * values["force_noise"]
    sampled = jittered(values, step, delayed(real, values["delay"], step), random)
    current = stepped((sampled + noise) / values["force_constant"], values["current_step"])
    current = filtered(values, step, current)
    return dict(zip(FORCES, (current, current * values["force_constant"]), strict=True))


def rate(values: Array, step: float) -> np.ndarray:
    """Derivative along time by central differences of order six, of lower order at the ends.

    Differences of order two are off by a thousandth where a turn of the fastest harmonic has 80 samples: more than the
    standard deviations of parameters.
    """
    result = np.gradient(values, step, axis=0)
    if len(values) > 6:
        near, far, most = (values[3 + k : len(values) - 3 + k] - values[3 - k : len(values) - 3 - k] for k in (1, 2, 3))
        result[3:-3] = (45.0 * near - 9.0 * far + most) / (60.0 * step)
    return np.asarray(result)


def jittered(values: Mapping[str, float], step: float, signal: Array, random: np.random.Generator) -> np.ndarray:
    """The signal at times that are off by the jitter, the same for all channels of a sample; to first order."""
    if not values["jitter"]:
        return np.asarray(signal)
    return np.asarray(signal + rate(signal, step) * random.normal(size=(len(signal), 1)) * values["jitter"])


def stepped(values: Array, step: float) -> np.ndarray:
    """The nearest multiples of `step`; as they are where it is zero."""
    return np.round(values / step) * step if step else np.asarray(values)


def delayed(values: Array, delay: float, step: float) -> np.ndarray:
    """The signal `delay` seconds ago, linear between samples; at the start its first value."""
    if not delay:
        return np.asarray(values)
    times = np.arange(len(values)) * step
    return np.stack([np.interp(times - delay, times, column) for column in values.T], axis=1)


def coloured(white: Array, time: float, step: float) -> np.ndarray:
    """Noise of the same variance whose correlation falls to 1/e within `time`: a first-order process, stationary."""
    if not time:
        return np.asarray(white)
    keep = float(np.exp(-step / time))
    driven = white * np.sqrt(1.0 - keep * keep)
    driven[0] = white[0]
    from scipy.signal import lfilter  # a third of all that a small run imports

    return np.asarray(lfilter([1.0], [1.0, -keep], driven, axis=0))


def filtered(values: Mapping[str, float], step: float, signal: Array) -> np.ndarray:
    """The signal through the Butterworth filter, forth and back, so that it is not late."""
    if not values["cutoff"]:
        return np.asarray(signal)
    from scipy.signal import butter, sosfiltfilt

    sections = butter(round(values["order"]), values["cutoff"], fs=1.0 / step, output="sos")
    return np.asarray(sosfiltfilt(sections, signal, axis=0))
