"""Motions that a platform cannot make are refused, and what is absent is that of the reference pose."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robots import catalog
from robots.model import Family, Mechanism, Robot
from robots.types import TWIST
from tasks import inverse_dynamics, inverse_kinematics
from tasks.dynamics.inputs import moving_input


def with_mobility(*mobility: str) -> Robot:
    """A Gough-Stewart platform that is said to be free along these alone; nothing is solved for it here."""
    hexapod = catalog.build("gough_stewart")
    body = replace(hexapod.mechanism.platform, mobility=mobility)
    mechanism = replace(hexapod.mechanism, platform=body)

    def assembled(p: Any) -> Mechanism:
        return mechanism

    return Robot(Family("said_to_be", "", "", (), assembled), {})


@pytest.mark.parametrize("mobility", [("wx", "wy", "wz"), ("wz", "vx", "vy"), ("wz", "vx", "vy", "vz"), ("wx", "vz")])
@pytest.mark.parametrize("field", ["twist", "acceleration"])
@pytest.mark.parametrize("direction", TWIST)
def test_rates_along_what_limbs_hold_are_refused(mobility: tuple[str, ...], field: str, direction: str) -> None:
    robot, rate = with_mobility(*mobility), np.zeros((4, 6))
    rate[2, TWIST.index(direction)] = 1e-3
    if direction in mobility:
        moving_input(robot, {field: rate})  # type: ignore[misc]
        return
    how = "turn about" if direction.startswith("w") else "move along"
    with pytest.raises(
        ValueError, match=f"^{field}: the platform of said_to_be cannot {how} {direction[1]}; expected 0"
    ):
        moving_input(robot, {field: rate})  # type: ignore[misc]


def test_poses_that_limbs_do_not_allow_are_refused() -> None:
    planar = with_mobility("wz", "vx", "vy")
    level = Rotation.from_rotvec([0.0, 0.0, 0.7]).as_matrix()
    moving_input(planar, {"position": [0.1, 0.2, 2.0], "rotation": level})
    with pytest.raises(ValueError, match="position: the platform of said_to_be cannot move along z; expected 2"):
        moving_input(planar, {"position": [0.1, 0.2, 2.1]})
    tilted = Rotation.from_rotvec([0.0, 0.01, 0.7]).as_matrix()
    with pytest.raises(
        ValueError, match="rotation: the platform of said_to_be turns about z alone; expected that axis"
    ):
        moving_input(planar, {"rotation": tilted})


def test_an_absent_position_is_that_of_the_reference_pose() -> None:
    robot, twist = catalog.build("delta_3rr2rrr"), np.array([0.0, 0.0, 0.0, 0.3, 0.1, -0.2])
    home = robot.mechanism.platform.home.position
    np.testing.assert_array_equal(
        inverse_dynamics(robot, twist=twist).force, inverse_dynamics(robot, position=home, twist=twist).force
    )
    with pytest.raises(ValueError, match="position: got nothing; expected the motion of a parallel robot"):
        inverse_dynamics(robot)


def test_the_order_of_joints_is_told() -> None:
    robot = catalog.build("five_axis_tree")
    with pytest.raises(ValueError, match=r"q: got .* in the order of the tree: " + ", ".join(robot.mechanism.freedoms)):
        inverse_kinematics(robot, q=np.zeros(3))
