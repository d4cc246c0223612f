"""Motion of a robot near a state: the matrices A and B of x' = A x + B u for small deviations, exact to rounding."""

from __future__ import annotations

from typing import NamedTuple, Unpack

import numpy as np

from robots.arguments import check_arguments
from robots.model import Robot
from robots.status import Status
from tasks.dynamics import inputs
from tasks.dynamics.equations import Model
from tasks.dynamics.records import NO_FORCES, STANDING, TIMELESS, Environment, Forces, MotionKeywords, State, long_form
from tasks.kernels.derivatives import pushforward
from tasks.kernels.kernel import kernel, rows
from tasks.kernels.keys import Arrays, Rate, Values, indexed
from tasks.kernels.program import Program
from tasks.mechanics.state_changes import deviations, turning
from tasks.stages import equations
from tasks.stages.terms import PLATFORM


class Linearisation(NamedTuple):
    """A (*batch, 2 freedom, 2 freedom), B (*batch, 2 freedom, actuator), acceleration (*batch, freedom), status.

    A state is a deviation of the freedoms, then of their rates. For a platform, the deviation is a displacement of its
    reference point and a small turn about it, in world axes, in the order of its mobility. `acceleration` is the
    acceleration at the state.
    """

    state: np.ndarray
    input: np.ndarray
    acceleration: np.ndarray
    status: np.ndarray


@check_arguments
def linearisation(
    robot: Robot,
    state: State | None = None,
    forces: Forces = NO_FORCES,
    environment: Environment = STANDING,
    **short: Unpack[MotionKeywords],
) -> Linearisation:
    """Compute the linear equations of a robot without friction near states under actuator forces (*batch, actuator).

    The matrices are derivatives of `tasks.forward_dynamics`; state and motion of the base are given as there. With a
    moving base, the state is relative to the base, in its axes, and the motion of the base does not change. Samples
    that cannot be solved hold NaN. Raises ValueError for input that does not fit, and for loads that change with time.

        >>> arm = ls.robots.build("planar_3r")
        >>> ls.linearisation(arm, q=[0.1, 0.2, 0.3], forces=ls.Forces(actuator=[0.0] * 3)).state.shape  # of q and qd
        (6, 6)
    """
    given, environment = long_form(state, environment, short, TIMELESS)
    pushing = inputs.actuator_forces(robot, forces)
    for name in ("load", "friction", "weights", "elasticity"):
        if getattr(forces, name) is not None:
            raise ValueError(f"{name}: got it for a linearisation; expected forces of actuators alone")
    field = inputs.field_input(environment)
    moving = inputs.without_change(given.moving)
    batch, motion = inputs.moving_input(robot, moving, {"actuator": pushing.shape[:-1], **field.batch})
    model, samples = Model(robot, field, batch), int(np.prod(batch, dtype=int))
    free, width = len(model.freedoms), motion.shape[-1]
    pushed = {"force": rows(pushing, batch)[None], "load": model.unloaded(motion)[None]}
    matrix = np.zeros((width, 2 * free, 2 * free))
    matrix[:, :free, free:] = np.eye(free)
    matrix[:, :free, :free] = turning(model.structure, motion)[0]
    parts: Values = {}
    for column, change in enumerate(deviations(model.structure, motion)):
        parts = _shares(model, motion, change)
        matrix[:, free:, column] = _acceleration(model, {**parts, **pushed, "motion": motion, Rate("motion"): change}).T
    plain = {key: values for key, values in parts.items() if not isinstance(key, Rate)}
    acting = np.zeros((width, 2 * free, pushing.shape[-1]))
    for column in range(pushing.shape[-1]):
        unit = np.zeros_like(pushed["force"])
        unit[:, column] = 1.0
        acting[:, free:, column] = _acceleration(model, {**plain, **pushed, "motion": motion, Rate("force"): unit}).T
    found, status = model.acceleration(motion, plain, pushed["force"], pushed["load"])
    results = [matrix, acting, np.ascontiguousarray(found.T)]
    finite = np.all([np.isfinite(values).reshape(width, -1).all(axis=1) for values in results], axis=0)
    status = np.where((status == Status.OK) & ~finite, float(Status.NONFINITE), status)
    for values in results:
        values[status != Status.OK] = np.nan
    shaped = [values[:samples].reshape(*batch, *values.shape[1:]) for values in results]
    return Linearisation(shaped[0], shaped[1], shaped[2], status[:samples].astype(np.int8).reshape(batch))


def _shares(model: Model, motion: np.ndarray, change: np.ndarray) -> Values:
    """Return the shares of platform and limbs with their rates, by number of the owner."""
    family, width = model.robot.family, motion.shape[-1]
    arrays: Values = {"motion": motion, Rate("motion"): change} | dict(model.constants.items())
    parts = _numbered(PLATFORM, _run(equations.platform_share_program(family, model.moving_base), arrays, width))
    for k, (instance, mount) in enumerate(zip(model.instances, model.mounts, strict=True)):
        program = equations.limb_share_program(family, instance.limb, model.moving_base)
        parts |= _numbered(k, _run(program, {**arrays, "mount": mount}, width))
    return parts


def _numbered(owner: int, outputs: Arrays) -> Values:
    plain = indexed(owner, {name: values for name, values in outputs.items() if isinstance(name, str)})
    of = {str(key.of): values for key, values in outputs.items() if isinstance(key, Rate)}
    rates = indexed(owner, of)
    return plain | {Rate(key): values for key, values in rates.items()}


def _acceleration(model: Model, values: Values) -> np.ndarray:
    """Compute the change of the accelerations (freedom, samples), for the rates among the values."""
    results = _run(equations.acceleration_program(model.robot.family), values, values["motion"].shape[-1])
    return results[Rate("acceleration")][0]


def _run(program: Program, values: Arrays, width: int) -> Arrays:
    """Return the pushforward of a program along the rates that there are of its inputs."""
    names = [name for name in program.inputs if not isinstance(name, Rate)]
    varying = tuple(name for name in names if Rate(name) in values and values[Rate(name)].shape[1])
    changed = pushforward(program, varying)
    return kernel(changed)({name: values[name] for name in changed.inputs}, width)
