"""Robots of a user's own as objects: from a robot file, a URDF, SDF or MJCF file, and back into a file."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from pipeline.errors import InputError, Problem
from pipeline.robot_files.importing import import_robot
from pipeline.robot_files.names import read_robot as read
from robots.formats import description, writing
from robots.model import Robot

__all__ = ["load", "read", "write"]


def load(path: str | os.PathLike[str], loops: str | os.PathLike[str] | None = None, **parameters: float) -> Robot:
    """Load the robot in a URDF, SDF or MJCF file.

    Joints that close loops, and which joints are driven, are in the file `loops`.

    What was not imported is a UserWarning. Raises InputError with all problems of the files, ParameterError.

        >>> mass = '<mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>'
        >>> arm = f'<link name="base"/><link name="arm"><inertial>{mass}</inertial></link>'
        >>> ends = '<parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>'
        >>> with open("arm.urdf", "w") as file:
        ...     _ = file.write(f'<robot name="one">{arm}<joint name="j" type="continuous">{ends}</joint></robot>')
        >>> ls.robots.load("arm.urdf").mechanism.actuators
        ('j',)
    """
    imported = import_robot(path, loops)
    for problem in imported.warnings:
        warnings.warn(str(problem), stacklevel=2)
    return Robot.of(imported.description.family, parameters)


def write(robot: Robot, path: str | os.PathLike[str]) -> Path:
    """Write a robot as it stands into a new robot file; where that is.

    A robot of a robot file keeps its parameters, with its values as defaults; one of the catalogue is written in
    numbers. Raises InputError for a robot that a file cannot hold, FileExistsError, OSError.

        >>> path = ls.robots.write(ls.robots.build("five_bar"), "mine.yaml")
    """
    try:
        text = writing.text(description.describe(robot))
    except ValueError as error:
        rule = "a robot that a file can hold"
        raise InputError([Problem(os.fspath(path), 0, 0, "", robot.name, rule, f"{error}")]) from None
    with Path(path).open("x", encoding="utf-8") as file:
        file.write(text)
    return Path(path)
