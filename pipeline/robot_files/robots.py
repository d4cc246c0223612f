"""Robots of a user's own as objects: from a robot file, a URDF, SDF or MJCF file, and back into a file."""

from __future__ import annotations

import io
import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from ruamel.yaml import YAML

from pipeline.errors import InputError, Problem
from pipeline.robot_files.importing import import_robot
from pipeline.robot_files.names import read_robot as read
from pipeline.robot_files.packages import NO_PACKAGES, Packages
from pipeline.robot_files.reader import parse_robot
from robots.formats import description, writing
from robots.model import Robot

__all__ = ["load", "read", "with_redundancy", "write"]


def load(
    path: str | os.PathLike[str],
    loops: str | os.PathLike[str] | None = None,
    *,
    macros: Mapping[str, str] | bool = False,
    packages: Packages = NO_PACKAGES,
    **parameters: float,
) -> Robot:
    """Load the robot in a URDF, SDF or MJCF file.

    Joints that close loops, and which joints are driven, are in the file `loops`. Macros of xacro are expanded where
    `macros` is true or has their arguments by name, by an evaluator that runs nothing. What the file names is below its
    folder, its ROS package, or one of the folders `packages`, by name.

    What was not imported is a UserWarning. Raises InputError with all problems of the files, ParameterError.

        >>> mass = '<mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>'
        >>> arm = f'<link name="base"/><link name="arm"><inertial>{mass}</inertial></link>'
        >>> ends = '<parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>'
        >>> with open("arm.urdf", "w") as file:
        ...     _ = file.write(f'<robot name="one">{arm}<joint name="j" type="continuous">{ends}</joint></robot>')
        >>> ls.robots.load("arm.urdf").mechanism.actuators
        ('j',)
    """
    imported = import_robot(path, loops, macros=macros, packages=packages)
    for problem in imported.warnings:
        warnings.warn(str(problem), stacklevel=2)
    return Robot.of(imported.description.family, parameters)


def write(robot: Robot, path: str | os.PathLike[str]) -> Path:
    """Write a robot as it stands into a new robot file; where that is.

    A robot of a robot file keeps its parameters, with its values as defaults; one of the catalogue is written in
    numbers. Raises InputError for a robot that a file cannot hold, FileExistsError, OSError.

        >>> path = ls.robots.write(ls.robots.build("five_bar"), "mine.yaml")
    """
    text = _text(robot, os.fspath(path))
    with Path(path).open("x", encoding="utf-8") as file:
        file.write(text)
    return Path(path)


def with_redundancy(robot: Robot, redundancy: Mapping[str, object]) -> Robot:
    """The robot with another section `redundancy` of its platform: a dict as in a robot file.

    So one arm is compared under several postures and tasks. Raises InputError with all problems of the section, and for
    a robot whose platform has no `coordinates`.

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
        raise InputError([Problem(robot.name, 0, 0, "redundancy", "a robot without coordinates", rule)])
    file["platform"]["redundancy"] = json.loads(json.dumps(redundancy, default=_plain))
    yaml.dump(file, stream)
    return Robot.of(parse_robot(stream.getvalue(), robot.name).family, robot.values)


def _plain(value: object) -> object:
    """What is no text, number, list or mapping: of NumPy as numbers, all else as the reader refuses it."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else repr(value)


def _text(robot: Robot, where: str) -> str:
    """The text of a robot file. Raises InputError for a robot that a file cannot hold."""
    try:
        return writing.text(description.describe(robot))
    except ValueError as error:
        rule = "a robot that a file can hold"
        raise InputError([Problem(where, 0, 0, "", robot.name, rule, f"{error}")]) from None
