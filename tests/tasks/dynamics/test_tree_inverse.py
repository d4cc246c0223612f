"""Inverse dynamics with the motion of all joints given: forces of the closing way, and what does not close is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import limbsweep as ls
from benchmarks import regions
from limbsweep import Motion, Status
from robots import catalog
from robots.model import Robot
from tasks.dynamics.inverse import inverse_dynamics, inverse_kinematics
from tasks.dynamics.records import Environment, Forces
from tasks.dynamics.tree_inverse import SpanningTreeDynamics

ORDERS = ("position", "velocity", "acceleration")
ROBOTS = ("delta_3rr2rrr", "irb6", "h4", "five_axis_tree", "palletiser")


def states(robot: Robot, count: int = 6) -> Motion:
    """Random states of a robot within its region."""
    return Motion(**regions.states(robot, count))


def joint_parts(robot: Robot, motion: Motion) -> dict[str, np.ndarray]:
    """The motion of all joints by name."""
    found = inverse_kinematics(robot, motion)
    return {name: getattr(found, name).copy() for name in ORDERS}


def of(robot: Robot, parts: dict[str, Any], motion: Motion, **options: Any) -> SpanningTreeDynamics:
    """The dynamics of given joints; a chain needs no motion beside them."""
    chain = robot.mechanism.is_chain
    return ls.spanning_tree_dynamics(robot, ls.JointMotion(**parts), None if chain else motion, **options)


@pytest.mark.parametrize("name", ROBOTS)
def test_given_joints_that_close_have_the_forces_of_inverse_dynamics(name: str) -> None:
    robot = catalog.build(name)
    motion, forces = states(robot), Forces(friction={"law": "coulomb_viscous", "coulomb": 0.3, "viscous": 0.1})
    swaying = Environment(base=Motion(twist=[0.1, 0.2, 0.3, 0, 0, 0], acceleration=[0, 0, 1.0, 0, 0, 2.0]))
    result = of(robot, joint_parts(robot, motion), motion, forces=forces, environment=swaying)
    expected = inverse_dynamics(robot, motion, forces, swaying)
    np.testing.assert_array_equal(result.status, expected.status)
    np.testing.assert_allclose(result.force, expected.force, rtol=0, atol=1e-12 * np.abs(expected.force).max())
    assert result.gap.max() < 1e-11


@pytest.mark.parametrize("order", range(3))
@pytest.mark.parametrize("name", ["delta_3rr2rrr", "h4", "six_bar"])
def test_each_order_that_does_not_close_is_told_and_its_gap_grows_in_proportion(name: str, order: int) -> None:
    robot = catalog.build(name)
    motion, gaps = states(robot), []
    for size in (1e-5, 2e-5):
        parts = joint_parts(robot, motion)
        parts[ORDERS[order]][2, 0, 0] += size * 10**order
        result = of(robot, parts, motion)
        assert result.status.tolist() == [0, 0, Status.LOOP_OPEN, 0, 0, 0]
        assert np.isnan(result.force[2]).all()
        assert np.isnan(result.tree_force[2]).all()
        gaps.append(result.gap[2, order])
        assert (result.gap[2, :order] < 1e-11).all()
    assert gaps[1] == pytest.approx(2.0 * gaps[0], rel=1e-3)
    wide = of(robot, parts, motion, tolerance=[1e-2, 1e-1, 1.0])
    assert (wide.status == 0).all()
    assert np.isfinite(wide.force).all()


def test_gaps_of_rates_and_accelerations_are_derivatives_of_those_of_positions() -> None:
    robot = catalog.build("delta_3rr2rrr")
    motion = states(robot, 1)
    parts = joint_parts(robot, motion)
    parts["velocity"][0, 1, 2] += 0.01
    parts["acceleration"][0, 1, 2] += 0.3
    wide = (1.0, 10.0, 100.0)
    told = of(robot, parts, motion, tolerance=wide).gap[0]
    steps = {}
    for time in (-1e-4, 1e-4):
        moved = dict(parts)
        moved["position"] = parts["position"] + parts["velocity"] * time + 0.5 * parts["acceleration"] * time**2
        there = {k: np.asarray(v, dtype=float) for k, v in motion.present().items()}
        place = there["position"] + there["twist"][:, 3:] * time + 0.5 * there["acceleration"][:, 3:] * time**2
        steps[time] = of(robot, moved, Motion(position=place), tolerance=wide).gap[0, 0]
    # of both sides the linear part is the same, the quadratic part adds up
    assert 0.5 * (steps[1e-4] + steps[-1e-4]) / 1e-4 == pytest.approx(told[1], rel=0.02)


def test_generalised_forces_of_tree_and_platform_have_the_power_of_the_actuators() -> None:
    robot = catalog.build("delta_3rr2rrr")
    motion = states(robot)
    parts = joint_parts(robot, motion)
    result = of(robot, parts, motion)
    actuators = inverse_dynamics(robot, motion)
    body, gravity = robot.mechanism.platform.inertia, np.array([0.0, 0.0, -9.81])
    lifted = (np.asarray(motion.acceleration)[:, 3:] - gravity) * float(body.mass)
    links = result.tree_force.shape[-1]
    power = np.einsum("slj,slj->s", result.tree_force, parts["velocity"][..., :links])
    power += np.einsum("si,si->s", lifted, np.asarray(motion.twist)[:, 3:])
    np.testing.assert_allclose(power, np.einsum("sa,sa->s", actuators.force, actuators.velocity), rtol=1e-9)


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "irb6", "five_axis_tree"])
def test_without_a_tolerance_nothing_has_to_close(name: str) -> None:
    robot = catalog.build(name)
    motion = states(robot)
    parts = joint_parts(robot, motion)
    checked = of(robot, parts, motion, projected=False)
    alone = of(robot, parts, motion, projected=False, tolerance=None)
    np.testing.assert_allclose(alone.tree_force, checked.tree_force, rtol=1e-12, atol=1e-12)
    assert np.isnan(alone.gap).all()
    assert alone.gap.shape == checked.gap.shape
    parts["position"][1, 0, 0] += 0.3
    parts["acceleration"][2, 0, 0] = np.nan
    opened = of(robot, parts, motion, projected=False, tolerance=None)
    assert opened.status.tolist() == [0, 0, Status.NONFINITE, 0, 0, 0]
    assert np.isfinite(opened.tree_force[1, 0, 0])
    with pytest.raises(ValueError, match="tolerance: got None with projected=True; expected three numbers"):
        of(robot, parts, motion, tolerance=None)


@pytest.mark.parametrize("name", ["hexapod_6rrrprr", "irb6", "five_axis_tree"])
def test_forces_of_the_tree_do_not_depend_on_the_projection(name: str) -> None:
    robot = catalog.build(name)
    motion = states(robot)
    parts = joint_parts(robot, motion)
    whole, alone = of(robot, parts, motion), of(robot, parts, motion, projected=False)
    np.testing.assert_allclose(alone.tree_force, whole.tree_force, rtol=1e-12, atol=1e-12)
    assert np.isnan(alone.force).all()
    assert alone.force.shape == whole.force.shape
    parts["position"][1, 0, 0] = np.nan
    for projected in (True, False):
        lost = of(robot, parts, motion, projected=projected)
        assert lost.status[1] != 0
        assert np.isnan(lost.tree_force[1]).all()
        assert (np.delete(lost.status, 1) == 0).all()


def test_a_tree_has_its_forces_where_a_limb_is_stretched() -> None:
    robot = catalog.build("five_bar")
    home = np.asarray(robot.mechanism.platform.home.position, dtype=float)
    near, far = home, home - np.array([0.0, 0.0, 2.0])
    for _ in range(40):
        middle = 0.5 * (near + far)
        near, far = (middle, far) if inverse_kinematics(robot, position=middle).status == 0 else (near, middle)
    motion = Motion(position=near)
    parts, before = joint_parts(robot, motion), joint_parts(robot, Motion(position=near + np.array([0.0, 0.0, 1e-3])))
    bend = parts["position"][0, 1] - before["position"][0, 1]
    parts["position"][0, 1] += 0.02 * np.sign(bend)  # towards a stretched limb, and beyond
    wide = (0.1, 1.0, 1.0)
    statuses = []
    for _ in range(40):
        parts["position"][0, 1] -= 1e-3 * np.sign(bend)
        statuses.append(int(of(robot, parts, motion, tolerance=wide).status))
        alone = of(robot, parts, motion, tolerance=wide, projected=False)
        assert alone.status == Status.OK
        assert np.isfinite(alone.tree_force[0, :2]).all()
    assert {Status.SINGULAR, Status.WRONG_BRANCH} & {*statuses}


def test_wrong_joints_are_refused() -> None:
    delta, chain = catalog.build("delta_3rr2rrr"), catalog.build("planar_3r")
    zero = np.zeros((3, 5))
    with pytest.raises(ValueError, match=r"joints: got an array of shape \(3, 4\); expected \(\*batch, 3, 5\)"):
        ls.spanning_tree_dynamics(delta, ls.JointMotion(position=zero[:, :4]), position=[0.0, 0.0, -0.9])
    with pytest.raises(ValueError, match=r"joints, velocity: got an array of shape"):
        ls.spanning_tree_dynamics(delta, ls.JointMotion(position=zero, velocity=zero[:2]), position=[0.0, 0.0, -0.9])
    for wrong in ([1e-3, 1e-3], [1e-3, 0.0, 1e-3], [1e-3, np.nan, 1e-3]):
        with pytest.raises(ValueError, match="tolerance: got"):
            ls.spanning_tree_dynamics(delta, ls.JointMotion(position=zero), position=[0, 0, -0.9], tolerance=wrong)
    with pytest.raises(ValueError, match="q: got it beside all joints of a chain; leave it out"):
        ls.spanning_tree_dynamics(chain, ls.JointMotion(position=np.zeros((1, 3))), q=[0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"joints: got an object of type tuple; expected a limbsweep.JointMotion"):
        ls.spanning_tree_dynamics(chain, (zero,))  # type: ignore[arg-type]
