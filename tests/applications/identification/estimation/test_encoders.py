"""Motions from encoders: clean positions give back the motion, whatever encoders are attached to."""

from __future__ import annotations

import numpy as np
import pytest

from applications.identification.estimation.encoders import joint_positions, measured_motions
from applications.identification.estimation.excitation import moving
from applications.identification.estimation.states import Motions
from robots import catalog
from robots.model import Robot
from robots.trajectories.trajectory import Series
from tasks.dynamics.designs import RobotDesigns
from tasks.dynamics.inverse import actuator_positions
from tasks.dynamics.records import Moving

PERIOD, COUNT = 4.0, 800
LIMITS = {
    "planar_3r": 1.0,
    "three_loop_leg": 0.8,
    "ankle": [0.3, 0.15],
    "coupled_3rps": [0.05, 0.1, 0.1],
    "irb6": [0.8, 0.4, 0.3, 0.8, 0.8],
    "delta_3rr2rrr": 0.1,
    "five_bar": 0.05,
    "gough_stewart": [0.2] * 6,
    "hexapod_6rrrprr": [0.1] * 3 + [0.03] * 3,
    "hexapod_ball_screws": [0.1] * 3 + [0.03] * 3,
}


def seen_of(robot: Robot, moved: Moving) -> np.ndarray:
    """Return the positions of actuators along a motion, of one design."""
    return actuator_positions(robot, **moved).position[None]


def motion_from(robot: Robot, seen: np.ndarray, moved: Moving) -> Motions:
    near = {key: np.asarray(value)[None] for key, value in moved.items()}
    found = measured_motions(RobotDesigns.of(robot), seen, near, (slice(None),), PERIOD / COUNT)
    return {key: values[0] for key, values in found.items()}


def motion_of(name: str) -> Moving:
    robot = catalog.build(name)
    free = np.random.default_rng(4).normal(size=(len(robot.mechanism.freedoms), 7))
    limits = (np.broadcast_to(LIMITS[name], len(free)), np.full(len(free), 9.0), np.full(len(free), 99.0))
    series = Series.within(free, np.zeros(len(free)), PERIOD, limits)
    return moving(robot, series, series.times(COUNT))


@pytest.mark.parametrize("name", LIMITS)
def test_clean_encoders_give_the_motion_back(name: str) -> None:
    robot, moved = catalog.build(name), motion_of(name)
    found = motion_from(robot, seen_of(robot, moved), moved)
    assert found.keys() == moved.keys()
    for key, value in moved.items():
        inside = slice(10, -10)  # differences are of lower order at the ends
        size = np.abs(value).max()
        np.testing.assert_allclose(found[key][inside], value[inside], rtol=0, atol=2e-6 * size)


def test_joints_are_found_from_a_guess_that_is_off() -> None:
    robot, moved = catalog.build("irb6"), motion_of("irb6")
    found = joint_positions(RobotDesigns.of(robot), seen_of(robot, moved), np.asarray(moved["q"])[None] + 0.05)
    np.testing.assert_allclose(found[0], moved["q"], atol=1e-9)


def test_encoders_that_no_pose_meets_give_no_numbers() -> None:
    robot, moved = catalog.build("delta_3rr2rrr"), motion_of("delta_3rr2rrr")
    seen = seen_of(robot, moved)
    seen[0, 400] = 9.0, -3.0, 1.0
    found = motion_from(robot, seen, moved)
    assert np.isnan(found["position"][400]).all()
    assert np.isfinite(found["position"][:399]).all()
