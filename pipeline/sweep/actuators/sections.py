"""Models of the sections `sharing` and `motors` of a sweep file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pipeline.documents.validation import Number, Positive, Section, Text, Two
from robots.loads.motors import COPPER

NotNegative = Annotated[Number, Field(ge=0)]


class SharingSection(Section):
    """Distribution of forces among actuators. The forces are not unique if there are more actuators than freedoms."""

    rule: Literal["least_squares", "least_maximum"] = "least_squares"
    """least sum of weight times square of force less preload, or least maximum of weight times size"""
    weights: dict[Text, Positive] = Field(default_factory=dict)
    """weights by names and patterns of actuators; default: 1"""
    preload: dict[Text, Number] = Field(default_factory=dict)
    """forces that they would have against each other [N m or N], by names and patterns; default: none"""
    off: dict[Text, Annotated[tuple[Two[Number], ...], Field(min_length=1, max_length=1000)]] = Field(
        default_factory=dict
    )
    """times [s] from which and until which actuators give no force, as pairs, by names and patterns"""


class MotorsSection(Section):
    """Temperature and supply of all motors; each number is a parameter that designs may sweep."""

    temperature: Number = 0.0
    """how much warmer motors are than those of their data [K]: `motor_temperature`"""
    resistance_rate: Number = COPPER
    """change of the windings' resistance [1/K]; default: of copper, IEC 60028"""
    torque_constant_rate: Number = 0.0
    """change of torque constants, that of the magnets' remanence [1/K]"""
    voltage: Positive | None = None
    """largest voltage of an amplifier [V]: `supply_voltage`; default: no limit"""
    current: Positive | None = None
    """largest current of an amplifier [A]: `supply_current`; default: no limit"""
    inductance: Positive | None = None
    """inductance of the windings [H]: `winding_inductance`; default: as the data says"""
    bandwidth: Positive | None = None
    """rate at which current loops close an error [rad/s]: `current_bandwidth`; default: as the data says"""
    current_gain: NotNegative | None = None
    """in place of it: voltage for an error of the current [V/A]; default: as the data says"""
    current_integral: NotNegative | None = None
    """voltage for the integral of an error of the current [V/(A s)]"""
    speed_gain: Positive | None = None
    """of drives asked for speeds: current for an error of the speed [A s/rad or A s/m]; default: as the data says"""
    speed_integral: NotNegative | None = None
    """current for the integral of an error of the speed [A/rad or A/m]"""
