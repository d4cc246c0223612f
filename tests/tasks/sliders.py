"""A block on a guide, an arm that gravity pulls down, a leg with loops: chains for tests of friction over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robots.catalog import planar_3r, three_loop_leg
from robots.geometry import point
from robots.model import Family, Frame, Link, Mechanism, Robot
from robots.parameters import Parameter
from robots.types import BASE

DOWN = (0.0, -9.8, 0.0)
"""Gravity in the plane of the planar arm."""

BENT = np.array([0.3, -0.4, 0.2])


def _block(p: Mapping[str, Any]) -> Mechanism:
    link = Link("x", "block", BASE, "prismatic", (1.0, 0.0, 0.0), Frame(), point(p["mass"]))
    return Mechanism.chain("block", (link,), ("x",))


BLOCK = Family("block", "block on a guide", "made up", (Parameter("mass", "kg", 1.0, 1e-3, 100.0),), _block)


def block(mass: float = 1.0) -> Robot:
    """A block of this mass [kg] that slides along x."""
    return Robot.of(BLOCK, {"mass": mass})


def arm() -> Robot:
    """Three links in the vertical plane."""
    return Robot.of(planar_3r.FAMILIES[0], {})


def leg() -> Robot:
    """Seven links in three loops, one freedom."""
    return Robot.of(three_loop_leg.FAMILIES[0], {})
