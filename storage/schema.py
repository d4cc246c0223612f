"""What a result store may hold, as one table: names, dims, units, frames and types of variables. Pure data.

Shapes and chunks follow from this table in `storage.layout`; files are made from it in `storage.store`.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from storage.errors import StoreError

Kind = Literal["series", "metric", "motion", "status"]
Drive = Literal["revolute", "prismatic"]

FRICTION = "friction"
SPLIT = ("design", FRICTION, "trajectory")
"""The dims that are cut into blocks, slowest first. All others are whole in every block."""


@dataclass(frozen=True)
class Variable:
    """A stored variable: its dims in order, its units for revolute drives, the frame of its components, its type."""

    name: str
    dims: tuple[str, ...]
    units: str
    long_name: str
    frame: str
    kind: Kind
    dtype: Literal["float64", "int32", "int8"] = "float64"

    @property
    def fill(self) -> float | int:
        """The value of an element that nobody has written."""
        return float("nan") if self.dtype == "float64" else -1


class Values(Protocol):
    """Numbers or texts of which parts are asked for: a list, an array, or what computes them."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: slice, /) -> Any: ...


@dataclass(frozen=True)
class Coordinate:
    """Values along one dim, numbers or text, one for each element: a swept parameter, a name, a time."""

    name: str
    dim: str
    values: Values
    units: str = ""
    long_name: str = ""


_TRAJECTORY = ("trajectory", "time")
_DESIGN = ("design", "trajectory", "time")
_FRICTION = ("design", "friction", "trajectory", "time")
_DRIVEN = (*_DESIGN, "actuator")
_JOINT = (*_DESIGN, "limb", "joint")
_RUBBING = (*_FRICTION, "limb", "joint")
_METRIC = ("design", "friction", "trajectory", "actuator")
_CASE = ("design", "friction", "trajectory")
_POSE = ("design", "trajectory")
_DRIVE = "actuator axis"
_AXIS = "joint axis"

OF_MOTORS = ("motor_current", "electrical_power", "peak_current", "rms_current", "electrical_energy")
"""Variables of robots all of whose drives have a motor."""

OF_LIMITS = {
    "limit_margin": ("joints", "position"),
    "velocity_margin": ("joints", "velocity"),
    "actuator_margin": ("actuators", "force or velocity or power"),
}
"""Metrics of limits, and the limits that they are of."""

OF_WORKSPACES = ("usable_volume", "reachable_volume")
"""Metrics of trajectories that are workspaces."""

VARIABLES: dict[str, Variable] = {
    variable.name: variable
    for variable in (
        Variable("actuator_force", (*_FRICTION, "actuator"), "N m", "actuator force or torque", _DRIVE, "series"),
        Variable("actuator_position", (*_DESIGN, "actuator"), "rad", "actuator position", _DRIVE, "series"),
        Variable("actuator_velocity", (*_DESIGN, "actuator"), "rad/s", "actuator velocity", _DRIVE, "series"),
        Variable("actuator_power", (*_FRICTION, "actuator"), "W", "mechanical power of the actuator", _DRIVE, "series"),
        Variable("motor_current", (*_FRICTION, "actuator"), "A", "current of the motor", _DRIVE, "series"),
        Variable("electrical_power", (*_FRICTION, "actuator"), "W", "power that the motor takes", _DRIVE, "series"),
        Variable("measured_position", _DRIVEN, "rad", "actuator position as recorded and filtered", _DRIVE, "series"),
        Variable("measured_velocity", _DRIVEN, "rad/s", "differences of the measured position", _DRIVE, "series"),
        Variable("measured_acceleration", _DRIVEN, "rad/s^2", "differences of the measured velocity", _DRIVE, "series"),
        Variable("measured_current", (*_FRICTION, "actuator"), "A", "motor current as recorded", _DRIVE, "series"),
        Variable(
            "measured_force",
            (*_FRICTION, "actuator"),
            "N m",
            "force or torque from the measured current",
            _DRIVE,
            "series",
        ),
        Variable("joint_position", _JOINT, "rad", "relative joint position", _AXIS, "series"),
        Variable("joint_velocity", _JOINT, "rad/s", "relative joint velocity", _AXIS, "series"),
        Variable("joint_acceleration", _JOINT, "rad/s^2", "relative joint acceleration", _AXIS, "series"),
        Variable("joint_friction", _RUBBING, "N m", "friction against positive velocity of the joint", _AXIS, "series"),
        Variable(
            "joint_reaction",
            (*_RUBBING, "wrench"),
            "N m, N",
            "moment, then force on the child by the parent, at the joint",
            "world",
            "series",
        ),
        Variable("platform_position", (*_TRAJECTORY, "axis"), "m", "position of the platform", "world", "motion"),
        Variable(
            "platform_rotation",
            (*_TRAJECTORY, "axis", "platform_axis"),
            "1",
            "rotation from the axes of the platform to those of the world",
            "world",
            "motion",
        ),
        Variable(
            "platform_twist", (*_TRAJECTORY, "wrench"), "rad/s, m/s", "angular, then linear velocity", "world", "motion"
        ),
        Variable(
            "platform_acceleration",
            (*_TRAJECTORY, "wrench"),
            "rad/s^2, m/s^2",
            "angular, then linear acceleration",
            "world",
            "motion",
        ),
        Variable("status", _FRICTION, "1", "status of the sample", "none", "status", "int8"),
        Variable("peak_force", _METRIC, "N m", "largest magnitude of the actuator force over time", _DRIVE, "metric"),
        Variable("rms_force", _METRIC, "N m", "root mean square of the actuator force over time", _DRIVE, "metric"),
        Variable("rms_power", _METRIC, "W", "root mean square of the actuator power over time", _DRIVE, "metric"),
        Variable(
            "peak_friction", _METRIC, "N m", "largest magnitude that friction adds to the force", _DRIVE, "metric"
        ),
        Variable(
            "friction_loss",
            _METRIC,
            "J",
            "energy that friction in all joints takes from the actuator",
            _DRIVE,
            "metric",
        ),
        Variable(
            "friction_share", _METRIC, "1", "share of friction in the force, by their magnitudes", _DRIVE, "metric"
        ),
        Variable(
            "actuator_margin",
            _METRIC,
            "1",
            "least share of an actuator's force, velocity or power that is left",
            _DRIVE,
            "metric",
        ),
        Variable("peak_power", _METRIC, "W", "largest magnitude of the actuator power over time", _DRIVE, "metric"),
        Variable(
            "energy", _METRIC, "J", "energy that the actuator delivers: integral of positive power", _DRIVE, "metric"
        ),
        Variable(
            "regenerated_energy", _METRIC, "J", "energy that flows back: integral of negative power", _DRIVE, "metric"
        ),
        Variable("peak_current", _METRIC, "A", "largest magnitude of the current over time", _DRIVE, "metric"),
        Variable("rms_current", _METRIC, "A", "root mean square of the current over time", _DRIVE, "metric"),
        Variable("electrical_energy", _METRIC, "J", "integral of the power that the motor takes", _DRIVE, "metric"),
        Variable(
            "peak_velocity",
            ("design", "trajectory", "actuator"),
            "rad/s",
            "largest magnitude of the actuator velocity over time",
            _DRIVE,
            "metric",
        ),
        Variable(
            "rms_velocity",
            ("design", "trajectory", "actuator"),
            "rad/s",
            "root mean square of the actuator velocity over time",
            _DRIVE,
            "metric",
        ),
        Variable(
            "peak_reaction",
            ("design", "friction", "trajectory", "limb", "joint"),
            "N",
            "largest force that a joint carries over time",
            "none",
            "metric",
        ),
        Variable(
            "friction_residual",
            _CASE,
            "N m, N",
            "largest change of friction in the last step of its iteration with reactions",
            "none",
            "metric",
        ),
        Variable(
            "unsettled_samples",
            _CASE,
            "1",
            "samples whose friction and reactions did not settle",
            "none",
            "metric",
            "int32",
        ),
        Variable("condition", _POSE, "1", "largest condition number of J_IK over time", "none", "metric"),
        Variable("dexterity", _POSE, "1", "mean of 1 / condition over all samples, failed ones 0", "none", "metric"),
        Variable("usable_share", _POSE, "1", "share of the samples that are OK", "none", "metric"),
        Variable("reachable_share", _POSE, "1", "share of the samples that all joints reach", "none", "metric"),
        Variable("usable_volume", _POSE, "m^3", "volume of the workspace whose samples are OK", "none", "metric"),
        Variable("reachable_volume", _POSE, "m^3", "volume of the workspace that all joints reach", "none", "metric"),
        Variable(
            "limit_margin", _POSE, "1", "least distance of a joint to its range's end, in half ranges", "none", "metric"
        ),
        Variable(
            "velocity_margin", _POSE, "1", "least share of a joint's largest velocity that is left", "none", "metric"
        ),
        Variable(
            "platform_singularity_margin",
            _POSE,
            "1",
            "least singular value of J_IK over their root mean square at the reference pose",
            "none",
            "metric",
        ),
        Variable(
            "limb_singularity_margin",
            _POSE,
            "1",
            "root mean square of the singular values of J_IK at the reference pose over the largest one",
            "none",
            "metric",
        ),
        Variable("singularity_margin", _POSE, "1", "the lesser of those of limbs and platform", "none", "metric"),
        Variable(
            "manipulability",
            _POSE,
            "m/rad",
            "least geometric mean over time of platform rates per actuator rate",
            "none",
            "metric",
        ),
        Variable(
            "least_effective_mass", _POSE, "kg", "least eigenvalue of the mass matrix over time", "world", "metric"
        ),
        Variable(
            "largest_effective_mass", _POSE, "kg", "largest eigenvalue of the mass matrix over time", "world", "metric"
        ),
        Variable("failed_samples", _CASE, "1", "samples not OK", "none", "metric", "int32"),
        Variable("worst_status", _CASE, "1", "largest status code over time", "none", "status", "int8"),
    )
}

OK = 0
"""The status of a sample whose results are numbers."""

FINITE = ("actuator_force", "actuator_position", "actuator_velocity", "actuator_power", "peak_force", "rms_force")
"""Variables that hold no NaN where the status is OK; others may, where a robot lacks what they tell."""

LABELS: dict[str, tuple[str, ...]] = {
    "axis": ("x", "y", "z"),
    "platform_axis": ("x", "y", "z"),
    "wrench": ("angular_x", "angular_y", "angular_z", "linear_x", "linear_y", "linear_z"),
}
"""Coordinates that are the same in every store."""

_PRISMATIC = {"N m": "N", "rad": "m", "rad/s": "m/s", "rad/s^2": "m/s^2", "m/rad": "1"}
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,79}")


def lookup(name: str) -> Variable:
    """The row of a variable. Raises StoreError with the nearest name."""
    if name not in VARIABLES:
        close = difflib.get_close_matches(name, VARIABLES, n=1)
        hint = f"did you mean {close[0]!r}?" if close else "known: " + ", ".join(VARIABLES)
        raise StoreError(f"there is no variable {name!r} to store; {hint}")
    return VARIABLES[name]


def units(drive: Drive) -> dict[str, str]:
    """Units of the variables that depend on it, for a robot whose drives are all of one kind."""
    rows = (variable for variable in VARIABLES.values() if "actuator" in variable.dims or variable.units == "m/rad")
    return {row.name: row.units if drive == "revolute" else _PRISMATIC.get(row.units, row.units) for row in rows}


def volume_units(axes: int) -> dict[str, str]:
    """Units of volumes, for a robot whose platform moves along so many axes."""
    return dict.fromkeys(OF_WORKSPACES, {1: "m", 2: "m^2"}.get(axes, "m^3"))


def check_coordinates(coordinates: Iterable[Coordinate], sizes: dict[str, int]) -> tuple[Coordinate, ...]:
    """The coordinates, each with a usable name, a dim of the store and a value per element. Raises StoreError."""
    seen: set[str] = set()
    for each in (checked := tuple(coordinates)):
        folded = each.name.casefold()
        if not NAME.fullmatch(each.name) or folded in VARIABLES or folded in seen:
            raise StoreError(
                f"coordinate {each.name!r} cannot be stored; expected a name of at most 80 letters, digits and '_' "
                "that starts with a letter and is, even in capitals, neither a variable nor another coordinate"
            )
        if each.dim not in sizes or (each.name in sizes and each.name != each.dim):
            raise StoreError(
                f"coordinate {each.name!r} lies along {each.dim!r}; expected one of {', '.join(sizes)}"
                " (a coordinate named like a dim lies along it)"
            )
        if len(each.values) != sizes[each.dim]:
            raise StoreError(
                f"coordinate {each.name!r} has {len(each.values)} values; "
                f"expected {sizes[each.dim]}, one for each {each.dim}"
            )
        seen.add(folded)
    return checked


def check_attributes(attributes: Mapping[str, Any]) -> None:
    """Refuses attributes without the identity of the sweep, or that JSON cannot hold."""
    for key in ("fingerprint", "sweep"):
        if not isinstance(attributes.get(key), str):
            raise StoreError(
                f"attributes.{key}: got {attributes.get(key)!r}; expected a text, which identifies the sweep"
            )
    for key, value in attributes.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise StoreError(f"attributes.{key}: got {value!r}; expected what JSON can hold ({error})") from error


def check_units(units: Mapping[str, str]) -> None:
    """Refuses units of variables that the schema does not know."""
    for name in units:
        lookup(name)
