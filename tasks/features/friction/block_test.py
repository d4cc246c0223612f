"""A block that a spring draws over a rough plane, the usual test of a law with bristles in forward dynamics.

mass x'' = stiffness (pull(t) - x) - force(z, x', load). The block sticks, slips and sticks again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robots.friction import laws as data
from robots.parameter_errors import nearest
from robots.parameters import complete
from tasks.features.friction.laws import LAWS


class BlockMotion(NamedTuple):
    """Times [s], position [m], velocity [m/s] and deflection of the bristles [m] of the block, (time,) each."""

    time: NDArray[np.float64]
    position: NDArray[np.float64]
    velocity: NDArray[np.float64]
    deflection: NDArray[np.float64]


def draw_block(
    *,
    mass: float,
    stiffness: float,
    pull: Callable[[float], float],
    times: ArrayLike,
    law: str,
    values: Mapping[str, float],
    load: float = 1.0,
    tolerances: tuple[float, float] = (1e-10, 1e-13),
) -> BlockMotion:
    """Return the motion from rest, with relaxed bristles, by scipy's Radau at `times` (time,) [s], from the first on.

    pull(t) [m]: where the other end of the spring is; law, values: a law with bristles and its parameters; tolerances:
    of the integrator, relative and absolute. Raises ParameterError for the parameters, ValueError for a mass or a
    stiffness that is not above zero and for another law, RuntimeError where the integrator gives up.
    """
    from scipy.integrate import solve_ivp  # takes as long as a small run, which has no block

    if not (mass > 0.0 and stiffness > 0.0):
        raise ValueError(f"mass, stiffness: got {mass!r}, {stiffness!r}; expected both above zero")
    rates = {name: row.rate for name, row in LAWS.items() if row.rate is not None}
    if law not in rates:
        raise ValueError(f"friction law: got {law!r}; expected a law with bristles; {nearest(law, rates)}")
    named = complete((*data.LAWS[law].parameters, *data.LAWS[law].options), values, owner=f"friction law {law}")
    instants = np.asarray(times, dtype=float)

    def change(t: float, state: NDArray[np.float64]) -> list[float]:
        x, v, z = state.tolist()
        friction = LAWS[law].force(z, v, load, **named)
        return [v, (stiffness * (pull(t) - x) - friction) / mass, rates[law](z, v, load, **named)]

    ends = (float(instants[0]), float(instants[-1]))
    result = solve_ivp(change, ends, [0.0, 0.0, 0.0], "Radau", instants, rtol=tolerances[0], atol=tolerances[1])
    if not result.success:
        raise RuntimeError(f"the block: {result.message}; expected the integrator to reach {ends[1]:g} s")
    return BlockMotion(result.t, *result.y)
