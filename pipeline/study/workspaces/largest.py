"""The largest regular shape inside a workspace, between points of its boundary that are found as they are needed.

The size of a shape about c is the least gauge(b - c) over points b just beyond the boundary. Gauges are convex, so
their tangents at c bound them from below, and a linear programme over a step of c gives a step that never makes it
worse. Points all over the surface and inside are tried, and ever closer ones about those boundary points that are
nearest; where one is outside, the boundary point before it is added, until none is found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from pipeline.study.columns import Array
from pipeline.study.workspaces.cells import States, halved
from pipeline.study.workspaces.shapes import RegularShape

STEPS = 30
"""Linear programmes for one set of boundary points, at most."""
ROUNDS = 60
"""Times that boundary points are added, at most."""
SURFACE = 4096
"""Points all over the surface that are tried."""
INNER = (0.25, 0.5, 0.75, 0.9)
"""Sizes, relative to that of the shape, at which it is looked for holes."""
SEEDS, CLOSE = 32, 8
"""Boundary points nearest to the shape about which points are tried, and how many about each."""
MOST_OUTSIDE, ADDED = 64, 32
"""Points outside from which the boundary is looked for, and boundary points that are added, at most."""
NEAR_CONTACT = 1e-3
"""How near to the size of the shape, relative to it, a boundary point counts as a contact."""
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
    """The largest shape from a centre at which all holds; `points` (n, axis) are beyond the boundary."""
    random, centre, closeness, settled = np.random.default_rng(0), start, 0.2, False
    everywhere = np.concatenate([shape.surface(SURFACE), *(share * shape.surface(SURFACE // 4) for share in INNER)])
    for _ in range(ROUNDS):
        if moves:
            centre = _moved(shape, points, centre, tolerance)
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
    """The size, and the nearest boundary points in coordinates of the shape of size 1, the nearest first."""
    gauges = shape.gauge(points - centre)
    order = np.argsort(gauges, kind="stable")[:SEEDS]
    size = float(gauges[order[0]])
    return size, (points[order] - centre) / size


def _exits(states: States, shape: RegularShape, centre: Array, tried: Array) -> Array:
    """Points just beyond the boundary between a centre and those of some points that are outside, the nearest."""
    outside = tried[~states(tried)[0]]
    outside = outside[:: max(1, len(outside) // MOST_OUTSIDE)]
    _, exits = halved(states, np.broadcast_to(centre, outside.shape), outside, HALVINGS)
    return exits[np.argsort(shape.gauge(exits - centre), kind="stable")[:ADDED]]


def _about(shape: RegularShape, contacts: Array, closeness: float, random: np.random.Generator) -> Array:
    """Points of the surface of size 1 about some contacts, up to `closeness` away."""
    distances = closeness * random.uniform(0.0, 1.0, (len(contacts), CLOSE, 1))
    moved = (
        contacts[:, None] + distances * random.normal(size=(len(contacts), CLOSE, contacts.shape[1])) * shape.reaches
    )
    flat = np.concatenate([contacts, moved.reshape(-1, contacts.shape[1])])
    return np.asarray(flat / np.maximum(shape.gauge(flat), 1e-300)[:, None])


def _moved(shape: RegularShape, points: Array, centre: Array, tolerance: float) -> Array:
    """A centre about which the shape is larger, as far as steps lead."""
    trust = 0.25 * float(shape.gauge(points - centre).min())
    for _ in range(STEPS):
        gauges = shape.gauge(points - centre)
        size = float(gauges.min())
        near = gauges <= size + 4.0 * trust
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
