"""Models of the sections `tolerances` and `warming` of a sweep file; `reader` and `warming` interpret them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pipeline.documents.validation import ByPattern, Integer, Number, Positive, Section, Seed, Text


class ToleranceSection(Section):
    """Tolerance of a parameter: normal with a standard deviation, or uniform within a limit."""

    deviation: Positive | None = None
    """standard deviation, in the unit of the parameter"""
    limit: Positive | None = None
    """evenly from minus to plus so much"""


class TolerancesSection(Section):
    """Deviations of parameters, drawn together; every design is computed under each, as operating cases."""

    parameters: ByPattern[ToleranceSection] = Field(default_factory=dict)
    """tolerances by names of parameters of the robot"""
    source: Text | None = Field(default=None, alias="from")
    """file of `limbsweep identify --output` (.json): its parameters deviate, with their covariance"""
    count: Annotated[Integer, Field(ge=0, le=100_000)] = 32
    """how many deviations are drawn; 0: none, the designs say `NAME_deviation` themselves"""
    seed: Seed | None = None
    """seed of the deviations; default: that of the file"""


class FittedTolerances(TolerancesSection):
    """Tolerances with the parameters of a file: `covariance` is of the first of them, together."""

    covariance: tuple[tuple[float, ...], ...] = ()


class WarmingSection(Section):
    """Thermal expansion of links; the parameter `link_temperature` [K] counts from the temperature of measurement."""

    expansion: Annotated[dict[Text, Number], Field(min_length=1, max_length=1000)]
    """thermal expansion [1/K] of links under `all`, or names and patterns, of `base` and `platform`"""
