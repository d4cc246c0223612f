"""Coefficients of Lagrange's equations of a chain for any batch of configurations, as `equations` derives them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robots.model import Family, Inertia, Robot
from robots.parameters import nearest
from robots.status import Status
from tasks.arrays import inputs
from tasks.arrays.inputs import GRAVITY
from tasks.kernels.cache import kernel
from tasks.kernels.keys import Arrays
from tasks.kernels.program import Program, trace
from tasks.kernels.types import Array, Numbers
from tasks.lagrange import equations as lagrange
from tasks.mathematics.algebra import inverse
from tasks.mechanics.structure import limb_inputs, solved_limb, structure_of

OBJECT = 10
"""Numbers of a grasped object: mass, centre (3), inertia about it (xx, yy, zz, xy, xz, yz)."""


class LagrangeCoefficients(NamedTuple):
    """F_i = D_ij q_j'' + D_ijk q_j' q_k' + D_i over the independent joints, for each sample; and what actuators see.

    inertia D_ij (*batch, n, n), velocity D_ijk (*batch, n, n, n), gravity D_i (*batch, n); transmission dq_a/dq
    (*batch, actuator, n); actuator_inertia (*batch, actuator, actuator): the forces of the actuators, Eq. (13), over
    their own accelerations, whose diagonal is the effective_inertia (*batch, actuator); NaN where there are more
    actuators than freedoms; status (*batch).
    """

    inertia: np.ndarray
    velocity: np.ndarray
    gravity: np.ndarray
    transmission: np.ndarray
    actuator_inertia: np.ndarray
    effective_inertia: np.ndarray
    status: np.ndarray


def lagrange_coefficients(
    robot: Robot,
    *,
    q: ArrayLike,
    gravity: ArrayLike = GRAVITY,
    simplified: bool = False,
    bodies: Sequence[str] | None = None,
    grasped: Inertia | None = None,
) -> LagrangeCoefficients:
    """The coefficients of a chain at q (*batch, freedom); see `LagrangeCoefficients`.

    Effects of spinning rotors are those that the drives of the robot couple; `simplified`, those of Eqs. (8) to (12)
    alone. With `bodies`, the share of these links alone, without drives: Eqs. (15) for cranks and rods. `grasped`, in
    numbers and in the frame of the last link, adds an object: Eqs. (16). Samples that cannot be solved hold NaN. Raises
    ValueError for a robot with a platform, a body that there is not, and shapes that do not fit.

        >>> robot = ls.robots.build("planar_3r")
        >>> ls.lagrange_coefficients(robot, q=[0.1, 0.2, 0.3]).inertia.shape
        (3, 3)
    """
    if not robot.mechanism.is_chain:
        raise ValueError(
            f"robot: got {robot.name}, whose limbs hold a platform; expected a chain; the matrices of a parallel robot "
            "are those of tasks.equations_of_motion"
        )
    inputs.refuse_forces(robot, "a call of equations_of_motion")
    program = coefficients_program(robot.family, _indices(robot, bodies), simplified, grasped is not None)
    batch, motion = inputs.moving_input(robot, {"q": q})
    given = {
        "parameters": inputs.parameters(robot),
        "mount": inputs.mounts(robot)[0],
        "gravity": inputs.gravity_input(gravity),
        "motion": motion,
    }
    given |= {} if grasped is None else {"grasped": _numbers(grasped)}
    found = kernel(program)(given, motion.shape[-1])
    return _results(robot, found, batch)


def _results(robot: Robot, found: Arrays, batch: tuple[int, ...]) -> LagrangeCoefficients:
    n, driven, samples = len(robot.mechanism.freedoms), len(robot.mechanism.actuators), int(np.prod(batch, dtype=int))
    status = found["status"][0, 0, :samples]

    def core_last(name: str, *shape: int) -> np.ndarray:
        if name not in found:
            return np.full((*batch, *shape), np.nan)
        values = np.ascontiguousarray(found[name][0, :, :samples].T)
        values[status != Status.OK] = np.nan
        return values.reshape(*batch, *shape)

    seen = core_last("actuator_inertia", driven, driven)
    return LagrangeCoefficients(
        core_last("inertia", n, n),
        core_last("velocity", n, n, n),
        core_last("gravity_force", n),
        core_last("transmission", driven, n),
        seen,
        np.einsum("...ii->...i", seen).copy(),
        status.astype(np.int8).reshape(batch),
    )


@functools.cache
def coefficients_program(family: Family, bodies: tuple[int, ...] | None, simplified: bool, grasping: bool) -> Program:
    """The program behind `lagrange_coefficients`; inputs as in `tasks.programs.limb`, and `grasped` (OBJECT)."""
    structure = structure_of(family)

    def one_sample(parameters: Array, mount: Array, gravity: Array, motion: Array, **more: Array) -> dict[str, Numbers]:
        mounted, solved, _, _ = solved_limb(structure, 0, parameters, mount, motion)
        chain, links = lagrange.Chain(mounted, solved), range(len(mounted.limb.links))
        chosen = links if bodies is None else bodies
        held = _inertia(more["grasped"]) if grasping else None
        found = lagrange.coefficients(chain, gravity, chosen, bodies is None, simplified, held)
        rows = lagrange.transmission(chain)
        result: dict[str, Numbers] = {"inertia": found.inertia, "velocity": found.velocity}
        result |= {"gravity_force": found.gravity, "transmission": rows, "status": [solved.status]}
        if len(rows) == chain.count:
            back = inverse(rows)
            result["actuator_inertia"] = back.T @ (found.inertia @ back)
        return result

    case = limb_inputs(structure, 0) | ({"grasped": (OBJECT,)} if grasping else {})
    return trace(f"{family.name}.lagrange", one_sample, case=case, sample={"motion": (structure.motion_size,)})


def _inertia(numbers: Array) -> Inertia:
    mass, x, y, z, xx, yy, zz, xy, xz, yz = numbers
    return Inertia(mass, (x, y, z), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))


def _numbers(body: Inertia) -> np.ndarray:
    t = np.asarray(body.tensor, dtype=float)
    return np.array([[body.mass, *body.centre, *np.diag(t), t[0, 1], t[0, 2], t[1, 2]]], dtype=float)


def _indices(robot: Robot, bodies: Sequence[str] | None) -> tuple[int, ...] | None:
    if bodies is None:
        return None
    known = [link.body for link in robot.mechanism.limbs[0].links]
    for name in bodies:
        if name not in known:
            raise ValueError(f"bodies: got {name!r}; expected links of {robot.name}; {nearest(name, known)}")
    return tuple(known.index(name) for name in bodies)
