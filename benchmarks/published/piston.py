"""Engine of one cylinder with gas whose piston is the driven joint: its coordinate ends at every dead centre.

Reference: the equation of the crank, written out by hand, which agrees with the series of MAP-LIB to the five digits
that these have (row `modelica_engine1b`). One stored time is a dead centre.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from benchmarks.published.modelica import GAS, GRAVITY, gas
from benchmarks.published.rows import ROBOTS, Array, Compared, Row
from limbsweep import Environment, State, simulate
from pipeline.robot_files.reader import parse_robot
from robots.loads.family import with_loads
from robots.model import Robot

CRANK, ROD, DENSITY = 0.1, 0.2, 7700.0
START, SPEED, BEFORE = 0.02, 10.0, 0.05
"""Way of the piston from its upper dead centre at the start [m], speed of the crank [rad/s], and the way of the gas law
at the upper dead centre [m]."""

TIMES = np.linspace(0.05, 0.2, 4)


def driven_piston() -> Robot:
    """Return the engine with its piston driven and gas; its reference pose is START after the dead centre."""
    text = (ROBOTS / "one_cylinder_engine.yaml").read_text("utf-8")
    pose = f"actuated: [cylinder]\n    reference: {{bearing: 0.5, cylinder: {START}, b1: -0.25}}"
    family = parse_robot(text.replace("actuated: [bearing]", pose), "driven_piston").family
    return with_loads(Robot.of(family, {}), gas("cylinder", BEFORE + START, 0.35))


class _Crank(NamedTuple):
    """The engine at an angle of its crank: way of the piston down from its dead centre, its slope, inertia, weight."""

    way: float
    slope: float
    inertia: float
    potential: float

    @classmethod
    def at(cls, angle: float) -> _Crank:
        pin, shaft = np.pi * 0.015**2 * 0.1 * DENSITY, np.pi * 0.025**2 * 0.1 * DENSITY
        cheeks, rod, piston = 2e-4 * DENSITY, 2.4e-4 * DENSITY, np.pi * 0.05**2 * 0.1 * DENSITY
        turning = pin * (0.015**2 / 2.0 + 0.01) + shaft * 0.025**2 / 2.0
        turning += cheeks * ((0.01 + 0.05**2) / 12.0 + 0.0025) + 1.0
        lean = np.arcsin(CRANK * np.sin(angle) / ROD)
        turn = CRANK * np.cos(angle) / (ROD * np.cos(lean))
        fall = -CRANK * np.sin(angle) - ROD * np.sin(lean) * turn
        centre = 0.5 * CRANK * np.cos(angle), 0.5 * (fall - CRANK * np.sin(angle))
        inertia = turning + rod * (centre[0] ** 2 + centre[1] ** 2) + piston * fall * fall
        inertia += rod * (0.04 + 0.06**2) / 12.0 * turn * turn
        pin_height, height = CRANK * np.cos(angle), CRANK * np.cos(angle) + ROD * np.cos(lean)
        weight = (pin * 0.1 + cheeks * 0.05) * np.cos(angle) + 0.5 * rod * (pin_height + height) + piston * height
        return cls(CRANK + ROD - height, -fall, inertia, -GRAVITY[1] * weight)


def _push(way: float, rate: float) -> float:
    low, sign, bound, high = GAS["compression" if rate < 0.0 else "expansion"]
    x = 1.0 - (BEFORE + way) / 0.35
    return float(1e5 * np.pi * 0.0025 * np.polyval(low if (x < bound if sign == "<" else x <= bound) else high, x))


def _rates(_: float, y: Array) -> list[float]:
    angle, speed, near = float(y[0]), float(y[1]), 1e-5
    here, above, below = (_Crank.at(angle + by) for by in (0.0, near, -near))
    slopes = (above.inertia - below.inertia) / (2.0 * near), (above.potential - below.potential) / (2.0 * near)
    torque = _push(here.way, here.slope * speed) * here.slope - slopes[1] - 0.5 * slopes[0] * speed**2
    return [speed, torque / here.inertia]


def engine() -> Iterator[Compared]:
    """Compare piston and crank over two dead centres, one of which is a stored time."""
    first = float(brentq(lambda angle: _Crank.at(angle).way - START, 0.1, 1.5))
    exact = solve_ivp(_rates, (0.0, TIMES[-1]), [first, SPEED], rtol=1e-11, atol=1e-12, dense_output=True).sol
    dead = float(brentq(lambda time: exact(time)[0] - np.pi, 0.0, TIMES[-1]))
    times = np.sort(np.append(TIMES, dead))
    start = State(q=[0.0], qd=[_Crank.at(first).slope * SPEED])
    falling, instants = Environment(gravity=GRAVITY), np.append(0.0, times)
    tight: dict[str, Any] = {"method": "adaptive", "rtol": 1e-9, "atol": 1e-10}
    course = simulate(driven_piston(), start, None, instants, environment=falling, **tight)
    ways = np.array([_Crank.at(angle).way for angle in exact(times)[0]]) - START
    yield Compared("way of the piston", course.q[1:, 0], ways)
    yield Compared("angle of the crank", course.joints[1:, 0], exact(times)[0] - first)


ROWS = (
    Row(
        "modelica_engine1b_piston", "Engine of one cylinder with gas, its piston driven, stored at a dead centre",
        "Modelica Standard Library, MultiBody.Examples.Loops.Engine1b", 7.0,
        "equation of the crank written out by hand, 1e-11; five digits of MAP-LIB", engine,
    ),
)  # fmt: skip
