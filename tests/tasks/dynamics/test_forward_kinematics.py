"""Poses from actuator positions for every parallel robot: inverse of inverse kinematics, and where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robots import catalog
from robots.model import Robot
from robots.status import Status
from tasks import forward_kinematics
from tasks.dynamics.inverse import actuator_positions
from tests.catalogue import PARALLEL
from tests.tasks.bits import bits
from tests.tasks.regions import states
from tests.tasks.scaled import at_size


@pytest.fixture(params=PARALLEL)
def robot(request: pytest.FixtureRequest) -> Robot:
    return catalog.build(request.param)


def apart(found: Any, motion: Any) -> np.ndarray:
    """Return the distance of poses from those of a motion."""
    turned = np.abs(found.rotation - motion.rotation).max(axis=(-2, -1))
    return np.asarray(np.abs(found.position - motion.position).max(axis=-1) + turned)


def test_it_inverts_inverse_kinematics(robot: Robot) -> None:
    """Start from the reference pose and reach random poses of the whole region."""
    motion = states(robot, 300)
    wanted = actuator_positions(robot, **motion.at_rest).position
    found = forward_kinematics(robot, actuator_position=wanted)
    assert (found.status == Status.OK).all()
    back = actuator_positions(robot, position=found.position, rotation=found.rotation).position
    np.testing.assert_allclose(back, wanted, rtol=0, atol=1e-10)
    same = apart(found, motion) < 1e-9
    assert same.mean() > 0.98  # a five-bar robot and a hexapod have other assemblies with the same actuator positions
    assert same.all() or robot.name in ("five_bar", "gough_stewart")


def test_a_guess_near_by_finds_the_pose(robot: Robot) -> None:
    motion = states(robot, 100)
    wanted = actuator_positions(robot, **motion.at_rest).position
    found = forward_kinematics(robot, actuator_position=wanted, **motion.at(0.002))
    assert (found.status == Status.OK).all()
    assert apart(found, motion).max() < 1e-9


@pytest.mark.parametrize("size", [2.0**-20, 2.0**10])
def test_a_robot_of_another_size_keeps_its_digits(robot: Robot, size: float) -> None:
    """Tolerances in metres left a robot of micrometres 1e-7 of its size off, and lost poses of one of 1e6 m."""
    motion, other = states(robot, 40), at_size(robot, size)
    poses = {**motion.at_rest, "position": size * motion.position}
    found = forward_kinematics(other, actuator_position=actuator_positions(other, **poses).position, **poses)
    usual = forward_kinematics(
        robot, actuator_position=actuator_positions(robot, **motion.at_rest).position, **motion.at_rest
    )
    assert (usual.status == Status.OK).all()
    assert (found.status == Status.OK).all()
    assert apart(found._replace(position=found.position / size), motion).max() < 1e-11


def test_a_sample_does_not_depend_on_its_neighbours(robot: Robot) -> None:
    """Compare a sample alone, among others, and beside one that does not converge."""
    wanted = actuator_positions(robot, **states(robot, 12).at_rest).position
    together = forward_kinematics(robot, actuator_position=wanted)
    spoilt = wanted.copy()
    spoilt[5] = np.nan
    beside = forward_kinematics(robot, actuator_position=spoilt)
    alone = forward_kinematics(robot, actuator_position=wanted[7])
    others = np.arange(12) != 5
    for whole, part, one in zip(together[:2], beside[:2], alone[:2], strict=True):
        np.testing.assert_array_equal(bits(part[others]), bits(whole[others]))
        np.testing.assert_array_equal(bits(one), bits(whole[7]))
        assert np.isnan(part[5]).all()
    assert beside.status.tolist() == [Status.NOT_CONVERGED if k == 5 else Status.OK for k in range(12)]


def test_actuator_positions_that_nothing_reaches_do_not_converge() -> None:
    """Check legs that differ too much for the platform, and redundant motors that do not agree."""
    hexapod = catalog.build("gough_stewart")
    found = forward_kinematics(hexapod, actuator_position=[[5.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0] * 6])
    assert found.status.tolist() == [Status.NOT_CONVERGED, Status.OK]
    assert np.isnan(found.position[0]).all()
    spare = catalog.build("delta_4rr2rrr")
    found = forward_kinematics(spare, actuator_position=[[0.1, 0.1, 0.1, 0.12], [0.1, 0.1, 0.1, 0.1]])
    assert found.status.tolist() == [Status.NOT_CONVERGED, Status.OK]


def test_angles_count_modulo_turns_and_lengths_do_not() -> None:
    delta, hexapod = catalog.build("delta_3rr2rrr"), catalog.build("gough_stewart")
    wanted = np.array([0.1, -0.2, 0.15])
    here, there = (forward_kinematics(delta, actuator_position=wanted + turn) for turn in (0.0, 2 * np.pi))
    np.testing.assert_allclose(there.position, here.position, rtol=0, atol=1e-14)
    lengths = (
        forward_kinematics(hexapod, actuator_position=np.full(6, 0.2)),
        forward_kinematics(hexapod, actuator_position=np.full(6, -0.2)),
    )
    assert lengths[0].position[2] - lengths[1].position[2] > 0.3


def test_a_guess_out_of_reach_is_lost() -> None:
    robot = catalog.build("delta_3rr2rrr")
    found = forward_kinematics(robot, actuator_position=np.zeros(3), position=[[0.0, 0.0, -9.0], [0.0, 0.0, -0.9]])
    assert found.status.tolist() == [Status.NOT_CONVERGED, Status.OK]


def test_batch_dims_are_kept() -> None:
    robot = catalog.build("five_bar")
    guess = np.array(robot.mechanism.platform.home.position) + np.zeros((3, 1, 3))
    found = forward_kinematics(robot, actuator_position=np.zeros((4, 2)), position=guess)
    assert (found.position.shape, found.rotation.shape, found.status.shape) == ((3, 4, 3), (3, 4, 3, 3), (3, 4))
    np.testing.assert_allclose(found.position, np.broadcast_to(guess, (3, 4, 3)), atol=1e-14)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"actuator_position": [0.0]}, r"actuator_position: got an array of shape \(1,\); expected \(\*batch, 2\)"),
        ({"position": [0.0, 0.0]}, r"position: got an array of shape \(2,\); expected \(\*batch, 3\)"),
        ({"rotation": np.eye(2)}, r"rotation: got an array of shape \(2, 2\); expected \(\*batch, 3, 3\)"),
        (
            {"actuator_position": np.zeros((2, 2)), "position": np.zeros((3, 3))},
            r"batch dims do not fit together: actuator_position \(2,\), position \(3,\), rotation \(\); expected",
        ),
        ({"position": [0.0, 0.1, -0.6]}, "position: the platform of five_bar cannot move along y; expected 0 there"),
    ],
)
def test_misuse_is_told(change: dict[str, Any], text: str) -> None:
    robot = catalog.build("five_bar")
    with pytest.raises(ValueError, match=text):
        forward_kinematics(robot, **{"actuator_position": [0.0, 0.0], **change})
