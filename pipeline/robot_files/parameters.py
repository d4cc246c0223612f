"""Read a parameter that a robot file or a sweep file declares."""

from __future__ import annotations

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.units import UNITS
from pipeline.robot_files.sections import ParameterSection
from robots.parameter_errors import nearest
from robots.parameters import LARGEST, Parameter


def read_parameter(report: Report, name: str, section: ParameterSection, path: KeyPath) -> Parameter:
    """Return the parameter of a section at `path`, and report bounds, default or unit that are wrong."""
    lower = -LARGEST if section.lower is None else float(section.lower)
    upper = LARGEST if section.upper is None else float(section.upper)
    parameter = Parameter(name, section.unit, float(section.default), lower, upper, section.text, section.source)
    if lower > upper:
        report((*path, "lower"), section.lower, f"at most upper, {upper:g}", "Swap them.")
    elif problem := parameter.problem(parameter.scalar):
        report((*path, "default"), Got(f"{parameter.default!r}, which {problem}"), parameter.bounds)
    unit = UNITS.get(section.unit)
    if unit is None or (unit.si != unit.name and unit.name != "deg"):
        known = sorted({*(unit.si for unit in UNITS.values()), "deg"})
        hint = f"Write it in {unit.si}." if unit else sentence(nearest(section.unit, known))
        report((*path, "unit"), section.unit, "an SI unit, or deg", hint)
    return parameter
