"""Statuses do not depend on the size of a robot: the same poses, relative to it, have the same status at all sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks import regions
from robots import catalog
from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks import inverse_kinematics

ROBOTS = "tricept", "hexapod_6rrrprr", "gough_stewart", "irsbot2", "five_bar"
"""Robots whose matrices have rows of lengths and of cosines, and one with lengths alone."""

BEYOND = 2.0
"""Way from home to poses, relative to those of the region, so that some are out of reach or singular."""


def at_size(robot: Robot, size: float) -> Robot:
    """Return a robot with all its lengths multiplied."""
    lengths = {p.name for p in robot.family.parameters if p.unit == "m"}
    return Robot(robot.family, {name: x * size if name in lengths else x for name, x in robot.values.items()})


def poses(robot: Robot, size: float) -> dict[str, Any]:
    """Return poses of a robot at a size, in the region that it reaches and around it; no slide is a freedom here."""
    states = regions.states(robot, 64)
    if robot.mechanism.is_chain:
        return {"q": BEYOND * states["q"]}
    home = np.array(robot.mechanism.platform.home.position)
    turns = {"rotation": states["rotation"]} if set(TWIST[:3]) & {*robot.mechanism.platform.mobility} else {}
    return {"position": size * (home + BEYOND * (states["position"] - home)), **turns}


@pytest.mark.parametrize("name", ROBOTS)
def test_a_robot_of_another_size_has_the_same_statuses(name: str) -> None:
    robot = catalog.build(name)
    usual, small, large = (
        inverse_kinematics(at_size(robot, size), **poses(robot, size)).status for size in (1.0, 2.0**-7, 2.0**7)
    )
    assert (usual == small).all()
    assert (usual == Status.OK).any()
    assert ((usual == Status.OK) == (large == Status.OK)).all()
