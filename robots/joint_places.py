"""Joints of a robot by name and number, as friction and limits select them."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from robots.model import Mechanism
from robots.parameters import ParameterError

MOTOR = -1


@dataclass(frozen=True)
class JointPlace:
    """A joint of a robot: number of its limb, its number in `Limb.joints`, and among the actuators (-1: passive).

    A drive is a place too, that of its motor; it is no joint (MOTOR).
    """

    limb: int
    joint: int
    actuator: int


def places(mechanism: Mechanism) -> dict[str, tuple[JointPlace, bool]]:
    """Every joint and drive of a robot by name, `limb.joint` or of a chain `joint`, and whether it has one variable.

    Coordinates of a platform are joints that have none: nothing is there.
    """
    result: dict[str, tuple[JointPlace, bool]] = {}
    actuators = {name: number for number, name in enumerate(mechanism.actuators)}
    for k, instance in enumerate(mechanism.instances):
        limb = mechanism.limbs[instance.limb]
        prefix = "" if mechanism.is_chain else f"{instance.name}."
        for i, (joint, simple) in enumerate(zip(limb.joints, limb.one_variable, strict=True)):
            bare = simple and joint not in limb.coordinates
            result[prefix + joint] = JointPlace(k, i, actuators.get(prefix + joint, -1)), bare
        for drive in limb.drives:
            result[prefix + drive.name] = JointPlace(k, MOTOR, actuators[prefix + drive.name]), True
    return result


def matches(name: str, pattern: str) -> bool:
    """Return whether a pattern means a joint or actuator; one without limb means that of every limb.

    Raises ParameterError for stars side by side.
    """
    if "**" in pattern:
        raise ParameterError(f"{pattern!r} has stars side by side; one stands for any letters")
    return fnmatchcase(name, pattern) or ("." not in pattern and fnmatchcase(name.split(".", 1)[-1], pattern))
