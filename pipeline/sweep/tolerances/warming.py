"""Read the section `warming`: the robot with the temperature of its links as a parameter.

warming: {expansion: {arm: 23.0e-6, 'rod_*': 1.0e-6, base: 12.0e-6}}
"""

from __future__ import annotations

from pipeline.documents.report import Got, sentence
from pipeline.sweep.reading import FamilyContent, SweepReading, optional
from pipeline.sweep.tolerances.sections import WarmingSection
from robots.formats.description import Description
from robots.loads.warming import warmed
from robots.model import Family
from robots.parameter_errors import ParameterError

WARMING_KEY = "warming"


class WarmingContent(FamilyContent[None, WarmingSection | None]):
    """Growth of links with temperature: a parameter of the robot."""

    key = WARMING_KEY
    field = optional(WarmingSection, "links that grow with temperature; default: none")

    @classmethod
    def extend_family(cls, reading: SweepReading, family: Family) -> Description | None:
        """Return the robot with the temperature of its links as a parameter; None after a reported problem."""
        section = reading.said(cls)
        assert section is not None
        try:
            return warmed(family, section.expansion)
        except ParameterError as error:
            path = (WARMING_KEY, "expansion")
            reading.report(path, Got("these"), "links of the robot, base or platform", sentence(str(error)))
            return None
