"""Derivatives of the functions on arrays, by state, load, gravity, friction and parameters of a robot.

at = differentiate(inverse_dynamics, robot, position=position, parameters={"upper_arm": 0.28})
at.vjp({"force": weights})["upper_arm"]    # of the sum of weights times forces
at.jvp({"upper_arm": 1.0})["force"]        # along a direction
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Unpack

from numpy.typing import ArrayLike

from robots.arguments import check_arguments, shown
from robots.model import Robot
from robots.parameters import nearest
from tasks.dynamics.derivatives import FUNCTIONS, StageDerivatives
from tasks.dynamics.directions import Derivatives
from tasks.dynamics.forward import forward_dynamics
from tasks.dynamics.forward_kinematics import forward_kinematics
from tasks.dynamics.implicit import AccelerationDerivatives, PoseDerivatives
from tasks.dynamics.inputs import refuse_actuator
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
"""Functions that can be differentiated."""
UNLOADED = (*(name for name, row in FUNCTIONS.items() if not row.loaded), "forward_kinematics")
"""Functions that do not depend on forces."""


@check_arguments
def differentiate(
    function: Callable[..., Any],
    robot: Robot,
    motion: State | None = None,
    forces: Forces = NO_FORCES,
    environment: Environment = STANDING,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    actuator_position: ArrayLike | None = None,
    **short: Unpack[MotionKeywords],
) -> Derivatives:
    """Run a function on arrays so that its results can be differentiated, exactly.

    function: inverse_dynamics, inverse_kinematics, actuator_positions, joint_reactions, equations_of_motion (matrices
    in task space and energies), forward_dynamics or forward_kinematics of `limbsweep`; its arguments are as there.
    parameters: those of the robot that derivatives are taken by, by name: numbers, or arrays that are broadcast with
    the batch. Raises ValueError for other functions, and what these raise.

        >>> robot = ls.robots.build("delta_3rr2rrr")
        >>> at = ls.differentiate(ls.inverse_dynamics, robot, position=[0.0, 0.1, -0.9], parameters={"upper_arm": 0.28})
        >>> at.jvp({"upper_arm": 1.0})["force"].round(2)
        array([-17.94, -16.34, -19.4 ])
    """
    name = getattr(function, "__name__", "")
    if name not in KINDS:
        raise ValueError(f"function: got {shown(name or function)}; {nearest(name, KINDS)}")
    if actuator_position is not None and name != "forward_kinematics":
        raise ValueError(f"actuator_position: got it for {name}; expected forward_kinematics, whose target it is")
    if name != "forward_dynamics":
        refuse_actuator(forces)
    if name in UNLOADED and forces is not NO_FORCES:
        raise ValueError(f"forces: got them for {name}, which does not depend on forces; leave them out")
    if name == "equations_of_motion" and environment.base is not None:
        raise ValueError("base: got a base that moves; expected one that stands where equations are differentiated")
    motion, environment = long_form(motion, environment, short, ("memory",))
    named = {**motion.present(), **forces.present(), **(parameters or {}), "actuator_position": actuator_position}
    if labelled := [key for key, value in named.items() if hasattr(value, "dims") and hasattr(value, "coords")]:
        raise ValueError(f"{labelled[0]}: got a DataArray; expected an array in SI units, such as its values")
    if name == "forward_kinematics":
        return KINDS[name](robot, motion, actuator_position, parameters or {})
    return KINDS[name](robot, motion, forces, environment, parameters or {})
