"""Seeded samples of the unit cube, reproducible with any version of any library.

They use only parts of NumPy that it promises never to change: the hash of `SeedSequence` and the raw 64-bit stream of
`PCG64`. Each column of a sample has a stream of its own, spawned from the seed by the names of the axis and the
parameter, so that equal seeds on two axes do not make them move together, and a parameter more leaves the others as
they are.
"""

from __future__ import annotations

import decimal
import math
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SamplingMethod = Literal["latin_hypercube", "sobol", "uniform"]

_BITS = 53
_LN2 = 0.6931471805599453
_LN2_HIGH = float.fromhex("0x1.62e42feep-1")
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
_TERMS = 14
_LAST = 1.0 - 2.0**-_BITS


@lru_cache(maxsize=4)
def sample(method: SamplingMethod, count: int, seed: int, axis: str, names: tuple[str, ...]) -> Array:
    """Draw numbers in [0, 1), (name, count); read-only, because they are cached and shared.

    A Latin hypercube has one number of each name in each of `count` equal slices. Sobol: the points of Joe and Kuo
    2008, shifted by one random number in base 2 (exclusive or) for each name, which keeps them a net.
    """
    result = np.empty((len(names), count))
    for place, name in enumerate(names):
        sequence = np.random.SeedSequence(seed, spawn_key=tuple(f"{axis}/{name}".encode()))
        result[place] = _DRAWS[method](np.random.PCG64(sequence), count, place, len(names))
    result.flags.writeable = False
    return result


def _uniform(bits: np.random.PCG64, count: int, place: int, dims: int) -> Array:
    return _unit(bits.random_raw(count))


def _latin_hypercube(bits: np.random.PCG64, count: int, place: int, dims: int) -> Array:
    order = np.argsort(bits.random_raw(count), kind="stable")
    return np.minimum((order + _unit(bits.random_raw(count))) / count, _LAST)


def _shifted_sobol(bits: np.random.PCG64, count: int, place: int, dims: int) -> Array:
    shift = np.uint64(bits.random_raw()) >> np.uint64(64 - _BITS)
    points = np.ldexp(_sobol(dims, count)[:, place], _BITS).astype(np.uint64)
    return np.ldexp((points ^ shift).astype(np.float64), -_BITS)


_DRAWS = {"uniform": _uniform, "latin_hypercube": _latin_hypercube, "sobol": _shifted_sobol}


def _unit(raw: NDArray[np.uint64]) -> Array:
    return np.ldexp((raw >> np.uint64(64 - _BITS)).astype(np.float64), -_BITS)


@lru_cache(maxsize=1)
def _sobol(dims: int, count: int) -> Array:
    from scipy.stats import qmc  # takes most of a second, which commands that draw nothing need not wait for

    # The sequence comes in powers of two; its first `count` points are the same ones.
    points = qmc.Sobol(dims, scramble=False).random_base2(math.ceil(math.log2(count)))
    return np.asarray(points[:count])


def between(low: float, high: float, unit: Array, *, log: bool) -> Array:
    """Map numbers in [0, 1] to the range from `low` to `high`; with `log`, equal steps are equal ratios."""
    if not log:
        spread = low + (high - low) * unit
    else:
        with decimal.localcontext(prec=40) as context:
            ratio = float((context.divide(decimal.Decimal(high), decimal.Decimal(low))).ln())
        spread = _scaled_exponential(low, unit * ratio)
    # Rounding must not carry a value over a bound.
    return np.clip(spread, min(low, high), max(low, high))


def _scaled_exponential(factor: float, x: Array) -> Array:
    """Compute factor * exp(x) by IEEE operations alone, so that the last bit depends on no library."""
    power = np.rint(x / _LN2)
    rest = (x - power * _LN2_HIGH) - power * _LN2_LOW
    result = np.ones_like(rest)
    for term in range(_TERMS, 0, -1):  # Taylor: |rest| < 0.35, so the remainder is below one ulp
        result = result * rest / term + 1.0
    return np.ldexp(factor * result, power.astype(np.int64))
