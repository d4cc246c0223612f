"""Rows of four-bars (problem A02 of the IFToMM library): N + 1 cranks that couplers keep parallel.

All bars lie on a line twice in a turn, where the linkage could fold to antiparallel cranks as well; its momentum alone
says that it does not, so that it moves as one pendulum. Source: Gonzalez et al. 2006, A benchmarking system for MBS
simulation software.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.published.rows import Array
from robots import geometry
from robots.model import Closure, Family, Frame, Link, Mechanism, Robot
from robots.types import BASE

GRAVITY = 9.81


def row_of_four_bars(count: int) -> Robot:
    """Return `count` four-bars of uniform rods of 1 m and 1 kg; the first crank is driven, all stand upright."""
    return Robot.of(Family(f"four_bars_{count}", "row of four-bars", "IFToMM A02", (), lambda _: _row(count)), {})


def _row(count: int) -> Mechanism:
    axis, turned = (0.0, -1.0, 0.0), ((0.0, 0.0, -1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
    across = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
    rod, end = geometry.bar(1.0, 1.0, "x", (0.5, 0.0, 0.0)), (1.0, 0.0, 0.0)
    cranks = [
        Link(f"crank_{k}", f"crank_{k}", BASE, "revolute", axis, Frame(turned, (float(k), 0.0, 0.0)), rod)
        for k in range(count + 1)
    ]
    back: Any = tuple(zip(*turned, strict=True))
    couplers = [Link(f"pin_{k}", f"coupler_{k}", k, "revolute", axis, Frame(back, end), rod) for k in range(count)]
    loops = tuple(
        Closure(f"end_{k}", "revolute", count + 1 + k, Frame(across, end), k + 1, Frame(across, end))
        for k in range(count)
    )
    return Mechanism.chain("four_bars", (*cranks, *couplers), ("crank_0",), loops)


def inertia_and_moment(count: int) -> tuple[float, float]:
    """Return inertia [kg m^2] and moment of weight [N m] where it lies level, of the pendulum that the row is."""
    return (count + 1) / 3.0 + count, ((count + 1) * 0.5 + count) * GRAVITY


def pendulum(count: int, times: Array, angle: float, rate: float) -> Array:
    """Return the angle of the cranks from upright at times from zero on, integrated by itself."""
    inertia, moment = inertia_and_moment(count)

    def change(_: float, y: Array) -> list[float]:
        return [y[1], moment * float(np.sin(y[0])) / inertia]

    return np.asarray(solve_ivp(change, (0.0, times[-1]), [angle, rate], t_eval=times, rtol=1e-11, atol=1e-12).y[0])
