"""Small vectors and matrices for models, plain tuples of numbers or expressions, and inertia of simple solids."""

from __future__ import annotations

import math

import numpy as np

from robots.model import Frame, Inertia
from robots.types import ZERO, Matrix, Number, Vector


def sqrt(x: Number) -> Number:
    """Return the square root of a number or expression; NaN for a negative number, which later becomes a status."""
    if hasattr(x, "sqrt"):
        return x.sqrt()
    if isinstance(x, np.ndarray):
        return np.sqrt(np.where(x >= 0, x, np.nan))
    return math.sqrt(x) if x >= 0 else math.nan


def circle(degrees: Number) -> tuple[Number, Number]:
    """Return cosine and sine of an angle in degrees: a number, an array or an expression."""
    angle = degrees * (math.pi / 180.0)
    return np.cos(angle), np.sin(angle)


def exact_circle(degrees: Number) -> tuple[Number, Number]:
    """Return cosine and sine like `circle`; exact for a float that is a multiple of 30, so that zeros are zeros."""
    if isinstance(degrees, float) and (degrees / 30.0).is_integer():
        return _circle(int(degrees / 30.0), 12)
    return circle(degrees)


def about(axis: str, cos: Number, sin: Number) -> Matrix:
    """Return the rotation about a coordinate axis from its cosine and sine."""
    return {
        "x": ((1.0, 0.0, 0.0), (0.0, cos, -sin), (0.0, sin, cos)),
        "y": ((cos, 0.0, sin), (0.0, 1.0, 0.0), (-sin, 0.0, cos)),
        "z": ((cos, -sin, 0.0), (sin, cos, 0.0), (0.0, 0.0, 1.0)),
    }[axis]


def transpose(a: Matrix) -> Matrix:
    """Return the inverse of a rotation."""
    return tuple(zip(*a, strict=True))  # type: ignore[return-value]


def product(a: Matrix, b: Matrix) -> Matrix:
    """Return the product of two matrices."""
    columns = tuple(zip(*b, strict=True))
    rows = (tuple(sum(x * y for x, y in zip(row, column, strict=True)) for column in columns) for row in a)
    return tuple(rows)  # type: ignore[return-value]


def times(a: Matrix, b: Vector) -> Vector:
    """Return a vector turned by a matrix."""
    return (dot(a[0], b), dot(a[1], b), dot(a[2], b))


def minus(a: Vector, b: Vector) -> Vector:
    """Return the difference of two vectors."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def scaled(a: Vector, factor: Number) -> Vector:
    """Return a vector of another length."""
    return (a[0] * factor, a[1] * factor, a[2] * factor)


def dot(a: Vector, b: Vector) -> Number:
    """Return the scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Return the vector product."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def length(a: Vector) -> Number:
    """Return the length of a vector."""
    return sqrt(dot(a, a))


def unit(a: Vector) -> Vector:
    """Return the direction of a vector; NaN for one of length zero, which later becomes a status."""
    size = length(a)
    return scaled(a, math.nan if isinstance(size, float) and size == 0.0 else 1.0 / size)


def along(direction: Vector, up: Vector = (0.0, 0.0, 1.0)) -> Matrix:
    """Return the rotation whose z axis has a direction other than `up`, and whose x axis is level."""
    z = unit(direction)
    x = unit(cross(up, z))
    return transpose((x, cross(z, x), z))


def polar(radius: Number, degrees: Number) -> Vector:
    """Return a point of the level plane through the origin."""
    cos, sin = circle(degrees)
    return (radius * cos, radius * sin, 0.0)


def around_z(count: int) -> tuple[Frame, ...]:
    """Return `count` frames at the origin, evenly turned about z: 0, +1, -1, +2, ... steps."""
    steps = [(i + 1) // 2 * (1 if i % 2 else -1) for i in range(count)]
    return tuple(Frame(about("z", *_circle(step, count))) for step in steps)


def _circle(step: int, count: int) -> tuple[float, float]:
    # quarters and sixths of a turn from their exact sines and cosines, so that symmetric limbs agree to the last bit
    if (4 * step) % count == 0:
        turn = (4 * step // count) % 4
        return (1.0, 0.0, -1.0, 0.0)[turn], (0.0, 1.0, 0.0, -1.0)[turn]
    if (6 * step) % count == 0:
        half, height = 0.5, math.sqrt(3) / 2
        turn = (6 * step // count) % 6
        return (1.0, half, -half, -1.0, -half, half)[turn], (0.0, height, height, 0.0, -height, -height)[turn]
    return math.cos(2 * math.pi * step / count), math.sin(2 * math.pi * step / count)


def shifted(vector: Vector) -> Frame:
    """Return a frame that is moved but not turned."""
    return Frame(position=vector)


AXIS_X: Matrix = ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
"""Frame of a revolute closure whose axis (z of the frame) is x of the link."""

AXIS_MINUS_Y: Matrix = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
"""Frame of a revolute closure whose axis (z of the frame) is -y of the link."""


AXES = ("x", "y", "z")


def diagonal(x: Number, y: Number, z: Number) -> Matrix:
    """Return the inertia tensor with these principal moments."""
    return ((x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z))


def cylinder(density: Number, length: Number, diameter: Number, axis: str, centre: Vector = ZERO) -> Inertia:
    """Return a solid cylinder along a coordinate axis, centre of mass at `centre`."""
    radius2 = diameter * diameter * 0.25
    mass = density * math.pi * radius2 * length
    across = mass * (radius2 * 3.0 + length * length) * (1.0 / 12.0)
    moments = [across] * 3
    moments[AXES.index(axis)] = mass * radius2 * 0.5
    return Inertia(mass, centre, diagonal(*moments))


def bar(mass: Number, length: Number, axis: str, centre: Vector = ZERO, diameter: Number = 0.0) -> Inertia:
    """Return a solid cylinder of given mass along a coordinate axis, centre at `centre`; slender without a diameter."""
    radius2 = diameter * diameter * 0.25
    moments = [mass * (radius2 * 3.0 + length * length) * (1.0 / 12.0)] * 3
    moments[AXES.index(axis)] = mass * radius2 * 0.5
    return Inertia(mass, centre, diagonal(*moments))


def joined(a: Inertia, b: Inertia) -> Inertia:
    """Return the inertia of two bodies joined into one, both given in the same axes."""
    mass = a.mass + b.mass
    share = b.mass / mass
    x, y, z = gap = minus(b.centre, a.centre)
    reduced = a.mass * share  # of the masses on both ends of the gap
    square = dot(gap, gap)
    tensor = tuple(
        tuple(
            a.tensor[i][j] + b.tensor[i][j] + reduced * ((square if i == j else 0.0) - gap[i] * gap[j])
            for j in range(3)
        )
        for i in range(3)
    )
    centre = (a.centre[0] + share * x, a.centre[1] + share * y, a.centre[2] + share * z)
    return Inertia(mass, centre, tensor)  # type: ignore[arg-type]


def point(mass: Number, centre: Vector = ZERO) -> Inertia:
    """Return a mass without extent."""
    return Inertia(mass, centre, diagonal(0.0, 0.0, 0.0))
