"""Distances of capsules against dense samples and a minimiser, and of robots against the poses of their links."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from limbsweep import robots
from robots.criteria.parts import Capsule, Capsules
from robots.model import PLATFORM, Robot
from robots.parameter_errors import ParameterError
from tasks.dynamics.criteria import clearance
from tasks.dynamics.inverse import RobotMotion, body_motion
from tasks.features.clearance import Line, gap, square_distance
from tasks.mechanics.solving import arms
from tests.tasks.moving import motion


def line(start: Any, end: Any, radius: float = 0.0) -> Line:
    return Line(np.asarray(start, float), np.asarray(end, float), radius)


def brute(a: Line, b: Line) -> float:
    """The least distance of points of both lines: a bounded minimum of a convex function, from a grid."""

    def distance(x: Any) -> float:
        return float(np.linalg.norm(a.start + (a.end - a.start) * x[0] - b.start - (b.end - b.start) * x[1]))

    shares = np.linspace(0, 1, 21)
    first = min(((s, t) for s in shares for t in shares), key=distance)
    return min(distance(first), minimize(lambda x: distance(x) ** 2, first, bounds=[(0, 1)] * 2, tol=1e-16).fun ** 0.5)


def test_distance_is_the_least_of_all_points() -> None:
    random = np.random.default_rng(5)
    for case in range(60):
        points = random.normal(size=(4, 3))
        if case % 4 == 1:  # parallel lines
            points[3] = points[2] + (points[1] - points[0]) * random.normal()
        if case % 4 == 2:  # a point
            points[1] = points[0]
        if case % 4 == 3:  # in one plane, often crossing
            points[:, 2] = 0.0
        a, b = line(points[0], points[1]), line(points[2], points[3])
        assert math.sqrt(square_distance(a, b)) == pytest.approx(brute(a, b), abs=1e-7)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (line((0, 0, 0), (1, 0, 0)), line((0.5, -1, 2), (0.5, 1, 2)), 2.0),
        (line((0, 0, 0), (1, 0, 0)), line((2, 0, 0), (3, 0, 0)), 1.0),
        (line((0, 0, 0), (1, 0, 0)), line((0.2, 3, 0), (0.7, 3, 0)), 3.0),
        (line((0, 0, 0), (0, 0, 0)), line((3, 4, 0), (3, 4, 0)), 5.0),
        (line((0, 0, 0), (0, 0, 0)), line((-1, 2, 0), (1, 2, 0)), 2.0),
        (line((0, 0, 0), (1, 1, 0)), line((0, 1, 0), (1, 0, 0)), 0.0),
    ],
)
def test_distances_that_are_known(a: Line, b: Line, expected: float) -> None:
    assert math.sqrt(square_distance(a, b)) == pytest.approx(expected, abs=1e-15)
    assert square_distance(a, b) == pytest.approx(square_distance(b, a), abs=1e-15)
    radius = Line(a.start, a.end, 0.25)
    assert gap(radius, b) == pytest.approx(expected - 0.25, abs=1e-15)


def lines_of(robot: Robot, moved: RobotMotion, k: int, body: str) -> list[Line]:
    """Arms of a link from the poses of links, in plain NumPy."""
    instance = robot.mechanism.instances[k]
    limb, links = robot.mechanism.limbs[instance.limb], moved.limbs[k]
    tree, result = len(limb.links), []

    def point(joint: int) -> Any:
        cut = None if joint < tree else limb.cuts[joint - tree]
        return links[joint].position if cut is None else links[cut.a].point(cut.frame_a.position)

    for arm in arms(robot.family, instance.limb):
        if limb.links[arm.link].body == body:
            result.append(line(point(arm.hub), point(arm.end)))
    return result


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "gough_stewart", "irsbot2", "hexapod_6rrrprr"])
def test_clearance_is_that_of_the_links(name: str) -> None:
    robot = robots.build(name)
    bodies = [link.body for link in robot.mechanism.limbs[0].links]
    radii = {body: 0.002 * (k + 1) for k, body in enumerate(bodies)}
    moving = motion(robot, 2)
    pose = {key: moving[key] for key in ("position", "rotation")}
    result = clearance(robot, Capsules.of(robot.mechanism, radii), **pose)
    assert (result.status == 0).all()
    names = {f"{each.name}.{body}": (k, body) for k, each in enumerate(robot.mechanism.instances) for body in bodies}
    for sample in range(2):
        moved = body_motion(robot, **{key: array[sample] for key, array in pose.items()})
        nearest = int(np.argmin(result.distances[sample]))
        for pair in sorted({nearest, *range(0, len(result.pairs), max(1, len(result.pairs) // 10))}):
            sides = [names[name] for name in result.pairs[pair]]
            lines = [lines_of(robot, moved, *side) for side in sides]
            thick = sum(radii[body] for _, body in sides)
            expected = [brute(a, b) - thick for a in lines[0] for b in lines[1]]
            assert np.abs(np.array(expected) - result.distances[sample, pair]).min() < 1e-7
        assert result.least[sample] == result.distances[sample].min()


def test_platform_and_base_are_compared_with_what_does_not_end_there() -> None:
    robot = robots.build("delta_3rr2rrr")
    plate = Capsule((-0.05, 0.0, 0.0), (0.05, 0.0, 0.0), 0.01)
    ceiling = Capsule((0.3, 0.0, -0.5), (0.3, 0.0, -0.4), 0.02)
    found = clearance(
        robot, Capsules.of(robot.mechanism, {"all": 1e-9}, platform=[plate], base=[ceiling]), position=(0.0, 0.0, -0.9)
    )
    with_plate = {other for other, name in found.pairs if name == "platform 1"}
    with_base = {other for other, name in found.pairs if name == "base 1"}
    assert with_plate == {f"limb{k}.{body}" for k in (1, 2, 3) for body in ("arm", "elbow", "rod_a", "rod_b")}
    assert with_base == {name.replace("arm", "wrist") for name in with_plate}
    moved = body_motion(robot, position=(0.0, 0.0, -0.9))
    here = line((-0.05, 0.0, -0.9), (0.05, 0.0, -0.9))
    for pair, (name, other) in enumerate(found.pairs):
        if other == "platform 1" and name.endswith("rod_a"):
            (rod,) = lines_of(robot, moved, int(name[4]) - 1, "rod_a")
            assert found.distances[pair] == pytest.approx(brute(rod, here) - 0.01, abs=1e-7)
    tips = [tip for limb in robot.mechanism.limbs for tip in limb.tips]
    assert all(tip.b == PLATFORM for tip in tips)


def test_limbs_that_meet_in_the_platform_are_not_compared_there() -> None:
    robot = robots.build("five_bar")
    found = clearance(robot, Capsules.of(robot.mechanism, {"all": 0.01}), position=(0.0, 0.0, -0.6))
    assert ("left.distal", "right.distal") not in found.pairs
    assert found.least == pytest.approx(2 * robot.values["base_half_width"] - 0.02)


def test_what_is_refused() -> None:
    mechanism = robots.build("delta_3rr2rrr").mechanism
    with pytest.raises(ParameterError, match="no link is called 'spoke'"):
        Capsules.of(mechanism, {"spoke": 0.1})
    with pytest.raises(ParameterError, match=r"links arm: got -0[.]1; expected a finite radius"):
        Capsules.of(mechanism, {"arm": -0.1})
    with pytest.raises(ParameterError, match="another key selects some of them, too"):
        Capsules.of(mechanism, {"all": 0.1, "arm": 0.1})
    with pytest.raises(ParameterError, match="expected three finite numbers each"):
        Capsule((0.0, 0.0, math.inf), (0.0, 0.0, 0.0), 0.1)
    with pytest.raises(ParameterError, match=r"start: got \(0.0, 0.0, nan\); expected 3 entries, each a number"):
        Capsule((0.0, 0.0, math.nan), (0.0, 0.0, 0.0), 0.1)
    with pytest.raises(ValueError, match="got no two to compare"):
        clearance(robots.build("five_bar"), Capsules.of(robots.build("five_bar").mechanism, {"distal": 0.1}))
    with pytest.raises(ValueError, match="which has no platform"):
        clearance(robots.build("irb6"), Capsules())
