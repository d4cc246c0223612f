"""Conversion of friction as callers give it to the groups and numbers of a friction program.

One group is a mapping: `law`; `joints` (default: the actuated ones), see `robots.friction.groups.select`; `load`, the
origin of the normal load (default: constant, so that parameters are forces); and parameters of law and load by name,
with defaults. Several groups are a sequence of such mappings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.arguments import check_argument
from robots.data_classes import dataclass, replace
from robots.friction.groups import LOADS, FrictionGroup, group_parameters, select
from robots.friction.laws import CURVES, FrictionLaw
from robots.friction.laws import LAWS as LAW_DATA
from robots.limits import JointPlace
from robots.model import Robot
from robots.parameter_errors import ParameterError, nearest
from robots.parameters import complete

KEYS = ("law", "joints", "load")


@dataclass(frozen=True)
class FrictionInput:
    """Groups, and the case input `friction` (1, parameters of all groups)."""

    groups: tuple[FrictionGroup, ...]
    values: NDArray[np.float64]

    @property
    def names(self) -> list[str]:
        """Names of the numbers in their order: "friction.coulomb", or "friction[0].coulomb" of several groups."""
        heads = ["friction"] if len(self.groups) == 1 else [f"friction[{k}]" for k in range(len(self.groups))]
        return [f"{head}.{name}" for head, group in zip(heads, self.groups, strict=True) for name in group.parameters]

    @property
    def statics(self) -> bool:
        """True if a normal load comes from reactions."""
        return any(group.load == "reaction" for group in self.groups)


Friction = Mapping[str, Any] | Sequence[Mapping[str, Any]] | FrictionInput | None


def friction_input(robot: Robot, friction: Friction, laws: Mapping[str, FrictionLaw] = CURVES) -> FrictionInput:
    """Return the groups of a robot's friction and their parameters. Raises ParameterError for a wrong one.

    `laws` are the allowed laws: along a given motion the curves, in forward dynamics all laws.
    """
    if isinstance(friction, FrictionInput):
        return friction
    check_argument("friction", friction, "Mapping | Sequence[Mapping] | None")
    entries = [] if friction is None else [friction] if isinstance(friction, Mapping) else list(friction)
    groups: list[FrictionGroup] = []
    values: list[float] = []
    taken: set[JointPlace] = set()
    for number, entry in enumerate(entries):
        group, numbers = _group(robot, entry, laws, "friction" if len(entries) == 1 else f"friction[{number}]")
        if taken & set(group.places):
            raise ParameterError(f"friction[{number}]: a joint of it is in another group too; name each joint once")
        taken |= set(group.places)
        groups.append(group)
        values += numbers
    return FrictionInput(tuple(groups), np.array([values], dtype=float))


def without_zero_width(friction: FrictionInput) -> FrictionInput:
    """Return the same groups without a `width` of zero, so that sharp laws are known as sharp."""
    groups, values, remaining_values = [], [], list(friction.values[0]) if friction.groups else []
    for group in friction.groups:
        parameters = dict(zip(group.parameters, remaining_values, strict=False))
        remaining_values = remaining_values[len(parameters) :]
        if parameters.get("width") == 0.0:
            del parameters["width"]
        groups.append(replace(group, parameters=tuple(parameters)))
        values += list(parameters.values())
    return FrictionInput(tuple(groups), np.array([values], dtype=float))


def _group(
    robot: Robot, entry: Mapping[str, Any], laws: Mapping[str, FrictionLaw], where: str
) -> tuple[FrictionGroup, list[float]]:
    law, load = entry.get("law", ""), entry.get("load", "constant")
    if law not in laws:
        hint = "has a state: see tasks.features.friction.history.along" if law in LAW_DATA else nearest(str(law), laws)
        raise ParameterError(f"{where}: got law {law!r}; {hint}")
    if load not in LOADS:
        raise ParameterError(f"{where}: got load {load!r}; {nearest(str(load), LOADS)}")
    numbers = {name: value for name, value in entry.items() if name not in KEYS}
    values = complete(group_parameters(law, load, numbers), numbers, owner=f"friction law {law}")
    places = select(robot.mechanism, entry.get("joints", "actuated"), load)
    return FrictionGroup("", law, load, places, tuple(values)), list(values.values())
