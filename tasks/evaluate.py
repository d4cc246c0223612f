"""Arrays in, arrays out: inverse kinematics and dynamics of one robot at any batch of states, without a cluster.

All functions take keyword arguments with any leading batch dims, (*batch, core...), and return arrays of the same batch
dims. SI units, world axes; see `robots.model` for frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from robots.friction import LAWS
from robots.model import TWIST, Robot
from robots.parameters import ParameterError, complete, nearest
from robots.status import Status
from tasks import actuation, programs
from tasks.kernels.cache import kernel
from tasks.kernels.kernel import padded

Array = Any
GRAVITY = (0.0, 0.0, -9.81)
CORES = {"position": (3,), "rotation": (3, 3), "twist": (6,), "acceleration": (6,)}


class InverseKinematics(NamedTuple):
    """Joint positions, velocities, accelerations (*batch, limb, joint), and status (*batch).

    Joints are those of the spanning tree, then the joint at the platform; relative variables, zero at the reference
    pose [rad or m].
    """

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    status: np.ndarray


class InverseDynamics(NamedTuple):
    """Actuator forces and velocities (*batch, actuator), rows of J_IK (*batch, actuator, freedom), status (*batch)."""

    force: np.ndarray
    velocity: np.ndarray
    jacobian: np.ndarray
    status: np.ndarray


def inverse_kinematics(
    robot: Robot, *, position: Array, rotation: Array = None, twist: Array = None, acceleration: Array = None
) -> InverseKinematics:
    """Joint motion for a motion of the platform.

    position (*batch, 3) [m], rotation (*batch, 3, 3) (absent: that of the reference pose), twist (*batch, 6) and its
    time derivative acceleration (*batch, 6) as (angular, linear) of the reference point in world axes (absent: zero).
    Samples that cannot be solved hold NaN. Raises ValueError for shapes that do not fit and for motions the platform
    cannot make. Source: hybrid-limb paper, Eqs. (87), (88), (96).
    """
    batch, motion = _motion(robot, position, rotation, twist, acceleration)
    shares = _limbs(robot, motion, GRAVITY, programs.LIMB_SERIES)
    samples = int(np.prod(batch, dtype=int))
    status = np.stack([share["status"][0, 0, :samples] for share in shares])
    bad = (status != Status.OK).any(axis=0)
    series = {}
    for name in programs.LIMB_SERIES:
        values = np.stack([share[name][0, :, :samples] for share in shares])  # limb, joint, sample
        values[..., bad] = np.nan
        series[name.removeprefix("joint_")] = np.moveaxis(values, -1, 0).reshape(*batch, *values.shape[:2])
    return InverseKinematics(**series, status=status.max(axis=0).astype(np.int8).reshape(batch))


def inverse_dynamics(
    robot: Robot,
    *,
    position: Array,
    rotation: Array = None,
    twist: Array = None,
    acceleration: Array = None,
    gravity: Array = GRAVITY,
    load: Array = None,
    friction: Mapping[str, Any] | None = None,
    full: bool = False,
) -> Any:
    """Actuator forces or torques (*batch, actuator) [N or N m] for a motion of the platform; see `inverse_kinematics`.

    gravity (3,) [m/s^2]; load (*batch, 6) = (moment, force) that acts on the platform at its reference point, world
    axes; friction: {"law": name, parameter: value, ...} in the actuated joints. With `full`, an InverseDynamics.
    Samples that cannot be solved hold NaN; their status says why. Raises ValueError or ParameterError for input that
    does not fit. Source: hybrid-limb paper, Eqs. (137) to (140).
    """
    batch, motion = _motion(robot, position, rotation, twist, acceleration)
    samples = int(np.prod(batch, dtype=int))
    shares = _limbs(robot, motion, gravity)
    wrench = kernel(programs.platform_program(robot.family))(
        {"parameters": _parameters(robot), "gravity": _gravity(gravity), "motion": motion}, samples
    )["wrench"]
    if load is not None:
        free = [TWIST.index(name) for name in programs.structure(robot.family).mechanism.platform.mobility]
        acting = np.broadcast_to(_core("load", load, (6,)), (*batch, 6)).reshape(samples, 6)[:, free].T
        wrench[0, :, :samples] -= acting
    inputs = {"motion": motion, "platform_wrench": wrench}
    for k, share in enumerate(shares):
        inputs |= {f"{name}_{k}": share[name] for name in ("wrench", "jacobian", "status")}
    assembled = kernel(programs.assembly_program(robot.family))(inputs, samples)
    status = assembled["status"][0, 0, :samples]
    if friction is not None:
        assembled = {**assembled, "force": _with_friction(friction, assembled, samples)}
    force, velocity = (np.ascontiguousarray(assembled[name][0, :, :samples].T) for name in ("force", "velocity"))
    jacobian = np.concatenate([share["jacobian"][0, :, :samples] for share in shares]).T
    for values in (force, velocity, jacobian):
        values[status != Status.OK] = np.nan
    force, velocity = force.reshape(*batch, -1), velocity.reshape(*batch, -1)
    if not full:
        return force
    shape = (*batch, force.shape[-1], programs.structure(robot.family).freedoms)
    return InverseDynamics(force, velocity, jacobian.reshape(shape), status.astype(np.int8).reshape(batch))


def _with_friction(friction: Mapping[str, Any], assembled: Mapping[str, np.ndarray], samples: int) -> np.ndarray:
    """Actuator forces (1, actuator, padded samples), from the program that sweeps use too: the same bits."""
    name = friction.get("law", "")
    if name not in LAWS:
        raise ParameterError(f"friction: got law {name!r}; {nearest(name, LAWS)}")
    law = LAWS[name]
    values = complete(
        law.parameters, {k: v for k, v in friction.items() if k != "law"}, owner=f"friction law {law.name}"
    )
    inputs = {name: assembled[name] for name in ("force", "velocity", "status")}
    inputs |= {"friction": np.array([list(values.values())], dtype=float), "weight": np.zeros_like(inputs["status"])}
    run = kernel(actuation.program(law.name, inputs["force"].shape[1], ("actuator_force",), ()))
    return run(inputs, samples)["actuator_force"]


def _parameters(robot: Robot) -> np.ndarray:
    return programs.with_parameters(robot.family, robot.values)


def _gravity(gravity: Array) -> np.ndarray:
    result = np.asarray(gravity, dtype=float)
    if result.shape != (3,):
        raise ValueError(f"gravity: got an array of shape {result.shape}; expected (3,), a vector of the world [m/s^2]")
    return result.reshape(1, 3)


def _limbs(
    robot: Robot, motion: np.ndarray, gravity: Array, series: tuple[str, ...] = ()
) -> list[Mapping[str, np.ndarray]]:
    """Results of every limb, (1, size, padded samples) each."""
    mounts = programs.mount_values(robot.family, robot.values)
    inputs = {"parameters": _parameters(robot), "gravity": _gravity(gravity), "motion": motion}
    instances = programs.structure(robot.family).mechanism.instances
    return [
        kernel(programs.limb_program(robot.family, each.limb, series))({**inputs, "mount": mount}, motion.shape[-1])
        for each, mount in zip(instances, mounts, strict=True)
    ]


def _motion(
    robot: Robot, position: Array, rotation: Array, twist: Array, acceleration: Array
) -> tuple[tuple[int, ...], np.ndarray]:
    """Batch shape, and the motion input (1, size, padded samples) of all kernels."""
    given = {"position": position, "rotation": rotation, "twist": twist, "acceleration": acceleration}
    arrays = {name: _core(name, value, CORES[name]) for name, value in given.items() if value is not None}
    batch = np.broadcast_shapes(*(value.shape[: value.ndim - len(CORES[name])] for name, value in arrays.items()))
    samples = int(np.prod(batch, dtype=int))
    flat = {
        name: np.broadcast_to(value, (*batch, *CORES[name])).reshape(samples, -1).T for name, value in arrays.items()
    }
    zero = np.zeros((6, samples))
    motion = _packed(
        robot, flat["position"], flat.get("rotation"), flat.get("twist", zero), flat.get("acceleration", zero)
    )
    fill = np.repeat(motion[:, -1:], padded(samples) - samples, axis=1)
    return batch, np.ascontiguousarray(np.concatenate([motion, fill], axis=1))[None]


def _core(name: str, value: Array, core: tuple[int, ...]) -> np.ndarray:
    result = np.asarray(value, dtype=float)
    if result.shape[max(result.ndim - len(core), 0) :] != core or result.size == 0:
        wanted = ", ".join(map(str, core))
        raise ValueError(f"{name}: got an array of shape {result.shape}; expected (*batch, {wanted}), not empty")
    return result


def _packed(robot: Robot, position: Array, rotation: Array, twist: Array, acceleration: Array) -> np.ndarray:
    made = programs.structure(robot.family)
    home = np.asarray(robot.mechanism.platform.home.rotation, dtype=float).reshape(9, 1)
    turned = np.broadcast_to(home, (9, position.shape[1])) if rotation is None else rotation
    if made.motion_size != 9:
        return np.concatenate([position, turned, twist, acceleration])
    for name, value in (("rotation", turned - home), ("twist", twist[:3]), ("acceleration", acceleration[:3])):
        if np.abs(value).max(initial=0.0) > 1e-12:
            raise ValueError(f"{name}: the platform of {robot.name} cannot rotate; expected no angular part")
    return np.concatenate([position, twist[3:], acceleration[3:]])
