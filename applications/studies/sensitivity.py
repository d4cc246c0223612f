"""Variance-based sensitivity after Sobol: the shares of a metric's variance that parameters explain.

First: the share that a parameter explains by itself. Total: the share that is lost when it is known last, so with all
its interactions. Interaction of two: the share that they explain together beyond the shares of each alone. Inputs are
taken to be independent of each other; a `where` that cuts off a corner of the box breaks this.

Two ways: `sobol` calls a function, `of_saltelli_store` reads a sweep that `saltelli_sweep` has written. `shares`
takes the designs of any sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import stats

from applications.studies.boxes import check_box, values_at
from applications.studies.columns import Array, Objective, refuse, value_of
from applications.studies.space import DesignSpace
from robots.arguments import check_arguments
from robots.data_classes import dataclass

BLOCKS = 8
"""Blocks of a Sobol' sample, each spread over the whole box: differences without one block give the error."""

BINS = 24
"""Parts of a parameter's range for its main effect, at most."""


@dataclass(frozen=True)
class SobolIndices:
    """Shares of variance by name, with bounds (parameter, 2) of 95 % intervals by a jackknife over blocks."""

    names: tuple[str, ...]
    first: Array
    total: Array
    first_bounds: Array
    total_bounds: Array


@check_arguments
def sobol(
    function: Callable[[Array], Array], bounds: Mapping[str, tuple[float, float]], n: int, seed: int
) -> SobolIndices:
    """Compute indices of a function of designs (designs, parameters) -> (designs,) by n (parameters + 2) calls.

    n is a power of two. Raises InputError where the function is NaN somewhere in the box.

        >>> indices = ls.study.sobol(lambda x: x[:, 0] + 2 * x[:, 1], {"a": (0, 1), "b": (0, 1)}, n=256, seed=1)
        >>> indices.first.round(1)
        array([0.2, 0.8])
    """
    designs = saltelli(bounds, n, seed)
    return _indices(tuple(bounds), values_at(function, designs), n, seed)


@check_arguments
def saltelli(bounds: Mapping[str, tuple[float, float]], n: int, seed: int) -> Array:
    """Return designs (n (parameters + 2), parameters): samples A and B, then A with each column of B in turn.

    >>> ls.study.saltelli({"upper_arm": (0.2, 0.3), "base_radius": (0.12, 0.18)}, n=8, seed=1).shape
    (32, 2)
    """
    if n < 2 or n & (n - 1):
        raise refuse("n", str(n), "a power of two", "256 gives indices to about 0.05, 4096 to about 0.01.")
    k = len(bounds)
    check_box(bounds, n * (k + 2))
    low, high = (np.array([pair[side] for pair in bounds.values()]) for side in (0, 1))
    unit = stats.qmc.Sobol(2 * k, rng=np.random.default_rng(seed)).random(n)
    a, b = low + (high - low) * unit[:, :k], low + (high - low) * unit[:, k:]
    mixed = np.repeat(a[None], k, axis=0)
    for i in range(k):
        mixed[i, :, i] = b[:, i]
    return np.concatenate([a, b, *mixed])


@check_arguments
def of_saltelli_store(ds: xr.Dataset, target: Objective, seed: int = 0) -> SobolIndices:
    """Compute indices from a store whose sweep lists the designs of `saltelli`. Raises InputError for other designs.

    >>> bounds = {"distal_length": (0.5, 0.56), "proximal_length": (0.5, 0.56)}
    >>> designs = ls.study.saltelli(bounds, n=64, seed=1)
    >>> sweep = ls.sweep("five_bar", design=dict(zip(bounds, designs.T)), time=(1, 0.1), metrics="peak_force",
    ...                  trajectories={"c": {"kind": "circle", "radius": 0.05, "normal": [0, 1, 0]}})
    >>> indices = ls.study.of_saltelli_store(ls.compute(sweep), ls.study.objective("peak_force"))
    >>> indices.names
    ('distal_length', 'proximal_length')
    """
    space = DesignSpace.of_dataset(ds)
    names = tuple(f.name for f in space.varied() if f.kind == "free" and f.section == "design")
    if not names:
        raise refuse("designs", "a dataset without swept parameters", "the designs of a Saltelli sample")
    designs = np.stack([ds[name].values for name in names], axis=1)
    n = len(designs) // (len(names) + 2)
    parts = designs[: n * (len(names) + 2)].reshape(len(names) + 2, n, len(names))
    rows = np.arange(len(names))
    same = all((parts[2 + i] == np.where(rows == i, parts[1], parts[0])).all() for i in rows)
    if not n or n & (n - 1) or len(designs) != n * (len(names) + 2) or not same:
        raise refuse(
            "designs", f"{len(designs)} designs in {len(names)} parameters", "the designs of a Saltelli sample"
        )
    return _indices(names, value_of(ds, target), n, seed)


def _indices(names: tuple[str, ...], values: Array, n: int, seed: int) -> SobolIndices:
    if bad := int(np.count_nonzero(~np.isfinite(values))):
        hint = "Make the box smaller, or take the shares that stored samples explain."
        raise refuse("values", f"{bad} of {len(values)} designs without a value", "a value for every design", hint)
    parts = values.reshape(len(names) + 2, n)
    if not np.ptp(values):
        zero = np.zeros(len(names))
        return SobolIndices(names, zero, zero, np.zeros((len(names), 2)), np.zeros((len(names), 2)))
    shares = _estimated(parts)
    block = np.arange(n) * min(BLOCKS, n) // n
    replicates = np.stack([_estimated(parts[:, block != k]) for k in range(block[-1] + 1)])
    count = len(replicates)
    spread = np.sqrt((count - 1.0) / count * ((replicates - replicates.mean(axis=0)) ** 2).sum(axis=0))
    half = stats.t.ppf(0.975, count - 1) * spread
    bounds = np.stack([shares - half, shares + half], axis=-1)
    return SobolIndices(names, *shares, *bounds)


def _estimated(parts: Array) -> Array:
    """Return first and total shares (2, parameter) from values of A, B, and A with a column of B (part, sample).

    Saltelli et al., Comput. Phys. Commun. 181, 2010, table 2 (b) and (f).
    """
    a, b, *mixed = parts - parts[:2].mean()
    variance = np.var(np.concatenate([a, b]))
    first = [np.mean(b * (of_parameter - a)) for of_parameter in mixed]
    total = [0.5 * np.mean((a - of_parameter) ** 2) for of_parameter in mixed]
    return np.stack([first, total]) / (variance or 1.0)


def _parts(x: Array, most: int) -> NDArray[np.intp]:
    """Return the number of each sample's part: by its value if there are few, else by its quantile."""
    numbers, which = np.unique(x, return_inverse=True)
    if len(numbers) <= most:
        return which.ravel()
    rank = np.searchsorted(np.sort(x), x, side="left")
    return rank * most // len(x)


def main_effect(x: Array, values: Array, parts: int = BINS) -> tuple[Array, Array]:
    """Return the mean of a metric over parts of a parameter's range: means of parameter and metric, (part,) each."""
    good = np.isfinite(values)
    part = _parts(np.asarray(x)[good], parts)
    counts = np.bincount(part)
    used = counts > 0
    sums = (np.bincount(part, np.asarray(column, dtype=float)[good]) for column in (x, values))
    middle, mean = (total[used] / counts[used] for total in sums)
    return middle, mean


@dataclass(frozen=True)
class Interaction:
    """An interaction plot: means of two parameters in their parts, and of a metric (part, part), NaN without designs.

    `effect`: the part of the means that neither the mean of all designs nor a parameter alone explains. It is zero
    everywhere if the effects of the two parameters add.
    """

    first: Array
    second: Array
    mean: Array
    effect: Array


def interaction(x: Array, y: Array, values: Array, parts: int = 12) -> Interaction:
    """Compute the interaction of two parameters (n,): the mean of a metric over parts of their ranges.

    Each parameter is cut as by `main_effect`. NaN among values is left out.
    """
    good = np.isfinite(values)
    z = np.asarray(values, dtype=float)[good]
    pair = [np.asarray(parameter, dtype=float)[good] for parameter in (x, y)]
    rows, columns = (np.unique(_parts(parameter, parts), return_inverse=True)[1].ravel() for parameter in pair)
    shape = int(rows.max(initial=-1)) + 1, int(columns.max(initial=-1)) + 1
    place = rows * shape[1] + columns
    counts = np.bincount(place, minlength=shape[0] * shape[1])
    with np.errstate(invalid="ignore"):
        mean = (np.bincount(place, z, minlength=len(counts)) / counts).reshape(shape)
    middles = [np.bincount(part, x) / np.bincount(part) for part, x in zip((rows, columns), pair, strict=True)]
    alone = [np.bincount(part, z) / np.bincount(part) for part in (rows, columns)]
    total = z.mean() if len(z) else np.nan
    return Interaction(middles[0], middles[1], mean, mean - alone[0][:, None] - alone[1] + total)
