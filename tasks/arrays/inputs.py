"""Inputs of kernels from what callers give: checked, brought to one batch, one column per sample.

Everything that reaches a kernel through a function of `tasks` passes here; behind this door shapes are trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from robots.model import Robot
from robots.parameters import nearest
from tasks.kernels.batches import Batch, checked, common_batch, rows
from tasks.kernels.types import Array
from tasks.mechanics.field import MOVING
from tasks.mechanics.structure import mount_values, structure_of, with_parameters


class Moving(TypedDict, total=False):
    """How a robot moves, arrays with any leading batch dims; what is absent is zero, or that of the reference pose.

    Of a parallel robot, its platform: position (*batch, 3) [m], which has to be given; rotation (*batch, 3, 3); twist
    (*batch, 6) and its time derivative acceleration (*batch, 6) as (angular, linear) of the reference point; all in
    world axes. Of a chain, its independent joints (`Mechanism.freedoms`): positions q, rates qd and accelerations qdd
    (*batch, freedom) [rad or m]; q has to be given.
    """

    position: Array
    rotation: Array
    twist: Array
    acceleration: Array
    q: Array
    qd: Array
    qdd: Array


GRAVITY = (0.0, 0.0, -9.81)
JOINTS = ("q", "qd", "qdd")
CORES = {"position": (3,), "rotation": (3, 3), "twist": (6,), "acceleration": (6,)}
NEGLIGIBLE = 1e-12
"""Up to this a platform may be given a motion that it cannot make [m, rad and their derivatives]."""


def parameters(robot: Robot) -> np.ndarray:
    """The `parameters` input of kernels, (1, parameter)."""
    return with_parameters(robot.family, robot.values)


def mounts(robot: Robot) -> list[np.ndarray]:
    """The `mount` input of the kernels of each limb, (1, size) each."""
    return mount_values(robot.family, robot.values)


def gravity_input(gravity: Array) -> np.ndarray:
    """The `gravity` input of kernels, (1, 3). Raises ValueError."""
    result = np.asarray(gravity, dtype=float)
    if result.shape != (3,):
        raise ValueError(f"gravity: got an array of shape {result.shape}; expected (3,), a vector of the world [m/s^2]")
    return result.reshape(1, 3)


class Base(TypedDict, total=False):
    """How the base of a robot moves in the world; what is absent is zero, and rotation the identity.

    base_rotation (*batch, 3, 3) turns the base's axes to those of the world; base_twist (*batch, 6) and its time
    derivative base_acceleration (*batch, 6) as (angular, linear) of the base's origin, in the axes of the world.
    Gravity is in the axes of the world too; everything else, given or found, is relative to the base and in its axes.
    """

    base_rotation: Array
    base_twist: Array
    base_acceleration: Array


BASES = {"base_rotation": (3, 3), "base_twist": (6,), "base_acceleration": (6,)}


@dataclass(frozen=True)
class FieldInput:
    """What acts on all bodies: gravity (3,), or where the base moves (*batch, 9); see `tasks.mechanics.field`."""

    values: np.ndarray

    @property
    def moving(self) -> bool:
        """Whether the base moves."""
        return self.values.shape[-1] == MOVING

    @property
    def batch(self) -> dict[str, Batch]:
        """Batch dims by name, where there are any."""
        return {"base": self.values.shape[:-1]} if self.moving else {}

    def columns(self, batch: Batch) -> np.ndarray:
        """The `gravity` input of kernels: (1, 3), or (1, 9, padded samples)."""
        return rows(self.values, batch)[None] if self.moving else self.values.reshape(1, 3)


def field_input(gravity: Array, base: Base) -> FieldInput:
    """Gravity and the motion of the base. Raises TypeError for unknown names, ValueError for shapes that do not fit."""
    fall = gravity_input(gravity)[0]
    for name in base:
        if name not in BASES:
            raise TypeError(f"got an unexpected keyword {name!r}; {nearest(name, BASES)}")
    given = {name: checked(name, value, BASES[name]) for name, value in base.items() if value is not None}
    if not given:
        return FieldInput(fall)
    batch = common_batch({name: value.shape[: value.ndim - len(BASES[name])] for name, value in given.items()})
    turn, zero = given.get("base_rotation", np.eye(3)), np.zeros(6)
    twist, change = given.get("base_twist", zero), given.get("base_acceleration", zero)
    world = (fall - change[..., 3:], twist[..., :3], change[..., :3])
    turned = [np.einsum("...ji,...j->...i", turn, part) for part in world]
    return FieldInput(np.concatenate([np.broadcast_to(part, (*batch, 3)) for part in turned], axis=-1))


def check_load_axes(axes: str) -> None:
    """Refuse other axes than those of the `world` and of the `platform` by ValueError."""
    if axes not in ("world", "platform"):
        raise ValueError(f"load_axes: got {axes!r}; expected 'world' or 'platform'")


def in_world(robot: Robot, load: Array, rotation: Array, axes: str) -> Array:
    """A load (*batch, 6) on the platform in world axes, given in those of the `world` or of the `platform`.

    rotation (*batch, 3, 3) is the platform's (absent: that of the reference pose). Raises ValueError for other axes.
    """
    check_load_axes(axes)
    if load is not None and robot.mechanism.is_chain:
        raise ValueError(f"load: {robot.name} is a chain without platform; leave it out")
    if load is None or axes == "world":
        return load
    turn = robot.mechanism.platform.home.rotation if rotation is None else rotation
    turn, given = checked("rotation", turn, (3, 3)), checked("load", load, (6,))
    moment, force = (np.einsum("...ij,...j->...i", turn, part) for part in (given[..., :3], given[..., 3:]))
    return np.concatenate([moment, force], axis=-1)


def moving_input(robot: Robot, moving: Moving, beside: Mapping[str, Batch] | None = None) -> tuple[Batch, np.ndarray]:
    """Batch dims, and the motion input (1, size, padded samples) of all kernels, of a platform or of joints.

    `beside` names the batch dims of what else a caller gives. Raises TypeError for a name that is not one of a motion,
    ValueError for one that the robot does not have, for shapes that do not fit, and for motions that the platform
    cannot make.
    """
    check_names(robot, moving)
    given = {name: value for name, value in moving.items() if value is not None}
    if not robot.mechanism.is_chain:
        return motion_input(robot, **given, beside=beside)
    core = (len(robot.mechanism.freedoms),)
    arrays = {name: checked(name, value, core) for name, value in given.items()}
    batch = common_batch({name: value.shape[:-1] for name, value in arrays.items()} | dict(beside or {}))
    still = np.zeros(core)
    return batch, np.concatenate([rows(arrays.get(name, still), batch) for name in JOINTS])[None]


def check_names(robot: Robot, moving: Mapping[str, Any]) -> None:
    """Refuse what is not part of a robot's motion, and a motion without its first part."""
    for name in moving:
        if name not in (*CORES, *JOINTS):
            raise TypeError(f"got an unexpected keyword {name!r}; {nearest(name, (*CORES, *JOINTS))}")
    known, kind = ((JOINTS, "chain"), (tuple(CORES), "parallel robot"))[not robot.mechanism.is_chain]
    if strange := [name for name, value in moving.items() if value is not None and name not in known]:
        raise ValueError(f"{strange[0]}: {robot.name} is a {kind}; expected {', '.join(known)}")
    if moving.get(known[0]) is None:
        raise ValueError(f"{known[0]}: got nothing; expected the motion of a {kind}: {', '.join(known)}")


def motion_input(
    robot: Robot,
    position: Array,
    rotation: Array = None,
    twist: Array = None,
    acceleration: Array = None,
    beside: Mapping[str, Batch] | None = None,
) -> tuple[Batch, np.ndarray]:
    """The motion input of a platform; see `moving_input`."""
    given = {"position": position, "rotation": rotation, "twist": twist, "acceleration": acceleration}
    arrays = {name: checked(name, value, CORES[name]) for name, value in given.items() if value is not None}
    own = {name: value.shape[: value.ndim - len(CORES[name])] for name, value in arrays.items()}
    batch = common_batch(own | dict(beside or {}))
    columns = {name: rows(value.reshape(*own[name], -1), batch) for name, value in arrays.items()}
    return batch, _packed(robot, columns)[None]


def _packed(robot: Robot, columns: Mapping[str, np.ndarray]) -> np.ndarray:
    position = columns["position"]
    home = np.asarray(robot.mechanism.platform.home.rotation, dtype=float).reshape(9, 1)
    turned = columns.get("rotation", np.broadcast_to(home, (9, position.shape[1])))
    zero = np.zeros((6, position.shape[1]))
    twist, acceleration = columns.get("twist", zero), columns.get("acceleration", zero)
    if structure_of(robot.family).motion_size != 9:
        return np.concatenate([position, turned, twist, acceleration])
    for name, value in (("rotation", turned - home), ("twist", twist[:3]), ("acceleration", acceleration[:3])):
        if np.abs(value).max() > NEGLIGIBLE:
            raise ValueError(f"{name}: the platform of {robot.name} cannot rotate; expected no angular part")
    _check_axes(robot, {"position": position, "twist": twist[3:], "acceleration": acceleration[3:]})
    return np.concatenate([position, twist[3:], acceleration[3:]])


def _check_axes(robot: Robot, vectors: Mapping[str, np.ndarray]) -> None:
    """Refuse motion along axes that the platform is not free to move along; vectors (3, samples)."""
    platform = robot.mechanism.platform
    for k, axis in enumerate("xyz"):
        if f"v{axis}" in platform.mobility:
            continue
        for name, vector in vectors.items():
            expected = float(platform.home.position[k]) if name == "position" else 0.0
            if np.abs(vector[k] - expected).max() > NEGLIGIBLE:
                raise ValueError(
                    f"{name}: the platform of {robot.name} cannot move along {axis}; expected {expected:g} there"
                )
