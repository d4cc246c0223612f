"""Mechanisms of the Modelica Standard Library against the reference results of MAP-LIB, by Dymola.

Dymola's tolerance is 1e-6 for a step; errors over seconds of motion are larger.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from benchmarks.published.motion import moved
from benchmarks.published.rows import Compared, Row, published_robot, reference
from robots.loads.declared import DeclaredLoad, JointSpringLoad

GRAVITY = (0.0, -9.80665, 0.0)
DAMPER = {"damper": JointSpringLoad("revolute1", damping=0.1)}
DYMOLA = "DASSL with a tolerance of 1e-6 for a step"


GAS = {
    "compression": (
        (177.4132, -287.2189, 151.8252, -24.9973, 2.4),
        "<",
        0.986061,
        (2836360.0, -10569296.0, 14761814.0, -9158505.0, 2129670.0),
    ),
    "expansion": (
        (145.930, -131.707, 17.3438, 17.9272, 2.4),
        "<=",
        0.933,
        (-3929704.0, 14748765.0, -20747000.0, 12964477.0, -3036495.0),
    ),
}
"""Pressure [bar] over x, 1 less the way of the piston over the length of the cylinder: below and above a bound of x."""


def crank(case: str, robot: str, speed: float, loads: Mapping[str, DeclaredLoad] | None = None) -> Iterator[Compared]:
    """Compare angle and speed of a crank that starts at zero with a speed [rad/s]."""
    table = reference(f"modelica_{case}")
    course = moved(published_robot(robot, loads), table["t"], GRAVITY, qd=[speed], tolerance=1e-9)
    yield Compared("angle", course.q[:, 0], table["phi"])
    yield Compared("speed", course.qd[:, 0], table["w"])


def gas(joint: str, start: float, length: float) -> dict[str, DeclaredLoad]:
    """Return the gas force on a piston: in compression, where it moves up, and in expansion, where it moves down.

    start: its way at the reference pose; length: of the cylinder [m].
    """
    x = f"({(length - start) / length:.10g} - q / {length:g})"
    sides = {"compression": "where(qd < 0, {}, 0)", "expansion": "where(qd < 0, 0, {})"}
    return {
        f"{joint}_{name}": JointSpringLoad(joint, force=f"1e5 * pi * 0.0025 * {side.format(pressure(x, *GAS[name]))}")
        for name, side in sides.items()
    }


def pressure(x: str, low: Sequence[float], sign: str, bound: float, high: Sequence[float]) -> str:
    """Return the expression of a pressure."""
    return f"where({x} {sign} {bound}, {polynomial(x, low)}, {polynomial(x, high)})"


def polynomial(x: str, coefficients: Sequence[float]) -> str:
    """Return the expression of a polynomial, highest power first."""
    first, *lower = coefficients
    return functools.reduce(lambda text, number: f"({text}) * {x} + {number!r}", lower, repr(first))


V6 = ((-30, -30), (90, 30), (210, -30), (210, 30), (90, -30), (-30, 30))
"""Angles of the crank pin and of the cylinder [deg]."""


def v6_loads() -> dict[str, DeclaredLoad]:
    """Return gas forces of six cylinders and the brake of the load."""
    loads: dict[str, DeclaredLoad] = {"brake": JointSpringLoad("bearing", force="-100 * (qd / 200) ** 2")}
    for number, (pin, cylinder) in enumerate(V6, start=1):
        angle = math.radians(pin - cylinder)
        height = 0.1 * math.cos(angle) + 0.2 * math.cos(math.asin(math.sin(angle) / 2))
        loads |= gas(f"cylinder_{number}", 0.32 - height, 0.22)
    return loads


def double_pendulum() -> Iterator[Compared]:
    """Compare both angles and rates of a double pendulum with a damper."""
    table = reference("modelica_double_pendulum")
    loads = {"damper": JointSpringLoad("revolute1", damping=0.1)}
    course = moved(published_robot("double_pendulum", loads), table["t"], GRAVITY)
    yield Compared("angles", course.q, np.stack([table["phi_1"], table["phi_2"]], axis=1))
    yield Compared("rates", course.qd, np.stack([table["w_1"], table["w_2"]], axis=1))


def spinning(robot: str, body: str, turning: str, spin: str) -> Iterator[Compared]:
    """Compare the angular velocity of a body, in its axes, and the spin of a cylinder or rotor that it carries."""
    table = reference("modelica_gyroscopic_effects")
    course = moved(published_robot(robot), table["t"], GRAVITY, qd=[0.0, 0.0, 0.0, 10.0])
    moving = course.bodies[body]
    inside = (np.swapaxes(moving.rotation, -1, -2) @ moving.omega[..., None])[..., 0]
    yield Compared("angular velocity", inside, table[turning])
    yield Compared("spin", course.qd[:, 3], table[spin])


LOOPS = "MultiBody.Examples.Loops"
CRANKS: Sequence[tuple[str, str, float, str, str, float, Mapping[str, DeclaredLoad] | None]] = (
    ("fourbar1", "Fourbar1", 3.9, "Spatial four-bar, turning freely", "spatial_fourbar", 5.235987755982989, None),
    (
        "fourbar2",
        "Fourbar2",
        3.9,
        "The same with a rod without mass",
        "spatial_fourbar_massless_rod",
        5.235987755983,
        None,
    ),
    ("planar_fourbar", "PlanarFourbar", 3.5, "Planar four-bar with a damper", "planar_fourbar", 0.0, DAMPER),
    ("engine1a", "Engine1a", 5.0, "Engine of one cylinder without gas", "one_cylinder_engine", 10.0, None),
    ("engine1b", "Engine1b", 5.0, "The same with gas", "one_cylinder_engine", 10.0, gas("cylinder", 0.05, 0.35)),
    ("v6_engine", "EngineV6", 4.5, "V6 engine with gas and a brake", "v6_engine", 10.0, v6_loads()),
)
"""Case, model, digits, title, robot file, speed at the start [rad/s], loads."""


def _row(case: str, model: str, digits: float, title: str, compute: Callable[[], Iterator[Compared]]) -> Row:
    return Row(f"modelica_{case}", title, f"Modelica Standard Library and MAP-LIB, {model}", digits, DYMOLA, compute)


def _crank_row(
    case: str, model: str, digits: float, title: str, robot: str, speed: float, loads: Mapping[str, DeclaredLoad] | None
) -> Row:
    return _row(case, f"{LOOPS}.{model}", digits, title, functools.partial(crank, case, robot, speed, loads))


GYROSCOPIC = "MultiBody.Examples.Rotational3DEffects.GyroscopicEffects"
ROWS = (
    *(_crank_row(*entry) for entry in CRANKS),
    _row("double_pendulum", "MultiBody.Examples.Elementary.DoublePendulum", 4.5, "Double pendulum", double_pendulum),
    _row(
        "spinning_cylinder", GYROSCOPIC, 5.0, "Spinning cylinder on a spherical joint",
        functools.partial(spinning, "spinning_cylinder", "wheel", "cylinder", "spin"),
    ),
    _row(
        "spinning_rotor", GYROSCOPIC, 5.5, "The same with a rotor that is no body",
        functools.partial(spinning, "spinning_rotor", "bar", "bar", "rotor"),
    ),
)  # fmt: skip
