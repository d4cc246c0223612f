"""The few numbers of a study that a report shows: fronts of two objectives, and how much a parameter explains.

Plain functions of arrays, so that a study with more to offer can take their place here and nowhere else.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MOST_CLASSES = 64
"""Classes of a parameter: its values, or where these are more, ranges that hold equal numbers of designs."""

LEAST_IN_CLASS = 50
"""Designs in such a range, so that its mean means something."""


def front(first: Array, second: Array) -> NDArray[np.int64]:
    """Places of the designs, by the first objective, of which none is better in both objectives.

    Both (design,) are to be small; NaN is never on a front. Of equal designs all are. Costs n log n.
    """
    known = np.flatnonzero(np.isfinite(first) & np.isfinite(second))
    order = known[np.lexsort((second[known], first[known]))]
    a, b = first[order], second[order]
    before = np.minimum.accumulate(np.concatenate([[np.inf], b]))[:-1]
    better = b < before
    # Equal ones follow each other: each is as good as the first of them.
    same = np.concatenate([[False], (a[1:] == a[:-1]) & (b[1:] == b[:-1])])
    leader = np.maximum.accumulate(np.where(~same, np.arange(len(order)), 0))
    return order[better[leader]]


def explained(parameter: Array, objective: Array) -> float:
    """The share of the variance of an objective that a parameter explains by itself, 0 to 1: its first-order index.

    It is the variance of the mean over designs of (nearly) the same parameter, corrected for the number of classes as
    in Fisher's correlation ratio. Both are (design,) without NaN; NaN where the objective does not vary. It is the
    first-order Sobol index where the other parameters do not go with this one, as in grids and seeded samples.
    """
    total = float(np.var(objective))
    classes = _classes(parameter)
    number, size = int(classes.max(initial=-1)) + 1, len(objective)
    if total <= (1e-12 * float(np.abs(objective).max(initial=0.0))) ** 2 or size < 2 * number:
        return float("nan")
    counts = np.bincount(classes)
    means = np.bincount(classes, objective) / counts
    between = float(counts @ (means - objective.mean()) ** 2) / size
    return max(0.0, 1.0 - (1.0 - between / total) * (size - 1) / (size - number))


def _classes(parameter: Array) -> NDArray[np.int64]:
    """Which class each design falls into: its value, or a range of values that holds as many designs as others."""
    values, places = np.unique(parameter, return_inverse=True)
    if len(values) <= min(MOST_CLASSES, len(parameter) // 2):
        return np.asarray(places, np.int64)
    number = max(2, min(MOST_CLASSES, len(parameter) // LEAST_IN_CLASS))
    edges = np.unique(np.quantile(parameter, np.linspace(0.0, 1.0, number + 1)[1:-1]))
    return np.unique(np.searchsorted(edges, parameter, side="right"), return_inverse=True)[1].astype(np.int64)
