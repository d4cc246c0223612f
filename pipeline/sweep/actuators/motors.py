"""Read the section `motors` of a sweep file: the robot with parameters for temperature and supply of its motors.

motors: {temperature: 80, torque_constant_rate: -1.1e-3, voltage: 48, current: 20}
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from pipeline.documents.report import Got, Report, sentence
from pipeline.sweep.actuators.sections import MotorsSection
from robots.formats.description import Description
from robots.limits import Capacity
from robots.loads.motors import (
    CURRENT,
    PARAMETERS,
    RESISTANCE_RATE,
    SUPPLY,
    TEMPERATURE,
    TORQUE_RATE,
    VOLTAGE,
    supplied,
)
from robots.model import Family
from robots.parameters import ParameterError
from robots.quantities import needs

KEY = "motors"
KEYS = {
    TEMPERATURE: "temperature",
    RESISTANCE_RATE: "resistance_rate",
    TORQUE_RATE: "torque_constant_rate",
    VOLTAGE: "voltage",
    CURRENT: "current",
}
"""Keys of the section by the names of the parameters."""


def read_motors(report: Report, section: MotorsSection | None, family: Family | None) -> Description | None:
    """Read the robot with these parameters; None where it has none, or something is wrong, which goes to `report`."""
    if section is None or family is None:
        return None
    said = section.model_dump(exclude_none=True)
    for parameter in (*PARAMETERS, *SUPPLY.values()):
        key = KEYS[parameter.name]
        if key in said and parameter.problem(said[key]):
            report((KEY, key), said[key], parameter.bounds)
            return None
    try:
        return supplied(family, **said)
    except ParameterError as error:
        report((KEY,), Got("motors of a robot"), "a robot with motors without such parameters", sentence(str(error)))
        return None


def check_supply(
    report: Report, metrics: Sequence[str], section: MotorsSection | None, capacities: Collection[Capacity] = ()
) -> None:
    """Refuse metrics of the supply where neither the section nor capacities of actuators limit it."""
    limits = () if section is None else (section.voltage, section.current)
    of_actuators = [math.isfinite(x) for entry in capacities for x in (entry.current, entry.voltage)]
    for index, name in enumerate(metrics):
        place = ("metrics", index)
        if "supply" in needs(name) and not any((*limits, *of_actuators)):
            hint = "Add motors.voltage or motors.current, or those of limits.actuators."
            report(place, name, "a metric of a supply that the file limits", hint)
