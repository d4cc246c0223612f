"""The equations of motion of one robot for a batch: matrices, accelerations from forces, energy, forward kinematics.

Functions take keyword arguments with any leading batch dims, as those of `tasks.evaluate`. SI units, world axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from robots.model import TWIST, Robot
from robots.status import Status
from tasks import equation_programs, evaluate, programs
from tasks.kernels.cache import kernel


Array = Any
GRAVITY = evaluate.GRAVITY
TOLERANCE = 1e-12
STEPS = 30


class Equations(NamedTuple):
    """M_t V' + C_t V + gravity = J_IK^T u + load, all (*batch, ...); freedoms as in the platform's mobility.

    mass, coriolis (freedom, freedom), gravity (freedom); jacobian J_IK and its rate (actuator, freedom); energies [J]. In
    actuator coordinates, NaN where the robot is actuated redundantly: actuator_mass, actuator_coriolis (actuator, actuator),
    actuator_gravity (actuator), forward J_FK and its rate (freedom, actuator).
    """

    mass: np.ndarray
    coriolis: np.ndarray
    gravity: np.ndarray
    jacobian: np.ndarray
    jacobian_rate: np.ndarray
    actuator_mass: np.ndarray
    actuator_coriolis: np.ndarray
    actuator_gravity: np.ndarray
    forward: np.ndarray
    forward_rate: np.ndarray
    kinetic_energy: np.ndarray
    potential_energy: np.ndarray
    status: np.ndarray


class Model:
    """The kernels of one robot's equations of motion, on arrays (size, samples)."""

    def __init__(self, robot: Robot, gravity: Array = GRAVITY):
        self.robot, self.made = robot, programs.structure(robot.family)
        self.constants = {"parameters": evaluate.parameters(robot), "gravity": evaluate.gravity_input(gravity)}
        self.mounts = evaluate.mounts(robot)
        self.instances = self.made.mechanism.instances
        self.free = [TWIST.index(name) for name in self.made.mechanism.platform.mobility]

    def shares(self, motion: np.ndarray, angles: list[np.ndarray] | None = None) -> dict[str, np.ndarray]:
        """Shares of all limbs and the platform, named as the inputs of `total_program`; other outputs with the limb's number."""
        width, given = motion.shape[-1], {**self.constants, "motion": motion}
        own = kernel(equation_programs.platform_share_program(self.robot.family))(given, width)
        parts = {f"{name}_platform": value for name, value in own.items()}
        for k, (each, mount) in enumerate(zip(self.instances, self.mounts, strict=True)):
            inputs = {**given, "mount": mount}
            if angles is None:
                made = kernel(equation_programs.limb_share_program(self.robot.family, each.limb))(inputs, width)
            else:
                program = equation_programs.limb_state_program(self.robot.family, each.limb)
                made = kernel(program)({**inputs, "angles": angles[k]}, width)
            parts |= {f"{name}_{k}": value for name, value in made.items()}
        return parts

    def total(self, motion: np.ndarray, parts: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
        """The summed equations; see `equation_programs.total_program`."""
        program = equation_programs.total_program(self.robot.family)
        return kernel(program)(self._known(program, motion, parts), motion.shape[-1])

    def acceleration(
        self, motion: np.ndarray, parts: Mapping[str, np.ndarray], force: Array, load: Array
    ) -> np.ndarray:
        """Accelerations of the freedoms (1, freedom, samples) from actuator forces and the load along the freedoms."""
        program = equation_programs.acceleration_program(self.robot.family)
        inputs = self._known(program, motion, parts) | {"force": force, "load": load}
        return kernel(program)(inputs, motion.shape[-1])["acceleration"]

    def status(self, parts: Mapping[str, np.ndarray], total: Mapping[str, np.ndarray] | None = None) -> np.ndarray:
        """Status of each sample, (samples,)."""
        limbs = np.stack([parts[f"status_{k}"][0, 0] for k in range(len(self.instances))])
        worst = limbs.max(axis=0)
        if total is not None:
            worst = np.where((worst == 0) & (total["singular"][0, 0] > 0.5), float(Status.SINGULAR), worst)
        return worst

    @staticmethod
    def _known(program: Any, motion: np.ndarray, parts: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {"motion": motion} | {name: parts[name] for name in program.sample if name in parts}


def equations_of_motion(
    robot: Robot, *, position: Array, rotation: Array = None, twist: Array = None, gravity: Array = GRAVITY
) -> Equations:
    """Matrices of the equations of motion in task space and actuator coordinates, and energies.

    position, rotation, twist as in `inverse_kinematics`. Samples that cannot be solved hold NaN. Source: hybrid-limb paper,
    Eqs. (107) to (120).
    """
    batch, motion = evaluate.motion_input(robot, position, rotation, twist, None)
    model, samples = Model(robot, gravity), int(np.prod(batch, dtype=int))
    parts = model.shares(motion)
    total = model.total(motion, parts)
    status = model.status(parts, total)[:samples]
    free, driven = model.made.freedoms, len(model.made.mechanism.actuators)
    square = free == driven
    shapes = {
        "mass": (free, free), "coriolis": (free, free), "gravity_force": (free,), "jacobian": (driven, free),
        "jacobian_rate": (driven, free), "actuator_mass": (driven, driven), "actuator_coriolis": (driven, driven),
        "actuator_gravity": (driven,), "forward": (free, driven), "forward_rate": (free, driven),
    }  # fmt: skip
    fields = []
    for name, shape in shapes.items():
        if name not in total:
            assert not square, name
            fields.append(np.full((*batch, *shape), np.nan))
            continue
        values = np.ascontiguousarray(total[name][0, :, :samples].T)
        values[status != Status.OK] = np.nan
        fields.append(values.reshape(*batch, *shape))
    speed = _speeds(model, motion)[:, :samples].T.reshape(*batch, free)
    kinetic = 0.5 * np.einsum("...i,...ij,...j->...", speed, fields[0], speed)
    potential = sum(parts[f"potential_{owner}"][0, 0, :samples] for owner in ("platform", *range(len(model.instances))))
    potential = np.where(status == Status.OK, potential, np.nan).reshape(batch)
    return Equations(*fields, kinetic, potential, status.astype(np.int8).reshape(batch))


def _speeds(model: Model, motion: np.ndarray) -> np.ndarray:
    start = 0 if motion.shape[1] == 9 else 12  # a translation has no angular part
    rows = [start + k for k in model.free]
    return motion[0, rows]


def inertia_matrix(robot: Robot, *, position: Array, rotation: Array = None) -> np.ndarray:
    """Mass matrix M_t of a parallel robot in task space, (*batch, freedom, freedom), drives included. Eq. (108)."""
    return equations_of_motion(robot, position=position, rotation=rotation).mass


def forward_dynamics(
    robot: Robot,
    *,
    force: Array,
    position: Array,
    rotation: Array = None,
    twist: Array = None,
    gravity: Array = GRAVITY,
    load: Array = None,
    full: bool = False,
) -> Any:
    """Acceleration of the platform (*batch, 6) = time derivative of the twist, from actuator forces (*batch, actuator).

    Other arguments as in `inverse_dynamics`. With `full`, a pair with the status (*batch). Eq. (129).
    """
    batch, motion = evaluate.motion_input(robot, position, rotation, twist, None)
    model, samples, width = Model(robot, gravity), int(np.prod(batch, dtype=int)), motion.shape[-1]
    given = np.broadcast_to(np.asarray(force, dtype=float), (*batch, len(model.made.mechanism.actuators)))
    acting = np.zeros((*batch, 6)) if load is None else np.broadcast_to(np.asarray(load, dtype=float), (*batch, 6))
    parts = model.shares(motion)
    rows = model.acceleration(motion, parts, _rows(given, width), _rows(acting[..., model.free], width))
    result = np.zeros((samples, 6))
    result[:, model.free] = rows[0, :, :samples].T
    status = model.status(parts)[:samples]
    result[status != Status.OK] = np.nan
    result = result.reshape(*batch, 6)
    return (result, status.astype(np.int8).reshape(batch)) if full else result


def _rows(values: np.ndarray, width: int) -> np.ndarray:
    """(*batch, size) as a kernel's input (1, size, padded samples); padding repeats the last sample."""
    flat = values.reshape(-1, values.shape[-1]).T
    return np.ascontiguousarray(np.concatenate([flat, np.repeat(flat[:, -1:], width - flat.shape[1], axis=1)], axis=1))[
        None
    ]


class ForwardKinematics(NamedTuple):
    """Platform position (*batch, 3), rotation (*batch, 3, 3), and status (*batch)."""

    position: np.ndarray
    rotation: np.ndarray
    status: np.ndarray


def forward_kinematics(
    robot: Robot, *, actuator_position: Array, position: Array = None, rotation: Array = None
) -> ForwardKinematics:
    """Pose of the platform for actuator positions (*batch, actuator), by Newton steps from a guess (absent: reference pose).

    Finds the assembly that the guess leads to; NOT_CONVERGED where the steps do not settle. Eq. (114).
    """
    wanted = np.asarray(actuator_position, dtype=float)
    batch = wanted.shape[:-1]
    home = robot.mechanism.platform.home
    p = np.array(np.broadcast_to(home.position if position is None else position, (*batch, 3)), dtype=float)
    r = np.array(np.broadcast_to(home.rotation if rotation is None else rotation, (*batch, 3, 3)), dtype=float)
    free = [TWIST.index(name) for name in robot.mechanism.platform.mobility]
    settled = np.zeros(batch, dtype=bool)
    for _ in range(STEPS):
        found = evaluate.inverse_dynamics(robot, position=p, rotation=r, full=True)
        gap = wanted - evaluate.actuator_positions(robot, position=p, rotation=r)
        step = np.zeros((*batch, 6))
        solvable = np.isfinite(gap).all(axis=-1) & np.isfinite(found.jacobian).all(axis=(-2, -1))
        inverse = np.linalg.pinv(np.where(solvable[..., None, None], found.jacobian, 0.0))
        step[..., free] = np.einsum("...ij,...j->...i", inverse, np.where(solvable[..., None], gap, 0.0))
        p += step[..., 3:]
        r = rotation_of(step[..., :3]) @ r
        size = np.abs(step).max(axis=-1)
        settled = solvable & (size < TOLERANCE * 100)
        if (settled | ~solvable).all():
            break
    bad = ~settled
    p[bad], r[bad] = np.nan, np.nan
    return ForwardKinematics(p, r, np.where(bad, Status.NOT_CONVERGED, Status.OK).astype(np.int8))


def rotation_of(vector: np.ndarray) -> np.ndarray:
    """Rotations (*batch, 3, 3) of rotation vectors (*batch, 3), by Rodrigues' formula."""
    angle2 = (vector**2).sum(axis=-1)[..., None, None]
    angle = np.sqrt(angle2)
    small = angle < 1e-4
    a = np.where(small, 1.0 - angle2 / 6.0, np.sin(angle) / np.where(small, 1.0, angle))
    b = np.where(small, 0.5 - angle2 / 24.0, (1.0 - np.cos(angle)) / np.where(small, 1.0, angle2))
    x, y, z = np.moveaxis(vector, -1, 0)
    o = np.zeros_like(x)
    k = np.stack([np.stack([o, -z, y], -1), np.stack([z, o, -x], -1), np.stack([-y, x, o], -1)], -2)
    return np.eye(3) + a * k + b * (k @ k)
