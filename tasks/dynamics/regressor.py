"""Inverse dynamics as a product: actuator forces = Y(motion) times parameters, for batches, by compiled kernels.

The columns of bodies are defined in `tasks.dynamics.inertial_parameters`; the columns of friction come last. Kernels
are made from `tasks.dynamics.regressor_programs`. Sources: Atkeson, An and Hollerbach 1986, for the linear form;
hybrid-limb paper, Eqs. (97), (140).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import check_arguments
from robots.friction.laws import LAWS
from robots.limits import places
from robots.model import Family, Robot
from robots.status import Status
from tasks.dynamics.inertial_parameters import (
    Column,
    body_parameters,
    family_columns,
    limb_columns,
    platform_has_columns,
    selection,
    shared_columns,
)
from tasks.dynamics.inputs import (
    FieldInput,
    field_input,
    mounts,
    moving_input,
    parameters,
    refuse_actuator,
    refuse_forces,
)
from tasks.dynamics.inverse import Dynamics, Influences, weights_input
from tasks.dynamics.records import (
    NO_FORCES,
    STANDING,
    TIMELESS,
    Environment,
    Forces,
    MotionKeywords,
    Moving,
    State,
    long_form,
)
from tasks.dynamics.regressor_programs import actuator_program, friction_program, limb_program, platform_program
from tasks.features.friction.inputs import Friction, FrictionInput, friction_input
from tasks.kernels.kernel import kernel
from tasks.kernels.keys import Indexed, Values, indexed
from tasks.mechanics.families import structure_of
from tasks.stages.stages import stages


class Regressor(NamedTuple):
    """Y (*batch, actuator, parameter), its columns, and status (*batch)."""

    matrix: np.ndarray
    columns: tuple[Column, ...]
    status: np.ndarray

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)


@check_arguments
def regressor(
    robot: Robot,
    motion: State | None = None,
    forces: Forces = NO_FORCES,
    environment: Environment = STANDING,
    *,
    shared: bool = False,
    **short: Unpack[MotionKeywords],
) -> Regressor:
    """Compute Y (*batch, actuator, parameter) with Y @ parameters = actuator forces; arguments of `inverse_dynamics`.

    With `shared`, limbs that are copies of each other have the same inertial parameters. The columns of friction come
    last: for every joint of each group the parameters `FrictionLaw.linear`; the other parameters, such as a Stribeck
    velocity, keep their values. Friction that depends on reactions is linear in the parameters only where it does not
    change the reactions: in trees, and where only actuated joints have friction. Other friction is refused. Samples
    that cannot be solved are NaN. A moving base makes more parameters identifiable than a fixed one. Raises ValueError
    or ParameterError for input that does not fit. Source: Atkeson, An and Hollerbach 1986, for trees; through
    constraint embedding by hybrid-limb paper, Eq. (140).

        >>> robot = ls.robots.build("planar_3r")
        >>> Y = ls.regressor(robot, q=[0.1, 0.2, 0.3], qd=[1.0, 0.0, 0.0]).matrix
        >>> torque = Y @ list(ls.standard_parameters(robot).values())
        >>> np.allclose(torque, ls.inverse_dynamics(robot, q=[0.1, 0.2, 0.3], qd=[1.0, 0.0, 0.0]).force)
        True
    """
    motion, environment = long_form(motion, environment, short, TIMELESS)
    refuse_forces(robot, "their moments and forces taken from what was measured")
    refuse_actuator(forces)
    for name in ("load", "elasticity"):
        if getattr(forces, name) is not None:
            raise ValueError(f"{name}: got it for a regressor; expected friction and weights alone")
    field, friction, weights = field_input(environment), forces.friction, forces.weights
    batch, columns_of_motion = moving_input(robot, motion.moving, field.batch)
    samples, family = int(np.prod(batch, dtype=int)), robot.family
    inputs = {
        "parameters": parameters(robot),
        "gravity": field.columns(batch),
        "motion": columns_of_motion,
        **{Indexed("mount", k): mount for k, mount in enumerate(mounts(robot))},
        **weights_input(robot, weights),
    }
    places = shared_columns(family)[1] if shared else range(len(family_columns(family)))
    through, (along,), (status,) = inertial_columns(family, inputs, samples, places, moving_base=field.moving)
    matrix = np.matmul(
        per_sample(through, len(robot.mechanism.actuators)), np.ascontiguousarray(np.moveaxis(along, -1, 0))
    )
    groups = None if friction is None else friction_input(robot, friction)
    if groups is not None:
        rubbing = friction_columns(robot, groups, motion.moving, field, weights)
        rubbing = np.broadcast_to(rubbing, (*batch, *rubbing.shape[-2:]))
        matrix = np.concatenate([matrix, rubbing.reshape(samples, *rubbing.shape[-2:])], axis=2)
    matrix[status != Status.OK] = np.nan
    matrix = matrix.reshape(*batch, *matrix.shape[1:])
    return Regressor(matrix, columns_of(robot, groups, shared=shared), status.astype(np.int8).reshape(batch))


def columns_of(robot: Robot, friction: FrictionInput | None = None, *, shared: bool = False) -> tuple[Column, ...]:
    """Return the columns of `regressor` without a motion. Raises ValueError for friction that it refuses."""
    columns = shared_columns(robot.family)[0] if shared else family_columns(robot.family)
    if friction is None:
        return columns
    require_linear(robot, friction)
    return columns + friction_parameters(robot, friction)


@check_arguments
def standard_parameters(robot: Robot, *, friction: Friction = None, shared: bool = False) -> dict[str, float]:
    """Return the values of the robot for the columns of `regressor`, by name. Raises ParameterError as `regressor`.

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
    if friction is None:
        return result
    groups = friction_input(robot, friction)
    names = (column.name for column in friction_parameters(robot, groups))
    return result | dict(zip(names, friction_values(groups), strict=True))


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
    """Return the columns of the friction of each joint with friction: parameters in which its law is linear."""
    joint = {place: name for name, (place, _) in places(robot.mechanism).items()}
    return tuple(
        Column(joint[place], parameter.name, parameter.unit)
        for group in friction.groups
        for place in group.places
        for parameter in LAWS[group.law].linear
    )


def friction_values(friction: FrictionInput) -> list[float]:
    """Return the values of `friction_parameters`, in their order."""
    result, start = list[float](), 0
    for group in friction.groups:
        places = [start + group.parameters.index(parameter.name) for parameter in LAWS[group.law].linear]
        result += [float(friction.values[0, place]) for _ in group.places for place in places]
        start += len(group.parameters)
    return result


def inertial_columns(
    family: Family,
    inputs: Values,
    samples: int,
    places: Sequence[int],
    *,
    moving_base: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the map from freedoms to actuators, the columns of bodies and drives on the freedoms, and the status.

    The shapes are (case, actuator * freedom, sample), (case, freedom, column, sample), (case, sample). inputs:
    `parameters`, `gravity`, `motion`, mounts and weights, one case for each robot. places: places of the columns of all
    parts, one after another; columns of the same place are added.
    """
    parts, shares = _limb_columns(family, inputs, samples, moving_base)
    if platform_has_columns(family):
        parts.append(kernel(platform_program(family, moving_base))(inputs, samples)["columns"])
    assembled = kernel(actuator_program(family))(inputs | shares, samples)
    along = _joined(parts, structure_of(family).freedoms, samples, places)
    return assembled["map"][..., :samples], along, assembled["status"][:, 0, :samples]


def _limb_columns(family: Family, inputs: Values, samples: int, moving_base: bool) -> tuple[list[np.ndarray], Values]:
    """Return each limb's columns on the freedoms, (case, size, padded samples); the actuators' inputs from them."""
    parts: list[np.ndarray] = []
    shares: Values = {}
    for k, instance in enumerate(structure_of(family).mechanism.instances):
        of_limb = {**inputs, "mount": inputs[Indexed("mount", k)]}
        outputs = kernel(limb_program(family, instance.limb, moving_base))(of_limb, samples)
        parts.append(outputs["columns"])
        shares |= indexed(k, {name: outputs[name] for name in ("jacobian", "status")})
    return parts, shares


def _joined(parts: Sequence[np.ndarray], rows: int, samples: int, places: Sequence[int]) -> np.ndarray:
    """Return the columns of several kernels (case, freedom, column, sample), see `inertial_columns`.

    The columns of a part are adjacent.
    """
    cases = max((len(part) for part in parts), default=1)
    series, first = np.zeros((cases, rows, max(places, default=-1) + 1, samples)), 0
    for part in parts:
        columns = part.reshape(len(part), rows, -1, part.shape[-1])[..., :samples]
        place = places[first] if columns.shape[2] else 0
        series[:, :, place : place + columns.shape[2]] += columns
        first += columns.shape[2]
    return series


def per_sample(values: np.ndarray, rows: int) -> np.ndarray:
    """Return rows of one case (1, rows * n, samples) as matrices (samples, rows, n)."""
    return np.ascontiguousarray(values[0].T).reshape(values.shape[-1], rows, -1)


def friction_columns(
    robot: Robot,
    friction: FrictionInput,
    moving: Moving,
    field: FieldInput | None = None,
    weights: ArrayLike | None = None,
) -> np.ndarray:
    """Return the columns of friction alone (*batch, actuator, parameter); `regressor` has them last."""
    actuators = len(robot.mechanism.actuators)
    require_linear(robot, friction)
    dynamics = Dynamics(robot, moving, ("actuator_force",), Influences(field, weights=weights, friction=friction))
    if not friction_parameters(robot, friction):
        return np.zeros((*dynamics.batch, actuators, 0))
    dynamics.run(takewhile(lambda stage: stage.name != "actuation", stages(dynamics.request)))
    run = kernel(friction_program(robot.family, friction.groups))
    outputs = run({name: dynamics.values[name] for name in run.program.inputs}, dynamics.samples)
    columns = per_sample(outputs["columns"][..., : dynamics.samples], actuators)
    return columns.reshape(*dynamics.batch, *columns.shape[1:])
