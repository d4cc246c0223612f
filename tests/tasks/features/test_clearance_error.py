"""Poses that clearances allow: loops that are closed anew with offsets, and samples beside their bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import limbsweep as ls
from robots.criteria.parts import Clearances, Errors, JointClearance
from robots.parameter_errors import ParameterError
from tasks.dynamics.inverse import body_motion

AT = [0.08, 0.0, -0.58]
TUBE = ls.robots.Beam.tube(0.03, 70e9, inner=0.026)


def loose(c: float) -> Any:
    robot = ls.robots.build("five_bar")
    clearances = Clearances.of(robot.mechanism, {"*.1": JointClearance(c), "*.[23]": JointClearance(0.5 * c)})
    return robot, clearances, ls.robots.Elasticity.of(robot.mechanism, links={"all": TUBE})


def closed(offsets: np.ndarray) -> np.ndarray:
    """Return the point where two rods meet whose joints are off (limb, joint, xz), exactly: base, elbow, platform."""
    motion = body_motion(ls.robots.build("five_bar"), position=AT)
    elbows = np.array([limb[1].position[[0, 2]] for limb in motion.limbs]) + offsets[:, 0] + offsets[:, 1]
    length, at = 0.4374, np.array(AT)[[0, 2]]
    for _ in range(20):
        gap = at + offsets[:, 2] - elbows
        far = np.linalg.norm(gap, axis=1)
        at = at - np.linalg.solve(gap / far[:, None], far - length)
    return at - np.array(AT)[[0, 2]]


def influences() -> np.ndarray:
    """Return the way of that point for unit offsets (limb, joint, component, xz), by small ones."""
    small = 1e-7
    moved = [closed(unit.reshape(3, 2, 2).transpose(1, 0, 2) * small) for unit in np.eye(12)]
    return np.reshape(moved, (3, 2, 2, 2)).transpose(1, 0, 2, 3) / small


def swept(robot: str, criteria: dict[str, Any], metrics: list[str], centre: list[float]) -> dict[str, float]:
    """Metrics of a sweep at rest, at a place beside the reference pose."""
    still = {"kind": "line_sine", "amplitude": [0.0, 0.0, 0.0], "centre": centre}
    file = {"robot": robot, "trajectories": {"still": still}, "time": {"stop": 1.0, "samples": 2}}
    results = ls.compute(ls.Sweep.from_dict({**file, "metrics": metrics, "criteria": criteria})).squeeze()
    return {name: results[name].item() for name in metrics}


def test_a_sweep_has_the_largest_shift_of_loops_closed_with_the_offsets() -> None:
    bounds = {"*.1": {"radial": 1e-4}, "*.[23]": {"radial": 5e-5}}
    stiffness = {"links": {"all": {"tube": [0.03, 0.026], "young": 70e9}}}
    home = np.array(ls.robots.build("five_bar").mechanism.platform.home.position)
    criteria = {"clearances": {"joints": bounds}, "stiffness": stiffness}
    shift = swept("five_bar", criteria, ["clearance_shift"], (np.array(AT) - home).tolist())["clearance_shift"]
    radii = np.array([1e-4, 5e-5, 5e-5])[:, None]
    along = (np.linalg.norm(influences(), axis=2) * radii).sum(axis=(0, 1))  # x and z, each over discs
    assert shift == pytest.approx(along.max(), rel=1e-5)


def test_bounds_are_those_of_loops_closed_with_the_offsets_to_first_order() -> None:
    off = []
    for c in (1e-4, 5e-5):
        robot, clearances, soft = loose(c)
        found = ls.clearance_error(robot, clearances, soft, position=AT)
        n = found.direction[[0, 2]]
        rng, radii = np.random.default_rng(2), np.array([c, 0.5 * c, 0.5 * c])[:, None]
        steps = influences()
        pull = steps @ n
        worst = pull / np.linalg.norm(pull, axis=-1, keepdims=True) * radii
        reached = closed(worst) @ n
        off.append(abs(float(found.position) - reached) / reached)
        for _ in range(50):
            angle = rng.uniform(0, 2 * np.pi, (2, 3))
            sample = closed(np.stack([np.cos(angle), np.sin(angle)], axis=-1) * radii)
            assert np.linalg.norm(sample) < found.position * (1 + 20 * c)
    assert off[0] < 1e-2
    assert np.log2(off[0] / off[1]) == pytest.approx(1.0, abs=0.3)  # what is left is of second order in the clearance


def test_samples_are_within_the_bounds_and_have_the_covariance_of_their_discs() -> None:
    robot, clearances, soft = loose(1e-5)
    found = ls.clearance_error(robot, clearances, soft, position=[AT, [0.0, 0.0, -0.6]], draws=4000, seed=3)
    assert found.draws.shape == (4000, 2, 6)
    assert (np.abs(found.draws) <= found.worst * (1 + 1e-9)).all()
    assert (np.linalg.norm(found.draws[..., 3:], axis=-1) <= found.position * (1 + 1e-9)).all()
    assert sum(found.shares.values()) == pytest.approx(1.0)
    even = {name: (0.0, 0.0, 0.0, r / 2, r / 2, r / 2) for name, r in (("*.1", 1e-5), ("*.[23]", 5e-6))}
    spread = ls.pose_error(robot, Errors.of(robot.mechanism, joints=even), soft, position=[AT, [0.0, 0.0, -0.6]])
    for k in range(2):
        drawn = np.cov(found.draws[:, k, [3, 5]].T)
        plane = spread.covariance[k][np.ix_([3, 5], [3, 5])]
        np.testing.assert_allclose(drawn, plane, atol=0.08 * np.abs(plane).max())


def test_intervals_add_up_as_the_linear_programme_of_them() -> None:
    """Backlash of six legs: influences by pose_error one by one, signs by the Jacobian, and the optimum by HiGHS."""
    robot = ls.robots.build("gough_stewart")
    widths = dict(zip(robot.mechanism.actuators, np.linspace(1e-5, 6e-5, 6), strict=True))
    home = robot.mechanism.platform.home.position
    found = ls.clearance_error(robot, Clearances.of(robot.mechanism, backlash=widths), position=home)
    inverse: Any = ls.inverse_dynamics(robot, position=home)
    influence = np.linalg.inv(inverse.jacobian)
    bounds = [(-0.5 * width, 0.5 * width) for width in widths.values()]
    best = [-linprog(-row, bounds=bounds).fun for row in influence]
    np.testing.assert_allclose(found.worst, best, rtol=1e-8)
    criteria = {"clearances": {"backlash": {name: float(width) for name, width in widths.items()}}}
    metrics = swept("gough_stewart", criteria, ["clearance_shift", "clearance_turn"], [0.0, 0.0, 0.0])
    assert metrics["clearance_shift"] == pytest.approx(max(best[3:]), rel=1e-10)
    assert metrics["clearance_turn"] == pytest.approx(max(best[:3]), rel=1e-10)
    reach = np.max([np.linalg.norm(influence[3:] @ (np.array(signs) * [b for _, b in bounds]))
                    for signs in np.ndindex(2, 2, 2, 2, 2, 2) for signs in [2 * np.array(signs) - 1]])  # fmt: skip
    assert found.position == pytest.approx(reach, rel=1e-9)  # of all corners of the box


@pytest.mark.parametrize(
    ("robot", "joints", "text"),
    [
        ("five_bar", {"*.9": JointClearance(1e-5)}, "no joint is called"),
        ("five_bar", {"all": JointClearance(-1e-5)}, "radial of joint 1: got -1e-05; expected a finite number"),
        ("gough_stewart", {"all": JointClearance(1e-5, tilt=1e-4)}, "expected radial alone"),
        ("five_bar", {}, "clearances: got none; expected some of joints, or backlash"),
    ],
)
def test_clearances_of_nothing_are_refused(robot: str, joints: Any, text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        Clearances.of(ls.robots.build(robot).mechanism, joints)
    with pytest.raises(ValueError, match="five_bar is overconstrained; expected elasticity"):
        ls.clearance_error(*loose(1e-5)[:2], position=AT)
