"""Read the section `loads` of a sweep file: the robot with loads on its bodies beside gravity.

    loads:
      balancer: {kind: spring, body: limb_1.arm, at: [0.1, 0, 0], to: [0, 0, 0.3], stiffness: 500}

All numbers are parameters of the robot that the sweep is of, `balancer_stiffness` or `balancer_at_x`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report, sentence
from pipeline.sweep.loads.sections import KINDS, SCALARS, VECTORS, LoadSection
from pipeline.sweep.reading import FamilyContent, SweepReading
from pipeline.sweep.sections import GroupName
from pipeline.sweep.trajectories.loads import COLUMNS
from pipeline.sweep.trajectories.reader import PointsReader, check_reach
from robots.formats.description import Description
from robots.loads.declared import (
    BushingLoad,
    DeclaredLoad,
    ElasticDrive,
    JointSpringLoad,
    LoadError,
    ObjectLoad,
    SpringLoad,
    Triple,
    WrenchLoad,
)
from robots.loads.family import LoadedDescription, loaded
from robots.model import Family

KEY = "loads"


class LoadsContent(FamilyContent[None, Mapping[str, LoadSection]]):
    """Loads on links and platform: parameters and signals of the robot."""

    key = KEY
    field: ClassVar[tuple[Any, Any]] = (
        Annotated[dict[GroupName, LoadSection], Field(max_length=100)],
        Field(
            default_factory=dict,
            description="loads on links and platform along all trajectories, each under a name",
        ),
    )

    @classmethod
    def extend_family(cls, reading: SweepReading, family: Family) -> Description | None:
        """Return the robot with its loads; None after a reported problem."""
        sections, report = reading.said(cls), reading.report
        points = PointsReader(report, reading.files)
        loads = {name: load for name, section in sections.items() if (load := _load(report, name, section, points))}
        if len(loads) < len(sections):
            return None
        try:
            return loaded(family, loads)
        except LoadError as error:
            hint = sentence(error.hint) if error.hint else ""
            report(_existing(report, (KEY, *error.path)), Got(error.got), error.expected, hint)
            return None

    @classmethod
    def read(cls, reading: SweepReading) -> Self:
        """Refuse tables over time that end before the sweep does."""
        check_tables(reading.report, reading.said(cls), reading.description, reading.duration)
        return cls(None)


def check_tables(
    report: Report, sections: Mapping[str, LoadSection], description: Description | None, duration: float
) -> None:
    """Refuse tables over time that do not reach from the first sample of the sweep to the last [s]."""
    for name, load in description.loads if isinstance(description, LoadedDescription) and sections else ():
        if isinstance(load, WrenchLoad) and load.points is not None:
            check_reach(report, load.points, (KEY, name, "file"), duration)


def _existing(report: Report, path: KeyPath) -> KeyPath:
    """Return the longest part of a path that stands in the document."""
    while len(path) > 1 and path not in report.document.values:
        path = path[:-1]
    return path


def _load(report: Report, name: str, section: LoadSection, points: PointsReader) -> DeclaredLoad | None:
    path, said = (KEY, name), section.model_fields_set - {"kind"}
    if problems := [*_strange(section, said)]:
        expected = f"a key of this kind: {', '.join(map(_spelt, ('kind', *KINDS[section.kind])))}"
        for key in map(_spelt, problems):
            report((*path, key), Got(f"{key} of a {section.kind}"), expected, key=True)
        return None
    on = getattr(section, KINDS[section.kind][0])
    if on is None:
        where = KINDS[section.kind][0]
        report(path, Got(f"a load without {where}"), f"{where} that it acts on", "Add it.")
        return None
    for key, rule in SCALARS.items():
        value, vector = getattr(section, key), VECTORS.get((section.kind, key))
        if value is not None and isinstance(value, tuple) != (vector is not None):
            report((*path, key), Got("another number of them"), vector or rule)
            return None
    if section.kind == "wrench":
        return _wrench(path, on, section, points)
    if section.kind == "object" and section.mass is None:
        report(path, Got("an object without mass"), "mass [kg]", "Add it.")
        return None
    of, fields = RECORDS[section.kind]
    return of(on, **{field: getattr(section, key) for key, field in fields.items()})


def _wrench(path: KeyPath, on: str, section: LoadSection, points: PointsReader) -> WrenchLoad | None:
    table: NDArray[np.float64] | None = None
    if section.file is not None:
        table = points.points({"file": section.file}, path, COLUMNS)
        if table is None:
            return None
    scale = 1.0 if table is not None and section.scale is None else section.scale
    force, moment, at = (cast(Triple | None, x) for x in (section.force, section.moment, section.at))
    return WrenchLoad(on, force, moment, at, section.axes or "world", table, scale)


def _record(kind: str, of: type[DeclaredLoad]) -> tuple[type[DeclaredLoad], Mapping[str, str]]:
    """Return a class of loads, and its fields by key of a file."""
    return of, {key: "stop" if key == "until" else key for key in KINDS[kind][1:]}


RECORDS = {
    kind: _record(kind, of)
    for kind, of in (
        ("spring", SpringLoad),
        ("bushing", BushingLoad),
        ("object", ObjectLoad),
        ("joint_spring", JointSpringLoad),
        ("elastic_drive", ElasticDrive),
    )
}
"""Loads whose fields are keys of a file."""


def _strange(section: LoadSection, said: set[str]) -> Iterator[str]:
    """Return the keys that another kind of load has."""
    return (key for key in sorted(said) if key not in KINDS[section.kind])


def _spelt(field: str) -> str:
    """Return a key as it stands in a file."""
    return {"start": "from"}.get(field, field)
