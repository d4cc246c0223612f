"""Trajectories, with velocity and acceleration: the mathematics of the kinds of `robots.trajectories.kinds`.

Every kind has a row under its name in `FORMS`, functions of time for one sample, or in `SAMPLED`; a platform's motions
and turns and those of joints share the rows.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robots.trajectories.kinds import HARMONICS, JOINT_MOTIONS, MOTIONS, Value
from tasks.kernels.cache import kernel
from tasks.kernels.kernel import padded
from tasks.kernels.program import Program, trace
from tasks.kernels.types import Array, Scalar
from tasks.mathematics.algebra import array, cross, dot, sqrt, where
from tasks.mathematics.elementary import sincos

Numbers = NDArray[np.float64]
Instant = tuple[Any, Any, Any]
"""Position, velocity, acceleration: of a joint [rad or m and s], of a platform in the base frame [m and s], or of its
roll, pitch and yaw [rad and s]."""


# --- functions of time ------------------------------------------------------------------------------------------------


def constant(t: Scalar) -> Instant:
    """No motion from the angles zero."""
    return np.zeros(3), np.zeros(3), np.zeros(3)


def constant_velocity(t: Scalar, start: Scalar, velocity: Scalar) -> Instant:
    """Constant rate."""
    return start + velocity * t, velocity, 0.0


def constant_acceleration(t: Scalar, start: Scalar, velocity: Scalar, acceleration: Scalar) -> Instant:
    """Constant acceleration."""
    return start + (velocity + 0.5 * acceleration * t) * t, velocity + acceleration * t, acceleration


def harmonic(t: Scalar, centre: Array, amplitude: Array, period: Scalar, phase: Scalar) -> Instant:
    """Harmonic oscillation, of a platform along a line."""
    rate = 2.0 * math.pi / period
    s, c = sincos(rate * t + phase)
    return centre + amplitude * s, amplitude * (rate * c), amplitude * (-(rate * rate) * s)


def circle(t: Scalar, centre: Array, normal: Array, radius: Scalar, period: Scalar, phase: Scalar) -> Instant:
    """Circle at constant speed, right-handed about the normal; for a normal along z it starts at +x."""
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
    """Circle that moves along its normal."""
    position, velocity, acceleration = circle(t, centre, normal, radius, period, phase)
    along = array(normal * (axial_speed * (1.0 / sqrt(dot(normal, normal)))))
    return position + along * t, velocity + along, acceleration


def spiral(
    t: Scalar, centre: Array, radius: Scalar, radial_speed: Scalar, axial_speed: Scalar, period: Scalar, phase: Scalar
) -> Instant:
    """Spiral or helix around z."""
    rate = 2.0 * math.pi / period
    s, c = sincos(rate * t + phase)
    r = radius + radial_speed * t
    outward, along = array([c, s, 0.0]), array([-s, c, 0.0])
    lift = array([0.0, 0.0, 1.0])
    position = centre + outward * r + lift * (axial_speed * t)
    velocity = outward * radial_speed + along * (r * rate) + lift * axial_speed
    return position, velocity, along * (2.0 * radial_speed * rate) - outward * (r * rate * rate)


def quintic(t: Scalar, start: Array, end: Array, duration: Scalar) -> Instant:
    """Point to point, at rest before zero and after the duration."""
    x = t / duration
    x = where(x < 0.0, 0.0, where(x > 1.0, 1.0, x))
    s = x * x * x * (10.0 + x * (-15.0 + 6.0 * x))
    ds = 30.0 * (x * x) * ((1.0 - x) * (1.0 - x)) / duration
    dds = 60.0 * x * ((1.0 - x) * (1.0 - 2.0 * x)) / (duration * duration)
    way = end - start
    return start + way * s, way * ds, way * dds


def fourier(t: Scalar, centre: Array, period: Scalar, **amplitudes: Array) -> Instant:
    """Finite Fourier series. Swevers et al. 1997."""
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
    "fourier": fourier,
}
"""Instants from a time and the parameters of the kind by name."""


# --- kinds that are no functions of time ------------------------------------------------------------------------------


def workspace(times: Numbers, points: Numbers | None, centre: Value, size: Value, counts: Value) -> Numbers:
    """Rest at each point of a grid (9, samples), see `grid`; samples beyond the last repeat it."""
    places = grid(centre, size, counts)
    places = np.pad(places, ((0, 0), (0, len(times) - places.shape[1])), mode="edge")
    return np.concatenate([places, np.zeros((6, len(times)))])


def grid(centre: ArrayLike, size: ArrayLike, counts: ArrayLike) -> Numbers:
    """Points of a grid in a box (3, points), x fastest; one point along an axis is in the middle of the box."""
    axes = [
        np.linspace(-0.5, 0.5, int(n)) * length + middle if n > 1 else np.array([middle])
        for middle, length, n in zip(*map(np.asarray, (centre, size, counts)), strict=True)
    ]
    z, y, x = np.meshgrid(*reversed(axes), indexing="ij")
    return np.stack([x.ravel(), y.ravel(), z.ravel()])


def waypoints(times: Numbers, points: Numbers | None) -> Numbers:
    """Motion (3 k, samples) along the C2 cubic spline through `points` (n, 1 + k), times first; at rest at its ends."""
    from scipy.interpolate import CubicSpline  # slow to import, and few sweeps have points

    assert points is not None, "a spline has points"
    curve = CubicSpline(points[:, 0], points[:, 1:], bc_type="clamped")
    inside = np.clip(times, points[0, 0], points[-1, 0])
    within = ((times >= points[0, 0]) & (times <= points[-1, 0]))[:, None]
    parts = [curve(inside), np.where(within, curve(inside, 1), 0.0), np.where(within, curve(inside, 2), 0.0)]
    return np.ascontiguousarray(np.concatenate(parts, axis=1).T)


SAMPLED: Mapping[str, Callable[..., Numbers]] = {"workspace": workspace, "waypoints": waypoints}
"""Motions (3 k, samples) from all times (samples,), the points of a file, and the parameters of the kind by name."""


# --- evaluation -------------------------------------------------------------------------------------------------------


@functools.cache
def program(kind: str) -> Program:
    """The program of a platform trajectory: case input per parameter, sample input `t`, output `motion` (9)."""
    shapes = {p.name: p.shape for p in MOTIONS[kind].parameters}

    def one_sample(t: Array, **values: Array) -> dict[str, Array]:
        return {"motion": np.concatenate(FORMS[kind](t[0], **unpacked(values, shapes)))}

    case = {name: shape or (1,) for name, shape in shapes.items()}
    return trace(f"trajectory.{kind}", one_sample, case=case, sample={"t": (1,)})


@functools.cache
def joint_program(kind: str, joints: int) -> Program:
    """The program of a joint trajectory: case input (joint,) per parameter, sample input `t`, output `motion`."""

    def one_sample(t: Array, **values: Array) -> dict[str, list[Scalar]]:
        instants = [FORMS[kind](t[0], **{name: value[k] for name, value in values.items()}) for k in range(joints)]
        return {"motion": [instant[k] for k in range(3) for instant in instants]}

    case = {p.name: (joints,) for p in JOINT_MOTIONS[kind].parameters}
    return trace(f"trajectory.{kind}.{joints}", one_sample, case=case, sample={"t": (1,)})


def unpacked(values: Mapping[str, Array], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """Case inputs (size,) as parameters of their shapes: those without one as scalars."""
    return {name: value if shapes[name] else value[0] for name, value in values.items()}


def motion(
    kind: str, values: Mapping[str, Value], times: Numbers, points: Numbers | None = None, joints: int = 0
) -> Numbers:
    """Position, velocity, acceleration (3 k, padded samples) at `times` (samples,); padding repeats the last.

    Of a platform k is 3; of the independent joints of a chain their number `joints`.
    """
    t = padded_times(times)
    if kind in SAMPLED:
        return SAMPLED[kind](t, points, **values)
    return evaluated(joint_program(kind, joints) if joints else program(kind), values, t)


def padded_times(times: Numbers) -> Numbers:
    """Times (padded samples,) that fill the last group of lanes by repeating the last."""
    return np.concatenate([times, np.full(padded(len(times)) - len(times), times[-1])])


def evaluated(trajectory: Program, values: Mapping[str, ArrayLike], t: Numbers) -> Numbers:
    """The `motion` (size, padded samples) of a program of a trajectory at padded times."""
    inputs = {name: np.asarray(value, dtype=float).reshape(1, -1) for name, value in values.items()}
    inputs = {name: np.broadcast_to(value, (1, *trajectory.case[name])) for name, value in inputs.items()}
    return kernel(trajectory)({**inputs, "t": t.reshape(1, 1, -1)}, len(t))["motion"][0]


def motion_vector(translation: Numbers, size: int, turning: Numbers | None = None) -> Numbers:
    """The motion vector of `tasks.mechanics.platform` (size, samples) from a translation (9, samples).

    turning (15, samples) as `tasks.trajectories.turns.turning` gives it; absent: held with the axes of the world.
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
