"""Read the keys of a recording description, before anything that computes is imported."""

from __future__ import annotations

import os

from applications.identification.machines.sections import DescriptionFile
from pipeline.documents.files import read_text
from pipeline.documents.report import Report
from pipeline.documents.validation import validate_keys
from pipeline.documents.yaml import MAX_BYTES, parse_yaml
from pipeline.robot_files.reader import require_format


def read_keys(text: str, name: str) -> tuple[Report, DescriptionFile]:
    """Read the keys of a description from its text, called `name` in messages. Raises InputError."""
    report = Report(parse_yaml(text, name))
    require_format(report)
    file, problems = validate_keys(DescriptionFile, report.document)
    report.take(problems)
    report.raise_if_any()
    return report, file


def check_keys(path: str | os.PathLike[str]) -> None:
    """Check the keys of a description in a file. Raises InputError."""
    name = os.fspath(path)
    read_keys(read_text(name, MAX_BYTES), name)
