"""Errors of the pose against robots that are built with errors and solved anew: differences, and random samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import least_squares

from limbsweep import robots
from robots.criteria.elasticity import Beam, Elasticity
from robots.criteria.parts import Errors
from robots.model import Robot
from robots.parameter_errors import ParameterError
from robots.status import Status
from tasks.dynamics.criteria import PoseError, pose_error
from tasks.dynamics.inverse import body_motion
from tasks.mathematics.rotations import roll_pitch_yaw

STEP = 1e-6


def turned(vector: Any) -> np.ndarray:
    return np.asarray(roll_pitch_yaw(np.asarray(vector, float)).rotation, float)


def solved(residual: Any, size: int) -> np.ndarray:
    return np.asarray(least_squares(residual, np.zeros(size), xtol=1e-15, ftol=1e-15, gtol=1e-15).x)


class Legs:
    """A platform on legs of given lengths between points, which may all be wrong: (turn, shift) from a pose."""

    def __init__(self, robot: Robot, position: Any):
        moved = body_motion(robot, position=position)
        self.base = np.array([limb[1].position for limb in moved.limbs])
        self.tip = np.array([limb[2].position for limb in moved.limbs])
        self.centre = np.asarray(position, float)
        self.length = np.linalg.norm(self.tip - self.base, axis=1)

    def shift(self, longer: Any, base: Any = 0.0) -> np.ndarray:
        """Of legs that are so much longer (6,), and base points that are elsewhere (6, 3)."""

        def residual(x: Any) -> np.ndarray:
            points = self.centre + x[3:] + (self.tip - self.centre) @ turned(x[:3]).T
            return np.asarray(np.linalg.norm(points - self.base - base, axis=1) - self.length - longer)

        return solved(residual, 6)


class Arms:
    """A Delta of three arms with given angles and lengths: shift of its platform."""

    def __init__(self, robot: Robot, position: Any):
        moved = body_motion(robot, position=position)
        self.centre = np.asarray(position, float)
        self.root = np.array([limb[0].position for limb in moved.limbs])
        self.elbow = np.array([limb[1].position for limb in moved.limbs])
        self.axis = np.array([limb[0].turned((0, -1, 0)) for limb in moved.limbs])
        ends = np.array([(limb[2].position + limb[4].position) / 2 for limb in moved.limbs])
        assert np.abs(ends - self.elbow).max() < 1e-12
        self.tip = np.array([limb[3].point((0, robot.values["link_length"] / 2, 0)) for limb in moved.limbs])
        self.rod = np.linalg.norm(self.tip - self.elbow, axis=1)

    def shift(self, longer: Any, turn: Any, rod: Any = 0.0) -> np.ndarray:
        arm = self.elbow - self.root
        arm = arm * (1 + np.asarray(longer) / np.linalg.norm(arm, axis=1))[:, None]
        cos, sin = np.cos(turn)[:, None], np.sin(turn)[:, None]
        elbow = self.root + arm * cos + np.cross(self.axis, arm) * sin  # arms are at right angles to their axes

        def residual(x: Any) -> np.ndarray:
            return np.asarray(np.linalg.norm(self.tip + x - elbow, axis=1) - self.rod - rod)

        return solved(residual, 3)


def stiff(robot: Robot) -> Elasticity:
    return Elasticity.of(robot.mechanism, actuators={"all": 1e7}, links={"all": Beam.tube(0.03, 70e9)})


def test_a_stewart_platform_is_that_of_random_samples_and_of_differences() -> None:
    robot, position = robots.build("gough_stewart"), (0.2, -0.1, 2.1)
    legs, step, length = Legs(robot, position), 3e-4, 2e-4
    errors = Errors.of(robot.mechanism, resolution={"all": step}, lengths={"tube": length})
    result = pose_error(robot, errors, position=position)
    exact = np.stack([(legs.shift(h) - legs.shift(-h)) / (2 * STEP) for h in np.eye(6) * STEP], axis=1)
    variance = step**2 / 12 + length**2
    np.testing.assert_allclose(result.covariance, exact @ exact.T * variance, rtol=1e-7, atol=1e-9 * variance)
    random = np.random.default_rng(7)
    longer = random.uniform(-step / 2, step / 2, (300, 6)) + random.normal(size=(300, 6)) * length
    samples = np.array([legs.shift(each) for each in longer])[:, 3:] @ result.direction
    assert samples.std() == pytest.approx(result.position, rel=0.13)  # 300 samples have a deviation of 4.1 %
    assert sum(result.shares.values()) == pytest.approx(1.0, rel=1e-12)
    assert result.shares["leg1.3 actuator"] / result.shares["leg1.tube length"] == pytest.approx(
        step**2 / 12 / length**2, rel=1e-12
    )


def test_joints_that_are_elsewhere_and_legs_that_grow() -> None:
    robot, position = robots.build("gough_stewart"), (0.1, 0.2, 1.9)
    legs, cross = Legs(robot, position), body_motion(robot, position=position).limbs[1][0]
    six = (0.0, 0.0, 0.0, 1e-4, 2e-4, 3e-4)
    result = pose_error(robot, Errors.of(robot.mechanism, joints={"leg2.1": six}), position=position)
    expected = np.zeros((6, 6))
    for axis, size in zip(cross.rotation.T, six[3:], strict=True):
        base = np.zeros((6, 3))
        base[1] = axis * STEP
        column = (legs.shift(0.0, base) - legs.shift(0.0, -base)) / (2 * STEP)
        expected += np.outer(column, column) * size**2
    np.testing.assert_allclose(result.covariance, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())
    warm = Errors.of(robot.mechanism, expansion={"leg*.tube": 12e-6}, warming=20.0)
    shift = pose_error(robot, warm, position=position).shift
    grown = legs.length * 12e-6 * 20.0  # half a millimetre: less would be differences of rounding
    exact = (legs.shift(grown) - legs.shift(-grown)) / 2.0
    np.testing.assert_allclose(shift, exact, rtol=1e-5, atol=1e-6 * np.abs(exact).max())


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "delta_rl5_1450"])
def test_a_delta_is_that_of_random_samples_and_of_differences(name: str) -> None:
    robot = robots.build(name)
    position = np.array(robot.mechanism.platform.home.position) + np.array([0.05, -0.03, -0.04])
    arms, play, length = Arms(robot, position), 4e-4, 1e-4
    errors = Errors.of(robot.mechanism, backlash={"all": play}, lengths={"arm": length})
    result = pose_error(robot, errors, stiff(robot), position=position)
    assert result.status == Status.OK

    def column(longer: Any, turn: Any) -> np.ndarray:
        return (arms.shift(longer, turn) - arms.shift(-longer, -turn)) / (2 * STEP)

    lengths = np.stack([column(h, 0 * h) for h in np.eye(3) * STEP], axis=1)
    turns = np.stack([column(0 * h, h) for h in np.eye(3) * STEP], axis=1)
    expected = lengths @ lengths.T * length**2 + turns @ turns.T * (play / 2) ** 2
    np.testing.assert_allclose(result.covariance[3:, 3:], expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())
    random = np.random.default_rng(3)
    signs, normal = random.choice((-0.5, 0.5), (300, 3)) * play, random.normal(size=(300, 3)) * length
    samples = np.array([arms.shift(*each) for each in zip(normal, signs, strict=True)]) @ result.direction
    assert samples.std() == pytest.approx(result.position, rel=0.13)


def test_growth_of_all_links_of_a_delta() -> None:
    robot, position = robots.build("delta_3rr2rrr"), (0.03, 0.05, -0.9)
    arms, strain = Arms(robot, position), 1e-5
    errors = Errors.of(robot.mechanism, expansion={"arm": 1e-6, "rod_*": 1e-6}, warming=10.0)
    result = pose_error(robot, errors, stiff(robot), position=position)
    lengths = np.linalg.norm(arms.elbow - arms.root, axis=1)

    def shift(sign: float) -> np.ndarray:
        return arms.shift(sign * strain * lengths, np.zeros(3), sign * strain * arms.rod)

    np.testing.assert_allclose(result.shift[3:], (shift(1.0) - shift(-1.0)) / 2, rtol=1e-5)
    assert np.abs(result.shift[:3]).max() < 1e-9


def test_a_five_bar_is_that_of_differences() -> None:
    robot, position = robots.build("five_bar"), np.array([0.05, 0.0, -0.62])
    moved = body_motion(robot, position=position)
    motors = np.array([limb[0].position for limb in moved.limbs])
    elbows = np.array([limb[1].position for limb in moved.limbs])
    far = np.linalg.norm(position - elbows, axis=1)

    def shift(near: Any, longer: Any) -> np.ndarray:
        arm = elbows - motors
        ends = motors + arm * (1 + near / np.linalg.norm(arm, axis=1))[:, None]
        plane = np.array([[1.0, 0, 0], [0, 0, 1.0]])
        return solved(lambda x: np.linalg.norm(position + x @ plane - ends, axis=1) - far - longer, 2)

    errors = Errors.of(robot.mechanism, lengths={"proximal": 1e-4, "distal": 2e-4})
    result: PoseError = pose_error(robot, errors, stiff(robot), position=position)
    expected = np.zeros((2, 2))
    for h in np.eye(2) * STEP:
        for size, column in ((1e-4, shift(h, 0) - shift(-h, 0)), (2e-4, shift(0 * h, h) - shift(0 * h, -h))):
            expected += np.outer(column, column) * (size / (2 * STEP)) ** 2
    np.testing.assert_allclose(result.covariance[np.ix_([3, 5], [3, 5])], expected, rtol=1e-6)


def test_what_is_refused() -> None:
    robot = robots.build("delta_3rr2rrr")
    with pytest.raises(ValueError, match="overconstrained; expected elasticity of links or joints"):
        pose_error(robot, Errors.of(robot.mechanism, lengths={"all": 1e-4}))
    with pytest.raises(ParameterError, match="expected a finite number, zero or more"):
        Errors.of(robot.mechanism, lengths={"all": -1e-4})
    with pytest.raises(ParameterError, match="6 finite numbers, zero or more"):
        Errors.of(robot.mechanism, joints={"all": (1.0,)})
    with pytest.raises(ParameterError, match="another key selects some of them"):
        Errors.of(robot.mechanism, resolution={"all": 1.0, "limb1.1": 1.0})
    with pytest.raises(ParameterError, match="warming: got inf"):
        Errors.of(robot.mechanism, expansion={"all": 1.0}, warming=math.inf)
