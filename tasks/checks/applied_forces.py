"""Forces of springs, bushings and laws of a state on the bodies and along the joints of a limb, for a batch of states.

They are computed independently for the Newton-Euler system, so that the check shares no code with
`tasks.mechanics.recursion`, which kernels use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from robots.model import Limb
from robots.springs import Bushing, ForceElement, Spring, at_state, state_with
from robots.types import BASE, Matrix, Vector
from tasks.dynamics.body_motions import BodyMotions

JointStates = Callable[[str], np.ndarray]
"""Positions `q_JOINT` and rates `qd_JOINT` (n,) of the joints of a limb, by name."""


def applied_wrench(
    elements: Sequence[ForceElement], body: BodyMotions, links: Mapping[int, BodyMotions], joints: JointStates
) -> np.ndarray:
    """Return (moment about its origin, force) (n, 6) of elements on a body, in world axes, which are the base's.

    `links` are motions of the links of its limb, to which springs may lead; `joints` is the state of the joints of the
    limb, which laws may name.
    """
    result = np.zeros((len(body.position), 6))
    for element in elements:
        arm = body.turned(element.point)
        moment = np.zeros(3)
        if isinstance(element, Bushing):
            moment, force = _bushing(element, body, None if element.other == BASE else links[element.other])
        elif isinstance(element, Spring):
            force = _pull(element, body, arm, None if element.other == BASE else links[element.other], joints)
        else:
            acting = at_state(element, joints)
            parts = (np.broadcast_arrays(*part, result[:, 0])[:3] for part in (acting.moment, acting.force))
            moment, force = (np.stack(part, axis=-1).astype(float) for part in parts)
            if acting.turning:
                moment, force = ((body.rotation @ part[..., None])[..., 0] for part in (moment, force))
        result[:, :3] += moment + np.cross(arm, force)
        result[:, 3:] += force
    return result


def _pull(
    spring: Spring, body: BodyMotions, arm: np.ndarray, other: BodyMotions | None, joints: JointStates
) -> np.ndarray:
    """Return the force (n, 3) of a spring on its body, towards its anchor on another one, or on the base."""
    reach, velocity = np.asarray(spring.anchor, dtype=float), body.velocity_of(arm)
    if other is not None:
        far = other.turned(spring.anchor)
        reach, velocity = other.position + far, velocity - other.velocity_of(far)
    gap = reach - body.position - arm
    length = np.linalg.norm(gap, axis=-1)
    with np.errstate(invalid="ignore"):
        opening = -(gap * velocity).sum(axis=-1) / length
    lengths = {"s": length, "sd": opening}
    spring = at_state(spring, state_with(lengths, joints))
    if spring.acts == "both" and not np.any([np.any(x) for x in (spring.rest_length, spring.preload, spring.damping)]):
        return np.asarray(gap * _column(spring.stiffness))  # where both points coincide, too
    length, opening = length[:, None], opening[:, None]
    stretch = length - _column(spring.rest_length)
    direct = _column(spring.preload) - _column(spring.stiffness) * _column(spring.rest_length)
    tension = _column(spring.preload) + _column(spring.stiffness) * stretch + _column(spring.damping) * opening
    if spring.acts != "both":
        sign = 1.0 if spring.acts == "pull" else -1.0
        tension = np.where(sign * stretch > 0.0, sign * np.maximum(sign * tension, 0.0), 0.0)
    with np.errstate(invalid="ignore"):
        pulls = np.asarray(gap / length * tension)
    meeting = (length == 0.0) & (spring.acts == "both") & (direct == 0.0)
    return np.where(meeting, -velocity * _column(spring.damping), pulls)


def _bushing(bushing: Bushing, body: BodyMotions, other: BodyMotions | None) -> tuple[np.ndarray, np.ndarray]:
    """Return (moment about its frame, force) (n, 3) of a bushing on its body: slopes of its energy by SciPy."""
    near = _frame(body, bushing.point, bushing.axes)
    far = _frame(other, bushing.anchor, bushing.anchor_axes)
    first, second = (far, near) if bushing.reacts else (near, far)
    gap, axes = first.place - second.place, np.swapaxes(second.axes, 1, 2)
    rate = first.velocity - second.velocity - np.cross(second.omega, gap)
    stretch, speed, omega = (products(axes, x) for x in (gap, rate, first.omega - second.omega))
    theta = Rotation.from_matrix(axes @ first.axes).as_rotvec()
    tangent = _inverse_jacobian(theta)
    force = -products(second.axes, stretch * _triple(bushing.stiffness) + speed * _triple(bushing.damping))
    turning = theta * _triple(bushing.turn_stiffness) + products(tangent, omega) * _triple(bushing.turn_damping)
    moment = -products(second.axes @ np.swapaxes(tangent, 1, 2), turning)
    return (-moment - np.cross(gap, force), -force) if bushing.reacts else (moment, force)


class _Frame(NamedTuple):
    """Axes, place, angular velocity and velocity of the end of a bushing, world axes."""

    axes: np.ndarray
    place: np.ndarray
    omega: np.ndarray
    velocity: np.ndarray


def _frame(body: BodyMotions | None, point: Vector, axes: Matrix) -> _Frame:
    columns = np.stack([_triple(row) for row in axes], axis=1)
    if body is None:
        return _Frame(columns, _triple(point), np.zeros((1, 3)), np.zeros((1, 3)))
    arm = body.turned(point)
    return _Frame(body.rotation @ columns, body.position + arm, body.omega, body.velocity_of(arm))


def _triple(vector: Vector) -> np.ndarray:
    """Return a vector of numbers, or of numbers (n,), as rows (n or 1, 3)."""
    return np.concatenate(np.broadcast_arrays(*(_column(x) for x in vector)), axis=1)


def _inverse_jacobian(theta: np.ndarray) -> np.ndarray:
    """Return the maps (n, 3, 3) from angular velocity to the rate of rotation vectors (n, 3)."""
    angle = np.linalg.norm(theta, axis=1)[:, None, None]
    skew = np.cross(theta[:, None, :], np.eye(3)[None]).swapaxes(1, 2)
    half = 0.5 * np.where(angle > 0.0, angle, 1.0)
    factor = np.where(angle > 1e-4, (1.0 - half / np.tan(half)) / (4.0 * half * half), 1.0 / 12.0)
    return np.eye(3) - 0.5 * skew + factor * skew @ skew


def _column(number: ArrayLike) -> np.ndarray:
    """Return a number, or numbers (n,), as a column."""
    return np.asarray(number, dtype=float).reshape(-1, 1)


def joint_states(limb: Limb, position: np.ndarray, rate: np.ndarray) -> JointStates:
    """Return the states (n,) of the joints of a limb by name, from positions and rates (n, joint)."""

    def value(name: str) -> np.ndarray:
        kind, _, joint = name.partition("_")
        return np.asarray((position if kind == "q" else rate)[:, limb.index(joint)])

    return value


def spring_forces(limb: Limb, position: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Compute spring forces along joints (n, joint), from positions and rates (n, joint) of the joints of a limb."""
    of_joints = joint_states(limb, position, rate)
    result = np.zeros_like(position)
    for law in limb.springs:
        joints = [joint for joint, _ in law.ratios]
        ratios = np.array([float(ratio) for _, ratio in law.ratios])
        coordinate = {"q": position[:, joints] @ ratios, "qd": rate[:, joints] @ ratios}
        spring = at_state(law, state_with(coordinate, of_joints))
        stretch = coordinate["q"] - spring.rest_position
        half = 0.5 * spring.backlash
        beyond = np.sign(stretch) * np.maximum(np.abs(stretch) - half, 0.0)
        touching = (np.abs(stretch) > half) | (half == 0.0)
        force = spring.force - spring.stiffness * beyond - spring.damping * touching * coordinate["qd"]
        for joint, ratio in zip(joints, ratios, strict=True):
            result[:, joint] += force * ratio
    return result


def products(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return the products of matrices (n, i, j) and vectors (n, j)."""
    return (matrices @ vectors[..., None])[..., 0]
