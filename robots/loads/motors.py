"""A robot family with warm motors on a limited supply: temperature and supply are parameters of the family.

The winding's resistance is R (1 + r dT), the torque constant K (1 + k dT), at dT above the temperature of the motor's
data. r is 0.00393 1/K for copper (IEC 60028); k is the coefficient of the magnets' remanence, given in data sheets and
negative. At a current i and a speed w the amplifier gives the voltage R i + K w, without the voltage over the
inductance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypedDict, Unpack

from robots.arguments import check_arguments
from robots.data_classes import dataclass, replace
from robots.drives import Drive, Motor, PIController
from robots.loads.wrapped import ExtendedDescription, extended
from robots.model import Family, Limb, Mechanism, Robot
from robots.parameter_errors import ParameterError, nearest
from robots.parameters import LARGEST, Parameter
from robots.types import Number

COPPER = 0.00393
"""Change of the resistance of copper with temperature, from 20 degrees Celsius [1/K]; IEC 60028."""
IEC = "IEC 60028"
TEMPERATURE, RESISTANCE_RATE, TORQUE_RATE = "motor_temperature", "resistance_rate", "torque_constant_rate"
VOLTAGE, CURRENT = "supply_voltage", "supply_current"
INDUCTANCE, BANDWIDTH = "winding_inductance", "current_bandwidth"
CURRENT_GAIN, CURRENT_INTEGRAL = "current_gain", "current_integral"
SPEED_GAIN, SPEED_INTEGRAL = "speed_gain", "speed_integral"

PARAMETERS = (
    Parameter(TEMPERATURE, "K", 0.0, -200.0, 400.0, "of the motors above that of their data"),
    Parameter(RESISTANCE_RATE, "1/K", COPPER, 0.0, 0.0049, "change of the windings' resistance", IEC),
    Parameter(TORQUE_RATE, "1/K", 0.0, -0.0024, 0.0049, "change of the torque constants, with that of magnets"),
)
"""Parameters of motor temperature. Within these bounds resistance and torque constant stay above zero."""
SUPPLY = {
    VOLTAGE: Parameter(VOLTAGE, "V", 48.0, 1e-3, 1e6, "largest voltage of an amplifier"),
    CURRENT: Parameter(CURRENT, "A", 10.0, 1e-6, 1e6, "largest current of an amplifier"),
    INDUCTANCE: Parameter(INDUCTANCE, "H", 1e-3, 1e-12, 1e3, "inductance of the windings"),
    BANDWIDTH: Parameter(BANDWIDTH, "rad/s", 2e3, 1e-3, 1e7, "rate at which current loops close an error"),
    CURRENT_GAIN: Parameter(CURRENT_GAIN, "V/A", 0.0, 0.0, LARGEST, "voltage for an error of the current"),
    CURRENT_INTEGRAL: Parameter(CURRENT_INTEGRAL, "V/(A s)", 0.0, 0.0, LARGEST, "voltage for the integral of it"),
    SPEED_GAIN: Parameter(SPEED_GAIN, "A s/rad or A s/m", 1.0, 1e-12, LARGEST, "current for an error of the speed"),
    SPEED_INTEGRAL: Parameter(SPEED_INTEGRAL, "A/rad or A/m", 0.0, 0.0, LARGEST, "current for the integral of it"),
}

GAINS = (CURRENT_GAIN, CURRENT_INTEGRAL, SPEED_GAIN, SPEED_INTEGRAL)
ELECTRICAL = {VOLTAGE: "voltage", CURRENT: "current", INDUCTANCE: "inductance", BANDWIDTH: "bandwidth"} | {
    name: name for name in GAINS
}
"""Keys by names of the parameters of SUPPLY."""


@dataclass(frozen=True, eq=False)
class SuppliedDescription(ExtendedDescription):
    """A family with parameters for the temperature of its motors and for their supply."""

    def changed(self, whole: Mechanism, values: Mapping[str, Number]) -> Mechanism:
        """Return the mechanism with motors at their temperature, on their supply."""
        return replace(whole, limbs=tuple(_warm(limb, values) for limb in whole.limbs))


def _warm(limb: Limb, values: Mapping[str, Number]) -> Limb:
    return replace(limb, drives=tuple(_warm_drive(drive, values) for drive in limb.drives))


def _warm_drive(drive: Drive, values: Mapping[str, Number]) -> Drive:
    if drive.motor is None:
        return drive
    warmer = values[TEMPERATURE]
    motor = replace(
        drive.motor,
        torque_constant=drive.motor.torque_constant * (1.0 + values[TORQUE_RATE] * warmer),
        resistance=drive.motor.resistance * (1.0 + values[RESISTANCE_RATE] * warmer),
        voltage=values.get(VOLTAGE, math.inf),
        current=values.get(CURRENT, math.inf),
        inductance=values.get(INDUCTANCE, drive.motor.inductance),
        bandwidth=values.get(BANDWIDTH, drive.motor.bandwidth),
    )
    return replace(drive, motor=_controlled(motor, values))


def _controlled(motor: Motor, values: Mapping[str, Number]) -> Motor:
    """Return the motor with controllers whose gains are among the values."""
    loops = {}
    for key, names in (("current_controller", GAINS[:2]), ("speed_controller", GAINS[2:])):
        if any(name in values for name in names):
            loops[key] = PIController(*(values.get(name, 0.0) for name in names))
    if "current_controller" in loops:
        motor = replace(motor, bandwidth=0.0)
    elif BANDWIDTH in values:
        motor = replace(motor, current_controller=None)
    return replace(motor, **loops)


def supplied(
    family: Family,
    temperature: float = 0.0,
    resistance_rate: float = COPPER,
    torque_constant_rate: float = 0.0,
    **electrical: float | None,
) -> SuppliedDescription:
    """Return the family with motor temperature [K above that of the data], rates [1/K] and supply as parameters.

    The given values are the defaults of these parameters. electrical: values by the names of ELECTRICAL; each given
    value adds a parameter. Raises ParameterError.
    """
    if not family.reference.motors:
        raise ParameterError(f"the actuators of {family.name} are not all drives with a motor")
    _check_loops(family, electrical)
    values = (temperature, resistance_rate, torque_constant_rate)
    defaults = dict(zip((p.name for p in PARAMETERS), values, strict=True))
    limits = {name: electrical.get(key) for name, key in ELECTRICAL.items()}
    table = [*PARAMETERS, *(SUPPLY[name] for name, limit in limits.items() if limit is not None)]
    defaults |= {name: limit for name, limit in limits.items() if limit is not None}
    for parameter in table:
        if problem := parameter.problem(defaults[parameter.name]):
            value = defaults[parameter.name]
            raise ParameterError(f"{parameter.name} = {value!r} {problem}; expected {parameter.bounds}")
    more = [replace(row, default=defaults[row.name]) for row in table]
    return SuppliedDescription(*extended(family, more), base=family)


def _check_loops(family: Family, electrical: Mapping[str, float | None]) -> None:
    """Refuse loops that do not go together. Raises ParameterError."""
    names = [name for name, number in electrical.items() if number is not None]
    for name in names:
        if name not in ELECTRICAL.values():
            raise ParameterError(f"{name}: no argument has this name; {nearest(name, ELECTRICAL.values())}")
    gains = [name for name in names if name in GAINS]
    if gains and "inductance" not in names and not family.reference.has_windings:
        raise ParameterError(f"{gains[0]}: got it for motors without an inductance; expected inductance beside it")
    if "bandwidth" in names and set(gains) & {*GAINS[:2]}:
        raise ParameterError(f"{gains[0]}: got it beside a bandwidth; expected one of the two current loops")
    if SPEED_INTEGRAL in gains and SPEED_GAIN not in gains:
        raise ParameterError(f"{SPEED_INTEGRAL}: got it alone; expected {SPEED_GAIN} beside it")


class SupplyKeywords(TypedDict, total=False):
    """Supply and loops of motors, as keywords."""

    voltage: float | None
    current: float | None
    inductance: float | None
    bandwidth: float | None
    current_gain: float | None
    current_integral: float | None
    speed_gain: float | None
    speed_integral: float | None


@check_arguments
def with_motor_conditions(
    robot: Robot,
    *,
    temperature: float = 0.0,
    resistance_rate: float = COPPER,
    torque_constant_rate: float = 0.0,
    **supply: Unpack[SupplyKeywords],
) -> Robot:
    """Return the robot with motors warmer than their data by `temperature` [K], and on a limited supply.

    Rates are changes per kelvin [1/K] of the windings' resistance (default: copper) and of torque constants. voltage
    [V] and current [A] are the limits of each amplifier. With the inductance [H] of the windings, currents are states
    of simulations. bandwidth [rad/s] is the bandwidth of the current loops; gains of current controllers may replace
    it. Speed controllers have gains as well. All are parameters of the result. Raises ParameterError.

        >>> cold = ls.robots.build("irb6")
        >>> warm = ls.robots.with_motor_conditions(cold, temperature=80.0)
        >>> ratio = warm.mechanism.motors[0].resistance / cold.mechanism.motors[0].resistance
        >>> round(float(ratio), 4)
        1.3144
    """
    electrical: dict[str, float | None] = {**supply}  # type: ignore[dict-item]
    family = supplied(robot.family, temperature, resistance_rate, torque_constant_rate, **electrical).family
    return Robot.of(family, dict(robot.values))
