"""Least distance between lines of finite length, for one sample, without a branch: interference of links as capsules.

Source: Ericson, Real-Time Collision Detection, section 5.1.9; here every candidate is a distance of two points of the
lines, so that none can be too small, and one of them is the least.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robots.data_classes import dataclass
from tasks.kernels.expression import Array, Scalar
from tasks.mathematics.algebra import dot, sqrt, where


@dataclass(frozen=True)
class Line:
    """A line from `start` to `end` (3,), and the radius around it."""

    start: Array
    end: Array
    radius: Scalar


def gap(a: Line, b: Line) -> Scalar:
    """Return the distance of two capsules; below zero where they overlap, at least minus both radii."""
    return sqrt(square_distance(a, b)) - a.radius - b.radius


def square_distance(a: Line, b: Line) -> Scalar:
    """Return the square of the distance between two lines."""
    d, e, r = a.end - a.start, b.end - b.start, a.start - b.start
    dd, ee, de, dr, er = dot(d, d), dot(e, e), dot(d, e), dot(d, r), dot(e, r)
    area = dd * ee - de * de
    s = _share(de * er - ee * dr, area)
    candidates = [_square(r + d * s - e * _share(de * s + er, ee))]
    # the nearest point of each line to each end of the other
    candidates += [_square(r - e * _share(er, ee)), _square(r + d - e * _share(er + de, ee))]
    candidates += [_square(r + d * _share(-dr, dd)), _square(r + d * _share(de - dr, dd) - e)]
    result = candidates[0]
    for value in candidates[1:]:
        result = where(value < result, value, result)
    return result


def _square(v: Array) -> Scalar:
    return dot(v, v)


def _share(part: Scalar, whole: Scalar) -> Scalar:
    """Return part / whole, limited to 0 to 1; 0 for lines that have no length, or are parallel."""
    ratio = where(whole > 0.0, part / where(whole > 0.0, whole, 1.0), 0.0)
    ratio = where(ratio < 0.0, 0.0, ratio)
    return where(ratio > 1.0, 1.0, ratio)


def least_gap(pairs: Sequence[tuple[Line, Line]]) -> Scalar:
    """Return the least gap of some pairs; NaN without any."""
    gaps = [gap(a, b) for a, b in pairs]
    if not gaps:
        return np.nan
    result = gaps[0]
    for value in gaps[1:]:
        # NaN stays
        result = where(value >= result, result, value)
    return result
