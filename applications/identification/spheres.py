"""Read a file of spheres around bodies, which exciting motions keep apart."""

from __future__ import annotations

import os
from typing import Annotated

from pydantic import Field

from applications.identification.estimation.excitation import Sphere
from pipeline.documents.files import read_text
from pipeline.documents.report import Report
from pipeline.documents.validation import Number, Section, Text, validate_keys
from pipeline.documents.yaml import MAX_BYTES, parse_yaml

Point = Annotated[tuple[Number, ...], Field(min_length=3, max_length=3)]
MOST = 500


class SphereSection(Section):
    """A sphere: the body that carries it, its centre in the frame of this body and its radius [m]."""

    body: Text
    centre: Point = (0.0, 0.0, 0.0)
    radius: Annotated[Number, Field(gt=0)]


class SphereFile(Section):
    """A file of spheres."""

    spheres: Annotated[tuple[SphereSection, ...], Field(min_length=1, max_length=MOST)]


def read_spheres(path: str | os.PathLike[str]) -> tuple[Sphere, ...]:
    """Read the spheres of a file. Raises InputError with all problems."""
    name = os.fspath(path)
    report = Report(parse_yaml(read_text(name, MAX_BYTES), name))
    file, problems = validate_keys(SphereFile, report.document)
    report.take(problems)
    report.raise_if_any()
    result = []
    for section in file.spheres:
        x, y, z = (float(number) for number in section.centre)
        result.append(Sphere(section.body, (x, y, z), float(section.radius)))
    return tuple(result)
