"""From frictionless actuator forces to requested quantities: friction, power, and metrics over a trajectory.

There is one program for each selection of series and metrics, so that only requested quantities are computed. Time
integrals use the trapezoidal rule: sample input `weight` holds its weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from robots.data_classes import dataclass
from robots.drives import Motor
from robots.limits import Capacity
from tasks.kernels.expression import Scalar
from tasks.stages.metrics import margins

UNKNOWN = Motor(np.nan, np.nan)
UNLIMITED = Capacity()


@dataclass(frozen=True)
class Sample:
    """One actuator at one instant: force, velocity, power, integration weight [s].

    If needed, also the part of friction in the force, the motor, the capacity of the actuator, and the rate of the
    current [A/s] of a motor with an inductance.
    """

    force: Scalar
    velocity: Scalar
    power: Scalar
    weight: Scalar
    friction: Scalar = 0.0
    motor: Motor = UNKNOWN
    capacity: Capacity = UNLIMITED
    current_rate: Scalar = 0.0

    @property
    def margin(self) -> Scalar:
        """The least remaining share of the limits of an actuator: of force, velocity and power."""
        used = ("force", "velocity", "power")
        return margins.least([margins.left(getattr(self, name), getattr(self.capacity, name)) for name in used])

    @property
    def current(self) -> Scalar:
        """Current of the motor [A]: its torque over its torque constant."""
        return self.force / self.motor.torque_constant

    @property
    def voltage(self) -> Scalar:
        """Voltage at the motor [V]: over its winding, and against its back-EMF, whose constant is the torque's."""
        voltage = self.current * self.motor.resistance + self.velocity * self.motor.torque_constant
        return voltage if self.motor.inductance is None else voltage + self.current_rate * self.motor.inductance

    @property
    def supply_margin(self) -> Scalar:
        """The least remaining share of voltage and current of the amplifier and of the motor's limits."""
        motor, capacity = self.motor, self.capacity
        voltages = [margins.left(self.voltage, most) for most in (motor.voltage, capacity.voltage)]
        return margins.least(
            [*voltages, *(margins.left(self.current, most) for most in (motor.current, capacity.current))]
        )

    @property
    def heating(self) -> Scalar:
        """Current over that which the motor may draw all the time."""
        return self.current / self.capacity.rated_current

    @property
    def electrical(self) -> Scalar:
        """Electrical power of the motor [W]: mechanical power, heat of its winding, power into its magnetic field."""
        taken = self.power + self.current * self.current * self.motor.resistance
        field = self.motor.inductance
        return taken if field is None else taken + self.current * self.current_rate * field


def _as_it_is(value: np.ndarray, duration: float) -> np.ndarray:
    return value


@dataclass(frozen=True)
class Metric:
    """Metric of an actuator: numbers to reduce over time, and the final formula.

    `of` gives one number, or `parts` of them. `finish` takes the reduced numbers and the duration [s].
    """

    of: Callable[[Sample], Any]
    finish: Callable[..., np.ndarray] = _as_it_is
    parts: int = 1

    def rows(self, samples: Sequence[Sample]) -> list[Scalar]:
        """Return the numbers to reduce for some actuators: the first part of all, then the next."""
        if self.parts == 1:
            return [self.of(sample) for sample in samples]
        return [part for column in zip(*(self.of(sample) for sample in samples), strict=True) for part in column]

    def finished(self, reduced: np.ndarray, duration: float, axis: int = -1) -> np.ndarray:
        """Return the metric from its reduced `rows`, which lie along an axis."""
        return self.finish(*np.split(reduced, self.parts, axis=axis), duration)


def _positive(x: Scalar) -> Scalar:
    # a choice between x and zero would turn NaN into zero; this is exact
    return (x + abs(x)) * 0.5


def _root_mean(total: np.ndarray, duration: float) -> np.ndarray:
    return np.sqrt(total / duration)


def _left_of_root_mean(total: np.ndarray, duration: float) -> np.ndarray:
    return 1.0 - _root_mean(total, duration)


def _share(part: np.ndarray, rest: np.ndarray, duration: float) -> np.ndarray:
    whole = part + rest
    nothing = whole == 0.0
    return np.where(nothing, 0.0, part / np.where(nothing, 1.0, whole))


METRICS: Mapping[str, Metric] = {
    "peak_force": Metric(lambda s: abs(s.force)),
    "rms_force": Metric(lambda s: s.weight * (s.force * s.force), _root_mean),
    "peak_velocity": Metric(lambda s: abs(s.velocity)),
    "peak_power": Metric(lambda s: abs(s.power)),
    "rms_velocity": Metric(lambda s: s.weight * (s.velocity * s.velocity), _root_mean),
    "rms_power": Metric(lambda s: s.weight * (s.power * s.power), _root_mean),
    "peak_friction": Metric(lambda s: abs(s.friction)),
    "friction_loss": Metric(lambda s: s.weight * (s.friction * s.velocity)),
    "friction_share": Metric(
        lambda s: (s.weight * abs(s.friction), s.weight * abs(s.force - s.friction)), _share, parts=2
    ),
    "actuator_margin": Metric(lambda s: s.margin),
    "energy": Metric(lambda s: s.weight * _positive(s.power)),
    "regenerated_energy": Metric(lambda s: s.weight * _positive(-s.power)),
    "work": Metric(lambda s: s.weight * s.power),
    "peak_current": Metric(lambda s: abs(s.current)),
    "rms_current": Metric(lambda s: s.weight * (s.current * s.current), _root_mean),
    "peak_voltage": Metric(lambda s: abs(s.voltage)),
    "thermal_margin": Metric(lambda s: s.weight * (s.heating * s.heating), _left_of_root_mean),
    "electrical_energy": Metric(lambda s: s.weight * _positive(s.electrical)),
    "braking_energy": Metric(lambda s: s.weight * _positive(-s.electrical)),
    "electrical_work": Metric(lambda s: s.weight * s.electrical),
    "supply_margin": Metric(lambda s: s.supply_margin),
}
"""Metrics of one actuator; rows of the same names in `robots.quantities` have their reduction and needs.

A case with a failed sample has NaN. With u = u_0 + u_f, the force without friction and the part of friction, the
friction share is the integral of |u_f| over the integral of |u_f| + |u_0|: 0 without friction, 1 if all force overcomes
friction. Magnitudes are used, so that friction that helps to brake does not cancel friction elsewhere. The actuator
margin is the remaining share of a limit of force, velocity or power, see `tasks.stages.metrics.margins`; 1 without
limits. The supply margin is the same for current and voltage of the motor, the thermal margin for the root mean square
of its current.
"""

ROBOT_METRICS: Mapping[str, Callable[[Sequence[Sample]], Scalar]] = {
    "dissipated_energy": lambda samples: sum(s.weight * (s.friction * s.velocity) for s in samples),
    "bus_energy": lambda samples: samples[0].weight * _positive(sum(s.electrical for s in samples)),
}
"""Metrics of all actuators together, summed over time: energy that friction takes, and energy that a supply delivers to
motors that share one bus with a brake resistor."""

SERIES: Mapping[str, Callable[[Sample], Scalar]] = {
    "actuator_force": lambda s: s.force,
    "actuator_power": lambda s: s.power,
    "motor_current": lambda s: s.current,
    "motor_voltage": lambda s: s.voltage,
    "electrical_power": lambda s: s.electrical,
}
"""Time series of one actuator."""


def trapezoid_weights(times: np.ndarray) -> np.ndarray:
    """Return the weights [s] of the trapezoidal rule on increasing times (samples,); one sample has weight 1."""
    if len(times) == 1:
        return np.ones(1)
    steps = np.diff(times) * 0.5
    return np.concatenate([steps, [0.0]]) + np.concatenate([[0.0], steps])
