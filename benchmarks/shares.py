"""Shares of variance from stored designs against known ones: rates at which bars hold them, and shares given to noise.

    python -m benchmarks.shares [--stores 100] [--function NAME ...]

Stores of 128 to 6144 designs, half of them Sobol' samples, half random ones, of four functions whose shares are known:
those of Ishigami and Sobol, an additive one, and a linear one of normal inputs that depend on each other. Each store
has a random column and a random category beside the inputs, and a copy of an input. Prints for each size the part of
the bars that hold the known share (alone, in total, of pairs; for dependent inputs alone, in total, Shapley), how many
stores give noise a share above its error, the mean of the share that the polynomial does not explain, and the time of a
call. Exits with 1 where fewer than 95 % of the bars of a size hold, or more than 5 % of its stores give noise a share.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, qmc
from threadpoolctl import threadpool_limits

from applications.studies.shares import Explained, from_samples

Array = NDArray[np.float64]
SIZES = (128, 256, 512, 1024, 2048, 4096, 6144)


@dataclass(frozen=True)
class KnownFunction:
    """Function of three inputs (n, input), made from the unit cube, with its known shares.

    shares (input, input): alone, off the diagonal those of pairs, where inputs are independent; `total` and `shapley`
    (input,).
    """

    of: Callable[[Array], Array]
    shares: Array
    total: Array
    shapley: Array | None = None
    inputs: Callable[[Array], Array] = lambda unit: unit


def _ishigami(unit: Array) -> Array:
    x = np.pi * (2.0 * unit - 1.0)
    return np.asarray(np.sin(x[:, 0]) * (1.0 + 0.1 * x[:, 2] ** 4) + 7.0 * np.sin(x[:, 1]) ** 2)


def _known_ishigami() -> KnownFunction:
    """Return the shares after Ishigami and Homma, 1990."""
    parts = np.zeros((3, 3))
    parts[0, 0], parts[1, 1] = 0.5 * (1.0 + 0.1 * np.pi**4 / 5.0) ** 2, 49.0 / 8.0
    parts[0, 2] = parts[2, 0] = 0.01 * np.pi**8 * (1 / 18 - 1 / 50)
    parts /= np.tril(parts).sum()
    return KnownFunction(_ishigami, parts, parts.sum(axis=1))


WEIGHTS = np.array([0.0, 1.0, 4.5])


def _product(unit: Array) -> Array:
    return np.asarray(np.prod((np.abs(4.0 * unit - 2.0) + WEIGHTS) / (1.0 + WEIGHTS), axis=1))


def _known_product() -> KnownFunction:
    """Return the shares of the g function of Sobol, 1993; the product of all three is in the totals alone."""
    alone = 1.0 / (3.0 * (1.0 + WEIGHTS) ** 2)
    parts, whole = np.where(np.eye(3) > 0, np.diag(alone), np.outer(alone, alone)), np.prod(1.0 + alone) - 1.0
    return KnownFunction(_product, parts / whole, parts.sum(axis=1) / whole + np.prod(alone) / whole)


def _sum(unit: Array) -> Array:
    return np.asarray(unit[:, 0] + 2.0 * unit[:, 1] ** 2 + np.exp(unit[:, 2]))


def _known_sum() -> KnownFunction:
    """Return the shares of a sum of functions of one input each."""
    alone = np.array([1.0 / 12.0, 4.0 * (1.0 / 5.0 - 1.0 / 9.0), (math.e**2 - 1.0) / 2.0 - (math.e - 1.0) ** 2])
    return KnownFunction(_sum, np.diag(alone / alone.sum()), alone / alone.sum())


SLOPES = np.array([1.0, 1.5, 0.7])
COVARIANCE = np.array([[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 1.0]])


def _normal(unit: Array) -> Array:
    """Return normal inputs that depend on each other."""
    return np.asarray(norm.ppf(np.clip(unit, 1e-6, 1.0 - 1e-6)) @ np.linalg.cholesky(COVARIANCE).T)


def _known_linear() -> KnownFunction:
    """Return the shares of a linear function of normal inputs (Owen and Prieur, 2017)."""
    every = range(3)

    def explained(known: tuple[int, ...]) -> float:
        rest = [k for k in every if k not in known]
        among = COVARIANCE[np.ix_(rest, rest)]
        if known:
            across = COVARIANCE[np.ix_(rest, known)]
            among = among - across @ np.linalg.solve(COVARIANCE[np.ix_(known, known)], across.T)
        return 1.0 - float(SLOPES[rest] @ among @ SLOPES[rest]) / float(SLOPES @ COVARIANCE @ SLOPES)

    shapley = np.zeros(3)
    for k in every:
        rest = [j for j in every if j != k]
        for size in range(3):
            for part in combinations(rest, size):
                gain = explained(tuple(sorted((*part, k)))) - explained(part)
                shapley[k] += gain / (3 * comb(2, size))
    alone = np.diag([explained((k,)) for k in every])
    total = 1.0 - np.array([explained(tuple(j for j in every if j != k)) for k in every])
    return KnownFunction(lambda x: np.asarray(x @ SLOPES), alone, total, shapley, _normal)


FUNCTIONS = {"Ishigami": _known_ishigami(), "g": _known_product(), "sum": _known_sum(), "dependent": _known_linear()}


def shares_of(function: KnownFunction, size: int, seed: int) -> Explained:
    """Return the shares from one store: three inputs, a copy of the second, a random column, a random category."""
    draw = np.random.default_rng(seed)
    engine = qmc.Sobol(3, rng=draw) if seed % 2 else None
    unit = draw.random((size, 3)) if engine is None else engine.random(1 << (size - 1).bit_length())[:size]
    inputs = function.inputs(unit)
    columns = dict(zip("abc", inputs.T, strict=True)) | {"copy": 2.0 * inputs[:, 1] + 1.0, "noise": draw.random(size)}
    columns["motor"] = draw.integers(5, size=size).astype(float)
    return from_samples(columns, function.of(inputs), categories=("motor",))


def _bars(shares: Explained, function: KnownFunction) -> Iterator[tuple[Array, Array, Array]]:
    """Give the known shares, and the ends of the bars that are to hold them."""
    first = np.diagonal(function.shares)
    if function.shapley is not None:
        yield first, *_three(shares.bounds(shares.first, shares.first_error))
        yield function.shapley, *_three(shares.bounds(shares.shapley, shares.shapley_error))
    else:
        yield first, *_three(shares.bounds(shares.first, shares.first_error))
        pairs, (low, high) = np.tril_indices(3, -1), shares.bounds(shares.interaction, shares.interaction_error)
        yield function.shares[pairs], low[:3, :3][pairs], high[:3, :3][pairs]
    yield function.total, *_three(shares.bounds(shares.total, shares.total_error))


def _three(ends: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return the ends of the bars of the first three columns."""
    low, high = ends
    return low[:3], high[:3]


def judged(shares: Explained, function: KnownFunction) -> tuple[list[bool], bool]:
    """Return whether each bar holds the known share, and whether noise, or a copy beside its input, has a share."""
    holds = [
        bool(low - 1e-9 <= known <= high + 1e-9)
        for bar in _bars(shares, function)
        for known, low, high in zip(*bar, strict=True)
    ]
    is_noise = [k for k, name in enumerate(shares.names) if name in ("noise", "motor", "copy")]
    parts = ("first", "total", "interaction", "shapley")
    above = [(getattr(shares, part) > getattr(shares, f"{part}_error"))[is_noise].any() for part in parts]
    return holds, bool(np.any(above))


def main() -> None:
    """Print a line for each function and size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stores", type=int, default=100, help="Stores of each size (default: 100).")
    parser.add_argument("--function", action="append", choices=tuple(FUNCTIONS))
    options = parser.parse_args()
    failed = False
    print("function   designs  bars that hold  noise told  not foretold  ms")
    with threadpool_limits(1):  # threads of BLAS wait for each other where others compute: 20 times the processor time
        for name in options.function or FUNCTIONS:
            for size in SIZES:
                failed |= not holds(name, size, options.stores)
    raise SystemExit(int(failed))


def holds(name: str, size: int, stores: int) -> bool:
    """Print the line of a function and a size; return whether bars and noise are as they should."""
    clock, covered, with_noise, unexplained = time.process_time(), [], 0, 0.0
    for seed in range(stores):
        shares = shares_of(FUNCTIONS[name], size, seed)
        bars, noise = judged(shares, FUNCTIONS[name])
        covered += bars
        with_noise, unexplained = with_noise + noise, unexplained + shares.unexplained / stores
    spent = 1e3 * (time.process_time() - clock) / stores
    counts = f"{name:9}  {size:7}  {np.mean(covered):14.1%}  {with_noise:4} of {stores:3}"
    print(f"{counts}  {unexplained:12.4f}  {spent:.0f}", flush=True)
    return bool(np.mean(covered) >= 0.95 and with_noise <= 0.05 * stores)


if __name__ == "__main__":
    main()
