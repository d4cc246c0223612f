"""Table of the sections of a sweep file that read themselves, in order of dependence.

A section comes after those that it needs (`after`). Sections that add parameters to the robot do so in this order, too.
"""

from __future__ import annotations

from typing import Any

from pipeline.sweep.actuators.motors import MotorsContent
from pipeline.sweep.actuators.sharing import SharingContent
from pipeline.sweep.criteria.reader import CriteriaContent
from pipeline.sweep.friction import FrictionContent
from pipeline.sweep.limits import LimitsContent
from pipeline.sweep.loads.reader import LoadsContent
from pipeline.sweep.measurement import MeasurementContent, SplitContent
from pipeline.sweep.outputs.selection import SelectionContent
from pipeline.sweep.question.reader import QuestionContent
from pipeline.sweep.reading import SectionContent
from pipeline.sweep.simulated.reader import SimulationContent
from pipeline.sweep.tolerances.reader import TolerancesContent
from pipeline.sweep.tolerances.warming import WarmingContent
from pipeline.sweep.trajectories.base import BaseContent

SECTIONS: tuple[type[SectionContent[Any, Any]], ...] = (
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
)
