"""Read the section `variables`: parameters of a sweep that its robot does not have, such as the diameter of a tube.

    variables: {peak_torque: {default: 3.0, unit: N m, lower: 0}}

Designs sweep them like any parameter, and numbers of limits and criteria follow from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from pipeline.documents.dataset_names import FREE_NAME, is_free
from pipeline.documents.report import Got, sentence
from pipeline.documents.validation import Text
from pipeline.robot_files.parameters import read_parameter
from pipeline.robot_files.sections import ParameterSection
from pipeline.sweep.reading import FamilyContent, SweepReading
from robots.formats.description import Description
from robots.loads.wrapped import varied
from robots.model import Family
from robots.parameter_errors import ParameterError

KEY = "variables"


class VariablesContent(FamilyContent[None, Mapping[str, ParameterSection]]):
    """Parameters that the sweep adds to those of its robot."""

    key = KEY
    field: ClassVar[tuple[Any, Any]] = (
        Annotated[dict[Text, ParameterSection], Field(max_length=100)],
        Field(
            default_factory=dict,
            description="further parameters of designs, of which numbers of limits and criteria are expressions",
        ),
    )

    @classmethod
    def extend_family(cls, reading: SweepReading, family: Family) -> Description | None:
        """Return the robot with these parameters; None after a reported problem."""
        sections, report = reading.said(cls), reading.report
        before = len(report.problems)
        variables = [read_parameter(report, name, section, (KEY, name)) for name, section in sections.items()]
        for name in sections:
            if not is_free(name):
                report((KEY, name), name, FREE_NAME, "Rename it.", key=True)
        if len(report.problems) > before:
            return None
        try:
            return varied(family, variables)
        except ParameterError as error:
            report((KEY,), Got("a parameter of the robot"), "new names", sentence(str(error)))
            return None
