"""Shares of variance from stored designs against known ones: how often bars hold them, and what noise is told.

    python -m benchmarks.shares [--stores 100]

Stores of 128 to 6144 designs, half of them Sobol' samples, half random ones, of the functions of Ishigami and Sobol,
whose shares are known, each beside a random column and a random category, and with a copy of an input. Prints for each
size the part of the bars that hold the known share, how many of the stores give noise a share above its error, the mean
of what the polynomial does not foretell, and the time of one call.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from applications.studies.shares import Explained, from_samples

Array = NDArray[np.float64]
SIZES = (128, 256, 512, 1024, 2048, 4096, 6144)


@dataclass(frozen=True)
class KnownFunction:
    """Function of inputs (n, input) on the unit cube; its shares (input, input), off the diagonal those of pairs."""

    of: Callable[[Array], Array]
    shares: Array


def _ishigami(unit: Array) -> Array:
    x = np.pi * (2.0 * unit - 1.0)
    return np.asarray(np.sin(x[:, 0]) * (1.0 + 0.1 * x[:, 2] ** 4) + 7.0 * np.sin(x[:, 1]) ** 2)


def _known_ishigami() -> Array:
    """Return the shares after Ishigami and Homma, 1990."""
    parts = np.zeros((3, 3))
    parts[0, 0], parts[1, 1] = 0.5 * (1.0 + 0.1 * np.pi**4 / 5.0) ** 2, 49.0 / 8.0
    parts[0, 2] = parts[2, 0] = 0.01 * np.pi**8 * (1 / 18 - 1 / 50)
    return parts / np.tril(parts).sum()


WEIGHTS = np.array([0.0, 1.0, 4.5])


def _product(unit: Array) -> Array:
    return np.asarray(np.prod((np.abs(4.0 * unit - 2.0) + WEIGHTS) / (1.0 + WEIGHTS), axis=1))


def _known_product() -> Array:
    """Return the shares of the g function of Sobol, 1993; the product of all three is in none of them."""
    alone = 1.0 / (3.0 * (1.0 + WEIGHTS) ** 2)
    parts = np.where(np.eye(3) > 0, np.diag(alone), np.outer(alone, alone))
    return parts / (np.prod(1.0 + alone) - 1.0)


FUNCTIONS = {"Ishigami": KnownFunction(_ishigami, _known_ishigami()), "g": KnownFunction(_product, _known_product())}


def shares_of(function: KnownFunction, size: int, seed: int) -> Explained:
    """Return the shares from one store: three inputs, a copy of the second, a random column, a random category."""
    draw = np.random.default_rng(seed)
    engine = qmc.Sobol(3, rng=draw) if seed % 2 else None
    unit = draw.random((size, 3)) if engine is None else engine.random(size)
    columns = dict(zip("abc", unit.T, strict=True)) | {"copy": 2.0 * unit[:, 1] + 1.0, "noise": draw.random(size)}
    columns["motor"] = draw.integers(5, size=size).astype(float)
    return from_samples(columns, function.of(unit), categories=("motor",))


def judged(shares: Explained, known: Array) -> tuple[list[bool], bool]:
    """Return whether each bar of first shares and pairs holds the known one, and whether noise has a share."""
    low, high = shares.bounds(shares.interaction, shares.interaction_error)
    first_low, first_high = shares.bounds(shares.first, shares.first_error)
    np.fill_diagonal(low, first_low)
    np.fill_diagonal(high, first_high)
    rows = np.tril_indices(3)
    holds = (low[:3, :3][rows] <= known[rows] + 1e-9) & (known[rows] <= high[:3, :3][rows] + 1e-9)
    is_noise = [k for k, name in enumerate(shares.names) if name in ("noise", "motor")]
    is_told = (shares.first > shares.first_error)[is_noise].any() or (shares.total > shares.total_error)[is_noise].any()
    return holds.tolist(), bool(is_told or (shares.interaction > shares.interaction_error)[is_noise].any())


def main() -> None:
    """Print a line for each function and size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stores", type=int, default=100, help="Stores of each size (default: 100).")
    stores = parser.parse_args().stores
    print("function  designs  bars that hold  noise told  not foretold  ms")
    for name, function in FUNCTIONS.items():
        for size in SIZES:
            clock, holds, with_noise, unexplained = time.perf_counter(), [], 0, 0.0
            for seed in range(stores):
                shares = shares_of(function, size, seed)
                covered, noise = judged(shares, function.shares)
                holds += covered
                with_noise, unexplained = with_noise + noise, unexplained + shares.unexplained / stores
            spent = 1e3 * (time.perf_counter() - clock) / stores
            counts = f"{name:8}  {size:7}  {np.mean(holds):14.1%}  {with_noise:4} of {stores:3}"
            print(f"{counts}  {unexplained:12.4f}  {spent:.0f}")


if __name__ == "__main__":
    main()
