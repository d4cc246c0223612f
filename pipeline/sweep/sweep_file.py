"""The whole sweep file: its core, and the table of the sections that read themselves, in order of dependence.

A section comes after the sections that it needs (`after`). Sections that add parameters to the robot do so in this
order, too.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import Field, create_model

from pipeline.documents.document import YamlValue
from pipeline.sweep.actuators.motors import MotorsContent
from pipeline.sweep.actuators.sharing import SharingContent
from pipeline.sweep.criteria.reader import CriteriaContent
from pipeline.sweep.friction import FrictionContent
from pipeline.sweep.limits import LimitsContent
from pipeline.sweep.loads.reader import LoadsContent
from pipeline.sweep.measurement import MeasurementContent, SplitContent
from pipeline.sweep.outputs.derivatives import DerivativesContent
from pipeline.sweep.outputs.selection import SelectionContent
from pipeline.sweep.publication.reader import PublicationContent
from pipeline.sweep.question.reader import QuestionContent
from pipeline.sweep.reading import SectionContent
from pipeline.sweep.sections import CoreFile
from pipeline.sweep.shapes import ShapesContent
from pipeline.sweep.simulated.reader import SimulationContent
from pipeline.sweep.tolerances.reader import TolerancesContent
from pipeline.sweep.tolerances.warming import WarmingContent
from pipeline.sweep.trajectories.base import BaseContent
from pipeline.sweep.variables import VariablesContent

SECTIONS: tuple[type[SectionContent[Any, Any]], ...] = (
    VariablesContent,
    ShapesContent,
    SelectionContent,
    FrictionContent,
    LimitsContent,
    SharingContent,
    CriteriaContent,
    BaseContent,
    TolerancesContent,
    MotorsContent,
    WarmingContent,
    LoadsContent,
    SimulationContent,
    QuestionContent,
    MeasurementContent,
    SplitContent,
    PublicationContent,
    DerivativesContent,
)

_KEYS: dict[str, Any] = {section.key: section.field for section in SECTIONS if section.field is not None}

SweepFile = create_model("SweepFile", __base__=CoreFile, __doc__="A whole sweep file.", **_KEYS)


def model_of(simulation: YamlValue) -> type[CoreFile]:
    """Return the model of a file with this simulation: where it has no controller, trajectories are not required."""
    return _undriven_file() if isinstance(simulation, dict) and not simulation.get("controller") else SweepFile


@cache
def _undriven_file() -> type[CoreFile]:
    """Return the model of a file without a controller: nothing follows trajectories, so it may lack them."""
    none: Any = Field(default_factory=dict, description="none")
    return create_model("UndrivenFile", __base__=SweepFile, trajectories=(dict[str, dict[str, object]], none))
