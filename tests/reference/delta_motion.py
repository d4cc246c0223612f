"""Motion of every joint and body of a Delta in closed form: arm by circle and sphere, parallelogram by its symmetry.

The rates come from differentiating the closed form by hand. Positions and velocities may be complex, so that the
complex step can check that. What the motion costs in torque is in `delta_newton_euler`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from .delta_bodies import AZIMUTHS, Array, Delta, Solid, parse_delta

Y = np.array([0.0, 1.0, 0.0])

PARENTS = {"1": "base", "2": "arm", "3": "elbow", "4": "rod_a", "5": "elbow", "6": "wrist", "7": "rod_b"}
CHILDREN = {"1": "arm", "2": "elbow", "3": "rod_a", "4": "wrist", "5": "rod_b", "6": "platform", "7": "wrist"}


class Motion(NamedTuple):
    """Angles of joints 1 to 6 of one limb [rad] and their first and second derivatives, each (6,)."""

    q: Array
    qd: Array
    qdd: Array


class Body(NamedTuple):
    """A body in motion, world axes: rotation, centre of mass, angular velocity, velocity, and their derivatives."""

    solid: Solid
    rotation: Array
    centre: Array
    omega: Array
    velocity: Array
    alpha: Array
    acceleration: Array


class Joint(NamedTuple):
    """A revolute joint: which bodies it joins, a point of its axis and the direction of the axis, world axes."""

    parent: str
    child: str
    point: Array
    axis: Array


def extension(parameters: Delta | Mapping[str, Any], position: Any) -> Array:
    """Return the extension of each limb (3,): between -1 and 1 where it reaches the position, singular at both."""
    delta, r = parse_delta(parameters), np.asarray(position)
    return np.array([_extension(delta, _tip(delta, _around_z(angle).T @ r)) for angle in AZIMUTHS])


def joint_motion(delta: Delta, r: Array, v: Array, a: Array) -> Motion:
    """Angles of a limb from the motion of the platform in the limb's own axes (the level arm points along -x).

    The vector from elbow to platform joint, w, has length c; its part across the plane of the arm gives joint 3, its
    direction in that plane the tilt of the elbow link.
    """
    tip = _tip(delta, r)
    theta = _wrapped(_direction(tip[0], tip[2]) + np.arccos(_extension(delta, tip)))
    out, turn = _elbow(delta, theta)
    w = tip - out
    rate = (w @ v) / (w @ turn)
    wd = v - rate * turn
    theta2 = (w @ (a + rate**2 * out) + wd @ wd) / (w @ turn)  # second derivative of |w|^2 = c^2
    wdd = a - theta2 * turn + rate**2 * out
    tilt = _tilt(delta, w, wd, wdd)
    rock = _rock(delta.rod_length, w[1], wd[1], wdd[1])
    return Motion(*(_angles(*row) for row in zip((theta, rate, theta2), tilt, rock, strict=True)))


def _angles(arm: Any, tilt: Any, rock: Any) -> Array:
    return np.array([arm, tilt - arm, rock, -rock, rock, -tilt])


def _tip(delta: Delta, r: Array) -> Array:
    return np.asarray(r + np.array([delta.base_radius - delta.platform_radius, 0.0, 0.0]))


def _extension(delta: Delta, tip: Array) -> Any:
    a, c = delta.upper_arm, delta.rod_length
    return (c**2 - a**2 - tip @ tip) / (2.0 * a * np.sqrt(tip[0] ** 2 + tip[2] ** 2))


def _elbow(delta: Delta, theta: Any) -> tuple[Array, Array]:
    """Vector from joint 1 to the elbow and its derivative by the arm's angle; the second is the vector, negative."""
    cos, sin = delta.upper_arm * np.cos(theta), delta.upper_arm * np.sin(theta)
    return np.array([-cos, 0.0, -sin]), np.array([sin, 0.0, -cos])


def _tilt(delta: Delta, w: Array, wd: Array, wdd: Array) -> tuple[Any, Any, Any]:
    """Angle of the elbow link about -y from its reference pose, and its derivatives."""
    square, growth = w[0] ** 2 + w[2] ** 2, 2.0 * (w[0] * wd[0] + w[2] * wd[2])
    rate = (w[0] * wd[2] - w[2] * wd[0]) / square
    angle = _direction(w[0], w[2]) - _direction(delta.reach, -delta.height)
    return _wrapped(angle), rate, (w[0] * wdd[2] - w[2] * wdd[0] - growth * rate) / square


def _rock(length: float, side: Any, rate: Any, second: Any) -> tuple[Any, Any, Any]:
    """Angle of the rods against the plane of the arm, and its derivatives, from side = length sin(angle)."""
    angle = np.arcsin(side / length)
    omega = rate / (length * np.cos(angle))
    return angle, omega, (second / length + np.sin(angle) * omega**2) / np.cos(angle)


def _direction(x: Any, z: Any) -> Any:
    """arctan2(z, x), carrying an infinitesimal imaginary part through, which NumPy's does not."""
    value = np.arctan2(np.real(z), np.real(x))
    if np.iscomplexobj(x) or np.iscomplexobj(z):
        return value + 1j * (np.real(x) * np.imag(z) - np.real(z) * np.imag(x)) / (np.real(x) ** 2 + np.real(z) ** 2)
    return value


def _wrapped(angle: Any) -> Any:
    return angle - 2.0 * np.pi * np.round(np.real(angle) / (2.0 * np.pi))


def _around_z(angle: float) -> Array:
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])


def _around_minus_y(angle: Any) -> Array:
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, 0.0, -sin], [0.0, 1.0, 0.0], [sin, 0.0, cos]])


def _around_x(angle: Any) -> Array:
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, cos, -sin], [0.0, sin, cos]])


def whole_robot(
    delta: Delta, position: Any, velocity: Any, acceleration: Any
) -> tuple[list[Motion], dict[str, Body], list[Joint]]:
    """Joint motion of all limbs, bodies and joints in world axes; the platform, which never turns, comes last."""
    platform = tuple(np.asarray(each) for each in (position, velocity, acceleration))
    _check(delta, platform)
    motions, bodies, joints = [], {}, []
    for index, azimuth in enumerate(AZIMUTHS):
        world = _around_z(azimuth)
        r, v, a = (world.T @ each for each in platform)
        motions.append(joint_motion(delta, r, v, a))
        for name, body in _limb_bodies(delta, motions[-1], r, v, a, world):
            bodies[f"{name}{index}"] = body
        joints += _limb_joints(delta, motions[-1], r, world, index)
    r, v, a = platform
    bodies["platform"] = _body(delta.solids["platform"], np.eye(3), np.eye(3), (r, v, a), np.zeros(3), np.zeros(3))
    return motions, bodies, joints


def _check(delta: Delta, platform: tuple[Array, ...]) -> None:
    for name, value in zip(("position", "velocity", "acceleration"), platform, strict=True):
        if value.shape != (3,):
            raise ValueError(f"{name} of the platform has shape {value.shape}, expected (3,): pass one sample")
    stretch = np.real(extension(delta, platform[0]))
    if np.abs(stretch).max() >= 1.0:
        limb = int(np.abs(stretch).argmax()) + 1
        raise ValueError(f"position {np.real(platform[0])} is out of reach of limb {limb}, choose one nearer home")


def _limb_bodies(
    delta: Delta, motion: Motion, r: Array, v: Array, a: Array, world: Array
) -> Iterator[tuple[str, Body]]:
    """The five bodies of a limb, moved from the limb's axes to the world's by the rotation `world`."""
    q, qd, qdd = motion
    out, turn = _elbow(delta, q[0])
    elbow = (
        out - np.array([delta.base_radius, 0.0, 0.0]),
        qd[0] * turn,
        qdd[0] * turn - qd[0] ** 2 * out,
    )
    wrist = (r - np.array([delta.platform_radius, 0.0, 0.0]), v, a)
    base = (np.array([-delta.base_radius, 0.0, 0.0]), np.zeros(3), np.zeros(3))
    link, omega, alpha = _link_rotation(delta, q), qd[5] * Y, qdd[5] * Y
    axis = link[:, 0]
    rod_omega, rod_alpha = omega + qd[2] * axis, alpha + qdd[2] * axis + np.cross(omega, qd[2] * axis)
    solids = delta.solids
    yield "arm", _body(solids["arm"], world, _around_minus_y(q[0]), base, -qd[0] * Y, -qdd[0] * Y)
    yield "elbow", _body(solids["elbow"], world, link, elbow, omega, alpha)
    yield "wrist", _body(solids["wrist"], world, link, wrist, omega, alpha)
    for name, side in (("rod_a", -0.5), ("rod_b", 0.5)):
        upper = (elbow[0] + side * delta.link_length * Y, elbow[1], elbow[2])
        yield name, _body(solids["rod"], world, link @ _around_x(q[2]), upper, rod_omega, rod_alpha)


def _link_rotation(delta: Delta, q: Array) -> Array:
    """Rotation of elbow and wrist link: x along the parallelogram's axes, z along the rods at the reference pose."""
    cos, sin, length = delta.height, delta.reach, delta.rod_length
    reference = np.array([[cos, 0.0, -sin], [0.0, length, 0.0], [sin, 0.0, cos]]) / length
    return np.asarray(_around_minus_y(-q[5]) @ reference)


def _body(solid: Solid, world: Array, rotation: Array, origin: tuple[Array, ...], omega: Array, alpha: Array) -> Body:
    """A body from the motion of its origin and its rotation, both in the limb's axes, turned to world axes."""
    arm = rotation @ solid.centre
    velocity = origin[1] + np.cross(omega, arm)
    acceleration = origin[2] + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
    vectors = (origin[0] + arm, omega, velocity, alpha, acceleration)
    return Body(solid, world @ rotation, *(world @ vector for vector in vectors))


def _limb_joints(delta: Delta, motion: Motion, r: Array, world: Array, index: int) -> list[Joint]:
    out, _ = _elbow(delta, motion.q[0])
    base = np.array([-delta.base_radius, 0.0, 0.0])
    side, tip = 0.5 * delta.link_length * Y, r - np.array([delta.platform_radius, 0.0, 0.0])
    elbow, axis = base + out, _link_rotation(delta, motion.q)[:, 0]
    points = (base, elbow, elbow - side, tip - side, elbow + side, tip, tip + side)
    axes = (-Y, -Y, axis, axis, axis, -Y, axis)
    names = zip(PARENTS.values(), CHILDREN.values(), strict=True)
    return [
        Joint(_numbered(parent, index), _numbered(child, index), world @ point, world @ line)
        for (parent, child), point, line in zip(names, points, axes, strict=True)
    ]


def _numbered(name: str, index: int) -> str:
    """Name of a body in the whole robot: base and platform are there once, the others once a limb."""
    return name if name in ("base", "platform") else f"{name}{index}"
