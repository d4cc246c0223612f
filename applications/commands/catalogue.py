"""Body of the command robots: the catalogue, which needs no reader of files; `robot_export` has the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from applications.commands.refusals import Refused
from applications.commands.terminal import print_rows
from robots import catalog


def robots(name: str | None, settings: tuple[str, ...], export: Path | None) -> None:
    """List the catalogue or the parameters of a robot, or write a robot file."""
    if (export is not None or settings) and (name is None or export is None):
        raise Refused(f"--{'set' if export is None else 'export'}: expected a robot and --export FILE; name both")
    if name is None:
        print_rows(_catalogue())
        return
    if export is None:
        print_rows(_parameters(name))
        return
    from applications.commands import robot_export  # with schemas of all files

    robot_export.export(name, settings, export)


def _catalogue() -> Iterator[tuple[str, ...]]:
    yield "name", "dof", "actuators", "title", "source"
    for family in catalog.FAMILIES.values():
        mechanism = catalog.build(family.name).mechanism
        freedom, actuators = len(mechanism.freedoms), len(mechanism.actuators)
        yield family.name, str(freedom), str(actuators), family.title, family.source


def _parameters(name: str) -> Iterator[tuple[str, ...]]:
    from pipeline.robot_files.reader import find_family  # all that reads files

    yield "parameter", "default", "unit", "bounds", "meaning", "source"
    for parameter in find_family(name).parameters:
        bounds = f"[{parameter.lower:g}, {parameter.upper:g}]"
        yield parameter.name, f"{parameter.default:g}", parameter.unit, bounds, parameter.text, parameter.source
