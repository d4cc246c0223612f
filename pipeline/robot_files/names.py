"""Resolve the names of robots in commands and sweep files: a robot of the catalogue, or a robot file."""

from __future__ import annotations

import os

from pipeline.errors import InputError, Problem, show
from pipeline.robot_files.reader import read_robot as read_description
from robots import catalog
from robots.formats.description import Description
from robots.model import Family, Robot


def is_file(name: str) -> bool:
    """Whether the name of a robot is that of a file."""
    return name.lower().endswith((".yaml", ".yml")) or "/" in name or os.sep in name


def find_family(name: str) -> Family:
    """Find the family that a command names: of a robot file, or of the catalogue. Raises InputError, ParameterError."""
    return read_description(name).family if is_file(name) else catalog.family(name)


def read_robot(path: str | os.PathLike[str], **parameters: float) -> Robot:
    """Build the robot of a robot file with these parameters (SI units), defaults for the others.

    Raises InputError with all problems of the file, and ParameterError.

        >>> path = ls.robots.write(ls.robots.build("five_bar"), "yours.yaml")
        >>> ls.robots.read("yours.yaml").name
        'five_bar'
    """
    return Robot.of(read_description(path).family, parameters)


def name_from(name: str, folder: str | os.PathLike[str]) -> str:
    """Name a robot as a sweep file in `folder` does. Raises InputError for a robot file that is elsewhere."""
    if not is_file(name):
        return name
    path = os.path.relpath(os.path.realpath(name), os.path.realpath(folder))
    if path.startswith(os.pardir):
        rule = "a robot file in the folder of the sweep or below"
        raise InputError([Problem(name, 0, 0, "", "a robot file elsewhere", rule, "Copy it there.")])
    return f"./{path.replace(os.sep, '/')}"


def read_robot_beside(name: str, folder: str | os.PathLike[str], sweep: str) -> Description:
    """Read the robot file that the file `sweep` in `folder` names. Raises InputError."""
    root = os.path.realpath(folder)
    place = "" if "\0" in name else os.path.realpath(os.path.join(root, name))
    if not place.startswith(os.path.join(root, "")):
        hint = "Copy it there: a sweep reads no files from elsewhere."
        rule = "a file in the folder of the sweep or below"
        raise InputError([Problem(sweep, 0, 0, "robot", show(name), rule, hint)])
    return read_description(os.path.join(os.fspath(folder), name))
