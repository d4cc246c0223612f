"""Tree of five links about z axes: link 1 forks into two branches of two links each, all in one plane.

The paper's gravity is [0, 0, -9.8], along the axes, so it loads the bearings and needs no torque. The paper drives all
joints with 0.2 rad/s^2 from rest at zero. Inertias are as printed, about a sixth of the inertias of rods of these
lengths. The position of joint 1 is not printed and has no effect; it is the origin of the base. Friction and bearing
radii belong to the sweep, not to the robot.
"""

from __future__ import annotations

from collections.abc import Mapping

from robots.catalog.link_tables import LinkRow, links, parameters
from robots.model import Family, Mechanism
from robots.types import BASE, Number

PAPER = "explicit dynamics of multi-rigid-body mechanisms with joint friction, table 2"

_HEAVY, _LIGHT = (0.008, 0.06, 0.06), (0.005, 0.04, 0.04)
ROWS = (
    LinkRow("1", BASE, 1.0, (-0.2, 0.0, 0.0), (0.002, 0.01, 0.01)),
    LinkRow("2", 0, 3.0, (0.3, 0.5196, 0.0), _HEAVY, (-0.4, 0.0, 0.0)),
    LinkRow("3", 1, 3.0, (0.3, -0.5196, 0.0), _HEAVY, (0.6, 1.0392, 0.0)),
    LinkRow("4", 0, 2.0, (0.3, -0.5196, 0.0), _LIGHT, (-0.2, 0.0, 0.0)),
    LinkRow("5", 3, 2.0, (0.3, 0.5196, 0.0), _LIGHT, (0.6, -1.0392, 0.0)),
)


def _assemble(p: Mapping[str, Number]) -> Mechanism:
    return Mechanism.chain("tree", links(ROWS, p), tuple(row.joint for row in ROWS))


FIVE_AXIS_TREE = Family(
    "five_axis_tree",
    "Tree of five links about parallel axes",
    PAPER,
    parameters(ROWS, PAPER),
    _assemble,
    gravity=(0.0, 0.0, -9.8),
)

FAMILIES = (FIVE_AXIS_TREE,)
