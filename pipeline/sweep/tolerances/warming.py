"""Read the section `warming`: the robot with the temperature of its links as a parameter.

warming: {expansion: {arm: 23.0e-6, 'rod_*': 1.0e-6, base: 12.0e-6}}
"""

from __future__ import annotations

from typing import Self

from pipeline.documents.report import Got, Report, sentence
from pipeline.sweep.reading import SectionContent, SweepReading, optional
from pipeline.sweep.tolerances.sections import WarmingSection
from robots.formats.description import Description
from robots.loads.warming import warmed
from robots.model import Family
from robots.parameters import ParameterError

WARMING_KEY = "warming"


class WarmingContent(SectionContent[None, WarmingSection | None]):
    """Growth of links with temperature: a parameter of the robot."""

    key = WARMING_KEY
    field = optional(WarmingSection, "links that grow with temperature; default: none")

    @classmethod
    def extend(cls, reading: SweepReading) -> Description | None:
        """Return the robot with the temperature of its links as a parameter."""
        section = reading.said(cls)
        return None if section is None else read_warming(reading.report, section, reading.extended_family(WARMING_KEY))

    @classmethod
    def read(cls, reading: SweepReading) -> Self:
        """Nothing is left to read."""
        return cls(None)


def read_warming(report: Report, section: WarmingSection | None, family: Family | None) -> Description | None:
    """Read the robot with this parameter; None where it has none, or something is wrong, which goes to `report`."""
    if section is None or family is None:
        return None
    try:
        return warmed(family, section.expansion)
    except ParameterError as error:
        report((WARMING_KEY, "expansion"), Got("these"), "links of the robot, base or platform", sentence(str(error)))
        return None
