"""Inverse dynamics as a product: actuator forces = Y(motion) times parameters, for batches, by compiled kernels.

Parameters are the inertial ones of bodies and drives (`tasks.identification.columns`) and the linear ones of friction.
Trees, closed chains and parallel robots alike: constraint embedding is linear in the wrenches of bodies.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import Literal, NamedTuple, TypedDict, overload

import numpy as np
from numpy.typing import ArrayLike

from robots.friction.laws import LAWS
from robots.joint_places import places
from robots.model import Robot
from robots.status import Status
from tasks.arrays.inputs import (
    GRAVITY,
    FieldInput,
    Moving,
    field_input,
    mounts,
    moving_input,
    parameters,
    refuse_forces,
)
from tasks.arrays.inverse import Dynamics, weights_input
from tasks.friction.given import Friction, FrictionInput, friction_input
from tasks.identification import programs
from tasks.identification.columns import (
    Column,
    body_parameters,
    family_columns,
    limb_columns,
    platform_has_columns,
    selection,
    shared_columns,
)
from tasks.kernels.cache import kernel
from tasks.kernels.keys import Indexed, Values, indexed
from tasks.mechanics.structure import structure_of
from tasks.programs.stages import stages


class Regressor(NamedTuple):
    """Y (*batch, actuator, parameter), its columns, and status (*batch)."""

    matrix: np.ndarray
    columns: tuple[Column, ...]
    status: np.ndarray

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)


class Options(TypedDict, total=False):
    """What `regressor` takes beside a motion."""

    gravity: ArrayLike
    friction: Friction
    weights: ArrayLike | None
    shared: bool


@overload
def regressor(
    robot: Robot, *, position: ArrayLike | None = None, rotation: ArrayLike | None = None,
    twist: ArrayLike | None = None, acceleration: ArrayLike | None = None,
    q: ArrayLike | None = None, qd: ArrayLike | None = None, qdd: ArrayLike | None = None,
    gravity: ArrayLike = GRAVITY, friction: Friction = None, weights: ArrayLike | None = None,
    base_rotation: ArrayLike | None = None, base_twist: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None,
    shared: bool = False, full: Literal[False] = False,
) -> np.ndarray: ...  # fmt: skip
@overload
def regressor(
    robot: Robot, *, position: ArrayLike | None = None, rotation: ArrayLike | None = None,
    twist: ArrayLike | None = None, acceleration: ArrayLike | None = None,
    q: ArrayLike | None = None, qd: ArrayLike | None = None, qdd: ArrayLike | None = None,
    gravity: ArrayLike = GRAVITY, friction: Friction = None, weights: ArrayLike | None = None,
    base_rotation: ArrayLike | None = None, base_twist: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None,
    shared: bool = False, full: Literal[True],
) -> Regressor: ...  # fmt: skip
def regressor(
    robot: Robot, *, position: ArrayLike | None = None, rotation: ArrayLike | None = None,
    twist: ArrayLike | None = None, acceleration: ArrayLike | None = None,
    q: ArrayLike | None = None, qd: ArrayLike | None = None, qdd: ArrayLike | None = None,
    gravity: ArrayLike = GRAVITY, friction: Friction = None, weights: ArrayLike | None = None,
    base_rotation: ArrayLike | None = None, base_twist: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None,
    shared: bool = False, full: bool = False,
) -> np.ndarray | Regressor:  # fmt: skip
    """Y (*batch, actuator, parameter) with Y @ parameters = actuator forces; arguments as in `tasks.inverse_dynamics`.

    With `shared`, limbs that are copies of each other have the same inertial parameters. Columns of friction come last:
    for every joint of each group those of `FrictionLaw.linear`; the others, such as a Stribeck velocity, are as given.
    Normal loads from reactions are linear in parameters only where friction does not change reactions: in trees, and
    where only actuated joints have friction; other friction is refused. With `full`, a Regressor. Samples that cannot
    be solved hold NaN. A base that moves (`base_rotation`, `base_twist`, `base_acceleration`, as in inverse dynamics)
    shows more parameters than one that stands. Raises ValueError or ParameterError for input that does not fit.
    Source: Atkeson, An and Hollerbach 1986, for trees; through constraint embedding by hybrid-limb paper, Eq. (140).

        >>> robot = ls.robots.build("planar_3r")
        >>> Y = ls.regressor(robot, q=[0.1, 0.2, 0.3], qd=[1.0, 0.0, 0.0])
        >>> torque = Y @ list(ls.standard_parameters(robot).values())
        >>> np.allclose(torque, ls.inverse_dynamics(robot, q=[0.1, 0.2, 0.3], qd=[1.0, 0.0, 0.0]))
        True
    """
    moving = Moving(position=position, rotation=rotation, twist=twist, acceleration=acceleration, q=q, qd=qd, qdd=qdd)
    refuse_forces(robot, "their moments and forces taken from what was measured")
    field = field_input(gravity, base_rotation, base_twist, base_acceleration)
    batch, motion = moving_input(robot, moving, field.batch)
    samples, family = int(np.prod(batch, dtype=int)), robot.family
    inputs = {"parameters": parameters(robot), "gravity": field.columns(batch), "motion": motion}
    parts, shares = _limb_columns(robot, inputs, samples, field.moving)
    if platform_has_columns(family):
        parts.append(kernel(programs.platform_program(family, field.moving))(inputs, samples)["columns"])
    if structure_of(family).compared:
        shares["parameters"] = inputs["parameters"]
        shares |= {Indexed("mount", k): mount for k, mount in enumerate(mounts(robot))}
    assembled = kernel(programs.actuator_program(family))(shares | weights_input(robot, weights), samples)
    free = structure_of(family).freedoms
    along = np.concatenate([_per_sample(part, free, samples) for part in parts], axis=2)
    matrix = np.matmul(_per_sample(assembled["map"], len(robot.mechanism.actuators), samples), along)
    columns = shared_columns(family)[0] if shared else family_columns(family)
    matrix = matrix @ selection(family) if shared else matrix
    status = assembled["status"][0, 0, :samples]
    if friction is not None:
        groups = friction_input(robot, friction)
        rubbing = friction_columns(robot, groups, moving, field=field, weights=weights)
        rubbing = np.broadcast_to(rubbing, (*batch, *rubbing.shape[-2:]))
        matrix = np.concatenate([matrix, rubbing.reshape(samples, *rubbing.shape[-2:])], axis=2)
        columns += friction_parameters(robot, groups)
    matrix[status != Status.OK] = np.nan
    matrix = matrix.reshape(*batch, *matrix.shape[1:])
    return Regressor(matrix, columns, status.astype(np.int8).reshape(batch)) if full else matrix


def standard_parameters(robot: Robot, *, friction: Friction = None, shared: bool = False) -> dict[str, float]:
    """The robot's own values of the columns of `regressor`, by name. Raises ParameterError as it does.

    >>> ls.standard_parameters(ls.robots.build("planar_3r"))["link_1.mass"]
    3.0
    """
    mechanism, family = robot.mechanism, robot.family
    values = [limb_columns(family, k.limb).values(mechanism.limbs[k.limb]) for k in mechanism.instances]
    values += [body_parameters(mechanism.platform.inertia)] if platform_has_columns(family) else []
    columns = shared_columns(family)[0] if shared else family_columns(family)
    every = np.concatenate(values).astype(float)
    if shared:
        chosen = selection(family)
        every = chosen.T @ every / chosen.sum(axis=0)
    result = dict(zip((column.name for column in columns), every.tolist(), strict=True))
    return result | (_friction_values(robot, friction_input(robot, friction)) if friction is not None else {})


def require_linear(robot: Robot, friction: FrictionInput) -> None:
    """Refuse friction that changes the reactions which load it: forces are not linear in it. Raises ValueError."""
    if not friction.statics:
        return
    passive = {place: name for name, (place, _) in places(robot.mechanism).items() if place.actuator < 0}
    if rubbing := [passive[place] for group in friction.groups for place in group.places if place in passive]:
        raise ValueError(
            f"friction: got a load from reactions and friction in passive joints, such as {rubbing[0]}, which changes "
            "these reactions: forces are not a product of a regressor with parameters; expected load constant, or "
            "friction in actuated joints alone; from recordings of a machine it is found without one"
        )


def friction_parameters(robot: Robot, friction: FrictionInput) -> tuple[Column, ...]:
    """Columns of the friction of each joint with friction: parameters in which its law is linear."""
    joint = {place: name for name, (place, _) in places(robot.mechanism).items()}
    return tuple(
        Column(joint[place], parameter.name, parameter.unit)
        for group in friction.groups
        for place in group.places
        for parameter in LAWS[group.law].linear
    )


def _friction_values(robot: Robot, friction: FrictionInput) -> dict[str, float]:
    numbers = iter(friction.values[0])
    own = [dict(zip(group.parameters, numbers, strict=False)) for group in friction.groups]
    values = [
        float(known[parameter.name])
        for group, known in zip(friction.groups, own, strict=True)
        for _ in group.places
        for parameter in LAWS[group.law].linear
    ]
    return dict(zip((column.name for column in friction_parameters(robot, friction)), values, strict=True))


def _limb_columns(
    robot: Robot, inputs: Mapping[str, np.ndarray], samples: int, moving_base: bool
) -> tuple[list[np.ndarray], Values]:
    """Columns of each limb on the freedoms, (1, size, padded samples); and what the actuators need of them."""
    parts: list[np.ndarray] = []
    shares: Values = {}
    instances = structure_of(robot.family).mechanism.instances
    for k, (instance, mount) in enumerate(zip(instances, mounts(robot), strict=True)):
        outputs = kernel(programs.limb_program(robot.family, instance.limb, moving_base))(
            {**inputs, "mount": mount}, samples
        )
        parts.append(outputs["columns"])
        shares |= indexed(k, {name: outputs[name] for name in ("jacobian", "status")})
    return parts, shares


def _per_sample(values: np.ndarray, rows: int, samples: int) -> np.ndarray:
    """An output of a kernel (1, rows * n, padded samples) as matrices (samples, rows, n)."""
    columns = values.shape[1] // rows
    return np.ascontiguousarray(np.moveaxis(values[0, :, :samples], -1, 0)).reshape(samples, rows, columns)


def friction_columns(
    robot: Robot,
    friction: FrictionInput,
    moving: Moving,
    *,
    gravity: ArrayLike = GRAVITY,
    field: FieldInput | None = None,
    weights: ArrayLike | None = None,
) -> np.ndarray:
    """The columns of friction alone (*batch, actuator, parameter), see `regressor`, which has them last."""
    actuators = len(robot.mechanism.actuators)
    require_linear(robot, friction)
    dynamics = Dynamics(robot, moving, ("actuator_force",), field or field_input(gravity), None, weights, friction)
    if not friction_parameters(robot, friction):
        return np.zeros((*dynamics.batch, actuators, 0))
    dynamics.run(takewhile(lambda stage: stage.name != "actuation", stages(dynamics.request)))
    run = kernel(programs.friction_program(robot.family, friction.groups))
    outputs = run({name: dynamics.values[name] for name in run.program.inputs}, dynamics.samples)
    columns = _per_sample(outputs["columns"], actuators, dynamics.samples)
    return columns.reshape(*dynamics.batch, *columns.shape[1:])
