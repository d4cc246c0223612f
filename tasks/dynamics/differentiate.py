"""Derivatives of the functions on arrays, by state, load, gravity, friction and parameters of a robot.

at = differentiate(inverse_dynamics, robot, position=position, parameters={"upper_arm": 0.28})
at.vjp({"force": weights})["upper_arm"]    # of the sum of weights times forces
at.jvp({"upper_arm": 1.0})["force"]        # along a direction
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack, cast

from numpy.typing import ArrayLike

from robots.arguments import check_arguments, shown
from robots.criteria.elasticity import Elasticity
from robots.criteria.parts import Capsules, Clearances, Errors
from robots.model import Inertia, Robot
from robots.parameter_errors import nearest
from tasks.dynamics.derivatives import FUNCTIONS, StageDerivatives
from tasks.dynamics.directions import Derivatives
from tasks.dynamics.extrapolated_derivatives import ExtrapolatedDerivatives
from tasks.dynamics.forces_over_step import asked_of
from tasks.dynamics.forward import forward_dynamics
from tasks.dynamics.forward_kinematics import forward_kinematics
from tasks.dynamics.implicit import TARGET, AccelerationDerivatives, PoseDerivatives
from tasks.dynamics.inputs import in_robot_order, refuse_actuator
from tasks.dynamics.records import NO_FORCES, STANDING, Environment, Forces, MotionKeywords, State, long_form

OF_STAGES: Mapping[str, Callable[..., Derivatives]] = {
    name: functools.partial(StageDerivatives, row) for name, row in FUNCTIONS.items()
}
"""Functions whose results are values of stages."""
KINDS: Mapping[str, Callable[..., Derivatives]] = {
    **OF_STAGES,
    "forward_dynamics": functools.partial(AccelerationDerivatives, forward_dynamics, OF_STAGES["inverse_dynamics"]),
    "forward_kinematics": functools.partial(PoseDerivatives, forward_kinematics, OF_STAGES["actuator_positions"]),
}
"""Functions whose derivatives are exact."""
UNLOADED = (*(name for name, row in FUNCTIONS.items() if not row.loaded), "forward_kinematics")
"""Functions of stages that do not depend on forces."""
EXTRAPOLATED = (
    "bias_vector", "cartesian_stiffness", "clearance", "clearance_error", "constraint_forces", "drive_deflection",
    "inertia_element", "lagrange_coefficients", "linearisation", "motor_demand", "natural_frequencies", "pose_error",
    "regressor", "resolve_redundancy",
)  # fmt: skip
"""Functions whose derivatives are extrapolated differences."""
WITHOUT: Mapping[str, str] = {
    "fastest_motion": "its limits change along the path; take a derivative of cycle_time as an output of a sweep",
    "simulate": "it has a function of its own, limbsweep.differentiate_simulation",
    "spanning_tree_dynamics": "no parameter or joint of it changes alone while loops stay closed; take derivatives of "
    "inverse_dynamics",
    "friction_along": "it belongs to no robot; take derivatives of metrics with its law as outputs of a sweep",
    "from_currents": "it multiplies by torque constants, which are its derivatives: limbsweep.torque_constants",
    "torque_constants": "it gives parameters of motors as they are",
    "standard_parameters": "forces are linear in its result: take derivatives of inverse_dynamics by parameters",
    "base_parameters": "it is a set of columns; take derivatives of regressor",
    "profile": "it makes a function of time; take derivatives of differentiate_simulation",
    "servo": "it makes a controller; take derivatives of differentiate_simulation, which has its gains as inputs",
    "on_supply": "it makes a function of the state, with limits; take derivatives as outputs of a sweep",
}
"""Functions that are not differentiated, and why in words that complete "because"."""


class FunctionKeywords(MotionKeywords, total=False):
    """Arguments of the functions that are differentiated, beside their motion, forces and environment."""

    actuator_position: ArrayLike | None
    arms: Mapping[str, float] | None
    bodies: Sequence[str] | None
    capsules: Capsules
    clearances: Clearances
    column: int | str
    draws: int
    elasticity: Elasticity | None
    errors: Errors
    force: ArrayLike
    grasped: Inertia | None
    jerk: ArrayLike | None
    row: int | str
    seed: int
    shared: bool
    simplified: bool
    snap: ArrayLike | None
    velocity: ArrayLike


@check_arguments
def differentiate(
    function: Callable[..., Any],
    robot: Robot,
    motion: State | None = None,
    forces: Forces = NO_FORCES,
    environment: Environment = STANDING,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    **arguments: Unpack[FunctionKeywords],
) -> Derivatives:
    """Run a function on arrays so that its results can be differentiated.

    function: a function of `limbsweep`, called with its own arguments. First and second derivatives are exact for
    inverse_dynamics, inverse_kinematics, actuator_positions, joint_reactions, equations_of_motion (matrices in task
    space and energies), inertia_matrix, forward_dynamics and forward_kinematics. Derivatives of the functions in
    EXTRAPOLATED are differences with an estimate of their error, and NaN where it is above 1e-3, such as at kinks.
    parameters: parameters of the robot for derivatives, by name: numbers, or arrays that are broadcast with the batch.
    Raises ValueError for other functions, and the errors of the function.

        >>> robot = ls.robots.build("delta_3rr2rrr")
        >>> at = ls.differentiate(ls.inverse_dynamics, robot, position=[0.0, 0.1, -0.9], parameters={"upper_arm": 0.28})
        >>> at.jvp({"upper_arm": 1.0})["force"].round(2)
        array([-17.94, -16.34, -19.4 ])
    """
    name = getattr(function, "__name__", "")
    if name in WITHOUT:
        raise ValueError(f"function: got {name}, which is not differentiated: {WITHOUT[name]}")
    if name not in (*KINDS, *EXTRAPOLATED):
        raise ValueError(f"function: got {shown(name or function)}; {nearest(name, [*KINDS, *EXTRAPOLATED])}")
    short = {key: value for key, value in arguments.items() if key in MotionKeywords.__annotations__}
    options = {key: value for key, value in arguments.items() if key not in short}
    target = options.pop(TARGET, None)
    if target is not None and name != "forward_kinematics":
        raise ValueError(f"actuator_position: got it for {name}; expected forward_kinematics, whose target it is")
    _check_forces(name, forces, environment)
    motion, environment = long_form(motion, environment, cast(MotionKeywords, short), ("memory",))
    named = {**motion.present(), **forces.present(), **(parameters or {}), **options, TARGET: target}
    if labelled := [key for key, value in named.items() if hasattr(value, "dims") and hasattr(value, "coords")]:
        raise ValueError(f"{labelled[0]}: got a DataArray; expected an array in SI units, such as its values")
    motion, forces = in_robot_order(robot, motion), in_robot_order(robot, forces)
    if name in EXTRAPOLATED:
        return ExtrapolatedDerivatives(function, robot, motion, forces, environment, parameters or {}, options)
    if options:
        raise ValueError(f"{next(iter(options))}: got it for {name} where it is differentiated; leave it out")
    if name == "forward_kinematics":
        return KINDS[name](robot, motion, target, parameters or {})
    return KINDS[name](robot, motion, forces, environment, parameters or {})


def _check_forces(name: str, forces: Forces, environment: Environment) -> None:
    """Refuse forces and motions of the base that a function does not take. Raises ValueError."""
    if name in ("forward_dynamics", "linearisation"):
        asked_of(forces.actuator)
        return
    refuse_actuator(forces)
    if name in UNLOADED and forces is not NO_FORCES:
        raise ValueError(f"forces: got them for {name}, which does not depend on forces; leave them out")
    if name in ("equations_of_motion", "inertia_matrix") and environment.base is not None:
        raise ValueError("base: got a base that moves; expected one that stands where equations are differentiated")
