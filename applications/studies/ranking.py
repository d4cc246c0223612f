"""Rank designs by weighted objectives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from applications.studies.columns import Array, Objective, costs, feasible, refuse
from robots.arguments import check_arguments


@check_arguments
def rank(
    ds: xr.Dataset, objectives: Sequence[Objective | str], weights: Sequence[float] = (), where: Sequence[str] = ()
) -> tuple[NDArray[np.intp], Array]:
    """Rank the feasible designs, the best first: indices (n,), scores (n,) in [0, sum of weights].

    The score is the weighted sum of objectives, as `objective` makes them or as texts, each scaled so that it is 0 for
    the best and 1 for the worst of the feasible designs. Weights count alike unless given. Raises InputError.

        >>> designs, scores = ls.study.rank(ls.open("out.zarr"), ["peak_force"])
        >>> bool((np.diff(scores) >= 0).all())
        True
    """
    shares = np.ones(len(objectives)) if not len(weights) else np.asarray(weights, dtype=float)
    if len(shares) != len(objectives) or not np.isfinite(shares).all() or (shares < 0).any():
        got, expected = str(list(weights)), f"{len(objectives)} numbers that are not negative"
        raise refuse("weights", got, expected, "Give one for each objective.")
    table = costs(ds, objectives)
    designs = np.flatnonzero(feasible(ds, where) & np.isfinite(table).all(axis=1))
    if not len(designs):
        return designs, np.zeros(0)
    least, most = table[designs].min(axis=0), table[designs].max(axis=0)
    span = np.where(most > least, most - least, 1.0)
    scores = ((table[designs] - least) / span) @ shares
    order = np.argsort(scores, kind="stable")
    return designs[order], scores[order]
