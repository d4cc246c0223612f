"""Left rear rocker arm of a lunar rover: a link that forks into two branches of two, axes along x and z.

Inertias are as printed, which is 100 times that of slender rods of these lengths. The centres of mass of links 3 and
5 are on their own joint axes, about which the links have no inertia: rows and columns 3 and 5 of the inertia matrix
vanish, and its rank is 3. So accelerations do not follow from torques, while torques follow from any motion.

The paper moves all joints as 5 sin t without saying in which unit, and prints no gravity.
"""

from __future__ import annotations

from collections.abc import Mapping

from robots.catalog.link_tables import LinkRow, Z, links, parameters
from robots.model import Family, Mechanism
from robots.types import BASE, Number, Vector

PAPER = "Wang, Ju, An explicit modelling method of joint-space inertia matrix, table 3"
X: Vector = (1.0, 0.0, 0.0)

_BOGIE = {"mass": 0.8, "centre": (0.0, 0.0, -0.04), "moments": (0.0427, 0.0427, 0.0), "axis": Z}
_WHEEL = {"mass": 0.6, "centre": (0.03, 0.0, 0.0), "moments": (0.0, 0.018, 0.018), "axis": X}
_BELOW = (0.01, 0.0, -0.08)
ROWS = (
    LinkRow("1", BASE, 1.0, (0.05, 0.0, 0.0), (0.0, 0.0833, 0.0833), axis=X),
    LinkRow("2", 0, origin=(0.1, -0.05, 0.0), **_BOGIE),  # type: ignore[arg-type]
    LinkRow("3", 1, origin=_BELOW, **_WHEEL),  # type: ignore[arg-type]
    LinkRow("4", 0, origin=(0.1, 0.05, 0.0), **_BOGIE),  # type: ignore[arg-type]
    LinkRow("5", 3, origin=_BELOW, **_WHEEL),  # type: ignore[arg-type]
)


def _assemble(p: Mapping[str, Number]) -> Mechanism:
    return Mechanism.chain("rocker", links(ROWS, p), tuple(row.joint for row in ROWS))


ROVER_ROCKER = Family("rover_rocker", "Rocker arm of a lunar rover", PAPER, parameters(ROWS, PAPER), _assemble)

FAMILIES = (ROVER_ROCKER,)
