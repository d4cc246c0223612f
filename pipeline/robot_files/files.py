"""Robots of files: load them, and write those of a user."""

from __future__ import annotations

import io
import json
import os
import warnings
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
from ruamel.yaml import YAML

from pipeline.documents.outputs import write_text
from pipeline.errors import refused
from pipeline.robot_files.importing import import_robot
from pipeline.robot_files.packages import NO_PACKAGES, Packages
from pipeline.robot_files.rated import ratings
from pipeline.robot_files.reader import parse_robot
from pipeline.robot_files.reader import read_robot as read
from robots.arguments import check_arguments
from robots.formats import description, exporting, writing
from robots.formats.tree import plain_name
from robots.model import Robot

ROBOT_FILES = (".yaml", ".yml")
"""Endings of robot files."""

__all__ = ["load", "read", "with_redundancy", "write"]


@check_arguments
def load(
    path: str | os.PathLike[str],
    loops: str | os.PathLike[str] | None = None,
    *,
    macros: Mapping[str, str] | bool = False,
    packages: Packages = NO_PACKAGES,
    leave_out: Collection[str] = (),
    **parameters: float,
) -> Robot:
    """Load the robot in a URDF, SDF or MJCF file, or a table of joints (.csv).

    Joints that close loops, and which joints are driven, are in the file `loops`. Macros of xacro are expanded where
    `macros` is true or has their arguments by name, by an evaluator that runs nothing. Files that the file names are
    below its folder, its ROS package, or one of the folders `packages`, by name. Elements that change dynamics and have
    no counterpart here are refused; `leave_out` names kinds of them, such as "springs", "gravity" or "tendons", that
    are left out.

    Elements that were not imported are reported as a UserWarning. Raises InputError with all problems of the files,
    ParameterError.

        >>> mass = '<mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>'
        >>> arm = f'<link name="base"/><link name="arm"><inertial>{mass}</inertial></link>'
        >>> ends = '<parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>'
        >>> with open("arm.urdf", "w") as file:
        ...     _ = file.write(f'<robot name="one">{arm}<joint name="j" type="continuous">{ends}</joint></robot>')
        >>> ls.robots.load("arm.urdf").mechanism.actuators
        ('j',)
    """
    imported = import_robot(path, loops, macros=macros, packages=packages, leave_out=leave_out)
    for problem in imported.warnings:
        warnings.warn(str(problem), stacklevel=2)
    return Robot.of(imported.description.family, parameters)


@check_arguments
def write(robot: Robot, path: str | os.PathLike[str]) -> Path:
    """Write a robot into a new file and return its path: a robot file (.yaml), URDF, SDF or MJCF (.xml), by its ending.

    A robot of a robot file keeps its parameters, with its values as defaults; one of the catalogue, and all in other
    formats, are written in numbers. Raises InputError for a robot that the format cannot hold, another ending, and
    where the file is there or cannot be written.

        >>> path = ls.robots.write(ls.robots.build("five_bar"), "mine.yaml")
        >>> path = ls.robots.write(ls.robots.build("ur5e"), "ur5e.urdf")
    """
    text = text_of(robot, os.fspath(path))
    write_text(Path(path), text, option="path")
    return Path(path)


def text_of(robot: Robot, path: str) -> str:
    """Return the text of a file for a robot, by the ending of its name. Raises InputError."""
    ending = os.path.splitext(path)[1].lower()
    if ending in ROBOT_FILES:
        return _text(robot, path)
    if ending not in exporting.WRITERS:
        known = f"{', '.join(ROBOT_FILES)}, {', '.join(exporting.WRITERS)}"
        raise refused(path, f"a file with the ending {ending or 'of no format'}", f"one of {known}", "MJCF is .xml.")
    try:
        name = plain_name(robot.name)
        return exporting.text(robot.mechanism, name, [*ratings(robot.family).values()], ending)
    except ValueError as error:
        got, _, rule = f"{error}".partition("; expected ")
        hint = "A robot file, with the ending .yaml, can hold it."
        raise refused(path, f"{robot.name}: {got}", rule or "another robot", hint) from None


@check_arguments
def with_redundancy(robot: Robot, redundancy: Mapping[str, object]) -> Robot:
    """Return the robot with another section `redundancy` of its platform: a dict as in a robot file.

    So one arm can be compared under several postures and tasks. Raises InputError with all problems of the section, and
    for a robot whose platform has no `coordinates`.

        >>> arm = ls.robots.read("arm_platform.yaml")
        >>> angle = {"arm_angle": {"shoulder": "arm.2", "elbow": "arm.4", "wrist": "arm.6"}, "value": 0.2}
        >>> held = ls.robots.with_redundancy(arm, {"joints": ["arm.3"], "tasks": {"swivel": angle}})
        >>> round(float(ls.resolve_redundancy(held, q=np.zeros(6)).q[-1]), 6)  # joint 3
        0.585147
    """
    yaml, stream = YAML(), io.StringIO()
    file = yaml.load(_text(robot, robot.name))
    if "coordinates" not in file.get("platform", {}):
        rule = "a robot file with coordinates under platform"
        raise refused(robot.name, "a robot without coordinates", rule, key="redundancy")
    file["platform"]["redundancy"] = json.loads(json.dumps(redundancy, default=_plain))
    yaml.dump(file, stream)
    return Robot.of(parse_robot(stream.getvalue(), robot.name).family, robot.values)


def _plain(value: object) -> object:
    """Convert a value that JSON cannot hold: NumPy values to numbers, others to a text that the reader refuses."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else repr(value)


def _text(robot: Robot, where: str) -> str:
    """Return the text of a robot file. Raises InputError for a robot that a file cannot hold."""
    try:
        return writing.text(description.describe(robot))
    except ValueError as error:
        rule = "a robot that a file can hold"
        raise refused(where, robot.name, rule, f"{error}") from None
