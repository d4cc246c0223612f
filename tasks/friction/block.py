"""A block on a rough plane, drawn by a spring: the usual test of a law with bristles, in forward dynamics.

mass x'' = stiffness (pull(t) - x) - force(z, x', load): it sticks, slips and sticks again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from robots.friction import laws as data
from robots.parameters import complete, nearest
from tasks.friction.laws import LAWS


class BlockMotion(NamedTuple):
    """Times [s], position [m], velocity [m/s] and deflection of the bristles [m] of the block, (time,) each."""

    time: NDArray[np.float64]
    position: NDArray[np.float64]
    velocity: NDArray[np.float64]
    deflection: NDArray[np.float64]


def simulate(
    *,
    mass: float,
    stiffness: float,
    pull: Callable[[float], float],
    times: ArrayLike,
    law: str,
    values: Mapping[str, float],
    load: float = 1.0,
    rtol: float = 1e-10,
    atol: float = 1e-13,
) -> BlockMotion:
    """The motion from rest, with relaxed bristles, by scipy's Radau at `times` (time,) [s], from the first on.

    pull(t) [m]: where the other end of the spring is; law, values: a law with bristles and its parameters. Raises
    ParameterError for them, ValueError for a mass or a stiffness that is not above zero and for another law,
    RuntimeError where the integrator gives up.
    """
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
    result = solve_ivp(change, ends, [0.0, 0.0, 0.0], "Radau", instants, rtol=rtol, atol=atol)
    if not result.success:
        raise RuntimeError(f"the block: {result.message}; expected the integrator to reach {ends[1]:g} s")
    return BlockMotion(result.t, *result.y)
