"""Values of parameters of motions: numbers, or lists of them, checked against `robots.trajectories.kinds`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Report, number_hint
from pipeline.documents.validation import check_bounds
from robots.data_classes import dataclass
from robots.parameters import Parameter
from robots.trajectories.kinds import JOINT_MOTIONS, MOTIONS, MotionKind, Value

SHORTEST = 1e-9
"""Least length of a vector that gives a direction; shorter vectors are refused."""


def read_values(
    report: Report, motion: MotionKind, section: Mapping[str, Any], path: KeyPath, joints: int = 0
) -> dict[str, Value]:
    """Read the parameters of a motion and complete defaults; those of `joints` may be lists with a number for each."""
    return {p.name: _value(report, p, section, path, joints) for p in motion.parameters}


def _value(report: Report, parameter: Parameter, section: Mapping[str, Any], path: KeyPath, joints: int) -> Value:
    if parameter.name not in section:
        return parameter.default
    value, path = section[parameter.name], (*path, parameter.name)
    if parameter.shape:
        return vector(report, parameter, value, path, parameter.shape[0])
    if joints and isinstance(value, list):
        return vector(report, parameter, value, path, joints)
    if is_number(report, value, path):
        check_bounds(report, parameter, value, path)
        return float(value)
    return parameter.default


def vector(report: Report, parameter: Parameter, value: Any, path: KeyPath, length: int) -> Value:
    """Return a list of `length` numbers; report anything else, and return the default for it."""
    if not isinstance(value, list) or len(value) != length:
        report(path, value, f"a list of {length} numbers [{parameter.unit}]")
        return parameter.default
    # A list, not a generator: every component that is wrong is reported.
    numbers = [is_number(report, component, (*path, index)) for index, component in enumerate(value)]
    if not all(numbers):
        return parameter.default
    if parameter.unit == "1" and math.hypot(*map(float, value)) < SHORTEST:
        report(path, value, f"a direction, so not all zero, of length {SHORTEST:g} at least")
    for index, component in enumerate(value):
        check_bounds(report, parameter, component, (*path, index))
    return tuple(map(float, value))


def is_number(report: Report, value: object, path: KeyPath) -> bool:
    """Return whether a value is a number; report a problem if it is not."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return True
    report(path, value, "a number", number_hint(value) if isinstance(value, str) else "")
    return False


AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Mover:
    """Moving part of a sweep: the independent `joints` of a chain, or a platform if `joints` is empty; duration [s].

    `mobility` are the free components of the platform's twist; none: not known.
    """

    joints: tuple[str, ...] = ()
    mobility: tuple[str, ...] = ()
    duration: float = 1.0

    @property
    def motions(self) -> Mapping[str, MotionKind]:
        """The kinds of trajectory that it can have."""
        return JOINT_MOTIONS if self.joints else MOTIONS

    @property
    def columns(self) -> dict[str, str]:
        """Columns of a file with its motion, and their SI units."""
        return {"t": "s", **(dict.fromkeys(self.joints, "rad or m") or dict.fromkeys(AXES, "m"))}

    def __str__(self) -> str:
        """Format the mover for messages."""
        return "the joints of a chain" if self.joints else "a platform"
