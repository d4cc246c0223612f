"""Closed chains through folds in all joints of their tree, against a pendulum: the N four-bar of IFToMM (A02)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import limbsweep as ls
from benchmarks.motion import through
from benchmarks.published.four_bars import inertia_and_moment, pendulum, row_of_four_bars
from robots import catalog
from robots.model import Robot
from robots.status import Status
from tasks.dynamics.motions import Simulation
from tasks.dynamics.simulate import simulate

BARS = 2
UP = 0.5 * np.pi
DOWNWARD: Mapping[str, Any] = {"gravity": (0.0, 0.0, -9.81), "force": np.zeros(1), "method": "spanning_tree"}


FOUR_BARS = row_of_four_bars(BARS)


def test_four_bars_pass_their_folds_as_a_pendulum() -> None:
    """Start upright with 1 and -2 rad/s, and pass both folds."""
    found: Any = simulate(FOUR_BARS, q=[[0.0], [0.0]], qd=[[1.0], [-2.0]], step=0.01, steps=200, every=20, **DOWNWARD)
    assert (found.status == Status.OK).all()
    for k, rate in enumerate((1.0, -2.0)):
        expected = pendulum(BARS, found.time, 0.0, rate)
        assert np.abs(expected[-1]) > 1.5 * np.pi
        np.testing.assert_allclose(found.q[:, k, 0], expected, atol=1e-5)
        np.testing.assert_allclose(found.joints[:, k, : BARS + 1], np.repeat(expected[:, None], BARS + 1, 1), atol=1e-5)


def test_work_of_actuators_is_the_change_of_energy() -> None:
    torque = {**DOWNWARD, "force": lambda t: np.array([3.0 * np.sin(4.0 * t)])}
    found: Any = simulate(FOUR_BARS, q=[0.2], qd=[1.0], step=0.005, steps=200, every=200, **torque)
    inertia, moment = inertia_and_moment(BARS)
    energy = 0.5 * inertia * found.qd[:, 0] ** 2 + moment * np.cos(found.q[:, 0])
    assert abs(found.q[-1, 0]) > UP
    np.testing.assert_allclose(energy[-1] - energy[0], found.work[-1, 0], rtol=1e-6, atol=1e-7)


def test_a_motion_that_stays_at_the_fold_ends_there() -> None:
    """Check a motion and a start at rest at the fold, where the direction of the cranks is undetermined."""

    def held(_: Any, q: Any, qd: Any) -> Any:
        return 3.0 * (20.0**2 * (UP - q) - 2.0 * 20.0 * qd)

    still = {**DOWNWARD, "gravity": (0.0, 0.0, 0.0), "force": held}
    found: Any = simulate(FOUR_BARS, q=[[UP], [UP - 2e-3]], qd=[[0.0], [0.0]], step=0.01, steps=80, every=10, **still)
    assert found.status.tolist()[1] == Status.SINGULAR
    assert found.status.tolist()[0] in (Status.NOT_REACHABLE, Status.SINGULAR)
    assert np.isnan(found.q[:, 0]).all()
    assert np.isfinite(found.q[0, 1]).all()
    assert np.isnan(found.q[-1, 1]).all()


DRY = {"law": "coulomb_viscous", "coulomb": 1.0}


@pytest.mark.parametrize(
    ("robot", "parts", "text"),
    [
        (FOUR_BARS, {"q": [0.1], "friction": DRY}, "friction of law coulomb_viscous that sticks"),
        (FOUR_BARS, {"q": [0.1], "friction": {"law": "lugre"}}, "friction of law lugre, which has a state"),
        (FOUR_BARS, {"q": [0.1], "friction": {**DRY, "width": 0.1, "load": "reaction"}}, "friction of load reaction"),
        (FOUR_BARS, {"q": [0.1], "friction": {**DRY, "width": 0.1, "joints": ["end_0"]}}, "friction of a motor or of"),
        (catalog.build("five_bar"), {"q": None, "form": "joint", "force": np.zeros(2)}, "a form of the equations"),
    ],
)
def test_a_request_without_such_a_motion_is_refused(robot: Robot, parts: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=f"integrator: got 'spanning_tree' with {re.escape(text)}"):
        simulate(robot, step=0.01, steps=1, **{**DOWNWARD, **parts})


@pytest.mark.parametrize("tolerance", [1e-7, 1e-10])
def test_steps_that_an_error_allows_pass_the_folds(tolerance: float) -> None:
    times = np.linspace(0.0, 2.0, 5)
    exact: dict[str, Any] = {"method": "adaptive", "rtol": tolerance, "atol": 0.01 * tolerance}
    found = ls.simulate(FOUR_BARS, ls.State(q=[0.0], qd=[1.0]), None, times, integrator="spanning_tree", **exact)
    assert found.status == Status.OK
    expected = pendulum(BARS, times, 0.0, 1.0)
    assert np.abs(expected[-1]) > 1.5 * np.pi
    np.testing.assert_allclose(found.q[:, 0], expected, atol=50.0 * tolerance)
    with pytest.raises(ValueError, match="with a balance"):
        ls.simulate(FOUR_BARS, ls.State(q=[0.0]), None, times, integrator="spanning_tree", balance=1e-6, **exact)


FIVE_BAR = catalog.build("five_bar")
HOME = np.array(FIVE_BAR.mechanism.platform.home.position, dtype=float)
PUSHED = ls.robots.with_loads(
    FIVE_BAR,
    {
        "push": ls.robots.WrenchLoad("platform", force=("20 * sin(60 * t)", 0.0, 5.0)),
        "tool": ls.robots.ObjectLoad("platform", 2.0, at=(0.0, 0.0, 0.0), start=0.0213),
        "spring": ls.robots.SpringLoad("proximal", 300.0, at=(0.1, 0.0, 0.2), to=(0.0, 0.0, 0.3), damping=2.0),
        "hinge": ls.robots.JointSpringLoad("right.2", 5.0, damping=0.3, force="2 * q_1"),
        "mount": ls.robots.BushingLoad(
            "platform", (90.0, 50.0, 70.0), (3.0, 2.0, 4.0), to=(0.05, 0.0, -0.5), to_turn=(0.0, 30.0, 0.0)
        ),
    },
)
SMOOTH = {"law": "coulomb_viscous", "coulomb": 0.5, "viscous": 0.2, "width": 0.05}
SHAKEN = ls.Motion(
    twist=lambda t: [0.3 * np.sin(5.0 * t), 0.2, 0.0, 0.0, 0.0, 0.1],
    acceleration=lambda t: [1.5 * np.cos(5.0 * t), 0.0, 0.0, 1.0, 0.0, 0.5],
)


@pytest.mark.parametrize("what", ["loads over time", "smooth friction", "a base that moves", "a servo"])
def test_where_nothing_is_singular_it_moves_as_in_task_space(what: str) -> None:
    friction = SMOOTH if what == "smooth friction" else None
    drive: Any = ls.Forces(actuator=[1.0, -2.0], friction=friction)
    if what == "a servo":
        way = {"position": np.tile(HOME + np.array([0.02, 0.0, 0.0]), (41, 1))}
        drive = ls.servo(FIVE_BAR, "pd", reference=way, step=1e-3, kp=200.0, kd=5.0, delay=2e-3)
    robot = PUSHED if what == "loads over time" else FIVE_BAR
    around = ls.Environment(base=SHAKEN) if what == "a base that moves" else ls.Environment()
    run: dict[str, Any] = {"environment": around, "step": 1e-3}
    state, times = ls.State(position=HOME, twist=[0.0, 0.0, 0.0, 0.3, 0.0, 0.2]), [0.0, 0.02, 0.04]
    plain = ls.simulate(robot, state, drive, times, **run)
    tree = ls.simulate(robot, state, drive, times, integrator="spanning_tree", **run)
    assert tree.status == plain.status == Status.OK
    np.testing.assert_allclose(tree.position, plain.position, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(tree.twist, plain.twist, rtol=0.0, atol=1e-8)
    if friction:
        np.testing.assert_allclose(tree.friction, plain.friction, rtol=1e-8)
        np.testing.assert_allclose(tree.loss, plain.loss, atol=1e-9)
        assert tree.loss[-1].min() > 1e-3


def heights(branch: float, z: np.ndarray) -> np.ndarray:
    """Distance of an elbow from the middle and its height (2, n) of a five-bar whose platform hangs at z."""
    reach = np.hypot(0.15, z)
    along = (0.53**2 + reach**2 - 0.4374**2) / (2.0 * reach)
    across = branch * np.sqrt(np.maximum(0.53**2 - along**2, 0.0))
    return np.array([0.15 - along * 0.15 / reach - across * z / reach, along * z / reach - across * 0.15 / reach])


def energy(branch: float, z: float, rate: float) -> float:
    """Energy of that five-bar: four slender rods of 1.5 kg and a point of 0.1 kg."""
    step = 1e-6
    elbow = heights(branch, np.array([z - step, z, z + step]))
    speed = (elbow[:, 2] - elbow[:, 0]) / (2.0 * step) * rate
    end = np.array([0.0, rate])
    kinetic = 0.5 * 1.5 * (speed @ speed / 3.0 + (speed @ speed + speed @ end + end @ end) / 3.0)
    heavy = 1.5 * 9.81 * (0.5 * elbow[1, 1] + 0.5 * (elbow[1, 1] + z))
    return float(2.0 * (kinetic + heavy) + 0.05 * rate**2 + 0.1 * 9.81 * z)


def test_a_five_bar_goes_through_the_end_of_its_reach() -> None:
    """It falls without forces; where both arms are stretched, task space ends, and elbows swing to the other side."""
    robot = catalog.build("five_bar")
    run: dict[str, Any] = {"force": np.zeros(2), "gravity": (0.0, 0.0, -9.81), "step": 0.005}
    plain = simulate(robot, steps=20, every=20, **run)
    found = simulate(robot, steps=200, every=20, method="spanning_tree", **run)
    assert isinstance(found, Simulation)
    assert isinstance(plain, Simulation)
    np.testing.assert_allclose(found.position[1], plain.position[1], atol=1e-8)
    np.testing.assert_allclose(found.twist[1], plain.twist[1], atol=1e-7)
    assert simulate(robot, steps=200, every=20, **run, method="rk4").status == Status.SINGULAR
    assert found.status == Status.OK
    sides = []
    for position, twist in zip(found.position, found.twist, strict=True):
        if position[2] < -0.95:  # a height says little of elbows there
            continue
        missing = [abs(energy(side, position[2], twist[5]) - energy(1.0, -0.6, 0.0)) for side in (1.0, -1.0)]
        sides.append(int(np.argmin(missing)))
        assert min(missing) < 1e-5
    assert sides == [0, 0, 0, 1, 1, 1, 1, 0, 0]


def test_a_five_bar_under_torques_passes_the_end_of_its_reach_as_in_another_engine() -> None:
    torques, times = (2.0, 1.0), np.linspace(0.0, 0.5, 6)
    found = through.positions(torques, times)
    peer = through.peer_positions(torques, times, step=5e-5)
    np.testing.assert_allclose(found, peer, atol=1e-6)
    assert found[3, 1] < -0.93  # stretched on the way between 0.2 and 0.4 s
    assert found[-1, 1] > -0.65


def test_adaptive_steps_pass_where_rows_nearly_depend_on_each_other() -> None:
    """Without forces cranks go on with their rate, through the fold; rounding errors are large near it."""
    times = np.linspace(0.0, 0.2, 5)
    options: dict[str, Any] = {"method": "adaptive", "environment": ls.Environment(gravity=(0.0, 0.0, 0.0))}
    found = ls.simulate(FOUR_BARS, ls.State(q=[UP - 0.05], qd=[0.5]), None, times, **options)
    assert (found.status, bool(found.through)) == (Status.OK, True)
    np.testing.assert_allclose(found.q[:, 0], UP - 0.05 + 0.5 * times, atol=1e-9)
    np.testing.assert_allclose(found.joints[:, : BARS + 1], found.q * np.ones(BARS + 1), atol=1e-9)


def test_it_is_an_integrator_of_simulate() -> None:
    times = [0.0, 0.1, 0.2]
    plain = ls.simulate(FOUR_BARS, ls.State(q=[0.3], qd=[1.0]), None, times, step=0.01)
    tree = ls.simulate(FOUR_BARS, ls.State(q=[0.3], qd=[1.0]), None, times, step=0.01, integrator="spanning_tree")
    np.testing.assert_allclose(tree.q, plain.q, rtol=1e-8)
    assert tree.to_dataset()["joints"].sizes == {"time": 3, "tree_joint": 2 * BARS + 1}
    assert "joints" not in plain.to_dataset()


def test_without_an_integrator_by_name_cases_go_on_beyond_singular_points() -> None:
    """Each as in all joints from its start, with the bits that it has alone; friction that sticks ends there."""
    robot, times = catalog.build("five_bar"), np.linspace(0.0, 0.3, 4)
    held = ls.inverse_dynamics(robot, position=robot.mechanism.platform.home.position).force
    forces, options = np.stack([[2.0, 1.0], held]), {"step": 0.01}
    found = ls.simulate(robot, ls.State(), ls.Forces(actuator=forces), times, **options)
    assert found.through.tolist() == [True, False]
    assert (found.status == Status.OK).all()
    tree = ls.simulate(robot, ls.State(), ls.Forces(actuator=forces), times, **options, integrator="spanning_tree")
    np.testing.assert_array_equal(found.position[:, 0], tree.position[:, 0])
    np.testing.assert_allclose(found.position[:, 1], tree.position[:, 1], atol=1e-6)
    pulled = ls.Forces(actuator=lambda time, position, rotation, twist: forces[0])
    alone = ls.simulate(robot, ls.State(), pulled, times, **options)
    np.testing.assert_array_equal(alone.position, found.position[:, 0])
    adaptive = ls.simulate(robot, ls.State(), pulled, times, method="adaptive")
    np.testing.assert_allclose(
        adaptive.position, through.positions((2.0, 1.0), times)[:, [0, 0, 1]] * [1, 0, 1], atol=1e-7
    )
    dry = {"law": "coulomb_viscous", "coulomb": 0.01}
    stuck = ls.simulate(robot, ls.State(), ls.Forces(actuator=forces[0], friction=dry), times, **options)
    assert (stuck.status, bool(stuck.through)) == (Status.SINGULAR, False)
    assert found.to_dataset()["through"].values.tolist() == [True, False]
