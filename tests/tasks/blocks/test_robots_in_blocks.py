"""Results of a block of several designs against one call per design, for every parallel robot."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.execution import work
from robots import catalog
from robots.model import Robot
from robots.requested import QuantityNames
from robots.status import Status
from robots.trajectories.trajectory import Trajectory
from tasks import inverse_dynamics
from tasks.blocks.block import Block
from tasks.blocks.designs import BlockDesigns
from tests.catalogue import PARALLEL

DESIGNS = 3
SHARE = 0.02
"""Amplitude of the motion, relative to the height of the reference pose."""


def designs(name: str) -> list[Robot]:
    """Robots whose lengths, angles and masses differ a little, all with the default's reference position."""
    family = catalog.family(name)
    random = np.random.default_rng(8)
    kept = ("home_height", "rod_length", "upper_arm", "base_radius", "platform_radius", "elbow_half_width")
    result = []
    for _ in range(DESIGNS):
        values = {
            p.name: min(max(p.default * random.uniform(0.98, 1.02), p.lower), p.upper)
            for p in family.parameters
            if p.name not in kept or (name in ("gough_stewart", "hexapod_6rrrprr") and p.name != "home_height")
        }
        values.pop("platform_half_width", None)
        result.append(Robot.of(family, values))
    return result


@pytest.mark.parametrize("name", PARALLEL)
def test_blocks_agree_with_single_calls(name: str) -> None:
    robots = designs(name)
    platform = robots[0].mechanism.platform
    origin = tuple(float(x) for x in platform.home.position)
    amplitude = SHARE * abs(origin[2]) * np.array([f"v{axis}" in platform.mobility for axis in "xyz"])
    block = Block(
        index=0,
        robot=name,
        designs=BlockDesigns(
            np.array([list(robot.values.values()) for robot in robots]), np.array([[0.0, 0.0, -9.81]])
        ),
        groups=(),
        friction=np.zeros((1, 0)),
        trajectories=(
            Trajectory("line_sine", {"centre": (0, 0, 0), "amplitude": tuple(amplitude), "period": 1.0, "phase": 0.2}),
        ),
        times=np.linspace(0.0, 1.0, 11),
        origin=origin,
        quantities=QuantityNames(
            ("actuator_force", "status", "platform_position", "platform_twist", "platform_acceleration")
        ),
    )
    found = work.whole(block)
    assert (found["status"] == Status.OK).all()
    for k, robot in enumerate(robots):
        expected = inverse_dynamics(
            robot,
            position=found["platform_position"][0],
            twist=found["platform_twist"][0],
            acceleration=found["platform_acceleration"][0],
        ).force
        np.testing.assert_allclose(found["actuator_force"][k, 0, 0], expected, rtol=1e-12, atol=1e-12)
