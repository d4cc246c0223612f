"""Boxes of parameters that samples are drawn from, and values of functions at designs of a sample."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from applications.studies.columns import refuse
from robots.arguments import real_numbers, shown
from robots.labels import in_order_of

Array = NDArray[np.float64]

MOST = 10**9
"""Numbers of a sample, at most: designs times parameters."""


def check_box(bounds: Mapping[str, tuple[float, float]], designs: int) -> None:
    """Check the bounds of parameters and the size of a sample. Raises InputError before the sample takes memory."""
    if not bounds:
        raise refuse("bounds", "no parameters", "at least one", "Give its bounds by its name.")
    for name, (low, high) in bounds.items():
        if not (math.isfinite(low) and math.isfinite(high) and low < high and math.isfinite(high - low)):
            raise refuse(f"bounds {name}", f"({low!r}, {high!r})", "two finite numbers that ascend", "")
    if designs * len(bounds) > MOST:
        got = f"{shown(designs)} designs of {len(bounds)} parameters"
        raise refuse("designs", got, f"at most {MOST:.4g} numbers", "Take fewer of them.")


def values_at(function: Callable[[Array], Array], designs: Array) -> Array:
    """Return the values of a function at designs (designs, parameters) -> (designs,). Raises InputError."""
    answer = function(designs)
    try:
        values = real_numbers(in_order_of((), "function", answer))
    except (TypeError, ValueError):
        raise refuse("function", f"{shown(answer)} of it", "a number for each design", "") from None
    if values.shape != (len(designs),):
        got = f"an array of shape {values.shape} of it"
        raise refuse("function", got, f"a number for each of {len(designs)} designs, as an array", "")
    return values
