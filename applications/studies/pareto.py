"""Pareto fronts: the points that no other point beats. Pure arrays; all objectives are to be small.

A point is beaten by one that is nowhere larger and somewhere smaller. Equal points do not beat each other, so all of
them are on the front or none is. Points with NaN are on no front.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robots.arguments import check_arguments

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

CHUNK = 512
"""Points that are compared with the front at a time."""

LAYERS = 30
"""Fronts by which designs are ordered, at most."""


@check_arguments
def front(points: Array) -> Mask:
    """Return a mask (n,) of the Pareto front: the points (n, objective) that no other point dominates.

    Two objectives: by sorting, O(n log n). More: each point is compared with those of the front that could beat it, at
    most n times the size of the front. Raises ValueError for an array of another shape.

        >>> ls.study.front([[1.0, 3.0], [2.0, 2.0], [3.0, 3.0]])
        array([ True,  True, False])
    """
    array = _two_dimensional(points)
    result = np.zeros(len(array), dtype=bool)
    usable = np.flatnonzero(~np.isnan(array).any(axis=1))
    usable = usable[_survivors(array[usable])]
    if len(usable):
        distinct, which = _distinct(array[usable])
        result[usable] = (_sorted_front if array.shape[1] <= 2 else _many)(distinct)[which]
    return result


def _survivors(points: Array) -> Mask:
    """Return a mask of the points (n, objective) that the point nearest to the best of each objective does not beat.

    Most points are beaten by this one, and need not be sorted.
    """
    if not len(points) or not np.isfinite(points).all():
        return np.ones(len(points), dtype=bool)
    low, size = points.min(axis=0), np.ptp(points, axis=0)
    good = points[((points - low) / np.where(size > 0.0, size, 1.0)).sum(axis=1).argmin()]
    return ~np.asarray((points >= good).all(axis=1) & (points > good).any(axis=1))


def _distinct(points: Array) -> tuple[Array, NDArray[np.intp]]:
    """Return the distinct points in lexicographic order, and for each point (n,) its place among them."""
    order = np.lexsort(points.T[::-1])
    in_order = points[order]
    is_first = np.concatenate([[True], (in_order[1:] != in_order[:-1]).any(axis=1)])
    which = np.empty(len(points), dtype=np.intp)
    which[order] = np.cumsum(is_first) - 1
    return in_order[is_first], which


def _two_dimensional(points: Array) -> Array:
    array = np.asarray(points, dtype=float)
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"points: got an array of shape {array.shape}; expected (n, objectives)")
    return array


@check_arguments
def layers(points: Array, count: int) -> NDArray[np.intp]:
    """Return the number of each point's front (n,): 0 the first, 1 the front of the others, ...; -1 beyond `count`.

    >>> ls.study.layers([[1.0, 3.0], [2.0, 2.0], [3.0, 3.0]], 2)
    array([0, 0, 1])
    """
    array = _two_dimensional(points)
    remaining, result = np.arange(len(array)), np.full(len(array), -1)
    for layer in range(min(count, len(array))):
        best = front(array[remaining])
        result[remaining[best]] = layer
        remaining = remaining[~best]
        if not len(remaining) or not best.any():
            break
    return result


def best_designs(costs: Array, violations: Array, count: int) -> NDArray[np.intp]:
    """Return the numbers of at most `count` designs: feasible ones front by front, then by the sum of violations."""
    feasible = np.asarray(np.isfinite(costs).all(axis=1) & (violations <= 0.0).all(axis=1))
    rank = layers(np.where(feasible[:, None], costs, np.nan), LAYERS).astype(float)
    rank[rank < 0.0] = np.where(feasible[rank < 0.0], LAYERS, np.inf)
    broken = np.clip(violations, 0.0, None).sum(axis=1)
    return np.lexsort((np.arange(len(costs)), broken, rank))[:count]


def _sorted_front(distinct: Array) -> Mask:
    """Return a mask of distinct, lexicographically ordered points with a smaller last objective than all before."""
    last = distinct[:, -1]
    if distinct.shape[1] == 1:
        return np.arange(len(last)) == 0
    before = np.concatenate([[np.inf], np.minimum.accumulate(last)[:-1]])
    result = last < before
    result[0] = True  # also where it is infinite
    return result


def _many(distinct: Array) -> Mask:
    """Return the points in the order of their sums of ranks: only an earlier one can beat a later one."""
    ranks = np.stack([np.unique(column, return_inverse=True)[1].ravel() for column in distinct.T], axis=1)
    order = np.argsort(ranks.sum(axis=1), kind="stable")
    ranks = ranks[order].astype(np.int32)
    best = np.zeros((0, ranks.shape[1]), dtype=np.int32)
    result = np.zeros(len(ranks), dtype=bool)
    for start in range(0, len(ranks), CHUNK):
        chunk = ranks[start : start + CHUNK]
        alive = np.arange(len(chunk))
        for block in range(0, len(best), CHUNK):  # the best first: few points outlive the first block
            alive = alive[~_beaten(chunk[alive], best[block : block + CHUNK])]
            if not len(alive):
                break
        alive = alive[~_beaten(chunk[alive], chunk[alive])]
        result[start + alive] = True
        best = np.concatenate([best, chunk[alive]])
    unsorted = np.empty_like(result)
    unsorted[order] = result
    return unsorted


def _beaten(points: NDArray[np.signedinteger], by: NDArray[np.signedinteger]) -> Mask:
    """Return a mask of the points that a point of `by` dominates; all are distinct, or the same array."""
    nowhere_larger = np.ones((len(points), len(by)), dtype=bool)
    somewhere_smaller = np.zeros((len(points), len(by)), dtype=bool)
    for a, b in zip(points.T, by.T, strict=True):
        nowhere_larger &= b[None, :] <= a[:, None]
        somewhere_smaller |= b[None, :] < a[:, None]
    return np.asarray((nowhere_larger & somewhere_smaller).any(axis=1))
