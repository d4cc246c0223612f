"""Digits of forces near singular poses, beside 50 and more; `benchmarks.motion.singular` is the campaign."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from benchmarks.motion import conditions, longer
from benchmarks.motion.exact import DIGITS, ExactRobot, exact
from benchmarks.motion.singular import ESTIMATE, Lines
from robots import catalog
from robots.status import Status
from tasks import inverse_kinematics

FIVE_BAR = catalog.build("five_bar")
STRETCHED = -float(
    np.sqrt(
        (FIVE_BAR.values["proximal_length"] + FIVE_BAR.values["distal_length"]) ** 2
        - FIVE_BAR.values["base_half_width"] ** 2
    )
)
"""Height at which both arms of the five-bar are stretched."""


def errors(lines: Lines, states: dict[str, np.ndarray], force: np.ndarray) -> list[float]:
    """Return the error of each state, relative to its largest force."""
    exact, joints, result = ExactRobot(lines.robot.mechanism), lines.joints(states), []
    for k, found in enumerate(force):
        truth = np.array([float(x) for x in exact.forces({key: x[k] for key, x in states.items()}, joints[k])])
        result.append(float(np.abs(found - truth).max() / np.abs(truth).max()))
    return result


def beside(distances: list[float]) -> tuple[Lines, dict[str, Any]]:
    """States of the five-bar at these distances from the end of its reach."""
    count = len(distances)
    states: dict[str, Any] = {
        "position": np.array([[0.0, 0.0, STRETCHED + d] for d in distances]),
        "rotation": np.tile(np.eye(3), (count, 1, 1)),
        "twist": np.tile([0.0, 0.0, 0.0, 0.3, 0.0, 0.5], (count, 1)),
        "acceleration": np.tile([0.0, 0.0, 0.0, 2.0, 0.0, -3.0], (count, 1)),
    }
    return Lines(FIVE_BAR, states, np.zeros((count, 6))), states


def test_forces_keep_digits_up_to_the_end_of_the_reach() -> None:
    lines, states = beside([1e-1, 1e-4, 1e-6, 5e-8])
    force, status = lines.forces(states)
    assert (status == Status.OK).all()
    assert errors(lines, states, force) == [pytest.approx(0.0, abs=bound) for bound in (1e-14, 1e-10, 1e-8, ESTIMATE)]


@pytest.mark.parametrize(
    ("name", "target", "bound"),
    [
        ("linear_delta", [0.2, -0.236, -0.403], 1e-13),
        ("three_loop_leg", [-2.528], 5e-14),
        ("irb6", [0.352, 0.761, -0.756, 0.29, -0.481], 5e-12),  # its parallelogram is flatter
    ],
)
def test_joints_far_from_home_are_closed_to_rounding(name: str, target: list[float], bound: float) -> None:
    """Newton's method ended with a small residual, after which one step more left up to 7e-11 rad open."""
    mechanism = catalog.build(name).mechanism
    place: dict[str, Any] = {"q" if mechanism.is_chain else "position": np.array(target)}
    found, limb = inverse_kinematics(catalog.build(name), **place), ExactRobot(mechanism).limbs[0]
    assert found.status == Status.OK
    joints = found.position[0, : len(limb.names)].tolist()
    with mpmath.workdps(DIGITS):
        exactly = limb.start(joints, exact(target) if mechanism.is_chain else (exact(np.eye(3)), exact(target)))
        assert max(abs(exactly - exact(joints))) < bound


def test_nearer_there_is_no_number() -> None:
    lines, states = beside([1e-9, 1e-12, 0.0])
    assert (lines.forces(states)[1] == Status.SINGULAR).all()


@pytest.mark.parametrize("name", ["irsbot2", "palletiser"])
def test_parallelograms_that_lie_almost_flat(name: str) -> None:
    """Check forces near the flat pose, which were wrong in the third digit."""
    lines = Lines.random(catalog.build(name), 3)
    ray, end = np.array([0]), lines.ends()[:1]
    states = lines.at(ray, end - 1e-6)
    force, status = lines.forces(states)
    assert status == Status.OK
    assert max(errors(lines, states, force)) < ESTIMATE
    assert lines.forces(lines.at(ray, end + 1e-6))[1] != Status.OK


def test_a_loop_at_rest_comes_nearer_to_flat_than_one_that_moves() -> None:
    """Drift loses digits of its own: at rest there is none, and poses are not given up for it."""
    lines = Lines.random(catalog.build("palletiser"), 1)
    states = lines.at(np.array([0]), lines.ends() + 1e-4)
    rest = {**states, "qd": np.zeros_like(states["qd"]), "qdd": np.zeros_like(states["qdd"])}
    assert lines.forces(states)[1] == Status.SINGULAR
    force, status = lines.forces(rest)
    assert status == Status.OK
    assert max(errors(lines, rest, force)) < ESTIMATE


def test_a_pose_far_from_home_is_closed_to_rounding_before_its_forces_count() -> None:
    """Newton's method halves its distance from the end of the reach: it ended early there, and forces were 4e-5 off."""
    states: dict[str, Any] = {
        "position": np.array([[1.0259175122477575, 0.20740124363780577, -0.2763245120133655]]),
        "rotation": np.eye(3)[None],
        "twist": np.array([[0.0, 0.0, 0.0, -1.3922, -0.5762, 1.4352]]),
        "acceleration": np.array([[0.0, 0.0, 0.0, 1.1818, -15.5326, -7.4605]]),
    }
    lines = Lines(catalog.build("delta_3rr2rrr"), states, np.zeros((1, 6)))
    force, status = lines.forces(states)
    assert status == Status.OK
    wider = longer.forces(lines.robot, lines.keywords(states))
    assert np.abs(force - wider).max() < 1e-6 * np.abs(force).max()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["irsbot2", "delta_4rr2rrr", "irb6"])
def test_errors_are_those_of_rounding_the_data(name: str) -> None:
    """Squares of matrices lost twice the digits: forces were 1300 times as far off, reactions 3000 times."""
    robot = catalog.build(name)
    found = conditions.errors(robot, conditions.far_states(robot, 48), moves=2)
    assert {key: each.in_changes.max() for key, each in found.items() if each.in_changes.max() > conditions.MOST} == {}
