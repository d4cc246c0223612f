"""Stops of joints: bounces, rest, leaving and latches beside closed forms, in constant steps and in adaptive ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import limbsweep as ls
from robots import catalog, geometry
from robots.model import Family, Frame, Link, Mechanism, Robot
from robots.parameter_errors import ParameterError
from robots.status import Status
from robots.stops import stopped_joints
from robots.types import BASE
from tasks.dynamics.tree_equations import TreeMachine, TreeState
from tests.tasks.dynamics.test_spanning_tree import BARS, FOUR_BARS

GRAVITY, MASS, HEIGHT = 9.81, 0.1, 1.0


def _ball(_: Mapping[str, Any]) -> Mechanism:
    body = geometry.bar(MASS, 0.1, "x", (0.0, 0.0, 0.0))
    return Mechanism.chain(
        "ball", (Link("slide", "body", BASE, "prismatic", (0.0, 0.0, 1.0), Frame(), body),), ("slide",)
    )


BALL = Robot.of(Family("ball", "ball", "test", (), _ball), {})
DROPPED = ls.State(q=[HEIGHT], qd=[0.0])


def height(time: float, restitution: float) -> float:
    """Height of a ball that was dropped."""
    fall = np.sqrt(2.0 * HEIGHT / GRAVITY)
    if time < fall:
        return HEIGHT - 0.5 * GRAVITY * time * time
    time, speed = time - fall, GRAVITY * fall * restitution
    while (lasts := 2.0 * speed / GRAVITY) > 1e-12:
        if time < lasts:
            return float(speed * time - 0.5 * GRAVITY * time * time)
        time, speed = time - lasts, speed * restitution
    return 0.0


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("method", ["fixed", "adaptive"])
def test_a_dropped_ball_bounces(restitution: float, method: Any) -> None:
    times, stops = np.linspace(0.0, 1.5, 31), {"slide": ls.JointStop(low=0.0, restitution=restitution)}
    step: dict[str, Any] = {"step": 0.05} if method == "fixed" else {}
    found = ls.simulate(BALL, DROPPED, None, times, method=method, stops=stops, **step)
    assert found.status == Status.OK
    np.testing.assert_allclose(found.q[:, 0], [height(t, restitution) for t in times], atol=1e-10)
    energy = MASS * (GRAVITY * found.q[:, 0] + 0.5 * found.qd[:, 0] ** 2) + found.impact_loss[:, 0]
    np.testing.assert_allclose(energy, MASS * GRAVITY * HEIGHT, rtol=1e-12)
    assert found.contact[-1, 0] == (-1 if restitution in (0.0, 0.5) else 0)


def test_what_rests_leaves_when_its_stop_would_pull() -> None:
    """A force that grows lifts the ball off its stop at the instant at which it is its weight."""
    times = np.linspace(0.0, 1.0, 6)
    lift = ls.Forces(actuator=lambda t: np.array([2.0 * MASS * GRAVITY * t]))
    found = ls.simulate(BALL, ls.State(q=[0.0]), lift, times, step=0.2, stops={"slide": ls.JointStop(low=0.0)})
    above = np.maximum(times - 0.5, 0.0)
    np.testing.assert_allclose(found.q[:, 0], GRAVITY * above**3 / 3.0, atol=1e-10)
    assert found.contact[:, 0].tolist() == [0, -1, -1, 0, 0, 0]


def test_a_latch_holds_for_ever() -> None:
    lift = ls.Forces(actuator=lambda t: np.array([20.0 * MASS * GRAVITY * t]))
    found = ls.simulate(
        BALL, DROPPED, lift, [0.0, 1.0, 2.0], step=0.1, stops={"slide": ls.JointStop(high=2.0, latch=True)}
    )
    assert found.q[-1, 0] == pytest.approx(2.0, abs=1e-9)
    assert found.contact[-1, 0] == 2
    assert abs(found.qd[-1, 0]) < 1e-12


def test_stops_of_joints_in_loops_stop_the_linkage() -> None:
    """A row of four-bars is a pendulum: a stop of its last crank is one of all, by impulses through the loops."""
    times, restitution, most = np.linspace(0.0, 1.0, 11), 0.7, 0.8
    inertia, moment = (BARS + 1) / 3.0 + BARS, ((BARS + 1) * 0.5 + BARS) * GRAVITY

    def change(_: float, y: np.ndarray) -> list[float]:
        return [y[1], moment * np.sin(y[0]) / inertia]

    def hit(_: float, y: np.ndarray) -> float:
        return float(y[0] - most)

    hit.terminal, hit.direction = True, 1.0  # type: ignore[attr-defined]
    expected, begin, state = [], 0.0, [0.2, 1.0]
    while begin < times[-1]:
        inside = times[(times >= begin) & (times <= times[-1])]
        part = solve_ivp(change, (begin, times[-1]), state, events=hit, dense_output=True, rtol=1e-11, atol=1e-12)
        expected += [float(part.sol(t)[0]) for t in inside if t <= part.t[-1]]
        begin, state = float(part.t[-1]), [most, -restitution * part.y[1, -1]]
    stops = {f"crank_{BARS}": ls.JointStop(high=most, restitution=restitution)}
    start = ls.State(q=[[0.2], [0.2]], qd=[[1.0], [-1.0]])
    found = ls.simulate(FOUR_BARS, start, None, times, step=0.01, stops=stops)
    assert (found.status == Status.OK).all()
    np.testing.assert_allclose(found.q[:, 0, 0], expected, atol=1e-6)
    assert found.impact_loss[-1, 0, 0] > 0.1
    alone = ls.simulate(FOUR_BARS, ls.State(q=[0.2], qd=[-1.0]), None, times, step=0.01, stops=stops)
    np.testing.assert_array_equal(found.q[:, 1], alone.q)


def test_a_start_beyond_a_stop_cannot_be_reached() -> None:
    stops = {"slide": ls.JointStop(low=0.0)}
    found = ls.simulate(BALL, ls.State(q=[[-0.1], [0.1]]), None, [0.0, 0.1], stops=stops)
    assert found.status.tolist() == [Status.NOT_REACHABLE, Status.OK]


@pytest.mark.parametrize(
    ("highs", "restitution", "most", "contact"),
    [
        ((0.004, 0.0041, 0.0042), 0.0, 1_200, [0, 0, 1]),  # 882
        pytest.param((0.004, 0.00452, 0.00504), 0.6, 4_000, [0, 1, 1], marks=pytest.mark.slow),  # 2843
    ],
)
def test_joints_that_hit_their_stops_in_loops_do_not_crawl(
    highs: tuple[float, ...], restitution: float, most: int, contact: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arms of a Delta that falls hit each other's stops: few states, none of them beyond, and energy only lost.

    They took turns before, 4e-13 of a step apart. most: evaluations of the equations of motion.
    """
    delta, arms = catalog.build("delta_3rr2rrr"), ("limb1.1", "limb2.1", "limb3.1")
    stops = {arm: ls.JointStop(high=high, restitution=restitution) for arm, high in zip(arms, highs, strict=True)}
    taken, change = [], TreeMachine.change

    def counted(self: TreeMachine, *args: Any) -> Any:
        taken.append(self.count)
        return change(self, *args)

    monkeypatch.setattr(TreeMachine, "change", counted)
    found = ls.simulate(delta, ls.State(), None, np.linspace(0.0, 0.08, 9), step=0.001, stops=stops)
    assert found.status == Status.OK
    assert len(taken) < most
    places = ls.inverse_kinematics(delta, ls.Motion(position=found.position, twist=np.zeros((9, 6)))).position
    assert (places[:, :, 0] <= np.array(highs) + 1e-9).all()
    assert (np.diff(found.impact_loss.sum(axis=-1)) >= -1e-12).all()
    assert found.impact_loss[-1].sum() > 0.01
    assert found.contact[-1].tolist() == contact


@pytest.mark.parametrize(("height", "lift"), [(HEIGHT, 0.0), (0.0, 2.0)])
def test_the_instant_of_an_event_costs_one_step_or_two(
    height: float, lift: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ball that falls and one that is lifted: a cubic through heights, and a chord of forces, meet the instant."""
    taken, step = [], TreeMachine.step

    def counted(self: TreeMachine, *args: Any) -> TreeState:
        taken.append(self.count)
        return step(self, *args)

    monkeypatch.setattr(TreeMachine, "step", counted)
    forces = ls.Forces(actuator=lambda t: np.array([lift * MASS * GRAVITY * t]))
    start, stops = ls.State(q=[height], qd=[0.0]), {"slide": ls.JointStop(low=0.0)}
    found = ls.simulate(BALL, start, forces, [0.0, 0.2, 0.4, 0.6], step=0.2, stops=stops)
    assert found.contact[-1, 0] == (-1 if height else 0)
    assert len(taken) == 3 + (2 if height else 5)  # a place or two and the rest of the step; two events of the lifted


def test_a_start_beyond_a_stop_costs_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events of a sample that has come to its end are not looked for: steps are as many as without it."""
    stops, times = {f"crank_{BARS}": ls.JointStop(high=0.8)}, np.linspace(0.0, 0.1, 3)
    taken, step = [], TreeMachine.step

    def counted(self: TreeMachine, *args: Any) -> TreeState:
        taken.append(self.count)
        return step(self, *args)

    monkeypatch.setattr(TreeMachine, "step", counted)
    ls.simulate(FOUR_BARS, ls.State(q=[0.2]), None, times, step=0.01, stops=stops)
    alone = len(taken)
    found = ls.simulate(FOUR_BARS, ls.State(q=[[0.9], [0.2]]), None, times, step=0.01, stops=stops)
    assert found.status.tolist() == [Status.NOT_REACHABLE, Status.OK]
    assert (alone, len(taken) - alone) == (10, 10)


@pytest.mark.parametrize(
    ("stops", "text"),
    [
        ({"crank": ls.JointStop(low=0.0)}, "'crank' is no joint; did you mean"),
        ({"end_0": ls.JointStop(low=0.0)}, "closes a loop"),
        ({"crank_1": ls.JointStop(low=0.0), "crank_?": ls.JointStop(high=0.0)}, "has two stops"),
    ],
)
def test_stops_of_other_joints_are_refused(stops: dict[str, ls.JointStop], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        stopped_joints(FOUR_BARS.mechanism, stops)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({}, "got neither"),
        ({"low": 1.0, "high": 0.0}, "low below high"),
        ({"low": 0.0, "restitution": 1.5}, "expected 0 to 1"),
        ({"low": 0.0, "restitution": 0.5, "latch": True}, "one of the two"),
    ],
)
def test_stops_that_make_no_sense_are_refused(values: dict[str, Any], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        ls.JointStop(**values)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"integrator": "rk4"}, "'rk4' with stops"),
        ({"form": "task_space"}, "stops: got them with a form"),
    ],
)
def test_stops_beside_what_does_not_know_them_are_refused(options: dict[str, Any], text: str) -> None:
    robot = catalog.build("five_bar")
    with pytest.raises(ValueError, match=text):
        ls.simulate(robot, ls.State(), None, [0.0, 0.1], stops={"*": ls.JointStop(low=-1.0)}, **options)
    with pytest.raises(ValueError, match=r"expected a limbsweep\.JointStop"):
        ls.simulate(robot, ls.State(), None, [0.0, 0.1], stops={"left": (0.0, 1.0)})  # type: ignore[dict-item]
