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
from tasks.reactions import SHARES

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
    batch, motion = motion_input(robot, position, rotation, twist, acceleration)
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
    weights: Array = None,
    full: bool = False,
) -> Any:
    """Actuator forces or torques (*batch, actuator) [N or N m] for a motion of the platform; see `inverse_kinematics`.

    gravity (3,) [m/s^2]; load (*batch, 6) = (moment, force) that acts on the platform at its reference point, world
    axes; friction: {"law": name, parameter: value, ...} in the actuated joints; weights (actuator,), of a robot with
    more actuators than freedoms: the frictionless forces have the least sum of weight times square, one each where they
    are absent. With `full`, an InverseDynamics.
    Samples that cannot be solved hold NaN; their status says why. Raises ValueError or ParameterError for input that
    does not fit. Source: hybrid-limb paper, Eqs. (137) to (140).
    """
    batch, motion = motion_input(robot, position, rotation, twist, acceleration)
    samples = int(np.prod(batch, dtype=int))
    done = _Dynamics(robot, batch, motion, gravity, load, weights)
    assembled = done.assembled
    if friction is not None:
        assembled = {**assembled, "force": _with_friction(friction, assembled, samples)}
    force, velocity = (np.ascontiguousarray(assembled[name][0, :, :samples].T) for name in ("force", "velocity"))
    jacobian = np.concatenate([share["jacobian"][0, :, :samples] for share in done.shares]).T
    for values in (force, velocity, jacobian):
        values[done.status != Status.OK] = np.nan
    force, velocity = force.reshape(*batch, -1), velocity.reshape(*batch, -1)
    if not full:
        return force
    shape = (*batch, force.shape[-1], programs.structure(robot.family).freedoms)
    return InverseDynamics(force, velocity, jacobian.reshape(shape), done.status.astype(np.int8).reshape(batch))


def joint_reactions(
    robot: Robot,
    *,
    position: Array,
    rotation: Array = None,
    twist: Array = None,
    acceleration: Array = None,
    gravity: Array = GRAVITY,
    load: Array = None,
    full: bool = False,
) -> Any:
    """Reaction wrenches of all joints (*batch, limb, joint, 6) for a motion of the platform; see `inverse_dynamics`.

    (moment [N m], force [N]) on the child by the parent at the joint's origin, world axes; joints in the order of
    `Limb.joints`; the drive's force is inside its joint. The child of a joint at the platform is the platform, that of a
    loop's cut joint the second body of its closure. Where a mechanism is overconstrained, some components are not unique:
    those given have the least norm, see `tasks.reactions`. With `full`, a pair with the status (*batch).
    Source: hybrid-limb paper, section 6, with the multipliers that its projection removes.
    """
    batch, motion = motion_input(robot, position, rotation, twist, acceleration)
    samples = int(np.prod(batch, dtype=int))
    done = _Dynamics(robot, batch, motion, gravity, load, statics=True)
    wrenches = done.reactions()
    most = max(wrench.shape[1] // 6 for wrench in wrenches)
    result = np.full((samples, len(wrenches), most, 6), np.nan)
    for k, wrench in enumerate(wrenches):
        result[:, k, : wrench.shape[1] // 6] = wrench[0, :, :samples].T.reshape(samples, -1, 6)
    result[done.status != Status.OK] = np.nan
    result = result.reshape(*batch, *result.shape[1:])
    return (result, done.status.astype(np.int8).reshape(batch)) if full else result


def actuator_positions(robot: Robot, *, position: Array, rotation: Array = None) -> np.ndarray:
    """Positions of the actuated joints (*batch, actuator) [rad or m]; see `inverse_kinematics`."""
    found = inverse_kinematics(robot, position=position, rotation=rotation).position
    mechanism = programs.structure(robot.family).mechanism
    chosen = [
        found[..., k, mechanism.limbs[each.limb].index(name)]
        for k, each in enumerate(mechanism.instances)
        for name in mechanism.limbs[each.limb].actuated
    ]
    return np.stack(chosen, axis=-1)


class _Dynamics:
    """Inverse dynamics of one robot for a batch, up to the actuator forces; arrays (1, size, padded samples)."""

    def __init__(
        self,
        robot: Robot,
        batch: tuple[int, ...],
        motion: Array,
        gravity: Array,
        load: Array,
        weights: Array = None,
        statics: bool = False,
    ):
        self.robot, self.motion, self.samples = robot, motion, int(np.prod(batch, dtype=int))
        self.inputs = {"parameters": parameters(robot), "gravity": gravity_input(gravity), "motion": motion}
        self.shares = _limbs(robot, motion, gravity, statics=statics)
        self.own = kernel(programs.platform_program(robot.family, statics))(self.inputs, self.samples)
        if load is not None:
            acting = np.broadcast_to(_core("load", load, (6,)), (*batch, 6)).reshape(self.samples, 6)
            mobility = programs.structure(robot.family).mechanism.platform.mobility
            for name, directions in (("wrench", mobility), ("held", programs.held_directions(robot.family))):
                if name in self.own:
                    chosen = [TWIST.index(each) for each in directions]
                    self.own[name][0, :, : self.samples] -= acting[:, chosen].T
        inputs = {"motion": motion, "platform_wrench": self.own["wrench"], **_weights(robot, weights)}
        for k, share in enumerate(self.shares):
            inputs |= {f"{name}_{k}": share[name] for name in ("wrench", "jacobian", "status")}
        self.assembled = kernel(programs.assembly_program(robot.family))(inputs, self.samples)
        self.status = self.assembled["status"][0, 0, : self.samples]

    def reactions(self) -> list[np.ndarray]:
        """Wrenches of all joints of each limb (1, joint * 6, padded samples)."""
        family, force, width = self.robot.family, self.assembled["force"], self.motion.shape[-1]
        parts = {f"{name}_{k}": share[name] for k, share in enumerate(self.shares) for name in SHARES}
        balanced = kernel(programs.balance_program(family))({"force": force, "held": self.own["held"], **parts}, width)
        mechanism, start, result = programs.structure(family).mechanism, 0, []
        for k, (instance, mount) in enumerate(zip(mechanism.instances, mounts(self.robot), strict=True)):
            stop = start + len(mechanism.limbs[instance.limb].actuated)
            inputs = {
                **self.inputs,
                "mount": mount,
                "force": force[:, start:stop],
                "redundant": balanced[f"redundant_{k}"],
            }
            result.append(kernel(programs.reaction_program(family, instance.limb))(inputs, width)["joint_reaction"])
            start = stop
        return result


def _weights(robot: Robot, weights: Array) -> dict[str, np.ndarray]:
    even = programs.even_weights(robot.family)
    if weights is None:
        return even
    if not even:
        raise ValueError(f"weights: {robot.name} has no more actuators than freedoms; leave them out")
    result = np.asarray(weights, dtype=float)
    if result.shape != even["weights"].shape[1:] or not (np.isfinite(result) & (result > 0)).all():
        raise ValueError(
            f"weights: got {weights!r}; "
            f"expected {even['weights'].size} finite numbers above zero, one for each actuator"
        )
    return {"weights": result[None]}


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


def parameters(robot: Robot) -> np.ndarray:
    """The `parameters` input of kernels, (1, parameter)."""
    return programs.with_parameters(robot.family, robot.values)


def gravity_input(gravity: Array) -> np.ndarray:
    """The `gravity` input of kernels, (1, 3)."""
    result = np.asarray(gravity, dtype=float)
    if result.shape != (3,):
        raise ValueError(f"gravity: got an array of shape {result.shape}; expected (3,), a vector of the world [m/s^2]")
    return result.reshape(1, 3)


def mounts(robot: Robot) -> list[np.ndarray]:
    """The `mount` input of the kernels of each limb, (1, size) each."""
    return programs.mount_values(robot.family, robot.values)


def _limbs(
    robot: Robot, motion: np.ndarray, gravity: Array, series: tuple[str, ...] = (), statics: bool = False
) -> list[Mapping[str, np.ndarray]]:
    """Results of every limb, (1, size, padded samples) each."""
    inputs = {"parameters": parameters(robot), "gravity": gravity_input(gravity), "motion": motion}
    instances = programs.structure(robot.family).mechanism.instances
    return [
        kernel(programs.limb_program(robot.family, each.limb, series, statics))(
            {**inputs, "mount": mount}, motion.shape[-1]
        )
        for each, mount in zip(instances, mounts(robot), strict=True)
    ]


def motion_input(
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
    _check_plane(robot, {"position": position, "twist": twist[3:], "acceleration": acceleration[3:]})
    return np.concatenate([position, twist[3:], acceleration[3:]])


def _check_plane(robot: Robot, vectors: Mapping[str, np.ndarray]) -> None:
    """Refuse motion along axes that the platform is not free to move along; vectors (3, samples)."""
    platform = robot.mechanism.platform
    for k, axis in enumerate("xyz"):
        if f"v{axis}" in platform.mobility:
            continue
        for name, vector in vectors.items():
            expected = float(platform.home.position[k]) if name == "position" else 0.0
            if np.abs(vector[k] - expected).max(initial=0.0) > 1e-12:
                raise ValueError(
                    f"{name}: the platform of {robot.name} cannot move along {axis}; expected {expected:g} there"
                )
