"""The fastest motion along a path against TOPP-RA, against what it is of a mass on a line, and within its limits."""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np
import pytest

from limbsweep import robots
from robots.model import Robot
from robots.status import Status
from tasks import inverse_dynamics
from tasks.dynamics.fastest import fastest_motion
from tasks.dynamics.paths.path import RobotPath
from tasks.dynamics.paths.power import FastestMotion
from tasks.mathematics.rotations import roll_pitch_yaw


def arc(robot: Robot, size: float, waypoints: int = 12) -> np.ndarray:
    share = np.linspace(0, 1, waypoints)
    free = np.array([name in robot.mechanism.platform.mobility for name in ("vx", "vy", "vz")])
    shape = np.stack([share - 0.5, 0.3 * np.sin(2 * share), 0.4 * np.sin(np.pi * share)], axis=1)
    return np.asarray(robot.mechanism.platform.home.position, float) + size * shape * free


CASES: dict[str, dict[str, Any]] = {
    "delta_3rr2rrr": {"position": 0.3, "force": 12.0},
    "five_bar": {"position": 0.2, "force": [22.0, 25.0], "velocity": 4.0},
    "gough_stewart": {"position": 0.4, "force": 9e3, "velocity": 1.5},
    "irb6": {"force": 90.0},
}


def case(name: str) -> tuple[Robot, dict[str, Any]]:
    robot, asked = robots.build(name), dict(CASES[name])
    if robot.mechanism.is_chain:
        share = np.linspace(0, 1, 9)[:, None]
        count = len(robot.mechanism.freedoms)
        asked["q"] = 0.4 * np.sin(share * np.linspace(1.0, 2.0, count)) + 0.1 * share
        holding = np.abs(inverse_dynamics(robot, q=asked["q"]).force).max(axis=0)
        asked["force"] = 1.5 * holding + 0.1 * holding.max()
        return robot, asked
    asked["position"] = arc(robot, asked["position"])
    return robot, asked


def turned(count: int) -> np.ndarray:
    angles = np.linspace(0, 0.2, count)[:, None] * np.array([1.0, -0.5, 0.7])
    return np.stack([roll_pitch_yaw(each).rotation.astype(float) for each in angles])


@pytest.mark.parametrize("name", CASES)
def test_limits_are_reached_and_kept(name: str) -> None:
    robot, asked = case(name)
    result = fastest_motion(robot, **asked)
    force, velocity = np.asarray(asked["force"]), np.asarray(asked.get("velocity", np.inf))
    load = np.maximum(np.abs(result.force / force).max(axis=1), np.abs(result.velocity / velocity).max(axis=1))
    assert math.isfinite(result.duration)
    assert (load[:-1] <= 1.0 + 1e-9).all()
    # every step is as fast as one limit allows
    assert np.median(load[1:-1]) > 0.999
    assert (result.rate[[0, -1]] == 0.0).all()


def theirs(robot: Robot, asked: dict[str, Any], points: int) -> float:
    """The duration by the field's library, on joint motion that it takes from our inverse kinematics."""
    toppra = pytest.importorskip("toppra", reason="no library of its kind to compare with: TOPP-RA (toppra) is missing")

    from scipy.interpolate import CubicSpline
    from toppra import algorithm, constraint

    logging.getLogger("toppra").setLevel(logging.ERROR)
    grid = np.linspace(0, 1, points)
    values = asked.get("q", asked.get("position"))
    line = CubicSpline(np.linspace(0, 1, len(values)), values, bc_type="natural")

    def forces(x: Any, xd: Any, xdd: Any) -> Any:
        if robot.mechanism.is_chain:
            return inverse_dynamics(robot, q=x, qd=xd, qdd=xdd).force
        still = np.zeros(3)
        twist, change = np.concatenate([still, xd]), np.concatenate([still, xdd])
        return inverse_dynamics(robot, position=x, twist=twist, acceleration=change).force

    count, freedoms = len(robot.mechanism.actuators), np.shape(values)[1]
    most = np.broadcast_to(np.asarray(asked["force"], float), (count,))
    sides, ends = np.vstack([np.eye(count), -np.eye(count)]), np.concatenate([most, most])
    torque = constraint.SecondOrderConstraint(
        forces,
        lambda x: sides,
        lambda x: ends,
        freedoms,
        discretization_scheme=constraint.DiscretizationType.Collocation,
    )
    path = toppra.SplineInterpolator(np.linspace(0, 1, len(values)), values, bc_type="natural")
    np.testing.assert_allclose(path(grid), line(grid), atol=1e-12)
    solver = algorithm.TOPPRA([torque], path, gridpoints=grid, solver_wrapper="seidel")
    rate = solver.compute_parameterization(0.0, 0.0)[1]
    return float(np.sum(2.0 / (points - 1) / (rate[1:] + rate[:-1])))


@pytest.mark.parametrize("name", CASES)
def test_the_duration_is_that_of_the_field_s_library(name: str) -> None:
    robot, asked = case(name)
    asked.pop("velocity", None)
    result = fastest_motion(robot, **asked, points=41)
    assert result.duration == pytest.approx(theirs(robot, asked, 41), rel=1e-6)


def test_a_mass_on_a_line_moves_from_bang_to_bang() -> None:
    robot = robots.build("gough_stewart")
    home = np.asarray(robot.mechanism.platform.home.position, float)
    line = np.linspace(home, home + np.array([0, 0, 1e-3]), 5)
    forces = 3.0 * np.abs(inverse_dynamics(robot, position=home).force).max()
    result = fastest_motion(robot, position=line, force=forces, points=401)
    weight = inverse_dynamics(robot, position=home).force[0]
    unit = inverse_dynamics(robot, position=home, acceleration=[0, 0, 0, 0, 0, 1.0]).force[0] - weight
    up, down = ((sign * forces - weight) / unit for sign in (np.sign(unit), -np.sign(unit)))
    up, down = max(up, down), -min(up, down)
    expected = math.sqrt(2e-3 * (up + down) / (up * down))
    assert result.duration == pytest.approx(expected, rel=2e-3)


def test_rates_of_turns_are_those_of_differences() -> None:
    robot, asked = case("gough_stewart")
    progress = np.linspace(0.0, 1.0, 20001)
    path = RobotPath.through(robot, asked["position"], turned(len(asked["position"])), None).at(progress)
    rotation, step = np.asarray(path.pose["rotation"]), progress[1]
    spin = (rotation[2:] - rotation[:-2]) / (2 * step) @ np.swapaxes(rotation[1:-1], 1, 2)
    rates = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
    np.testing.assert_allclose(path.first[1:-1, :3], rates, atol=1e-6)
    change = (path.first[2:] - path.first[:-2]) / (2 * step)
    np.testing.assert_allclose(path.second[1:-1], change, atol=1e-3)


def test_a_platform_that_turns() -> None:
    robot, asked = case("gough_stewart")
    turns = turned(len(asked["position"]))
    straight, turning = fastest_motion(robot, **asked), fastest_motion(robot, **asked, rotation=turns)
    assert turning.duration != straight.duration
    assert np.abs(turning.force).max() <= asked["force"] * (1 + 1e-9)


def test_what_cannot_be_done_takes_for_ever() -> None:
    robot, asked = case("delta_3rr2rrr")
    weak: FastestMotion = fastest_motion(robot, **{**asked, "force": 1e-3})
    assert weak.duration == math.inf
    assert Status.ACTUATOR_LIMIT in weak.status
    far = fastest_motion(robot, position=[[0, 0, -0.9], [0, 0, -5.0]], force=10.0)
    assert far.duration == math.inf
    assert (far.status != 0).any()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"force": -1.0}, "force: got -1.0; expected 3 numbers above zero"),
        ({"force": [1.0, 2.0]}, "expected 3 numbers above zero, or one for all actuators"),
        ({"points": 2}, "points: got 2; expected 3 to 100001"),
        ({"jerk": 0.0}, "jerk: got 0.0; expected 3 numbers above zero"),
        ({"speed": -1.0}, "speed: got -1.0; expected a number above zero"),
        ({"jerk": 1e3, "points": 5}, "points: got 5; expected 12 or more, one at each of the waypoints"),
        ({"position": [[0.0, 0.0, -0.9]]}, "two or more waypoints of 3 finite numbers"),
        ({"rotation": np.eye(3)}, "expected one for each position"),
        ({"q": [[0.0]]}, "expected position .* and no q"),
    ],
)
def test_what_is_refused(change: dict[str, Any], text: str) -> None:
    robot, asked = case("delta_3rr2rrr")
    with pytest.raises(ValueError, match=text):
        fastest_motion(robot, **(asked | change))
