"""Trajectories in closed form, with velocity and acceleration, for one sample; kinds in `robots.motions`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from robots.motions import HARMONICS, JOINT_MOTIONS, MOTIONS, WORKSPACE
from tasks.kernels.cache import kernel
from tasks.kernels.kernel import padded
from tasks.kernels.program import Program, trace
from tasks.kernels.types import Array, Scalar
from tasks.mathematics.algebra import array, cross, dot, sqrt, where
from tasks.mathematics.elementary import sincos

Instant = tuple[Array, Array, Array]
"""Position [m], velocity [m/s], acceleration [m/s^2], each (3,), in the base frame."""


def line_sine(t: Scalar, centre: Array, amplitude: Array, period: Scalar, phase: Scalar) -> Instant:
    """Harmonic motion along a line."""
    rate = 2.0 * math.pi / period
    s, c = sincos(rate * t + phase)
    return centre + amplitude * s, amplitude * (rate * c), amplitude * (-(rate * rate) * s)


def circle(t: Scalar, centre: Array, normal: Array, radius: Scalar, period: Scalar, phase: Scalar) -> Instant:
    """Circle at constant speed, right-handed about the normal; for a normal along z it starts at +x."""
    n = normal * (1.0 / sqrt(dot(normal, normal)))
    # a direction in the plane: the projection of x, or of y where the normal is nearly x
    steep = abs(n[0]) > 0.9
    helper = array([where(steep, 0.0, 1.0), where(steep, 1.0, 0.0), 0.0])
    u = helper - n * (n @ helper)
    u = u * (1.0 / sqrt(u @ u))
    v = cross(n, u)
    rate = 2.0 * math.pi / period
    s, c = sincos(rate * t + phase)
    outward, along = u * c + v * s, v * c - u * s
    return centre + outward * radius, along * (radius * rate), outward * (-(radius * rate * rate))


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


def quintic(t: Scalar, start: Any, end: Any, duration: Scalar) -> Any:
    """Point to point, of a platform or of one joint, at rest before zero and after the duration."""
    x = t / duration
    x = where(x < 0.0, 0.0, where(x > 1.0, 1.0, x))
    s = x * x * x * (10.0 + x * (-15.0 + 6.0 * x))
    ds = 30.0 * (x * x) * ((1.0 - x) * (1.0 - x)) / duration
    dds = 60.0 * x * ((1.0 - x) * (1.0 - 2.0 * x)) / (duration * duration)
    way = end - start
    return start + way * s, way * ds, way * dds


def fourier(t: Scalar, centre: Any, period: Scalar, **amplitudes: Any) -> Any:
    """Finite Fourier series, of a platform or of one joint. Swevers et al. 1997."""
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


CLOSED_FORMS: Mapping[str, Callable[..., Instant]] = {
    "line_sine": line_sine,
    "circle": circle,
    "spiral": spiral,
    "quintic": quintic,
    "fourier": fourier,
}


def workspace(centre: Array, size: Array, counts: Array) -> np.ndarray:
    """Points of a grid in a box (3, points), x fastest; one point along an axis is in the middle of the box."""
    axes = [
        np.linspace(-0.5, 0.5, int(n)) * length + middle if n > 1 else np.array([middle])
        for middle, length, n in zip(centre, size, counts, strict=True)
    ]
    z, y, x = np.meshgrid(*reversed(axes), indexing="ij")
    return np.stack([x.ravel(), y.ravel(), z.ravel()])


JointInstant = tuple[Scalar, Scalar, Scalar]
"""Position, rate, acceleration of one joint [rad or m and s]."""


def constant_velocity(t: Scalar, start: Scalar, velocity: Scalar) -> JointInstant:
    """Constant rate."""
    return start + velocity * t, velocity, 0.0


def constant_acceleration(t: Scalar, start: Scalar, velocity: Scalar, acceleration: Scalar) -> JointInstant:
    """Constant acceleration."""
    return start + (velocity + 0.5 * acceleration * t) * t, velocity + acceleration * t, acceleration


def harmonic(t: Scalar, centre: Scalar, amplitude: Scalar, period: Scalar, phase: Scalar) -> JointInstant:
    """Harmonic oscillation."""
    rate = 2.0 * math.pi / period
    s, c = sincos(rate * t + phase)
    return centre + amplitude * s, amplitude * (rate * c), amplitude * (-(rate * rate) * s)


JOINT_FORMS: Mapping[str, Callable[..., JointInstant]] = {
    "constant_velocity": constant_velocity,
    "constant_acceleration": constant_acceleration,
    "harmonic": harmonic,
    "quintic": quintic,
    "fourier": fourier,
}


@functools.cache
def program(kind: str) -> Program:
    """The program of a platform trajectory: case input per parameter, sample input `t`, output `motion` (9)."""
    shapes = {p.name: p.shape for p in MOTIONS[kind].parameters}

    def one_sample(t: Array, **values: Any) -> dict[str, Any]:
        given = {name: value if shapes[name] else value[0] for name, value in values.items()}
        return {"motion": np.concatenate(CLOSED_FORMS[kind](t[0], **given))}

    case = {name: shape or (1,) for name, shape in shapes.items()}
    return trace(f"trajectory.{kind}", one_sample, case=case, sample={"t": (1,)})


@functools.cache
def joint_program(kind: str, joints: int) -> Program:
    """The program of a joint trajectory: case input (joint,) per parameter, sample input `t`, output `motion`."""

    def one_sample(t: Array, **values: Any) -> dict[str, Any]:
        each = [JOINT_FORMS[kind](t[0], **{name: value[k] for name, value in values.items()}) for k in range(joints)]
        return {"motion": [part[k] for k in range(3) for part in each]}

    case = {p.name: (joints,) for p in JOINT_MOTIONS[kind].parameters}
    return trace(f"trajectory.{kind}.{joints}", one_sample, case=case, sample={"t": (1,)})


def spline(times: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Motion (3 k, samples) along the C2 cubic spline through `points` (n, 1 + k), times first; at rest at its ends."""
    curve = CubicSpline(points[:, 0], points[:, 1:], bc_type="clamped")
    inside = np.clip(times, points[0, 0], points[-1, 0])
    within = ((times >= points[0, 0]) & (times <= points[-1, 0]))[:, None]
    parts = [curve(inside), np.where(within, curve(inside, 1), 0.0), np.where(within, curve(inside, 2), 0.0)]
    return np.ascontiguousarray(np.concatenate(parts, axis=1).T)


def motion(
    kind: str, values: Mapping[str, Any], times: np.ndarray, points: np.ndarray | None = None, joints: int = 0
) -> np.ndarray:
    """Position, velocity, acceleration (3 k, padded samples) at `times` (samples,); padding repeats the last.

    Of a platform k is 3; of the independent joints of a chain their number `joints`.
    """
    t = padded_times(times)
    width = len(t)
    if points is not None:
        return spline(t, points)
    if kind == WORKSPACE:
        places = workspace(**values)
        rest = np.zeros((6, width))
        return np.concatenate([np.pad(places, ((0, 0), (0, width - places.shape[1])), mode="edge"), rest])
    return evaluated(joint_program(kind, joints) if joints else program(kind), values, t)


def padded_times(times: np.ndarray) -> np.ndarray:
    """Times (padded samples,) that fill the last group of lanes by repeating the last."""
    return np.concatenate([times, np.full(padded(len(times)) - len(times), times[-1])])


def evaluated(made: Program, values: Mapping[str, Any], t: np.ndarray) -> np.ndarray:
    """The `motion` (size, padded samples) of a program of a trajectory at padded times."""
    inputs = {name: np.asarray(value, dtype=float).reshape(1, -1) for name, value in values.items()}
    inputs = {name: np.broadcast_to(value, (1, *made.case[name])) for name, value in inputs.items()}
    return kernel(made)({**inputs, "t": t.reshape(1, 1, -1)}, len(t))["motion"][0]


def motion_vector(translation: np.ndarray, size: int, turning: np.ndarray | None = None) -> np.ndarray:
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
