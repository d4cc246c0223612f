"""Single elements of the equations of motion of a chain, each by a kernel that computes nothing else.

For users who need one coupling term, not the matrix, and for the element-wise parallel scheme of the paper on the
explicit inertia matrix, whose equations are in `tasks.inertia.explicit`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robots.model import Robot
from robots.parameters import nearest
from robots.status import Status
from tasks.arrays import inputs
from tasks.arrays.inputs import GRAVITY, Moving
from tasks.inertia.closed import closed_element_program
from tasks.inertia.programs import bias_program, element_program, is_tree
from tasks.kernels.cache import kernel
from tasks.kernels.program import Program


def inertia_element(robot: Robot, row: int | str, column: int | str, *, q: ArrayLike) -> np.ndarray:
    """Element (row, column) of the joint-space inertia matrix of a chain, (*batch) [kg m^2, kg m or kg].

    Drives are included. q (*batch, freedom) [rad or m] of the independent joints, in whose order rows and columns count
    too, from 0, or by whose names they go. Where loops do not close it is NaN. Raises ValueError for a robot with a
    platform, another shape of q, and a row or column that the matrix does not have. Eqs. (30) to (37); of closed chains
    see `tasks.inertia.closed`.

        >>> robot = ls.robots.build("planar_3r")
        >>> ls.inertia_element(robot, "joint_1", "joint_3", q=np.zeros((5, 3))).shape
        (5,)
    """
    row, column = _number(robot, "row", row), _number(robot, "column", column)
    if robot.mechanism.is_chain and not is_tree(robot.family):
        return closed_inertia(robot, closed_element_program(robot.family, row, column), "element", Moving(q=q))
    _check_tree(robot)
    program = element_program(robot.family, row, column)
    batch, motion = inputs.moving_input(robot, Moving(q=q))
    arrays = {"parameters": inputs.parameters(robot), "q": motion[:, : len(robot.mechanism.freedoms)]}
    element = kernel(program)(arrays, motion.shape[-1])["element"][0, 0]
    return element[: int(np.prod(batch, dtype=int))].reshape(batch)


def _number(robot: Robot, key: str, freedom: int | str) -> int:
    """The number of a freedom from its name or number."""
    names = robot.mechanism.freedoms
    if isinstance(freedom, str) and freedom in names:
        return names.index(freedom)
    if isinstance(freedom, bool) or not isinstance(freedom, int | np.integer):
        hint = f"; {nearest(freedom, names)}" if isinstance(freedom, str) else ""
        raise ValueError(f"{key}: got {freedom!r}; expected the number or the name of a freedom of {robot.name}{hint}")
    return int(freedom)


def closed_inertia(robot: Robot, program: Program, name: str, moving: Moving) -> np.ndarray:
    """An output (*batch, *shape) of a program of `tasks.inertia.closed`; NaN where the status is not OK."""
    batch, motion = inputs.moving_input(robot, moving)
    arrays = {"parameters": inputs.parameters(robot), "gravity": inputs.gravity_input(GRAVITY), "motion": motion}
    outputs = kernel(program)(arrays | {"mount": inputs.mounts(robot)[0]}, motion.shape[-1])
    values = np.where(outputs["status"][0] == Status.OK, outputs[name][0], np.nan)
    samples, (shape, _) = int(np.prod(batch, dtype=int)), program.outputs[name]
    return np.ascontiguousarray(values.T)[:samples].reshape((*batch, *shape))


def bias_vector(robot: Robot, *, q: ArrayLike, qd: ArrayLike, gravity: ArrayLike = GRAVITY) -> np.ndarray:
    """Joint forces (*batch, joint) [N m or N] that leave a tree without acceleration, drives included.

    q, qd (*batch, joint) [rad or m, and per second] in the order of the links; gravity (3,) [m/s^2] in world axes.
    Raises ValueError for a robot with loops or a platform, and for other shapes. Eqs. (21), (22) of the paper on joint
    friction.

        >>> robot = ls.robots.build("planar_3r")
        >>> ls.bias_vector(robot, q=[0.1, 0.2, 0.3], qd=[1.0, 0.0, 0.0]).shape
        (3,)
    """
    _check_tree(robot)
    inputs.refuse_forces(robot, "a call of inverse_dynamics")
    program, joints = bias_program(robot.family), len(robot.mechanism.freedoms)
    batch, motion = inputs.moving_input(robot, Moving(q=q, qd=qd))
    arrays = {
        "parameters": inputs.parameters(robot),
        "gravity": inputs.gravity_input(gravity),
        "q": motion[:, :joints],
        "qd": motion[:, joints : 2 * joints],
    }
    columns = kernel(program)(arrays, motion.shape[-1])["bias"][0]
    return np.ascontiguousarray(columns.T)[: int(np.prod(batch, dtype=int))].reshape(*batch, joints)


def _check_tree(robot: Robot) -> None:
    """Refuse a robot with loops or a platform by ValueError."""
    if not is_tree(robot.family):
        kind = "joints that follow others" if robot.mechanism.limbs[0].couplings else "loops or a platform"
        raise ValueError(
            f"robot: got {robot.name}, which has {kind}; expected a tree; matrices of other robots are those of "
            "tasks.equations_of_motion"
        )
