"""Forces or currents that are given at instants, as functions of time for simulations.

Between instants they are linear, or hold their value up to the next instant. Before the first and after the last
instant they are constant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import check_arguments, real_numbers, shown

Between = Literal["linear", "steps"]


@check_arguments
def profile(times: ArrayLike, values: ArrayLike, between: Between = "linear") -> Callable[[float], np.ndarray]:
    """Return the function of time [s] that is `values` (time, *batch, actuator) at `times` (time,).

    Raises ValueError for times that do not ascend, values that do not fit, and another way `between` them.
    """
    instants, levels = real_numbers(times), real_numbers(values)
    if instants.ndim != 1 or not len(instants) or not (np.diff(instants) > 0).all():
        raise ValueError(f"times: got {shown(times)}; expected at least one, ascending [s]")
    if levels.ndim < 2 or len(levels) != len(instants):
        raise ValueError(f"values: got an array of shape {levels.shape}; expected ({len(instants)}, *batch, actuator)")
    if between not in get_args(Between):
        raise ValueError(f"between: got {between!r}; expected one of {', '.join(get_args(Between))}")

    def at(time: float) -> np.ndarray:
        after = int(np.searchsorted(instants, time, side="right"))
        if after == 0 or after == len(instants) or between == "steps":
            return np.asarray(levels[max(after - 1, 0)])
        share = (time - instants[after - 1]) / (instants[after] - instants[after - 1])
        return np.asarray(levels[after - 1] + share * (levels[after] - levels[after - 1]))

    return at
