"""Read the section `motors` of a sweep file: the robot with parameters for temperature and supply of its motors.

motors: {temperature: 80, torque_constant_rate: -1.1e-3, voltage: 48, current: 20}
"""

from __future__ import annotations

import math
from typing import Self

from pipeline.documents.report import Got, sentence
from pipeline.sweep.actuators.sections import MotorsSection
from pipeline.sweep.limits import LimitsContent
from pipeline.sweep.reading import FamilyContent, SweepReading, optional
from robots.formats.description import Description
from robots.loads.motors import (
    ELECTRICAL,
    PARAMETERS,
    RESISTANCE_RATE,
    SUPPLY,
    TEMPERATURE,
    TORQUE_RATE,
    supplied,
)
from robots.model import Family
from robots.parameter_errors import ParameterError

KEY = "motors"
KEYS = {
    TEMPERATURE: "temperature",
    RESISTANCE_RATE: "resistance_rate",
    TORQUE_RATE: "torque_constant_rate",
    **ELECTRICAL,
}
"""Keys of the section by the names of the parameters."""


class MotorsContent(FamilyContent[None, MotorsSection | None]):
    """Temperature and supply of motors: parameters of the robot."""

    key = KEY
    field = optional(MotorsSection, "temperature and supply of motors; default: as their data says, without limits")
    after = ("limits",)

    @classmethod
    def extend_family(cls, reading: SweepReading, family: Family) -> Description | None:
        """Return the robot with parameters for temperature and supply; None after a reported problem."""
        section, report = reading.said(cls), reading.report
        assert section is not None
        said = section.model_dump(exclude_none=True)
        for parameter in (*PARAMETERS, *SUPPLY.values()):
            key = KEYS[parameter.name]
            if key in said and parameter.problem(said[key]):
                report((KEY, key), said[key], parameter.bounds)
                return None
        try:
            return supplied(family, **said)
        except ParameterError as error:
            hint = sentence(str(error))
            report((KEY,), Got("motors of a robot"), "a robot with motors without such parameters", hint)
            return None

    @classmethod
    def read(cls, reading: SweepReading) -> Self:
        """Refuse metrics of a supply that nothing limits."""
        limits, section = reading.value(LimitsContent), reading.said(cls)
        capacities = limits.actuators.values() if limits else ()
        is_limited = any(math.isfinite(x) for entry in capacities for x in (entry.current, entry.voltage))
        is_limited |= section is not None and any((section.voltage, section.current))
        hint = "Add motors.voltage or motors.current, or those of limits.actuators."
        lack = ("a metric of a supply that the file limits", hint)
        reading.refuse_metrics(lambda need: [lack] if need == "supply" and not is_limited else [])
        wound = reading.mechanism is not None and reading.mechanism.has_windings
        if wound and section is not None and section.voltage:
            hint = "L di/dt takes the jerk of a path. Leave voltage or inductance out."
            along = ("motors without an inductance where a voltage limits the motion along a path", hint)
            reading.refuse_metrics(lambda need: [along] if need == "path limits" else [])
        return cls(None)
