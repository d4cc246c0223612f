"""Mechanisms of the Modelica Standard Library against the reference results of MAP-LIB, by Dymola.

Dymola's tolerance is 1e-6 for a step; what adds up over seconds of motion is larger.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.published.motion import moved
from benchmarks.published.rows import Compared, Row, published_robot, reference
from robots.loads.declared import DeclaredLoad, JointSpringLoad

GRAVITY = (0.0, -9.81, 0.0)
DAMPER = {"damper": JointSpringLoad("revolute1", damping=0.1)}
DYMOLA = "DASSL with a tolerance of 1e-6 for a step"


def crank(case: str, robot: str, speed: float, loads: Mapping[str, DeclaredLoad] | None = None) -> Iterator[Compared]:
    """Compare angle and speed of a crank that starts at zero with a speed [rad/s]."""
    table = reference(f"modelica_{case}")
    course = moved(published_robot(robot, loads), table["t"], GRAVITY, qd=[speed])
    yield Compared("angle", course.q[:, 0], table["phi"])
    yield Compared("speed", course.qd[:, 0], table["w"])


LOOPS = "MultiBody.Examples.Loops"
CRANKS: Sequence[tuple[str, str, float, str, str, float, Mapping[str, DeclaredLoad] | None]] = (
    ("fourbar1", "Fourbar1", 3.0, "Spatial four-bar, turning freely", "spatial_fourbar", 5.235987755982989, None),
    (
        "fourbar2",
        "Fourbar2",
        3.0,
        "The same with a rod without mass",
        "spatial_fourbar_massless_rod",
        5.235987755983,
        None,
    ),
    ("planar_fourbar", "PlanarFourbar", 2.5, "Planar four-bar with a damper", "planar_fourbar", 0.0, DAMPER),
    ("engine1a", "Engine1a", 4.0, "Engine of one cylinder without gas", "one_cylinder_engine", 10.0, None),
)
"""Case, model, digits, title, robot file, speed at the start [rad/s], loads."""


def _crank_row(
    case: str,
    model: str,
    digits: float,
    title: str,
    robot: str,
    speed: float,
    loads: Mapping[str, DeclaredLoad] | None,
) -> Row:
    compute = functools.partial(crank, case, robot, speed, loads)
    return Row(
        f"modelica_{case}", title, f"Modelica Standard Library and MAP-LIB, {LOOPS}.{model}", digits, DYMOLA, compute
    )


ROWS = tuple(_crank_row(*entry) for entry in CRANKS)
