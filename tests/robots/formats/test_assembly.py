# ruff: noqa: E501 - tables
"""Rough positions of joints become a reference pose with all loops closed; other lengths go on from there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pipeline.errors import InputError
from pipeline.robot_files.reader import parse_robot
from robots.formats import writing
from robots.formats.assembly import ASSEMBLED, Setting, close, close_from_rough
from robots.formats.checks import check_loops
from robots.geometry import point
from robots.model import Closure, Frame, Link, Mechanism, Robot
from robots.types import BASE, IDENTITY
from tasks import inverse_dynamics, inverse_kinematics
from tasks.dynamics.records import Moving
from tests.pipeline.robot_files.test_reader import FIVE_BAR

BARS = """\
limbsweep: 1
name: bars
parameters: {crank: {default: 0.2, unit: m}, rocker: {default: 0.3, unit: m}}
limbs:
  bars:
    links:
      - {joint: a, body: b1, parent: base, kind: revolute, axis: z, inertia: {mass: 1, moments: [0, 0.1, 0.1]}}
      - {joint: b, body: b2, parent: b1, kind: revolute, axis: z, placement: {position: [crank, 0, 0]}, inertia: {mass: 1}}
      - {joint: c, body: b3, parent: base, kind: revolute, axis: -z, placement: {position: [0.5, 0, 0]}, inertia: {mass: 1}}
    loops:
      - {joint: d, kind: KIND, a: b2, frame_a: {position: [0.45, 0, 0]}, b: b3, frame_b: {position: [rocker, 0, 0]}}
    actuated: [a]
    reference: {a: 1.2, b: -1, c: -1.7}
"""
REVOLUTE = BARS.replace("KIND", "revolute")


def pins(values: dict[str, float], q: np.ndarray) -> np.ndarray:
    """Both sides of the loop for positions from zero (a, b, c)."""
    a, b, c = q
    end = values["crank"] * np.array([np.cos(a), np.sin(a)]) + 0.45 * np.array([np.cos(a + b), np.sin(a + b)])
    return np.array([end, np.array([0.5, 0.0]) + values["rocker"] * np.array([np.cos(c), -np.sin(c)])])


@pytest.mark.parametrize("text", [REVOLUTE, BARS.replace("KIND", "spherical")], ids=["revolute", "spherical"])
def test_rough_positions_become_closed_ones(text: str) -> None:
    description = parse_robot(text, "f")
    ((name, places),) = description.reference
    zero = np.array([dict(places)[joint] for joint in "abc"])
    assert (name, zero[0]) == ("bars", 1.2)
    one, other = pins({"crank": 0.2, "rocker": 0.3}, zero)
    np.testing.assert_allclose(one, other, atol=1e-12)
    again = parse_robot(writing.text(description), "g")
    assert again == description
    assert list(check_loops(description.family.reference)) == []


def test_bars_that_lie_on_one_line_are_closed_from_beside_it() -> None:
    """Slopes of the gap vanish along the line, where all joints are at zero."""
    description = parse_robot(REVOLUTE.replace("a: 1.2, b: -1, c: -1.7", "a: 0"), "f")
    zero = np.array([dict(description.reference[0][1]).get(joint, 0.0) for joint in "abc"])
    assert zero[0] == 0.0
    one, other = pins({"crank": 0.2, "rocker": 0.3}, zero)
    np.testing.assert_allclose(one, other, atol=1e-12)


def test_other_lengths_are_solved_from_there() -> None:
    description = parse_robot(REVOLUTE, "f")
    zero = np.array([dict(description.reference[0][1])[joint] for joint in "abc"])
    for values in ({"crank": 0.2, "rocker": 0.3}, {"crank": 0.22, "rocker": 0.27}):
        solved = inverse_kinematics(Robot.of(description.family, values), q=np.array([[0.0], [0.4]]))
        assert not solved.status.any()
        for position in solved.position[:, 0, :3]:
            one, other = pins(values, zero + position)
            np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("a: 1.2, b: -1", "a: 1.2, e: -1", "limbs.bars.reference.e: got 'e'; expected a joint of a link of this limb"),
        ("default: 0.3", "default: 0.003", "got loops that stay open by 0.01"),
        ("a: 1.2", "a: x", "reference.a: got 'x'; expected a number"),
        ("kind: revolute, a: b2", "kind: fixed, a: b2", "got loops that stay open by"),
    ],
)
def test_what_cannot_be_closed_is_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_robot(REVOLUTE.replace(old, new, 1), "f")
    assert message in str(caught.value)


def test_a_weld_inside_a_body_moves_as_the_whole_body() -> None:
    pin = "{joint: d, body: b4, parent: b3, kind: revolute, axis: z, placement: {position: [rocker, 0, 0]}, "
    welded = REVOLUTE.replace(
        "    loops:", f"      - {pin}inertia: {{mass: 0.5, moments: [0, 0.01, 0.01]}}}}\n    loops:"
    )
    welded = welded.replace(
        "{joint: d, kind: revolute, a: b2, frame_a: {position: [0.45, 0, 0]}, b: b3, frame_b: {position: [rocker, 0, 0]}}",
        "{joint: w, kind: fixed, a: b2, frame_a: {position: [0.45, 0, 0]}, b: b4}",
    ).replace("c: -1.7", "c: -1.7, d: -1.5")
    whole = REVOLUTE.replace(
        "placement: {position: [crank, 0, 0]}, inertia: {mass: 1}",
        "placement: {position: [crank, 0, 0]}, inertia: {mass: 1.5, centre: [0.15, 0, 0], moments: [0, 0.0775, 0.0775]}",
    )
    moving: Moving = {"q": np.array([[0.1], [0.4]]), "qd": np.array([[1.0], [2.0]]), "qdd": np.array([[1.0], [-1.0]])}
    robots = [Robot.of(parse_robot(text, "f").family, {}) for text in (welded, whole)]
    one, other = (inverse_kinematics(robot, **moving) for robot in robots)
    assert not one.status.any()
    np.testing.assert_allclose(one.position[:, 0, :3], other.position[:, 0, :3], atol=1e-10)
    gravity = (0.0, -9.81, 0.0)
    first, second = (inverse_dynamics(robot, **moving, gravity=gravity).force for robot in robots)
    np.testing.assert_allclose(first, second, rtol=1e-9)


def test_the_limbs_of_a_platform_are_closed_from_rough_positions() -> None:
    exact = parse_robot(FIVE_BAR, "f")
    rough = FIVE_BAR.replace("          rotation: [[-near_z, 0, -near_x], [0, 1, 0], [near_x, 0, -near_z]]\n", "")
    rough = rough.replace("          rotation: [[bend_cos, 0, bend_sin], [0, 1, 0], [-bend_sin, 0, bend_cos]]\n", "")
    rough = rough.replace('    actuated: ["1"]', '    actuated: ["1"]\n    reference: {"1": -0.6, "2": 1.3}')
    robots = [Robot.of(each.family, {"distal_length": 0.44}) for each in (exact, parse_robot(rough, "g"))]
    home = np.array([0.0, 0.0, -0.6])
    position = home + np.random.default_rng(1).uniform(-0.05, 0.05, (6, 3)) * [1, 0, 1]
    forces = [inverse_dynamics(robot, position=position).force for robot in robots]
    assert np.isfinite(forces[0]).all()
    np.testing.assert_allclose(forces[0], forces[1], rtol=1e-9)


def rods(kind: str) -> Setting:
    """A crank and a rocker, each with a half of a rod on a ball, whose halves meet far from zero."""
    links = [Link("crank", "b0", BASE, "revolute", (0.0, 0.0, 1.0), Frame(), point(0.1))]
    links.append(Link("rocker", "b1", BASE, "revolute", (0.0, 1.0, 0.0), Frame(IDENTITY, (0.4, 0.0, 0.0)), point(0.1)))
    for k, parent in enumerate((0, 1)):
        for n, axis in enumerate(((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))):
            at = (0.2, 0.0, 0.1 * k) if n == 0 else (0.0, 0.0, 0.0)
            outer = parent if n == 0 else len(links) - 1
            links.append(Link(f"ball_{k}_{n}", f"r{k}{n}", outer, "revolute", axis, Frame(IDENTITY, at), point(0.1)))
    half = Frame(IDENTITY, (0.0, 0.25, 0.0))
    turned = Frame(((-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0)), (0.0, 0.25, 0.0))
    loop = Closure("weld", kind, 4, half, 7, turned)
    whole = Mechanism.chain("rods", tuple(links), ("crank",), (loop,))
    return Setting(whole.limbs[0], whole.instances[0], Frame(), towards=True)


@pytest.mark.parametrize("kind", ["fixed", "revolute", "universal", "spherical", "prismatic", "cylindrical"])
def test_slopes_are_the_differences_of_the_conditions(kind: str) -> None:
    setting, step = rods(kind), 1e-6
    values = np.random.default_rng(3).uniform(-0.5, 0.5, len(setting.limb.links))
    numeric = [
        (setting.residual(values + step * unit) - setting.residual(values - step * unit)) / (2 * step)
        for unit in np.eye(len(values))
    ]
    np.testing.assert_allclose(setting.slopes(values), np.transpose(numeric), atol=1e-8)


def test_loops_that_are_far_open_close_with_their_axes_the_right_way_round() -> None:
    """Cosines between axes are stationary half a turn away, where angles are not."""
    setting = replace(rods("fixed"), towards=False)
    values, error = close_from_rough(setting, np.zeros(len(setting.limb.links)))
    assert error <= ASSEMBLED
    assert setting.facing(values)
    assert np.abs(setting.gaps(values)).max() < 1e-9


def test_steps_that_are_not_taken_compute_no_slopes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops that do not close end in steps that are all refused."""
    setting, counts = replace(rods("fixed"), towards=False), dict.fromkeys(("slopes", "residual"), 0)

    def counted(name: str) -> None:
        method = getattr(Setting, name)

        def called(self: Setting, values: np.ndarray) -> np.ndarray:
            counts[name] += 1
            return method(self, values)

        monkeypatch.setattr(Setting, name, called)

    start = np.zeros(len(setting.limb.links))
    open_rods, _ = close(setting, start, range(1, len(start)))
    for name in counts:
        counted(name)
    close(setting, open_rods, range(1, len(start)), patience=5)
    assert counts["residual"] >= 3
    assert counts["slopes"] <= 2
