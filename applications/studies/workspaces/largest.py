"""The largest regular shape inside a workspace, between points of its boundary that are found as they are needed.

The size of a shape about c is the least gauge(b - c) over points b just beyond the boundary. Gauges are convex, so
their tangents at c bound them from below, and a linear programme over a step of c gives a step that never makes it
worse. Points all over the surface and inside are tried, and ever closer ones about those boundary points that are
nearest; where one is outside, the boundary point before it is added, until none is found.

At an edge a tangent knows one of two faces alone, so shapes with edges are moved by random centres ever closer as well.
`python -m benchmarks.regular_shapes` leaves out one and the other: of a Delta's box the half edge was 0.1726 m by both,
0.1715 m without programmes, 0.1492 m without random centres; a ball is moved by programmes alone.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from applications.studies.columns import Array
from applications.studies.workspaces.cells import States, halved
from applications.studies.workspaces.shapes import RegularShape
from robots.data_classes import dataclass

STEPS, ROWS = 30, 200
"""Linear programmes for one set of boundary points, at most, and the points nearest to the shape that each has."""
ROUNDS, ROUGH_ROUNDS = 60, 12
"""Times that boundary points are added, at most; of shapes with edges, which are polished, while they move."""
SURFACE = 4096
"""Number of points on the whole surface that are tried."""
INNER = (0.25, 0.5, 0.75, 0.9)
"""Sizes, relative to that of the shape, at which holes are searched for."""
SEEDS, CLOSE = 32, 8
"""Boundary points nearest to the shape about which points are tried, and how many about each."""
MOST_OUTSIDE, ADDED = 64, 32
"""Points outside from which the boundary is looked for, and boundary points that are added, at most."""
TRIED, TRIED_POINTS = 48, 300
"""Random centres, and the points nearest to the shape by which they are compared."""
RAYS, REACH, PLANES = 256, 1.3, 30
"""Ways from the centre along which planes are looked for, how far, and linear programmes with them, at most."""
NEAR_CONTACT = 1e-3
"""Distance of a boundary point from the shape, relative to its size, up to which it counts as a contact."""
HALVINGS = 36


@dataclass(frozen=True)
class LargestShape:
    """A shape of some size about a centre (axis,), where boundary points touch it, and whether the search settled."""

    size: float
    centre: Array
    contacts: Array
    settled: bool


def largest(
    states: States, shape: RegularShape, points: Array, start: Array, tolerance: float, *, moves: bool
) -> LargestShape:
    """Return the largest shape from a centre at which all holds; `points` (n, axis) are beyond the boundary."""
    random, centre, closeness, settled = np.random.default_rng(0), start, 0.2, False
    everywhere = np.concatenate([shape.surface(SURFACE), *(share * shape.surface(SURFACE // 4) for share in INNER)])
    for _ in range(ROUNDS if not (moves and shape.edges) else ROUGH_ROUNDS):
        if moves:
            centre = _moved(shape, points, centre, tolerance)
            centre = _tried(shape, points, centre, tolerance, random) if shape.edges else centre
        size, seeds = _touching(shape, points, centre)
        last = closeness**2 <= tolerance
        tried = _about(shape, seeds, closeness, random) * (1.0 + min(closeness**2, 0.01))
        if last or closeness == 0.2:
            tried = np.concatenate([tried, (1.0 - tolerance) * everywhere])
        tried = centre + size * tried
        exits = _exits(states, shape, centre, tried)
        points = np.concatenate([points, exits])
        deepest = float(shape.gauge(exits - centre).min(initial=np.inf))
        if deepest < size * (1.0 - tolerance):
            continue
        if last:
            settled = True
            break
        closeness /= 2.0
    size, _ = _touching(shape, points, centre)
    near = shape.gauge(points - centre) <= size * (1.0 + NEAR_CONTACT)
    return LargestShape(size * (1.0 - tolerance), centre, points[near], settled)


def _touching(shape: RegularShape, points: Array, centre: Array) -> tuple[float, Array]:
    """Return the size, and the nearest boundary points in coordinates of the shape of size 1, the nearest first."""
    gauges = shape.gauge(points - centre)
    order = np.argsort(gauges, kind="stable")[:SEEDS]
    size = float(gauges[order[0]])
    return size, (points[order] - centre) / size


def _exits(states: States, shape: RegularShape, centre: Array, tried: Array) -> Array:
    """Return the nearest points just beyond the boundary, between a centre and the outside ones of some points."""
    outside = tried[~states(tried)[0]]
    outside = outside[:: max(1, len(outside) // MOST_OUTSIDE)]
    _, exits = halved(states, np.broadcast_to(centre, outside.shape), outside, HALVINGS)
    return exits[np.argsort(shape.gauge(exits - centre), kind="stable")[:ADDED]]


def _about(shape: RegularShape, contacts: Array, closeness: float, random: np.random.Generator) -> Array:
    """Return the points of the surface of size 1 about some contacts, up to `closeness` away."""
    distances = closeness * random.uniform(0.0, 1.0, (len(contacts), CLOSE, 1))
    moved = (
        contacts[:, None] + distances * random.normal(size=(len(contacts), CLOSE, contacts.shape[1])) * shape.reaches
    )
    flat = np.concatenate([contacts, moved.reshape(-1, contacts.shape[1])])
    return np.asarray(flat / np.maximum(shape.gauge(flat), 1e-300)[:, None])


def _moved(shape: RegularShape, points: Array, centre: Array, tolerance: float) -> Array:
    """Return a centre about which the shape is larger, as far as steps lead."""
    trust = 0.25 * float(shape.gauge(points - centre).min())
    for _ in range(STEPS):
        gauges = shape.gauge(points - centre)
        size = float(gauges.min())
        near = np.argsort(gauges, kind="stable")[:ROWS]
        near = near[gauges[near] <= size + 4.0 * trust]
        away = points[near] - centre
        slopes, axes = shape.slope(away), len(centre)
        # gauge(b - c - step) >= gauge(b - c) - slope . step, and the least of these is to be large
        rows = np.concatenate([slopes, np.ones((len(slopes), 1))], axis=1)
        bounds = [(-trust * reach, trust * reach) for reach in shape.reaches] + [(None, None)]
        cost = np.zeros(axes + 1)
        cost[-1] = -1.0
        solution = linprog(cost, A_ub=rows, b_ub=gauges[near], bounds=bounds, method="highs")
        if solution.status != 0:
            break
        step = solution.x[:axes]
        gain = float(shape.gauge(points - centre - step).min()) - size
        if gain > 0.0:
            centre = centre + step
        if gain <= 0.1 * tolerance * size:
            trust /= 4.0
            if trust < tolerance * size:
                break
    return centre


def _tried(shape: RegularShape, points: Array, centre: Array, tolerance: float, random: np.random.Generator) -> Array:
    """Return a better centre among ever closer random ones: at an edge or corner, a tangent knows one face only."""
    reach = 0.3 * float(shape.gauge(points - centre).min())
    least = 0.3 * tolerance * reach
    while reach > least:
        gauges = shape.gauge(points - centre)
        size = float(gauges.min())
        order = np.argsort(gauges, kind="stable")[:TRIED_POINTS]
        steps = reach * shape.reaches * random.uniform(-1.0, 1.0, (TRIED, len(centre)))
        away = (points[order] - centre)[None] - steps[:, None]
        sizes = shape.gauge(away.reshape(-1, len(centre))).reshape(TRIED, -1).min(axis=1)
        best = centre + steps[int(sizes.argmax())]
        if sizes.max() > size and float(shape.gauge(points - best).min()) > size:
            centre = best
        else:
            reach *= 0.6
    return centre


def polished(states: States, shape: RegularShape, start: LargestShape, tolerance: float) -> LargestShape:
    """Return the same shape made larger where it has edges, between planes that touch the boundary at its contacts.

    A shape is on one side of a plane if n . c + size * support(n) is not beyond it, so a linear programme gives centre
    and size at once. The result is checked as any other.
    """
    ways, centre, size, trust = shape.surface(RAYS), start.centre, start.size, 0.1
    for _ in range(PLANES):
        exits, scales = _along(states, centre, size * REACH * ways)
        near = scales * REACH <= 1.0 + 2.0 * trust
        normals = _normals(states, shape, centre, exits[near], size)
        if not len(normals):
            break
        support = shape.support(normals)
        rows = np.concatenate([normals, support[:, None]], axis=1)
        bounds = [(-trust * size * reach, trust * size * reach) for reach in shape.reaches] + [(0.0, None)]
        cost = np.append(np.zeros(len(centre)), -1.0)
        limit = (normals * (exits[near] - centre)).sum(axis=1)
        solution = linprog(cost, A_ub=rows, b_ub=limit, bounds=bounds, method="highs")
        if solution.status != 0:
            break
        moved = centre + solution.x[: len(centre)]
        if not states(moved[None])[0][0]:
            trust /= 3.0
            continue
        least = float(_along(states, moved, size * REACH * ways)[1].min()) * size * REACH
        if least <= size * (1.0 + 0.1 * tolerance):
            trust /= 3.0
            if trust < tolerance:
                break
            continue
        centre, size = moved, least
    exits, _ = _along(states, centre, size * REACH * ways)
    return largest(states, shape, np.concatenate([exits, start.contacts]), centre, tolerance, moves=False)


def _along(states: States, centre: Array, ways: Array) -> tuple[Array, Array]:
    """Return points just beyond the boundary along ways from a centre, and shares of the ways; ends where all holds."""
    ends = centre + ways
    holds = states(ends)[0]
    _, exits = halved(states, np.broadcast_to(centre, ends.shape)[~holds], ends[~holds], HALVINGS)
    ends[~holds] = exits
    return ends, np.linalg.norm(ends - centre, axis=1) / np.linalg.norm(ways, axis=1)


def _normals(states: States, shape: RegularShape, centre: Array, exits: Array, size: float) -> Array:
    """Return unit normals (n, axis) of the boundary at some points, outwards, by its points on neighbouring ways."""
    axes = len(centre)
    if axes == 1:
        return np.asarray(np.sign(exits - centre))
    away = exits - centre
    length = np.linalg.norm(away, axis=1, keepdims=True)
    basis = np.linalg.svd((away / length)[:, None])[2][:, 1:]  # across each way (n, axis - 1, axis)
    sides = []
    for k in range(axes - 1):
        ends = 1.2 * (away + 1e-4 * size * basis[:, k])
        sides.append(_along(states, centre, ends)[0] - exits)
    normal = np.cross(sides[0], sides[1]) if axes == 3 else np.stack([-sides[0][:, 1], sides[0][:, 0]], axis=1)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    return np.asarray(normal * np.sign((normal * away).sum(axis=1, keepdims=True)))
