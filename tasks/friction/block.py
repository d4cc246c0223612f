"""A block on a rough plane, drawn by a spring: the usual test of a friction law with a state, in forward dynamics.

mass x'' = stiffness (pull(t) - x) - force(z, x', load), with the LuGre law: it sticks, slips and sticks again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from robots.friction import LAWS
from robots.parameters import complete
from tasks.friction import lugre
from tasks.kernels.types import Scalar


class BlockMotion(NamedTuple):
    """Times [s], position [m], velocity [m/s] and deflection of the bristles [m] of the block, (time,) each."""

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    deflection: np.ndarray


def simulate(
    *,
    mass: float,
    stiffness: float,
    pull: Callable[[float], float],
    times: ArrayLike,
    values: Mapping[str, float],
    load: float = 1.0,
    rtol: float = 1e-10,
    atol: float = 1e-13,
) -> BlockMotion:
    """The motion from rest, with relaxed bristles, by scipy's Radau at `times` (time,) [s], from the first on.

    pull(t) [m]: where the other end of the spring is. values: parameters of the LuGre law. Raises ParameterError for
    them, ValueError for a mass or a stiffness that is not above zero, RuntimeError where the integrator gives up.
    """
    if not (mass > 0.0 and stiffness > 0.0):
        raise ValueError(f"mass, stiffness: got {mass!r}, {stiffness!r}; expected both above zero")
    law = LAWS["lugre"]
    named = complete((*law.parameters, *law.options), values, owner="friction law lugre")
    instants = np.asarray(times, dtype=float)

    def change(t: float, state: np.ndarray) -> list[Scalar]:
        x, v, z = (float(each) for each in state)
        friction = lugre.force(z, v, load, **named)
        return [v, (stiffness * (pull(t) - x) - friction) / mass, lugre.rate(z, v, load, **named)]

    ends = (float(instants[0]), float(instants[-1]))
    result = solve_ivp(change, ends, [0.0, 0.0, 0.0], "Radau", instants, rtol=rtol, atol=atol)
    if not result.success:
        raise RuntimeError(f"the block: {result.message}; expected the integrator to reach {ends[1]:g} s")
    return BlockMotion(result.t, *result.y)
