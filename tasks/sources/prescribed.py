"""Trajectories with velocity and acceleration: the mathematics of the kinds of `robots.trajectories.kinds`.

Every kind has a row under its name in `FORMS`, functions of time for one sample, or in `SAMPLED`; motions and turns of
a platform and motions of joints share the rows.

A turn is a rotation with angular velocity and acceleration, from roll, pitch and yaw over time in the same `FORMS`. The
rotation is a smooth function of the angles everywhere; the inverse, which has singularities, is not needed. Also here:
the motion of a base along a trajectory and the field that bodies of a robot feel from it (see
`tasks.mechanics.recursion`), and loads on the platform along a trajectory, in world axes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robots.trajectories.cycles import cycle_times
from robots.trajectories.kinds import HARMONICS, JOINT_MOTIONS, MOTIONS, TURNS, Turn, Value
from robots.trajectories.trajectory import PlatformLoad, Trajectory
from robots.types import IDENTITY
from tasks.kernels.expression import Array, Scalar
from tasks.kernels.kernel import kernel, padded
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import array, cross, dot, sincos, sqrt, where
from tasks.mathematics.rotations import from_sines

Numbers = NDArray[np.float64]
Instant = tuple[Any, Any, Any]
"""Position, velocity, acceleration: of a joint [rad or m and s], of a platform in the base frame [m and s], or of its
roll, pitch and yaw [rad and s]."""


# --- functions of time ------------------------------------------------------------------------------------------------


def constant(t: Scalar) -> Instant:
    """Return no motion, from zero angles."""
    return np.zeros(3), np.zeros(3), np.zeros(3)


def constant_velocity(t: Scalar, start: Scalar, velocity: Scalar) -> Instant:
    """Return a motion at a constant rate."""
    return start + velocity * t, velocity, 0.0


def constant_acceleration(t: Scalar, start: Scalar, velocity: Scalar, acceleration: Scalar) -> Instant:
    """Return a motion at a constant acceleration."""
    return start + (velocity + 0.5 * acceleration * t) * t, velocity + acceleration * t, acceleration


def harmonic(t: Scalar, centre: Array, amplitude: Array, period: Scalar, phase: Scalar) -> Instant:
    """Return a harmonic oscillation, of a platform along a line."""
    rate = 2.0 * math.pi / period
    s, c = sincos(rate * t + phase)
    return centre + amplitude * s, amplitude * (rate * c), amplitude * (-(rate * rate) * s)


def circle(t: Scalar, centre: Array, normal: Array, radius: Scalar, period: Scalar, phase: Scalar) -> Instant:
    """Return a circle at constant speed, right-handed about the normal; for a normal along z it starts at +x."""
    n = normal * (1.0 / sqrt(dot(normal, normal)))
    # a direction in the plane: the projection of x, or of y where the normal is nearly x
    steep = abs(n[0]) > 0.9
    axis = array([where(steep, 0.0, 1.0), where(steep, 1.0, 0.0), 0.0])
    u = axis - n * (n @ axis)
    u = u * (1.0 / sqrt(u @ u))
    v = cross(n, u)
    rate = 2.0 * math.pi / period
    s, c = sincos(rate * t + phase)
    outward, along = u * c + v * s, v * c - u * s
    return centre + outward * radius, along * (radius * rate), outward * (-(radius * rate * rate))


def helix(
    t: Scalar, centre: Array, normal: Array, radius: Scalar, axial_speed: Scalar, period: Scalar, phase: Scalar
) -> Instant:
    """Return a circle that moves along its normal."""
    position, velocity, acceleration = circle(t, centre, normal, radius, period, phase)
    along = array(normal * (axial_speed * (1.0 / sqrt(dot(normal, normal)))))
    return position + along * t, velocity + along, acceleration


def spiral(
    t: Scalar, centre: Array, radius: Scalar, radial_speed: Scalar, axial_speed: Scalar, period: Scalar, phase: Scalar
) -> Instant:
    """Return a spiral or helix around z."""
    rate = 2.0 * math.pi / period
    s, c = sincos(rate * t + phase)
    r = radius + radial_speed * t
    outward, along = array([c, s, 0.0]), array([-s, c, 0.0])
    lift = array([0.0, 0.0, 1.0])
    position = centre + outward * r + lift * (axial_speed * t)
    velocity = outward * radial_speed + along * (r * rate) + lift * axial_speed
    return position, velocity, along * (2.0 * radial_speed * rate) - outward * (r * rate * rate)


def quintic(t: Scalar, start: Array, end: Array, duration: Scalar) -> Instant:
    """Return a point-to-point motion, at rest before zero and after the duration."""
    s, ds, dds = _share(t, duration)
    way = end - start
    return start + way * s, way * ds, way * dds


def _share(t: Scalar, duration: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """Return the share of a way, 0 to 1, quintic in time, with its rates; at rest before zero and after the end."""
    x = t / duration
    x = where(x < 0.0, 0.0, where(x > 1.0, 1.0, x))
    s = x * x * x * (10.0 + x * (-15.0 + 6.0 * x))
    ds = 30.0 * (x * x) * ((1.0 - x) * (1.0 - x)) / duration
    dds = 60.0 * x * ((1.0 - x) * (1.0 - 2.0 * x)) / (duration * duration)
    return s, ds, dds


def _added(moves: Sequence[tuple[Any, tuple[Scalar, Scalar, Scalar]]], start: Any) -> Instant:
    """Return the sum of moves from `start`, each a vector with its completed share and the rates of this share."""
    position, velocity, acceleration = start, start * 0.0, start * 0.0
    for way, (s, ds, dds) in moves:
        position, velocity, acceleration = position + way * s, velocity + way * ds, acceleration + way * dds
    return position, velocity, acceleration


def pick_and_place(t: Scalar, start: Array, end: Array, lift: Scalar, duration: Scalar, blend: Scalar) -> Instant:
    """Return a cycle there and back: lifts of `lift`, and travels that begin and end within them."""
    rising, travel, begin = cycle_times(start, end, lift, duration, blend)
    half, way, up = 0.5 * duration, end - start, array([0.0, 0.0, 1.0]) * lift
    rises = [(up, 0.0), (-up, half - rising), (up, half), (-up, duration - rising)]
    moves = [(step, _share(t - begins, rising)) for step, begins in rises]
    moves += [(way, _share(t - begin, travel)), (-way, _share(t - half - begin, travel))]
    return _added(moves, start)


ISO_9283 = ((1.0, -1.0, 1.0), (0.0, 2.0, 0.0), (-2.0, 0.0, -2.0), (0.0, -2.0, 0.0), (1.0, 1.0, 1.0))
"""Moves P1 to P5, P4, P3, P2 and P1, in 0.4 of the edge: the poses lie a tenth of the diagonal inside the corners."""


def iso_9283(t: Scalar, centre: Array, edge: Scalar, duration: Scalar) -> Instant:
    """Return moves between the poses of the test plane of a cube, at rest at each."""
    each = duration / float(len(ISO_9283))
    moves = [(array(way) * (0.4 * edge), _share(t - each * float(k), each)) for k, way in enumerate(ISO_9283)]
    return _added(moves, centre)


def fourier(t: Scalar, centre: Array, period: Scalar, **amplitudes: Array) -> Instant:
    """Return a finite Fourier series. Swevers et al. 1997."""
    rate = 2.0 * math.pi / period
    position, velocity, acceleration = centre, centre * 0.0, centre * 0.0
    for k in range(1, HARMONICS + 1):
        turning = rate * float(k)
        s, c = sincos(turning * t)
        a, b = amplitudes[f"sine_{k}"], amplitudes[f"cosine_{k}"]
        swing = a * s + b * c
        position = position + swing
        velocity = velocity + (a * c - b * s) * turning
        acceleration = acceleration - swing * (turning * turning)
    return position, velocity, acceleration


FORMS: Mapping[str, Callable[..., Instant]] = {
    "constant": constant,
    "constant_velocity": constant_velocity,
    "constant_acceleration": constant_acceleration,
    "line_sine": harmonic,
    "harmonic": harmonic,
    "circle": circle,
    "spiral": spiral,
    "helix": helix,
    "quintic": quintic,
    "pick_and_place": pick_and_place,
    "iso_9283": iso_9283,
    "fourier": fourier,
}
"""Instants from a time and the parameters of the kind by name."""


# --- kinds that are no functions of time ------------------------------------------------------------------------------


def workspace(times: Numbers, points: Numbers | None, centre: Value, size: Value, counts: Value) -> Numbers:
    """Return a rest at each point of a grid (9, samples), see `grid`; samples beyond the last repeat it."""
    return _at_rest(grid(centre, size, counts), len(times))


def grid(centre: ArrayLike, size: ArrayLike, counts: ArrayLike) -> Numbers:
    """Return the points of a grid in a box (3, points), x fastest; a single point along an axis is in the middle."""
    axes = [
        np.linspace(-0.5, 0.5, int(n)) * length + middle if n > 1 else np.array([middle])
        for middle, length, n in zip(*map(np.asarray, (centre, size, counts)), strict=True)
    ]
    z, y, x = np.meshgrid(*reversed(axes), indexing="ij")
    return np.stack([x.ravel(), y.ravel(), z.ravel()])


def workspace_cylinder(
    times: Numbers, points: Numbers | None, centre: Value, normal: Value, radius: float, height: float, counts: Value
) -> Numbers:
    """Return a rest at each point of rings in a cylinder (9, samples); samples beyond the last repeat it."""
    rings, around, along = (int(n) for n in np.asarray(counts))
    axis = np.asarray(normal, dtype=float) / np.linalg.norm(normal)
    first = np.eye(3)[1 if abs(axis[0]) > 0.9 else 0]
    first = first - axis * (axis @ first)
    first = first / np.linalg.norm(first)
    heights = np.linspace(-0.5, 0.5, along) * height if along > 1 else np.zeros(1)
    sizes, angles = radius * np.sqrt((np.arange(rings) + 1.0) / rings), 2.0 * math.pi * np.arange(around) / around
    z, r, a = (x.ravel() for x in np.meshgrid(heights, sizes, angles, indexing="ij"))
    second = np.cross(axis, first)
    places = np.asarray(centre, dtype=float)[:, None] + np.outer(axis, z)
    places = places + np.outer(first, r * np.cos(a)) + np.outer(second, r * np.sin(a))
    return _at_rest(places, len(times))


def workspace_points(times: Numbers, points: Numbers | None, volume: float) -> Numbers:
    """Return a rest at each of the `points` (n, 1 + 3), numbers first (9, samples); later samples repeat the last."""
    assert points is not None, "a list of points"
    return _at_rest(points[:, 1:].T, len(times))


def _at_rest(places: Numbers, samples: int) -> Numbers:
    places = np.pad(places, ((0, 0), (0, samples - places.shape[1])), mode="edge")
    return np.concatenate([places, np.zeros((6, samples))])


def waypoints(times: Numbers, points: Numbers | None) -> Numbers:
    """Return motion (3 k, samples) on the C2 cubic spline of `points` (n, 1 + k), times first; at rest at its ends."""
    from scipy.interpolate import CubicSpline  # slow to import, and few sweeps have points

    assert points is not None, "a spline has points"
    curve = CubicSpline(points[:, 0], points[:, 1:], bc_type="clamped")
    inside = np.clip(times, points[0, 0], points[-1, 0])
    within = ((times >= points[0, 0]) & (times <= points[-1, 0]))[:, None]
    parts = [curve(inside), np.where(within, curve(inside, 1), 0.0), np.where(within, curve(inside, 2), 0.0)]
    return np.ascontiguousarray(np.concatenate(parts, axis=1).T)


SAMPLED: Mapping[str, Callable[..., Numbers]] = {
    "workspace": workspace,
    "workspace_cylinder": workspace_cylinder,
    "workspace_points": workspace_points,
    "waypoints": waypoints,
}
"""Motions (3 k, samples) from all times (samples,), the points of a file, and the parameters of the kind by name."""


# --- evaluation -------------------------------------------------------------------------------------------------------


@functools.cache
def program(kind: str) -> Program:
    """Return the program of a platform trajectory: case input per parameter, sample input `t`, output `motion` (9)."""
    shapes = {p.name: p.shape for p in MOTIONS[kind].parameters}

    def one_sample(t: Array, **values: Array) -> dict[str, Array]:
        return {"motion": np.concatenate(FORMS[kind](t[0], **unpacked(values, shapes)))}

    case = {name: shape or (1,) for name, shape in shapes.items()}
    return trace(f"trajectory.{kind}", one_sample, case=case, sample={"t": (1,)})


@functools.cache
def joint_program(kind: str, joints: int) -> Program:
    """Return a joint trajectory's program: case input (joint,) per parameter, sample input `t`, output `motion`."""

    def one_sample(t: Array, **values: Array) -> dict[str, list[Scalar]]:
        instants = [FORMS[kind](t[0], **{name: value[k] for name, value in values.items()}) for k in range(joints)]
        return {"motion": [instant[k] for k in range(3) for instant in instants]}

    case = {p.name: (joints,) for p in JOINT_MOTIONS[kind].parameters}
    return trace(f"trajectory.{kind}.{joints}", one_sample, case=case, sample={"t": (1,)})


def unpacked(values: Mapping[str, Array], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """Return the case inputs (size,) as parameters of their shapes; parameters without a shape as scalars."""
    return {name: value if shapes[name] else value[0] for name, value in values.items()}


def motion(
    kind: str, values: Mapping[str, Value], times: Numbers, points: Numbers | None = None, joints: int = 0
) -> Numbers:
    """Return position, velocity, acceleration (3 k, padded samples) at `times` (samples,); padding repeats the last.

    k is 3 for a platform, and the number `joints` of independent joints for a chain.
    """
    t = padded_times(times)
    if kind in SAMPLED:
        return SAMPLED[kind](t, points, **values)
    return evaluated(joint_program(kind, joints) if joints else program(kind), values, t)


def padded_times(times: Numbers) -> Numbers:
    """Return times (padded samples,) that fill the last group of lanes by repeating the last one."""
    return np.concatenate([times, np.full(padded(len(times)) - len(times), times[-1])])


def evaluated(trajectory: Program, values: Mapping[str, ArrayLike], t: Numbers) -> Numbers:
    """Return the `motion` (size, padded samples) of a program of a trajectory at padded times."""
    inputs = {name: np.asarray(value, dtype=float).reshape(1, -1) for name, value in values.items()}
    inputs = {name: np.broadcast_to(value, (1, *trajectory.case[name])) for name, value in inputs.items()}
    return kernel(trajectory)({**inputs, "t": t.reshape(1, 1, -1)}, len(t))["motion"][0]


def motion_vector(translation: Numbers, size: int, turning: Numbers | None = None) -> Numbers:
    """Return the motion vector of `tasks.mechanics.recursion` (size, samples) from a translation (9, samples).

    turning (15, samples): result of `turning`; absent: the platform keeps the axes of the world.
    """
    if size == 9:
        return translation
    result = np.zeros((size, translation.shape[1]))
    result[0:3] = translation[0:3]
    result[3:12] = np.eye(3).reshape(9, 1) if turning is None else turning[:9]
    if turning is not None:
        result[12:15], result[18:21] = turning[9:12], turning[12:15]
    result[15:18], result[21:24] = translation[3:6], translation[6:9]
    return result


def along(load: PlatformLoad | None, rotation: Numbers, times: Numbers) -> Numbers:
    """Return moment and force (6, padded samples) in world axes at `times`, zero without a load.

    rotation (9, padded samples or 1) turns from the axes of the platform to those of the world, row by row.
    """
    stamps = padded_times(times)
    if load is None:
        return np.zeros((6, len(stamps)))
    wrench = _interpolated(load.points, stamps)
    if load.axes == "world":
        return wrench
    rows = rotation.reshape(3, 3, -1)
    turned = [
        sum((rows[i, k] * part[k] for k in range(1, 3)), start=rows[i, 0] * part[0])
        for part in (wrench[:3], wrench[3:])
        for i in range(3)
    ]
    return np.stack(turned)


def _interpolated(points: Numbers, times: Numbers) -> Numbers:
    """Return values (columns - 1, samples) on lines between points (points, columns), constant beyond the ends."""
    stamps, values = points[:, 0], points[:, 1:].T
    if len(stamps) == 1:
        return np.repeat(values, len(times), axis=1)
    after = np.clip(np.searchsorted(stamps, times, side="right"), 1, len(stamps) - 1)
    share = np.clip((times - stamps[after - 1]) / (stamps[after] - stamps[after - 1]), 0.0, 1.0)
    result: Numbers = values[:, after - 1] * (1.0 - share) + values[:, after] * share
    return result


@functools.cache
def turn_program(kind: str) -> Program:
    """Return the program of a turn: case inputs its parameters and `rest` (9), the rotation about which it turns.

    Sample input `t`, output `motion` (15): rotation row by row, angular velocity and acceleration in the axes of the
    base.
    """
    shapes = {p.name: p.shape for p in TURNS[kind].parameters}

    def one_sample(t: Array, rest: Array, **values: Array) -> dict[str, Array]:
        angles, rates, accelerations = FORMS[kind](t[0], **unpacked(values, shapes))
        sin, cos = (array(part) for part in zip(*map(sincos, angles), strict=True))
        turned = from_sines(sin, cos, array(rates), array(accelerations))
        rotation = array(turned.rotation) @ array(rest).reshape(3, 3)
        return {"motion": np.concatenate([rotation.ravel(), turned.omega, turned.alpha])}

    case = {name: shape or (1,) for name, shape in shapes.items()}
    return trace(f"trajectory.turn.{kind}", one_sample, case={**case, "rest": (9,)}, sample={"t": (1,)})


@functools.cache
def program_along_angles() -> Program:
    """Return the program of a turn along given angles: case input `rest` as above, sample input `angles` (9).

    These are roll, pitch and yaw, their rates and their accelerations; the output is the output of `program`.
    """

    def one_sample(angles: Array, rest: Array) -> dict[str, Array]:
        sin, cos = (array(part) for part in zip(*map(sincos, angles[:3]), strict=True))
        turned = from_sines(sin, cos, angles[3:6], angles[6:])
        rotation = array(turned.rotation) @ array(rest).reshape(3, 3)
        return {"motion": np.concatenate([rotation.ravel(), turned.omega, turned.alpha])}

    return trace("trajectory.turn.along_angles", one_sample, case={"rest": (9,)}, sample={"angles": (9,)})


def turning(turn: Turn | None, home: ArrayLike, times: Numbers) -> Numbers:
    """Return rotation, angular velocity and acceleration (15, padded samples) at `times`; `home` (3, 3): reference."""
    turn = turn or Turn("constant", {})
    rest = np.array(turn.orientation, dtype=float) @ np.array(home, dtype=float)
    if turn.kind not in SAMPLED:
        return evaluated(turn_program(turn.kind), {**turn.values, "rest": rest}, padded_times(times))
    angles = SAMPLED[turn.kind](padded_times(times), turn.points, **turn.values)
    inputs = {"rest": rest.reshape(1, 9), "angles": angles[None]}
    return kernel(program_along_angles())(inputs, angles.shape[1])["motion"][0]


def base_motion(base: Trajectory, times: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the rotation (time, 3, 3) of a moving base, its twist (time, 6), and the rate of the twist."""
    count = len(times)
    moved = motion(base.kind, base.values, times, base.points)[:, :count]
    turned = turning(base.turn, IDENTITY, times)[:, :count]
    twist, change = (np.concatenate([turned[k : k + 3], moved[j : j + 3]]).T for k, j in ((9, 3), (12, 6)))
    return turned[:9].T.reshape(count, 3, 3), np.ascontiguousarray(twist), np.ascontiguousarray(change)


def base_field(base: Trajectory, gravity: Sequence[float], times: Numbers) -> Numbers:
    """Return the `gravity` input of kernels on a base that moves (9, padded samples): in the axes of the base.

    Gravity less the acceleration of the base's origin, its angular velocity and angular acceleration. gravity (3,) and
    the motion are given in world axes, which are the axes of the base at its reference orientation.
    """
    moved = motion(base.kind, base.values, times, base.points)
    turned = turning(base.turn, IDENTITY, times)
    falling = np.reshape(np.asarray(gravity, dtype=float), (3, 1)) - moved[6:9]
    rows = turned[:9].reshape(3, 3, -1)
    parts = (falling, turned[9:12], turned[12:15])
    inward = [
        rows[0, i] * part[0] + rows[1, i] * part[1] + rows[2, i] * part[2]  # in one order, for the same bits everywhere
        for part in parts
        for i in range(3)
    ]
    return np.ascontiguousarray(np.stack(inward))
