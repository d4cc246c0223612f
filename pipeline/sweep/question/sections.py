"""Model of the section `study`: keys and types; `pipeline.sweep.question.reader` interprets them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pipeline.documents.validation import Line, OneOrMore, Section, Text

Texts = Annotated[tuple[Text, ...], Field(max_length=16), OneOrMore]


class StudySection(Section):
    """Question that reports and `limbsweep study` answer from the results. It changes no result."""

    title: Line = ""
    """the question in words; default: the title of the sweep"""
    objectives: Texts = ()
    """objectives, the most important first, such as `min peak_force`"""
    where: Texts = ()
    """conditions that a design has to meet, such as `condition < 6`"""
    cases: Texts = ()
    """swept parameters that are operating conditions, not choices, such as `payload_mass`"""
