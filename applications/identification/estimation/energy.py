"""Number of identifiable parameters by a second method: energies, which are linear in the same parameters.

Kinetic and potential energy determine the motion, so a combination of parameters matters to forces if and only if it
changes energy by more than a constant. The motions of bodies come from `tasks.dynamics.inverse` in plain NumPy; no
program of the regressor is used. Source: Gautier and Khalil, Direct calculation of minimum set of inertial parameters,
1990.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from robots.drives import Spin
from robots.model import Robot
from robots.types import BASE
from tasks.dynamics.body_motions import BodyMotions
from tasks.dynamics.inertial_parameters import TENSOR, limb_columns, platform_has_columns
from tasks.dynamics.inverse import body_motion, inverse_dynamics
from tasks.dynamics.records import GRAVITY, Moving
from tasks.mechanics.families import structure_of


def energies(robot: Robot, moving: Moving, *, gravity: ArrayLike = GRAVITY) -> np.ndarray:
    """Return kinetic and potential energy per unit of each inertial parameter: (samples, 2, column), see `columns`."""
    motion = body_motion(robot, **moving)
    rates, parts = motion.joints.velocity, []
    speeds, driven = inverse_dynamics(robot, **moving).velocity, structure_of(robot.family).driven
    for k, instance in enumerate(robot.mechanism.instances):
        columns = limb_columns(robot.family, instance.limb)
        parts += [_of_body(motion.limbs[k][body], gravity) for body in columns.bodies]
        parts += [_of_drive(rates[..., k, joint]) for joint in columns.armatures]
        speed, limb = speeds[..., driven[k]], robot.mechanism.limbs[instance.limb]
        for drive, place in columns.spins:
            parts.append(_of_spin(limb.drives[drive].spins[place], speed[..., drive], motion.limbs[k]))
    if platform_has_columns(robot.family):
        parts.append(_of_body(motion.platform, gravity))
    return np.concatenate(parts, axis=-1)


def changes(robot: Robot, moving: Moving, *, gravity: ArrayLike = GRAVITY) -> np.ndarray:
    """Return the energies as rows (2 * samples, column), the potential one from its mean: constants cause no force."""
    finite = energies(robot, moving, gravity=gravity)
    finite = finite[np.isfinite(finite).all(axis=(-1, -2))]
    finite[:, 1] -= finite[:, 1].mean(axis=0)
    return finite.reshape(-1, finite.shape[-1])


def rank(rows: np.ndarray, tolerance: float = 1e-9) -> int:
    """Rank by singular values of columns of length one, above `tolerance` times the largest."""
    sizes = np.linalg.norm(rows, axis=0)
    scaled = rows[:, sizes > tolerance * sizes.max()] / sizes[sizes > tolerance * sizes.max()]
    singular = np.linalg.svd(scaled, compute_uv=False)
    return int(np.sum(singular > tolerance * singular[0]))


def _of_body(body: BodyMotions, gravity: ArrayLike) -> np.ndarray:
    """Return the ten columns of one body (*batch, 2, 10)."""
    turn = np.swapaxes(body.rotation, -1, -2)
    omega, velocity = ((turn @ x[..., None])[..., 0] for x in (body.omega, body.velocity))
    fall = (turn @ np.asarray(gravity, dtype=float)[:, None])[..., 0]
    kinetic = np.zeros((*omega.shape[:-1], 10))
    potential = np.zeros_like(kinetic)
    kinetic[..., 0] = 0.5 * (velocity * velocity).sum(axis=-1)
    kinetic[..., 1:4] = np.cross(velocity, omega)
    for place, (i, j) in enumerate(TENSOR):
        kinetic[..., 4 + place] = omega[..., i] * omega[..., j] * (0.5 if i == j else 1.0)
    potential[..., 0] = -(body.position * np.asarray(gravity, dtype=float)).sum(axis=-1)
    potential[..., 1:4] = -fall
    return np.stack([kinetic, potential], axis=-2)


def _of_drive(rate: np.ndarray) -> np.ndarray:
    kinetic = 0.5 * rate * rate
    return np.stack([kinetic, np.zeros_like(kinetic)], axis=-1)[..., None]


def _of_spin(spin: Spin, speed: np.ndarray, links: Sequence[BodyMotions]) -> np.ndarray:
    """Return the energy of a rotor of a drive: its own, and that of its momentum along its carrier's turning."""
    turning = spin.share * speed
    kinetic = 0.5 * turning * turning
    if spin.carrier != BASE:
        body = links[spin.carrier]
        kinetic = kinetic + spin.coupling * turning * (body.turned(spin.axis) * body.omega).sum(axis=-1)
    return np.stack([kinetic, np.zeros_like(kinetic)], axis=-1)[..., None]
