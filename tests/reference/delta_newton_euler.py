"""Inverse dynamics of a Delta in redundant coordinates: Newton-Euler for every body, the wrench of every joint unknown.

Slow and plain on purpose: the forces of all 21 joints and 3 motors come from one system of 96 equations. Position and
velocity given to `energy` may be complex, so that the complex step gives its rate to the last digit.

Joints of a limb: 1 base-arm, 2 arm-elbow link, 3 elbow link-rod, 4 rod-wrist link, 5 elbow link-other rod, 6 wrist
link-platform, 7 other rod-wrist link (no angle of its own). World axes, SI units; wrenches are (moment, force).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .delta_bodies import Array, Delta, parse_delta
from .delta_motion import Body, Joint, whole_robot


def inverse_dynamics(
    parameters: Delta | Mapping[str, Any], position: Any, velocity: Any, acceleration: Any, load: Any = None
) -> dict[str, Any]:
    """Everything about one sample: motor torques, joint motion, reactions and energy, as the platform moves (3,).

    `load` (6,): wrench on the platform at its reference point. Returns torque (3,) [N m]; joint_position,
    joint_velocity, joint_acceleration (3, 6); reactions (3, 7, 6), on the child by the parent at the joint without the
    motor's torque, of least norm where not unique; reactions_unique (3, 7, 6), torque_unique; rank of the equations and
    their residual; energy (kinetic, potential) [J]. Raises ValueError for a position out of reach.
    """
    delta = parse_delta(parameters)
    motions, bodies, joints = whole_robot(delta, position, velocity, acceleration)
    matrix, right = _equations(delta, bodies, joints, np.zeros(6) if load is None else np.asarray(load))
    solution, unique, rank = _least_norm(matrix, right)
    wrench, determined = _wrenches(joints, solution[:-3], unique[:-3])
    q, qd, qdd = (np.array(rows) for rows in zip(*motions, strict=True))
    return {
        "torque": solution[-3:] + delta.armature * qdd[:, 0],
        "torque_unique": bool(unique[-3:].all()),
        "joint_position": q,
        "joint_velocity": qd,
        "joint_acceleration": qdd,
        "reactions": wrench,
        "reactions_unique": determined,
        "rank": rank,
        "residual": float(np.abs(matrix @ solution - right).max()),
        "energy": _energy(delta, bodies, qd),
    }


def energy(parameters: Delta | Mapping[str, Any], position: Any, velocity: Any) -> tuple[Any, Any]:
    """Kinetic and potential energy [J], the drives included; complex where position or velocity is."""
    delta = parse_delta(parameters)
    motions, bodies, _ = whole_robot(delta, position, velocity, np.zeros(3))
    return _energy(delta, bodies, np.array([motion.qd for motion in motions]))


def _equations(delta: Delta, bodies: dict[str, Body], joints: list[Joint], load: Array) -> tuple[Array, Array]:
    """Newton-Euler of all bodies about their centres of mass: five unknowns of each joint, then the motor torques."""
    rows = {name: slice(6 * k, 6 * k + 6) for k, name in enumerate(bodies)}
    matrix = np.zeros((6 * len(bodies), 5 * len(joints) + 3))
    right = np.concatenate([_inertial_wrench(body, delta.gravity) for body in bodies.values()])
    platform = bodies["platform"]
    right[rows["platform"]] -= _shift(-platform.rotation @ platform.solid.centre) @ load
    motors = iter(range(5 * len(joints), 5 * len(joints) + 3))
    for k, joint in enumerate(joints):
        basis = _constraint_basis(joint.axis)
        for name, sign in ((joint.child, 1.0), (joint.parent, -1.0)):
            if name == "base":
                continue
            shift = _shift(joint.point - bodies[name].centre)
            matrix[rows[name], 5 * k : 5 * k + 5] += sign * shift @ basis
        if joint.parent == "base":
            matrix[rows[joint.child], next(motors)] = np.concatenate([joint.axis, np.zeros(3)])
    return matrix, right


def _inertial_wrench(body: Body, gravity: Array) -> Array:
    tensor = body.rotation @ body.solid.tensor @ body.rotation.T
    moment = tensor @ body.alpha + np.cross(body.omega, tensor @ body.omega)
    return np.concatenate([moment, body.solid.mass * (body.acceleration - gravity)])


def _constraint_basis(axis: Array) -> Array:
    """Return the wrenches that a revolute joint transmits at a point of its axis (6, 5): two moments, three forces."""
    across = np.linalg.svd(axis[None, :])[2][1:]
    basis = np.zeros((6, 5))
    basis[:3, :2], basis[3:, 2:] = across.T, np.eye(3)
    return basis


def _shift(arm: Array) -> Array:
    """Turns a wrench at a point into the same wrench at the origin that the point is `arm` away from."""
    x, y, z = arm
    result = np.eye(6)
    result[:3, 3:] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    return result


def _least_norm(matrix: Array, right: Array) -> tuple[Array, Array, int]:
    """The shortest solution, which of its unknowns are unique, and the rank."""
    u, s, vt = np.linalg.svd(matrix)
    rank = int((s > 1e-10 * s[0]).sum())
    solution = vt[:rank].T @ ((u[:, :rank].T @ right) / s[:rank])
    return solution, np.abs(vt[rank:]).max(axis=0, initial=0.0) < 1e-9, rank


def _wrenches(joints: list[Joint], unknowns: Array, unique: Array) -> tuple[Array, Array]:
    """Reactions (3, 7, 6) of the joints and which of their components are unique."""
    bases = [_constraint_basis(joint.axis) for joint in joints]
    wrench = [basis @ part for basis, part in zip(bases, unknowns.reshape(-1, 5), strict=True)]
    loose = [np.abs(basis) @ ~part > 1e-9 for basis, part in zip(bases, unique.reshape(-1, 5), strict=True)]
    return np.reshape(wrench, (3, 7, 6)), ~np.reshape(loose, (3, 7, 6))


def _energy(delta: Delta, bodies: dict[str, Body], qd: Array) -> tuple[Any, Any]:
    kinetic = 0.5 * delta.armature * (qd[:, 0] @ qd[:, 0])
    potential: Any = 0.0
    for body in bodies.values():
        spin = body.rotation.T @ body.omega
        kinetic = kinetic + 0.5 * body.solid.mass * (body.velocity @ body.velocity)
        kinetic = kinetic + 0.5 * (spin @ body.solid.tensor @ spin)
        potential = potential - body.solid.mass * (delta.gravity @ body.centre)
    return kinetic, potential
