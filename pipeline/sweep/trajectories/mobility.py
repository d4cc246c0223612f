"""Mobility check of a trajectory: a platform cannot move along axes that its limbs hold.

Trajectories count from the reference position, so a trajectory must be zero along such an axis. The rotation of a
platform is checked in `turns`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report
from robots.trajectories.trajectory import Trajectory
from robots.types import TRANSLATION

AXES = "xyz"
NEGLIGIBLE = 1e-12
"""Distance by which a trajectory may leave a plane, in m and relative to its radius."""


def check_held(report: Report, trajectory: Trajectory, path: KeyPath, mobility: Sequence[str]) -> None:
    """Report the first parameter that moves the platform along an axis of the base which it is not free to move along.

    mobility: the free components of its twist; none: not known.
    """
    if not mobility:
        return
    for axis, name in enumerate(TRANSLATION):
        if name in mobility:
            continue
        for key in moving_along(trajectory, axis):
            value = trajectory.values.get(key, Got("points away from 0"))
            rule = f"no motion along {AXES[axis]}, where the limbs hold the platform of this robot"
            hint = (
                f"It is free to move along: {_free(mobility)}. Give all parameters whose defaults are not zero there."
            )
            report((*path, key), list(value) if isinstance(value, tuple) else value, rule, hint)
            return


def _free(mobility: Sequence[str]) -> str:
    return ", ".join(axis for axis, name in zip(AXES, TRANSLATION, strict=True) if name in mobility) or "nothing"


def moving_along(trajectory: Trajectory, axis: int) -> Iterator[str]:
    """Yield the keys that move the platform away from its reference position along an axis of the base, 0 to 2."""
    values = trajectory.values
    if trajectory.points is not None and abs(trajectory.points[:, 1 + axis]).max() > NEGLIGIBLE:
        yield "file"
    for key, value in values.items():
        if key in _RULES:
            if _RULES[key](values, axis):
                yield key
        elif isinstance(value, tuple) and len(value) == len(AXES) and abs(value[axis]) > NEGLIGIBLE:
            yield key


def _off_normal(values: Mapping[str, Any], axis: int) -> bool:
    """Return whether the plane of a circle is not perpendicular to an axis."""
    normal = values["normal"]
    across = math.hypot(*(x for k, x in enumerate(normal) if k != axis))
    return values["radius"] > 0.0 and across > NEGLIGIBLE * math.hypot(*normal)


def _axis_of(values: Mapping[str, Any]) -> Sequence[float]:
    """Return the axis of a circle or a spiral. Components up to the share NEGLIGIBLE of its length are set to zero."""
    axis = values.get("normal", (0.0, 0.0, 1.0))
    return [x if abs(x) > NEGLIGIBLE * math.hypot(*axis) else 0.0 for x in axis]


_RULES = {
    "normal": _off_normal,
    "radius": lambda values, axis: "normal" not in values and axis < 2 and values["radius"] > 0.0,
    "radial_speed": lambda values, axis: axis < 2 and values["radial_speed"] != 0.0,
    "axial_speed": lambda values, axis: abs(_axis_of(values)[axis] * values["axial_speed"]) > 0.0,
    "size": lambda values, axis: values["counts"][axis] > 1 and values["size"][axis] > NEGLIGIBLE,
    "lift": lambda values, axis: axis == 2,
    "edge": lambda values, axis: values["edge"] > NEGLIGIBLE,
    "height": lambda values, axis: values["counts"][2] > 1 and abs(_axis_of(values)[axis] * values["height"]) > 0.0,
    "counts": lambda values, axis: False,
}
"""Parameters that are no distances along the axes of the base: whether they move a platform along one of these."""
