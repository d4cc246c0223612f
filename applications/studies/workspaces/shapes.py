"""Regular shapes as gauges: the size at which a shape about the origin touches a point, and points of its surface."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import spatial, stats

from applications.studies.columns import Array
from robots.data_classes import dataclass

ROUNDING = 1e-9
"""Share of the size of a hull by which the origin is inside, at least."""


@dataclass(frozen=True)
class RegularShape:
    """A convex shape about the origin, in coordinates along the free axes.

    `gauge` gives of points (n, axis) the size at which the shape reaches them (n,), `slope` the gradients (n, axis),
    `support` of directions (n, axis) how far the shape of size 1 goes along them (n,);
    `reaches` is how far the shape of size 1 goes along each axis, `volume` the volume that it has.
    """

    kind: str
    gauge: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    support: Callable[[Array], Array]
    reaches: Array
    volume: float
    edges: bool = True
    """True if the shape has edges, at which the gauge has no gradient."""

    def surface(self, count: int) -> Array:
        """Return points (n, axis) all over the surface of the shape of size 1, corners of its box included."""
        axes = len(self.reaches)
        if axes == 1:
            return np.array([[-1.0], [1.0]]) * self.reaches
        if axes == 2:
            angle = 2.0 * np.pi * np.arange(count) / count
            ways = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        else:
            ways = stats.norm.ppf(stats.qmc.Sobol(axes, scramble=True, rng=np.random.default_rng(0)).random(count))
        signs = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * axes), axis=-1).reshape(-1, axes)
        ways = np.concatenate([ways, signs[np.abs(signs).any(axis=1)]]) * self.reaches
        return np.asarray(ways / self.gauge(ways)[:, None])


def ball(axes: int) -> RegularShape:
    """Return a sphere of radius 1, in a plane a circle."""

    def slope(points: Array) -> Array:
        return np.asarray(points / np.maximum(np.linalg.norm(points, axis=1), 1e-300)[:, None])

    def lengths(points: Array) -> Array:
        return np.asarray(np.linalg.norm(points, axis=1))

    volume = (2.0, np.pi, 4.0 / 3.0 * np.pi)[axes - 1]
    return RegularShape("ball", lengths, slope, lengths, np.ones(axes), float(volume), edges=False)


def box(halves: Array) -> RegularShape:
    """Return a box with these half edges."""

    def slope(points: Array) -> Array:
        result, along = np.zeros_like(points), np.abs(points / halves).argmax(axis=1)
        rows = np.arange(len(points))
        result[rows, along] = np.sign(points[rows, along]) / halves[along]
        return result

    return RegularShape(
        "box",
        lambda points: np.abs(points / halves).max(axis=1),
        slope,
        lambda ways: np.abs(ways) @ halves,
        halves,
        float(np.prod(2.0 * halves)),
    )


def cylinder(axis: int, radius: float, half: float) -> RegularShape:
    """Return a cylinder about one of three axes."""
    across = np.array([k for k in range(3) if k != axis])

    def parts(points: Array) -> tuple[Array, Array]:
        return np.linalg.norm(points[:, across], axis=1) / radius, np.abs(points[:, axis]) / half

    def slope(points: Array) -> Array:
        result, (round_, flat) = np.zeros_like(points), parts(points)
        side = round_ >= flat
        rows = np.ix_(np.flatnonzero(side), across)
        result[rows] = points[rows] / np.maximum(round_[side] * radius * radius, 1e-300)[:, None]
        result[~side, axis] = np.sign(points[~side, axis]) / half
        return result

    reaches = np.full(3, radius)
    reaches[axis] = half
    volume = 2.0 * np.pi * radius * radius * half

    def support(ways: Array) -> Array:
        return np.asarray(radius * np.linalg.norm(ways[:, across], axis=1) + half * np.abs(ways[:, axis]))

    return RegularShape("cylinder", lambda points: np.maximum(*parts(points)), slope, support, reaches, float(volume))


def hull(corners: Array) -> RegularShape:
    """Return the convex hull of corners (n, axis). Raises ValueError where the origin is not inside."""
    if corners.shape[1] == 1:
        ends, normals = np.array([[corners.min()], [corners.max()]]), np.array([[-1.0], [1.0]])
        distances, volume = (ends * normals)[:, 0], float(np.ptp(ends))
    else:
        try:
            body = spatial.ConvexHull(corners)
        except spatial.QhullError as error:
            raise ValueError("the corners are on one plane or line") from error
        ends, normals, volume = corners[body.vertices], body.equations[:, :-1], float(body.volume)
        distances = -body.equations[:, -1]
    if not (distances > ROUNDING * np.abs(ends).max()).all():
        raise ValueError("the origin is not inside the corners")
    faces = normals / distances[:, None]
    return RegularShape(
        "hull",
        lambda points: np.asarray((points @ faces.T).max(axis=1)),
        lambda points: np.asarray(faces[(points @ faces.T).argmax(axis=1)]),
        lambda ways: np.asarray((ways @ ends.T).max(axis=1)),
        np.abs(ends).max(axis=0),
        volume,
    )
