"""Other engines get the same mechanisms: results agree before they are timed, and disagree where they should."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks import regions
from benchmarks.figures import FULL, QUICK, CheckError, Figure
from benchmarks.peers import contest, table, trees
from benchmarks.peers.bodies import Skeleton, as_tree, skeleton
from benchmarks.peers.closure import Closure, Target, placed
from benchmarks.peers.contest import Contest, Entry
from benchmarks.peers.engines import ENGINES, Engine
from benchmarks.peers.made import made_tree
from robots import catalog
from robots.model import Robot
from robots.types import BASE
from tasks import inverse_dynamics

GRAVITY = (0.7, -0.4, -9.6)
LOOPS = ("five_bar", "delta_3rr2rrr", "hexapod_6rrrprr")
REVOLUTE = ("five_axis_tree", "planar_3r", "rover_rocker", *LOOPS)


ALL = [pytest.param(engine, id=engine.name, marks=pytest.mark.slow if engine.headers else ()) for engine in ENGINES]
"""Engines; those that are compiled from headers take half a minute each, where there are headers."""


@pytest.fixture(params=ALL)
def engine(request: pytest.FixtureRequest) -> Engine:
    """An engine that is here."""
    found: Engine = request.param
    if not found.here:
        pytest.skip(f"nothing to compare with: {found.name} needs {found.missing}")
    return found


def mass(robot: Robot) -> float:
    """Return the mass of all links and the platform."""
    mechanism = robot.mechanism
    links = [link for each in mechanism.instances for link in mechanism.limbs[each.limb].links]
    return float(sum(link.inertia.mass for link in links) + mechanism.platform.inertia.mass)


def scaled(name: str) -> Robot:
    """A robot with other parameters than the defaults."""
    random, family = np.random.default_rng(3), catalog.family(name)
    drawn = {p.name: (p, float(p.default) * random.uniform(0.97, 1.03)) for p in family.parameters}  # type: ignore[arg-type]
    return Robot.of(family, {key: min(max(value, p.lower), p.upper) for key, (p, value) in drawn.items()})


def closed(robot: Robot, count: int = 20) -> tuple[Skeleton, Closure, Target, tuple[np.ndarray, ...]]:
    """Return the loop closures of a robot, and the motion of all its joints at random states."""
    bones, states = skeleton(robot.mechanism), regions.states(robot, count)
    motion = bones.motion(robot, states)
    return bones, Closure(bones, motion[0]), Target.of(states), motion


@pytest.mark.parametrize("name", REVOLUTE)
def test_a_skeleton_has_all_bodies_and_the_mass_of_the_robot(name: str) -> None:
    robot = catalog.build(name)
    bones = skeleton(robot.mechanism)
    places = [(body.limb, body.joint) for body in bones.bodies]
    assert len(set(places)) == len(places) == bones.size
    assert sum(body.mass for body in bones.bodies) == pytest.approx(mass(robot))
    assert len(bones.motors) == len(robot.mechanism.actuators)


@pytest.mark.parametrize("name", REVOLUTE)
def test_bodies_come_depth_first(name: str) -> None:
    path: list[int] = []
    for k, body in enumerate(skeleton(catalog.build(name).mechanism).bodies):
        while path and path[-1] != body.parent:
            path.pop()
        assert path or body.parent == BASE
        path.append(k)


@pytest.mark.parametrize("name", ["irb6", "delta_rl5_1450", "delta_3r2us"])
def test_what_engines_model_differently_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="expected none but revolute cut joints: engines model the rest differently"):
        skeleton(catalog.build(name).mechanism)


def test_a_closed_chain_with_motors_becomes_a_tree() -> None:
    tree = Robot.of(as_tree(catalog.family("irb6"), "irb6_tree"), {"forearm_mass": 8.0})
    assert tree.name == "irb6_tree"
    assert len(tree.mechanism.freedoms) == len(tree.mechanism.actuators) == 7
    assert not tree.mechanism.limbs[0].loops
    assert 8.0 in [body.mass for body in skeleton(tree.mechanism).bodies]


def test_made_trees_are_the_same_every_time_and_in_general_position() -> None:
    first, second = (made_tree("made", 12, branches=True).reference.limbs[0].links for _ in range(2))
    assert first == second
    assert len({link.parent for link in first}) < 12
    for link in first:
        assert 0.0 not in (*link.placement.position, *np.ravel(link.placement.rotation), *link.inertia.centre)


@pytest.mark.parametrize("name", LOOPS)
def test_loops_are_closed_and_move_as_inverse_kinematics_says(name: str) -> None:
    bones, closure, target, (q, qd, qdd) = closed(scaled(name))
    assert np.abs(closure.residual(placed(bones, q.T), target)).max() < 1e-13
    rates, accelerations, unit = closure.motion(target, q.T)
    np.testing.assert_allclose(rates, qd, atol=1e-12 * np.abs(qd).max())
    np.testing.assert_allclose(accelerations, qdd, atol=1e-11 * np.abs(qdd).max())
    turned = (closure.close(target).T - q + np.pi) % (2.0 * np.pi) - np.pi
    assert np.abs(turned).max() < 1e-11
    assert unit.shape == (20, bones.size, len(bones.freedoms))


@pytest.mark.parametrize("name", LOOPS)
def test_platform_accelerations_are_those_of_the_target(name: str) -> None:
    bones, closure, target, (q, qd, qdd) = closed(scaled(name))
    wanted = target.change[list(bones.freedoms)].T
    np.testing.assert_allclose(closure.platform(q.T, qd, qdd), wanted, atol=1e-11 * np.abs(wanted).max())


def test_too_few_closures_are_refused() -> None:
    bones, _, _, (q, _, _) = closed(catalog.build("five_bar"))
    with pytest.raises(ValueError, match="cut joints: got 1 independent rows at these positions; expected 3"):
        Closure(replace(bones, cuts=()), q)


def test_a_platform_out_of_reach_is_said() -> None:
    _, closure, target, _ = closed(catalog.build("five_bar"))
    far = replace(target, position=target.position + np.array([[0.0], [0.0], [-2.0]]))
    with pytest.raises(ValueError, match=r"loops: open by .* after 30 Newton steps; expected 1e-13"):
        closure.close(far)


@pytest.mark.parametrize("name", ["five_axis_tree", "irb6_tree", "arm_7"])
def test_trees_agree_under_any_gravity(engine: Engine, name: str) -> None:
    robot = Robot.of(trees.TREES[name](), {})
    bones, size = skeleton(robot.mechanism), len(robot.mechanism.freedoms)
    random: Any = np.random.default_rng(1)
    states = {key: random.normal(size=(10, size)) for key in ("q", "qd", "qdd")}
    expected = bones.tree_order(inverse_dynamics(robot, gravity=GRAVITY, **states).force[:, None])  # type: ignore[arg-type]
    found = engine.tree(bones, GRAVITY).inverse_dynamics(*bones.motion(robot, states))
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("name", LOOPS)
def test_closed_loops_agree_for_other_parameters(engine: Engine, name: str) -> None:
    robot = scaled(name)
    bones, closure, target, _ = closed(robot)
    found = closure.forces(target, None, engine.tree(bones, GRAVITY).inverse_dynamics)
    expected: Any = inverse_dynamics(robot, gravity=GRAVITY, **regions.states(robot, 20)).force  # type: ignore[arg-type]
    np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())


def test_another_design_takes_the_place_of_the_first(engine: Engine) -> None:
    first, second = (skeleton(robot.mechanism) for robot in (catalog.build("five_bar"), scaled("five_bar")))
    random = np.random.default_rng(2)
    motion = random.normal(size=(3, 10, first.size))
    tree = engine.tree(first, GRAVITY)
    before = np.array(tree.inverse_dynamics(*motion))
    tree.change(tree.numbers(second))
    expected = np.array(engine.tree(second, GRAVITY).inverse_dynamics(*motion))
    np.testing.assert_array_equal(tree.inverse_dynamics(*motion), expected)
    assert np.abs(before - expected).max() > 1e-3


def entry(value: float, calls: list[str], name: str) -> Entry:
    """A way to do a job that gives a number, and says that it was called."""

    def run() -> float:
        calls.append(name)
        return value

    return Entry(run, 2, f"by {name}", lambda found: np.array([1.0, found]))


def test_a_contest_compares_first_and_then_takes_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    made = Contest("job", entry(2.0, calls, "ours"), {"them": entry(2.0 + 1e-12, calls, "them")}, unit="us/turn")
    monkeypatch.setattr(contest, "processor_seconds", lambda run: (run(), 4.0 if calls[-1] == "them" else 1.0)[1])
    figures = list(made.figures(replace(FULL, repeats=3)))
    # ours has had its time after the first round
    assert calls == ["ours", "them", "ours", "them"]
    assert figures == [
        Figure("job: limbsweep", 0.5e6, "us/turn", "by ours"),
        Figure("job: them", 2e6, "us/turn", "by them; differs by 5e-13"),
        Figure("job: them, over limbsweep", 4.0, "x"),
    ]


@pytest.mark.parametrize("wrong", [2.0 + 1e-8, np.nan])
def test_other_results_stop_a_contest(wrong: float) -> None:
    made = Contest("job", entry(2.0, [], "ours"), {"them": entry(wrong, [], "them")})
    with pytest.raises(CheckError, match=r"job: them and limbsweep differ by .*, relative; expected below 1e-09"):
        list(made.figures(QUICK))


def test_missing_engines_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    figures = list(table.figures(QUICK))
    assert [each.name for each in figures] == [f"{each.name}, not measured" for each in ENGINES]
    assert {each.value for each in figures} == {None}
    assert figures[0].remark == "needs pinocchio; install limbsweep[peers]"
