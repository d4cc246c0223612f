"""Parameters of a measurement: effects of sensors and amplifiers on motion and forces, with units. Plain data.

The mathematics is in `tasks.mathematics.signals`. An actuator has the units of its joint: rad and N m, or m and N.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from robots.data_classes import dataclass
from robots.parameters import LARGEST, Parameter

_JOINT, _FORCE = "rad or m", "N m or N"


def _positive(name: str, unit: str, text: str, default: float = 0.0) -> Parameter:
    return Parameter(name, unit, default, 0.0, LARGEST, text)


MEASUREMENT: tuple[Parameter, ...] = (
    _positive("encoder_step", _JOINT, "step of the encoder; 0: none"),
    _positive("position_noise", _JOINT, "standard deviation of the noise of positions, before the encoder's steps"),
    _positive("force_noise", _FORCE, "standard deviation of the noise of forces"),
    _positive("noise_time", "s", "correlation time of the noise of forces; 0: white"),
    _positive("delay", "s", "time by which forces are recorded late"),
    Parameter("force_offset", _FORCE, 0.0, text="constant added to forces"),
    _positive("ripple", _FORCE, "amplitude of the ripple of forces"),
    _positive("ripple_number", "1/rad or 1/m", "ripples for one radian or metre of the actuator", 1.0),
    Parameter("force_constant", "N m/A or N/A", 1.0, 1e-12, LARGEST, "force of one ampere, as the user believes it"),
    _positive("current_step", "A", "step of the recorded current; 0: none"),
    _positive("cutoff", "Hz", "cutoff of the filter that the user applies to positions and forces; 0: none"),
    Parameter("order", "1", 4.0, 1.0, 10.0, "order of that filter, a Butterworth filter run forth and back"),
    _positive("jitter", "s", "standard deviation of the time at which a sample is taken"),
    Parameter("drift", "N m/s or N/s", 0.0, text="rate of the offset of forces"),
    Parameter("warming", "1", 0.0, -0.9, 10.0, "relative change of the force of one ampere until the drive is warm"),
    Parameter("warming_time", "s", 600.0, 1e-3, LARGEST, "time in which a drive is warm but for 1/e of the change"),
)
"""Parameters of a measurement; at their defaults nothing is changed."""

COMMON = ("cutoff", "order", "jitter")
"""Parameters that all actuators share; the others may be one number for each of them."""

Channels = float | tuple[float, ...]
"""A number for all actuators, or one for each."""

LATER = ("jitter", "drift", "warming", "warming_time")
"""Parameters that stores of before do not know: at their defaults they are not part of a description."""

POSITIONS = ("measured_position", "measured_velocity", "measured_acceleration", "measured_raw_position")
FORCES = ("measured_current", "measured_force", "measured_raw_current")
"""Signals that a measurement gives, from positions and from forces of actuators; raw ones are before the filter."""

CLEAN = dict.fromkeys(POSITIONS, "actuator_position") | dict.fromkeys(FORCES, "actuator_force")
"""The clean signal that each of them is made from."""

SHORTEST = 64
"""Samples that a filtered signal has at least, so that its ends can be continued."""


@dataclass(frozen=True)
class Sensors:
    """Properties of sensors: all parameters of MEASUREMENT, and the seed of the noise."""

    values: Mapping[str, Channels]
    seed: int


def clean_series(series: Iterable[str]) -> tuple[str, ...]:
    """Return the signals that measured ones among some series are made from, where they are not among them."""
    quantities = tuple(series)
    sources = (name for measured in quantities if measured in CLEAN for name in ("actuator_position", CLEAN[measured]))
    return tuple(name for name in dict.fromkeys(sources) if name not in quantities)
