"""Inputs of kernels from the arguments of callers: checked, broadcast to one batch, one column per sample.

Everything that reaches a kernel through a function of `tasks` passes here; behind this door shapes are trusted.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TypeVar, cast, get_args

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import shown
from robots.data_classes import dataclass, replace
from robots.geometry import AXES
from robots.labels import WRENCH, in_order_of
from robots.loads.family import signal_values
from robots.model import Family, Robot
from robots.types import TWIST, LoadAxes
from tasks.dynamics.records import (
    BASE_PARTS,
    STANDING,
    Environment,
    Forces,
    Moving,
    Record,
    ServoLike,
    WoundActing,
    check_record,
    gravity_vector,
)
from tasks.kernels.kernel import Batch, checked, common_batch, rows
from tasks.kernels.keys import Key, joined_rows
from tasks.mechanics.families import mount_values, structure_of
from tasks.mechanics.recursion import MOVING
from tasks.mechanics.structure import with_parameters

JOINTS = ("q", "qd", "qdd")
Named = TypeVar("Named", bound=Record)
CORES: Mapping[str, tuple[int, ...]] = {"position": (3,), "rotation": (3, 3), "twist": (6,), "acceleration": (6,)}
ENTRIES: Mapping[str, tuple[str, ...]] = {"position": AXES, "rotation": (), "twist": WRENCH, "acceleration": WRENCH}
"""Names of the entries of the parts of a motion of a platform."""
NEGLIGIBLE = 1e-12
"""Part of a given motion that a platform need not be able to make [m, rad and their derivatives], or times the size of
the motion where that is above 1."""
SKEWED = 1e-6
"""Difference of R^T R from the unit matrix, at most, in a rotation R."""
TILT = 1e-9
"""The same of the axis about which a platform turns alone [rad]."""


def parameters(robot: Robot, *, timed: bool = False) -> np.ndarray:
    """Return the `parameters` input of kernels, (1, parameter).

    Raises ValueError for a robot whose loads change with time, unless the caller is `timed` and takes a time.
    """
    if robot.family.signals and not timed:
        raise ValueError(
            f"robot: loads of {robot.name} change with time; expected constant loads or springs, such as the loads of "
            "one instant by limbsweep.robots.at_time, or a function that takes a time: inverse_dynamics, "
            "joint_reactions, forward_dynamics, or simulate"
        )
    return with_parameters(robot.family, robot.values)


def refuse_forces(robot: Robot, expected: str) -> None:
    """Refuse by ValueError a robot on whose bodies springs or wrenches act, where no account is taken of them."""
    if robot.mechanism.has_forces:
        raise ValueError(
            f"robot: springs or wrenches act on bodies of {robot.name}, which are not counted here; expected a robot "
            f"without them, or {expected}"
        )


def signals_input(robot: Robot, time: ArrayLike | None, batch: Batch, *, needed: bool) -> dict[Key, np.ndarray]:
    """Return the `signals` input of kernels (1, signal, padded samples), where loads of the robot change with time.

    time (*batch,) [s]. Raises ValueError if it is absent though `needed`, or given for constant loads.
    """
    values = signals_at(robot, time, needed=needed)
    return {} if values is None else {"signals": rows(values, batch)[None]}


def signals_at(robot: Robot, time: ArrayLike | None, *, needed: bool = True) -> np.ndarray | None:
    """Return signals (*batch, signal) at times (*batch,) [s]; None for a robot without. Raises ValueError as above."""
    if not robot.family.signals:
        if time is not None:
            raise ValueError(f"time: no load of {robot.name} changes with time; leave it out")
        return None
    if time is None:
        if needed:
            raise ValueError(f"time: got none, and loads of {robot.name} change with it; expected times (*batch,) [s]")
        time = 0.0
    return np.moveaxis(signal_values(robot.family, checked("time", time, ())), 0, -1)


def mounts(robot: Robot) -> tuple[np.ndarray, ...]:
    """Return the `mount` input of the kernels of each limb, (1, size) each, not to be written to."""
    return _mounts(robot.family, tuple(robot.values[p.name] for p in robot.family.parameters))


@functools.lru_cache(maxsize=64)
def _mounts(family: Family, values: tuple[float, ...]) -> tuple[np.ndarray, ...]:
    """Return the mounts for values in the family's order; kept, because each needs the assembly of a mechanism."""
    names = (p.name for p in family.parameters)
    result = tuple(mount_values(family, dict(zip(names, values, strict=True))))
    for mount in result:
        mount.flags.writeable = False
    return result


def gravity_input(gravity: ArrayLike) -> np.ndarray:
    """Return the `gravity` input of kernels, (1, 3). Raises ValueError."""
    return gravity_vector(gravity).reshape(1, 3)


@dataclass(frozen=True)
class FieldInput:
    """Field that acts on all bodies: gravity (3,), or on a moving base (*batch, 9).

    See `tasks.mechanics.recursion`.
    """

    values: np.ndarray

    @property
    def moving(self) -> bool:
        """True if the base moves."""
        return self.values.shape[-1] == MOVING

    @property
    def batch(self) -> dict[str, Batch]:
        """Batch dims by name, where there are any."""
        return {"base": self.values.shape[:-1]} if self.moving else {}

    def columns(self, batch: Batch) -> np.ndarray:
        """Return the `gravity` input of kernels: (1, 3), or (1, 9, padded samples)."""
        return rows(self.values, batch)[None] if self.moving else self.values.reshape(1, 3)


def field_input(environment: Environment = STANDING) -> FieldInput:
    """Return gravity and base motion in the form that kernels take. Raises ValueError for other shapes."""
    fall = gravity_input(environment.gravity)[0]
    arrays = {
        name: checked(f"base.{name}", values, BASE_PARTS[name], ENTRIES[name])
        for name, values in environment.base_parts.items()
    }
    if not arrays:
        return FieldInput(fall)
    batches = {f"base.{name}": values.shape[: values.ndim - len(BASE_PARTS[name])] for name, values in arrays.items()}
    batch, zero = common_batch(batches), np.zeros(6)
    turn = rotations("base.rotation", arrays["rotation"]) if "rotation" in arrays else np.eye(3)
    twist, change = arrays.get("twist", zero), arrays.get("acceleration", zero)
    world = (fall - change[..., 3:], twist[..., :3], change[..., :3])
    turned = [np.einsum("...ji,...j->...i", turn, part) for part in world]
    return FieldInput(np.concatenate([np.broadcast_to(part, (*batch, 3)) for part in turned], axis=-1))


def rotations(name: str, values: np.ndarray) -> np.ndarray:
    """Return matrices (*batch, 3, 3), with NaN in place of matrices that are no rotations to within SKEWED.

    Reflections, shears and multiples of rotations are no rotations. Raises ValueError if a single matrix is no
    rotation.
    """
    different = values if values.ndim == 2 or any(values.strides[:-2]) else values[(0,) * (values.ndim - 2)]
    x, y, z = np.ascontiguousarray(np.moveaxis(different, (-1, -2), (0, 1)))  # columns, in long vectors
    with np.errstate(all="ignore"):
        pairs = ((x, x, 1.0), (y, y, 1.0), (z, z, 1.0), (x, y, 0.0), (y, z, 0.0), (z, x, 0.0))
        off = functools.reduce(np.maximum, (abs(_along(a, b) - ideal) for a, b, ideal in pairs))
        good = (off <= SKEWED) & (_along(np.cross(x, y, axis=0), z) > 0.0)
    bad = ~good & np.isfinite(different).all(axis=(-1, -2))
    if not bad.any():
        return values
    if values.ndim == 2:
        kind = "a reflection" if off <= SKEWED else f"a matrix with R^T R - 1 of {off:.2g}"
        raise ValueError(f"{name}: got {kind}; expected a rotation matrix, from axes of the body to those of the world")
    return np.where(bad[..., None, None], np.nan, values)


def _along(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the scalar products of vectors (3, ...)."""
    return np.asarray(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


def refuse_actuator(forces: Forces) -> None:
    """Raise ValueError for actuator forces where these are the result, and for a wrong record."""
    check_record("forces", forces, Forces)
    if forces.actuator is not None:
        raise ValueError("actuator: got forces of actuators, which are the result here; expected forward_dynamics")


def actuator_forces(robot: Robot, forces: Forces) -> np.ndarray:
    """Return actuator forces (*batch, actuator). Raises ValueError if absent, and if no record takes their place."""
    check_record("forces", forces, Forces)
    if forces.actuator is None:
        raise ValueError("actuator: got no forces of actuators; expected limbsweep.Forces(actuator=...)")
    if callable(forces.actuator) or isinstance(forces.actuator, ServoLike | WoundActing):
        others = "a servo" if isinstance(forces.actuator, ServoLike) else "motors with an inductance"
        what = "a function" if callable(forces.actuator) else others
        raise ValueError(f"actuator: got {what}; expected an array (*batch, actuator), or a call of simulate")
    actuators = robot.mechanism.actuators
    return checked("actuator", forces.actuator, (len(actuators),), actuators)


def without_change(moving: Moving) -> Moving:
    """Return a motion without its accelerations."""
    return cast(Moving, {name: part for name, part in moving.items() if name not in ("acceleration", "qdd")})


def check_load_axes(axes: LoadAxes) -> None:
    """Refuse other axes than those of the `world` and of the `platform` by ValueError."""
    if not isinstance(axes, str) or axes not in get_args(LoadAxes):
        raise ValueError(f"load_axes: got {shown(axes)}; expected 'world' or 'platform'")


def load_input(robot: Robot, forces: Forces, rotation: ArrayLike | None) -> np.ndarray | None:
    """Return a load (*batch, 6) on the platform in world axes, or None without a load.

    rotation (*batch, 3, 3) of the platform (absent: rotation of the reference pose). Raises ValueError for unknown
    axes, and for a chain.
    """
    load, axes = forces.load, forces.load_axes
    check_load_axes(axes)
    if load is None:
        return None
    if robot.mechanism.is_chain:
        raise ValueError(f"load: {robot.name} is a chain without platform; leave it out")
    if callable(load):
        raise ValueError("load: got a function; expected an array (*batch, 6): functions of time are for simulate")
    wrench = checked("load", load, (6,), WRENCH)
    wrench = np.where(np.isnan(wrench).any(axis=-1, keepdims=True), np.nan, wrench)  # also where limbs would hold it
    if axes == "world":
        return wrench
    turn = checked("rotation", robot.mechanism.platform.home.rotation if rotation is None else rotation, (3, 3))
    moment, force = (np.einsum("...ij,...j->...i", turn, part) for part in (wrench[..., :3], wrench[..., 3:]))
    return np.concatenate([moment, force], axis=-1)


def entries_of(robot: Robot) -> Mapping[str, Sequence[str]]:
    """Return the names of the entries of a robot's motion and forces, by name of the argument."""
    joints = dict.fromkeys(JOINTS, robot.mechanism.freedoms)
    return {**ENTRIES, **joints, "actuator": robot.mechanism.actuators, "load": WRENCH}


def in_robot_order(robot: Robot, record: Named) -> Named:
    """Return a record whose values of pandas are in the order of a robot. Raises ValueError for other names."""
    labels, parts = entries_of(robot), record.present()
    known = {name: in_order_of(labels[name], name, value) for name, value in parts.items() if name in labels}
    return replace(record, **known)  # type: ignore[type-var]


def moving_input(robot: Robot, moving: Moving, others: Mapping[str, Batch] | None = None) -> tuple[Batch, np.ndarray]:
    """Return the batch dims, and the motion input (1, size, padded samples) of all kernels, of platform or joints.

    `others` are the batch dims of the caller's other arguments, by name. Raises ValueError for a part of the motion
    that the robot does not have, for shapes that do not fit, and for motions that the platform cannot make.
    """
    check_names(robot, moving)
    chain = robot.mechanism.is_chain
    cores = dict.fromkeys(JOINTS, (len(robot.mechanism.freedoms),)) if chain else CORES
    labels = entries_of(robot)
    try:
        arrays = {name: checked(name, values, cores[name], labels[name]) for name, values in present(moving).items()}
    except ValueError as error:
        if not chain:
            raise
        raise ValueError(f"{error}; in the order of the tree: {', '.join(robot.mechanism.freedoms)}") from None
    if "rotation" in arrays:
        arrays["rotation"] = rotations("rotation", arrays["rotation"])
    batches = {name: values.shape[: values.ndim - len(cores[name])] for name, values in arrays.items()}
    batch = common_batch(batches | dict(others or {}))
    columns = {name: rows(values.reshape(*batches[name], -1), batch) for name, values in arrays.items()}
    if not chain:
        return batch, _packed(robot, columns)[None]
    still = np.zeros_like(columns["q"])
    return batch, joined_rows([columns.get(name, still) for name in JOINTS])[None]


def present(moving: Moving) -> dict[str, ArrayLike]:
    """Return the parts of a motion that are not absent, by name."""
    parts = cast(Mapping[str, ArrayLike | None], moving)  # a type checker takes the items of a TypedDict for objects
    return {name: values for name, values in parts.items() if values is not None}


def check_names(robot: Robot, moving: Moving) -> None:
    """Refuse arguments that are no part of a robot's motion, and a motion without its first part."""
    names_of_kind, kind = ((JOINTS, "chain"), (tuple(CORES), "parallel robot"))[not robot.mechanism.is_chain]
    parts = present(moving)
    if strange := [name for name in parts if name not in names_of_kind]:
        raise ValueError(f"{strange[0]}: {robot.name} is a {kind}; expected {', '.join(names_of_kind)}")
    if not parts or (kind == "chain" and names_of_kind[0] not in parts):
        raise ValueError(
            f"{names_of_kind[0]}: got nothing; expected the motion of a {kind}: {', '.join(names_of_kind)}"
        )


def _packed(robot: Robot, columns: Mapping[str, np.ndarray]) -> np.ndarray:
    width, frame = next(iter(columns.values())).shape[1], robot.mechanism.platform.home
    home = np.asarray(frame.rotation, dtype=float).reshape(9, 1)
    reference = np.asarray(frame.position, dtype=float).reshape(3, 1)
    position = columns.get("position", np.broadcast_to(reference, (3, width)))
    turned = columns.get("rotation", np.broadcast_to(home, (9, width)))
    zero = np.zeros((6, width))
    twist, acceleration = columns.get("twist", zero), columns.get("acceleration", zero)
    _check_axes(robot, {"position": position, "twist": twist[3:], "acceleration": acceleration[3:]})
    held = [k for k, name in enumerate(TWIST) if name not in robot.mechanism.platform.mobility]
    unread = (*turned, *twist[held], *acceleration[held])  # by kernels: a NaN there is one of the sample
    lost = functools.reduce(np.logical_or, map(np.isnan, unread))
    position = np.where(lost, np.nan, position) if lost.any() else position
    if structure_of(robot.family).motion_size != 9:
        _check_turns(robot, turned, {"twist": twist[:3], "acceleration": acceleration[:3]})
        return joined_rows([position, turned, twist, acceleration])
    for name, value in (("rotation", turned - home), ("twist", twist[:3]), ("acceleration", acceleration[:3])):
        if (np.abs(value) > NEGLIGIBLE).any():
            raise ValueError(f"{name}: the platform of {robot.name} cannot rotate; expected no angular part")
    return joined_rows([position, twist[3:], acceleration[3:]])


def _moves(component: np.ndarray, vector: np.ndarray) -> bool:
    """Return whether a component of a motion (3, samples) is more than rounding at any sample; NaN is not."""
    size = np.max(np.abs(vector), where=np.isfinite(vector), initial=1.0)
    return bool((np.abs(component) > NEGLIGIBLE * size).any())


def _check_turns(robot: Robot, rotation: np.ndarray, vectors: Mapping[str, np.ndarray]) -> None:
    """Refuse turns about axes that the platform is not free to turn about; rotation (9, samples), vectors (3, samples).

    With two free axes the possible rotations follow from the limbs, and are not checked here.
    """
    platform = robot.mechanism.platform
    free = [k for k, name in enumerate(TWIST[:3]) if name in platform.mobility]
    for k, axis in enumerate("xyz"):
        for name, vector in vectors.items():
            if k not in free and _moves(vector[k], vector):
                raise ValueError(f"{name}: the platform of {robot.name} cannot turn about {axis}; expected 0 there")
    if len(free) == 1:
        home = np.asarray(platform.home.rotation, dtype=float)
        turns = rotation.T.reshape(-1, 3, 3) @ home.T
        if (np.abs(turns[:, :, free[0]] - np.eye(3)[free[0]]) > TILT).any():
            raise ValueError(
                f"rotation: the platform of {robot.name} turns about {'xyz'[free[0]]} alone; expected that axis at rest"
            )


def _check_axes(robot: Robot, vectors: Mapping[str, np.ndarray]) -> None:
    """Refuse motion along axes that the platform is not free to move along; vectors (3, samples)."""
    platform = robot.mechanism.platform
    for k, axis in enumerate("xyz"):
        if f"v{axis}" in platform.mobility:
            continue
        for name, vector in vectors.items():
            expected = float(platform.home.position[k]) if name == "position" else 0.0
            if _moves(vector[k] - expected, vector):
                raise ValueError(
                    f"{name}: the platform of {robot.name} cannot move along {axis}; expected {expected:g} there"
                )
