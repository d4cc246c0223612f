"""Reading of a sweep file: the values read so far, and the base class of the sections that read themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Generic, Self, TypeVar

from pydantic import Field

from pipeline.documents.report import Report
from pipeline.sweep.content import Content
from pipeline.sweep.design_axis import DesignAxis
from pipeline.sweep.sections import CoreFile
from pipeline.sweep.side_files import SideFiles
from robots.catalog import FAMILIES
from robots.data_classes import dataclass, field
from robots.formats.description import Description
from robots.model import Family, Mechanism
from robots.quantities import Need, needs
from robots.trajectories.time_grid import TimeGrid
from robots.trajectories.trajectory import Trajectory

Value = TypeVar("Value")
Said = TypeVar("Said")


@dataclass
class SweepReading:
    """A sweep file while its sections are read, in the order of their table; problems go to `report`."""

    report: Report
    file: CoreFile
    files: SideFiles
    robot: str | None
    description: Description | None
    """The robot, if it is not in the catalogue or sections add to it."""
    design: DesignAxis | None = None
    grid: TimeGrid | None = None
    trajectories: tuple[Trajectory, ...] = ()
    contents: dict[str, Content[Any]] = field(default_factory=dict)
    """Sections that have been read, by key; those with problems that leave no value are absent."""

    @property
    def families(self) -> Mapping[str, Family]:
        """Families by the names that the file may use."""
        return FAMILIES if self.description is None else {self.description.name: self.description.family}

    @property
    def family(self) -> Family | None:
        """The family of the designs; None where it is not known, which has been reported."""
        return self.design.family if self.design else None

    @property
    def mechanism(self) -> Mechanism | None:
        """The mechanism at its default parameters; None where it is not known."""
        return self.design.family.reference if self.design else None

    @property
    def grids(self) -> tuple[TimeGrid, ...]:
        """Times of the trajectories; those of the sweep where none are known, nothing where these are not known."""
        grids = [trajectory.grid or self.grid for trajectory in self.trajectories] or [self.grid]
        return tuple(dict.fromkeys(grid for grid in grids if grid is not None))

    @property
    def duration(self) -> float:
        """The last time of all trajectories [s]; 0 where the time grid is not known."""
        return max((grid.duration for grid in self.grids), default=0.0)

    def value(self, section: type[Content[Value]]) -> Value | None:
        """Return the value of a section that has been read; None where problems left none."""
        content = self.contents.get(section.key)
        return None if content is None else content.value

    def said(self, section: type[SectionContent[Any, Said]]) -> Said:
        """Return the content of a section, as its schema has it."""
        said: Said = getattr(self.file, section.key)
        return said

    def refuse_metrics(self, lacks: Callable[[Need], Iterable[tuple[str, str]]]) -> None:
        """Report each metric with a need that the file does not meet: the entry that `lacks` expects, and advice."""
        for index, name in enumerate(self.file.metrics):
            for expected, hint in dict.fromkeys(lack for need in needs(name) for lack in lacks(need)):
                self.report(("metrics", index), name, expected, hint)


def optional(annotation: Any, description: str) -> tuple[Any, Any]:
    """Return annotation and pydantic field of a section that a file may lack."""
    return annotation | None, Field(default=None, description=description)


class SectionContent(Content[Value], Generic[Value, Said]):
    """Content of a section, its schema and its reading: from a `Said`, as in the file, to a `Value`."""

    field: ClassVar[tuple[Any, Any] | None] = None
    """Annotation and pydantic field of the section's key; None for a section that other keys contain."""
    after: ClassVar[tuple[str, ...]] = ()
    """Keys of the sections that have to be read before it."""

    @classmethod
    def extend(cls, reading: SweepReading) -> Description | None:
        """Return the robot with the parameters that the section adds; None where it adds none, or has problems."""
        return None

    @classmethod
    def read(cls, reading: SweepReading) -> Self | None:
        """Check the section against the robot and earlier sections, and return its content.

        All problems are reported; None where they leave no value.
        """
        raise NotImplementedError


class FamilyContent(SectionContent[Value, Said]):
    """Content of a section that adds to the robot: parameters, or masses that follow from some."""

    @classmethod
    def extend(cls, reading: SweepReading) -> Description | None:
        """Return the robot with the section; None where the file lacks it, or it has problems."""
        family = reading.families.get(reading.robot or "") if reading.said(cls) else None
        return None if family is None else cls.extend_family(reading, family)

    @classmethod
    def extend_family(cls, reading: SweepReading, family: Family) -> Description | None:
        """Return a family with the section; None after a reported problem."""
        raise NotImplementedError

    @classmethod
    def read(cls, reading: SweepReading) -> Self:
        """Return the content, which the robot has already."""
        return cls(None)  # type: ignore[arg-type]  # a section with another value reads it
