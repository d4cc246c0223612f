"""Three robots and their inverse dynamics by virtual work, in NumPy alone.

A robot is a function from the coordinates x of its platform to the places of its bodies and actuators. Velocities and
accelerations of bodies are differences of places along the motion, partial velocities differences by coordinates;
the forces of the actuators follow from the balance of virtual work of inertia and weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
Place = tuple[Array, Array]
"""Centre of mass (3,) and rotation (3, 3) of a body."""

GRAVITY = np.array([0.0, 0.0, -9.81])
STEP, BY = 1e-4, 1e-5
"""Steps of differences: of time [s], of coordinates [m or rad]."""
WEIGHTS = {1: np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12.0, 2: np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / 12.0}
"""Five-point differences of first and second order."""


@dataclass(frozen=True)
class Body:
    """Mass [kg] and inertia about the centre of mass in the axes of the body (3, 3) [kg m^2]."""

    mass: float
    inertia: Array


def tube(density: float, outer: float, inner: float, length: float) -> Body:
    """Return a tube along the z axis of its frame."""
    mass = density * np.pi / 4.0 * (outer**2 - inner**2) * length
    across = mass * ((outer**2 + inner**2) / 16.0 + length**2 / 12.0)
    return Body(mass, np.diag([across, across, mass * (outer**2 + inner**2) / 8.0]))


def with_ends(body: Body, joint_mass: float, length: float) -> Body:
    """Return a body along z with a mass at both of its ends."""
    more = 2.0 * joint_mass * length**2 / 4.0
    return Body(body.mass + 2.0 * joint_mass, body.inertia + np.diag([more, more, 0.0]))


@dataclass(frozen=True)
class Robot:
    """Bodies, their places for coordinates, and the coordinates of the actuators (actuator,) for them."""

    bodies: Sequence[Body]
    places: Callable[[Array], Sequence[Place]]
    actuators: Callable[[Array], Array]


def vee(skew: Array) -> Array:
    """Return the vector of the skew part of a matrix."""
    return 0.5 * np.array([skew[2, 1] - skew[1, 2], skew[0, 2] - skew[2, 0], skew[1, 0] - skew[0, 1]])


def forces(robot: Robot, motion: Callable[[float], Array], time: float) -> Array:
    """Return the forces of the actuators at a time of a motion x(t)."""
    x = motion(time)
    around = [robot.places(motion(time + k * STEP)) for k in (-2, -1, 0, 1, 2)]
    moved = [(robot.places(x + step), robot.places(x - step)) for step in BY * np.eye(len(x))]
    work = np.zeros(len(x))
    for k, body in enumerate(robot.bodies):
        centres, turns = (np.array([places[k][part] for places in around]) for part in (0, 1))
        acceleration = np.tensordot(WEIGHTS[2], centres, 1) / STEP**2
        turn, rate, second = turns[2], np.tensordot(WEIGHTS[1], turns, 1) / STEP, np.tensordot(WEIGHTS[2], turns, 1)
        spin, change = vee(rate @ turn.T), vee(second @ turn.T) / STEP**2
        inertia = turn @ body.inertia @ turn.T
        push = body.mass * (acceleration - GRAVITY)
        moment = inertia @ change + np.cross(spin, inertia @ spin)
        for i, (ahead, behind) in enumerate(moved):
            work[i] += push @ (ahead[k][0] - behind[k][0]) / (2.0 * BY)
            work[i] += moment @ vee((ahead[k][1] - behind[k][1]) @ turn.T) / (2.0 * BY)
    return np.linalg.solve(jacobian(robot, x).T, work)


def jacobian(robot: Robot, x: Array) -> Array:
    """Return the rates of the actuators by those of the coordinates (actuator, coordinate)."""
    columns = [(robot.actuators(x + step) - robot.actuators(x - step)) / (2.0 * BY) for step in BY * np.eye(len(x))]
    return np.stack(columns, axis=1)


def frame_along(direction: Array, side: Array) -> Array:
    """Return a rotation whose z axis is a direction and whose y axis is a side at right angles to it."""
    z = direction / np.linalg.norm(direction)
    return np.stack([np.cross(side, z), side, z], axis=1)


def elbow(motor: Array, end: Array, near: float, far: float, outwards: Array) -> Array:
    """Return the place at two distances from a motor and an end in a plane, on the outer side."""
    way = end - motor
    reach = float(np.linalg.norm(way))
    along = (near**2 - far**2 + reach**2) / (2.0 * reach)
    axis = way / reach
    side = outwards - (outwards @ axis) * axis
    return motor + along * axis + np.sqrt(near**2 - along**2) * side / np.linalg.norm(side)


def five_bar(near: float, far: float, half_width: float, profile: tuple[float, ...], point: float) -> Robot:
    """Return a five-bar in the plane of x and z; profile: density and diameters of links, point: mass of its tip."""
    density, outer, inner = profile
    links = [tube(density, outer, inner, length) for length in (near, far)]
    across = np.array([0.0, 1.0, 0.0])
    motors = [np.array([sign * half_width, 0.0, 0.0]) for sign in (-1.0, 1.0)]

    def elbows(x: Array) -> list[Array]:
        end = np.array([x[0], 0.0, x[1]])
        return [elbow(motor, end, near, far, motor) for motor in motors]

    def places(x: Array) -> list[Place]:
        end, found = np.array([x[0], 0.0, x[1]]), []
        for motor, bend in zip(motors, elbows(x), strict=True):
            found += [(0.5 * (a + b), frame_along(b - a, across)) for a, b in ((motor, bend), (bend, end))]
        return [*found, (end, np.eye(3))]

    def actuators(x: Array) -> Array:
        return np.array([np.arctan2(b[2] - m[2], b[0] - m[0]) for m, b in zip(motors, elbows(x), strict=True)])

    return Robot([*links, *links, Body(point, np.zeros((3, 3)))], places, actuators)


def delta(sizes: dict[str, float], arm: Body, rod: Body, bar: Body, platform: float) -> Robot:
    """Return a Delta with rotary motors; bar: that between the rods at each elbow and at the platform."""
    turns = [2.0 * np.pi * k / 3.0 for k in range(3)]
    outs = [np.array([-np.cos(a), -np.sin(a), 0.0]) for a in turns]
    sides = [np.array([-np.sin(a), np.cos(a), 0.0]) for a in turns]
    motors, offset = [sizes["base_radius"] * out for out in outs], sizes["platform_radius"]

    def bend(k: int, x: Array) -> Array:
        """Return the elbow in the plane of the motor: on circles around it and around the end of the rods."""
        end = x + offset * outs[k]
        off = (end - motors[k]) @ sides[k]
        within = end - off * sides[k]
        return elbow(motors[k], within, sizes["upper_arm"], np.sqrt(sizes["rod_length"] ** 2 - off**2), outs[k])

    def places(x: Array) -> list[Place]:
        found: list[Place] = []
        for k in range(3):
            knee, end = bend(k, x), x + offset * outs[k]
            half = 0.5 * sizes["link_length"] * sides[k]
            found.append((0.5 * (motors[k] + knee), frame_along(knee - motors[k], sides[k])))
            along = end - knee
            z = along / np.linalg.norm(along)
            first = np.cross(sides[k], z)
            first = first / np.linalg.norm(first)
            turned = np.stack([first, np.cross(z, first), z], axis=1)
            found += [(0.5 * (knee + end) + s * half, turned) for s in (-1.0, 1.0)]
            across = np.stack([first, np.cross(sides[k], first), sides[k]], axis=1)
            found += [(knee, across), (end, across)]
        return [*found, (x, np.eye(3))]

    def actuators(x: Array) -> Array:
        knees = [bend(k, x) - motors[k] for k in range(3)]
        return np.array([np.arctan2(-knee[2], knee @ out) for knee, out in zip(knees, outs, strict=True)])

    of_limb = [arm, rod, rod, bar, bar]
    return Robot([*of_limb * 3, Body(platform, np.zeros((3, 3)))], places, actuators)


def hexapod(base: Array, plate: Array, home: Array, tube_body: Body, rod_body: Body, part: float, top: Body) -> Robot:
    """Return a platform on six legs of tube and rod, each of length `part`; coordinates: place and rotation vector."""

    def rotation(x: Array) -> Array:
        angle = float(np.linalg.norm(x[3:]))
        if angle == 0.0:
            return np.eye(3)
        k = x[3:] / angle
        skew = np.array([[0.0, -k[2], k[1]], [k[2], 0.0, -k[0]], [-k[1], k[0], 0.0]])
        return np.eye(3) + np.sin(angle) * skew + (1.0 - np.cos(angle)) * skew @ skew

    def legs(x: Array) -> Array:
        return x[:3] + plate @ rotation(x).T - base

    mounts = [frame_at(home + p - b) for b, p in zip(base, plate, strict=True)]

    def places(x: Array) -> list[Place]:
        found: list[Place] = []
        for foot, leg, mount in zip(base, legs(x), mounts, strict=True):
            length = float(np.linalg.norm(leg))
            a, b, c = mount.T @ (leg / length)
            beta, alpha = np.arcsin(a), np.arctan2(-b, c)
            about_x = np.array([[1, 0, 0], [0, np.cos(alpha), -np.sin(alpha)], [0, np.sin(alpha), np.cos(alpha)]])
            about_y = np.array([[np.cos(beta), 0, np.sin(beta)], [0, 1, 0], [-np.sin(beta), 0, np.cos(beta)]])
            turned, direction = mount @ about_x @ about_y, leg / length
            found += [(foot + 0.5 * part * direction, turned), (foot + leg - 0.5 * part * direction, turned)]
        return [*found, (x[:3], rotation(x))]

    def actuators(x: Array) -> Array:
        return np.linalg.norm(legs(x), axis=1)

    return Robot([tube_body, rod_body] * 6 + [top], places, actuators)


def frame_at(direction: Array) -> Array:
    """Return a rotation whose z axis is a direction and whose x axis is level."""
    z = direction / np.linalg.norm(direction)
    x = np.cross([0.0, 0.0, 1.0], z)
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def quintic(start: Array, end: Array, duration: float) -> Callable[[float], Array]:
    """Return the motion from rest to rest, quintic in time."""

    def at(time: float) -> Array:
        s = min(max(time / duration, 0.0), 1.0)
        return start + (end - start) * s**3 * (10.0 - 15.0 * s + 6.0 * s * s)

    return at


def _passing(path: Callable[[float], Array], s: float, speed: float, gain: float) -> Callable[[float], Array]:
    """Return the motion that passes a point of a path at time zero with a speed and an acceleration along it."""
    return lambda time: path(s + speed * time + 0.5 * gain * time * time)


def fastest(robot: Robot, path: Callable[[float], Array], most: float, speed: float, points: int) -> float:
    """Return the shortest time along a path x(s), s from 0 to 1, from rest to rest under limits of actuators.

    Forces are m s'' + c s'^2 + g at each point; squares of the speed s' are the largest that can be braked, found
    backwards, then the largest that can be reached, forwards. Pham and Pham 2018.
    """
    grid, step = np.linspace(0.0, 1.0, points), 1.0 / (points - 1)
    rows = []
    for s in grid:
        passes = [_passing(path, s, *pair) for pair in ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0))]
        held, braked, turned = (forces(robot, motion, 0.0) for motion in passes)
        rate = jacobian(robot, path(s)) @ (path(s + BY) - path(s - BY)) / (2.0 * BY)
        rows.append((braked - held, turned - held, held, rate))

    def accelerations(k: int, square: float) -> tuple[float, float]:
        m, c, g, _ = rows[k]
        ends = np.sort([(-most - g - c * square) / m, (most - g - c * square) / m], axis=0)
        return float(ends[0].max()), float(ends[1].min())

    def top(k: int) -> float:
        caps = (speed / np.maximum(np.abs(rows[k][3]), 1e-12)) ** 2
        low, high = 0.0, float(min(caps.min(), 1e9))
        for _ in range(60):
            middle = 0.5 * (low + high)
            a, b = accelerations(k, middle)
            low, high = (middle, high) if a <= b else (low, middle)
        return low

    tops = [top(k) for k in range(points)]
    squares = [0.0] * points
    for k in range(points - 2, 0, -1):
        low, high = 0.0, tops[k]
        for _ in range(60):
            middle = 0.5 * (low + high)
            good = middle + 2.0 * step * accelerations(k, middle)[0] <= squares[k + 1]
            low, high = (middle, high) if good else (low, middle)
        squares[k] = low
    for k in range(1, points):
        squares[k] = min(squares[k], squares[k - 1] + 2.0 * step * accelerations(k - 1, squares[k - 1])[1])
    speeds = np.sqrt(squares)
    return float(np.sum(2.0 * step / (speeds[1:] + speeds[:-1])))
