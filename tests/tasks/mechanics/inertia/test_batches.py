"""The inertia matrix of a robot for a batch: batch dims, methods, and the equations of motion beside it."""

from __future__ import annotations

import numpy as np
import pytest

from robots import catalog
from robots.catalog import five_axis_tree, planar_3r, rover_rocker
from robots.model import Robot
from tasks import bias_vector, equations_of_motion, inertia_element, inertia_matrix, inverse_dynamics
from tasks.mechanics.inertia import METHODS
from tasks.mechanics.inertia import inertia_matrix as of_links
from tests.tasks import trees

TREES = [module.FAMILIES[0] for module in (planar_3r, rover_rocker, five_axis_tree)]


@pytest.mark.parametrize("family", TREES, ids=lambda each: each.name)
def test_all_methods_give_the_matrix_of_the_equations_of_motion(family) -> None:
    robot = Robot.of(family, {})
    q = np.random.default_rng(2).normal(size=(3, 2, len(robot.mechanism.freedoms)))
    expected = equations_of_motion(robot, q=q).mass
    for method in METHODS:
        found = inertia_matrix(robot, q=q, method=method).matrix
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max(), err_msg=method)
    links = robot.mechanism.limbs[0].links
    one = of_links(links, trees.joint_states(links, q[2, 1]))
    np.testing.assert_allclose(inertia_matrix(robot, q=q[2, 1]).matrix, one, rtol=1e-13, atol=1e-15)


def test_a_sample_that_is_not_a_number_stays_alone() -> None:
    robot = Robot.of(rover_rocker.ROVER_ROCKER, {})
    q = np.zeros((4, 5))
    q[1, 1] = np.nan
    found = inertia_matrix(robot, q=q).matrix
    assert np.isnan(found[1]).any()
    assert np.isfinite(found[[0, 2, 3]]).all()


def test_a_closed_chain_has_more_samples_than_numbers_of_a_motion() -> None:
    robot = catalog.build("three_loop_leg")
    q = np.linspace(-0.4, 0.4, 25)[:, None]
    found, element = inertia_matrix(robot, q=q), inertia_element(robot, 0, 0, q=q)
    assert not found.status.any()
    assert (found.matrix == [inertia_matrix(robot, q=row).matrix for row in q]).all()
    np.testing.assert_allclose(element.value, found.matrix[:, 0, 0], rtol=1e-12)


def test_platforms_have_one_method() -> None:
    robot = catalog.build("five_bar")
    position = robot.mechanism.platform.home.position
    assert inertia_matrix(robot, position=position).matrix.shape == (2, 2)
    with pytest.raises(ValueError, match="method: got 'explicit' for five_bar; expected 'crba': others are for chains"):
        inertia_matrix(robot, position=position, method="explicit")


def test_unknown_methods_and_missing_joints_are_told() -> None:
    robot = Robot.of(planar_3r.PLANAR_3R, {})
    with pytest.raises(ValueError, match="method: got 'abc'; expected one of crba, explicit"):
        inertia_matrix(robot, q=np.zeros(3), method="abc")
    with pytest.raises(ValueError, match=r"q: got an array of shape \(2,\); expected"):
        inertia_matrix(robot, q=np.zeros(2))


@pytest.mark.parametrize("family", TREES, ids=lambda each: each.name)
def test_single_elements_and_bias_of_a_batch(family) -> None:
    """Compare elements with the matrix, the bias with inverse dynamics without acceleration, in the robot's mount."""
    robot = Robot.of(family, {})
    q, qd = np.random.default_rng(4).normal(size=(2, 3, 2, len(robot.mechanism.freedoms)))
    matrix = inertia_matrix(robot, q=q).matrix
    rows = range(matrix.shape[-1])
    elements = np.stack(
        [np.stack([inertia_element(robot, u, k, q=q).value for k in rows], axis=-1) for u in rows], axis=-2
    )
    np.testing.assert_allclose(elements, matrix, rtol=0.0, atol=1e-13 * np.abs(matrix).max())
    force = inverse_dynamics(robot, q=q, qd=qd, gravity=(1.0, -9.0, 2.0)).force
    bias = bias_vector(robot, q=q, qd=qd, gravity=(1.0, -9.0, 2.0)).force
    np.testing.assert_allclose(bias, force, rtol=0.0, atol=1e-12 * np.abs(force).max())


def test_single_elements_are_of_chains() -> None:
    arm = Robot.of(planar_3r.PLANAR_3R, {})
    with pytest.raises(ValueError, match="robot: got five_bar, which has loops or a platform; expected a tree"):
        bias_vector(catalog.build("five_bar"), q=[0.0, 0.0], qd=[0.0, 0.0])
    with pytest.raises(ValueError, match=r"row, column: got \(3, 0\) for planar_3r"):
        inertia_element(arm, 3, 0, q=np.zeros(3))
    with pytest.raises(ValueError, match="column: got 'joint_4'; expected the number or the name of a freedom"):
        inertia_element(arm, "joint_1", "joint_4", q=np.zeros(3))
    with pytest.raises(ValueError, match=r"row: got 1\.0; expected a whole number or a text"):
        inertia_element(arm, 1.0, 0, q=np.zeros(3))  # type: ignore[arg-type]
    bent = np.array([0.1, 0.2, 0.3])
    assert inertia_element(arm, "joint_1", "joint_3", q=bent).value == inertia_element(arm, 0, 2, q=bent).value
    with pytest.raises(ValueError, match=r"q: got an array of shape \(2,\); expected"):
        inertia_element(arm, 0, 0, q=np.zeros(2))
    with pytest.raises(ValueError, match="robot: got five_bar, which has loops or a platform"):
        inertia_element(catalog.build("five_bar"), 0, 0, q=np.zeros(2))


def test_closed_chains_have_the_methods_and_elements_of_their_trees() -> None:
    robot = catalog.build("three_loop_leg")
    q = np.array([[0.1], [-0.15], [40.0]]) * np.ones((3, len(robot.mechanism.freedoms)))
    expected = equations_of_motion(robot, q=q).mass
    assert np.isfinite(expected[:2]).all()
    assert np.isnan(expected[2]).all()
    for method in METHODS:
        found = inertia_matrix(robot, q=q, method=method).matrix
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * np.nanmax(expected), err_msg=method)


def test_elements_of_a_closed_chain_with_drives() -> None:
    robot = catalog.build("irb6")
    q = np.random.default_rng(4).uniform(-0.2, 0.2, (2, len(robot.mechanism.freedoms)))
    expected = equations_of_motion(robot, q=q).mass
    assert robot.mechanism.limbs[0].loops
    for row, column in ((0, 0), (1, 2), (4, 1)):
        found = inertia_element(robot, row, column, q=q).value
        np.testing.assert_allclose(found, expected[:, row, column], rtol=0.0, atol=1e-12 * np.abs(expected).max())
    with pytest.raises(ValueError, match=r"row, column: got \(5, 0\) for irb6, whose inertia matrix has 5 rows"):
        inertia_element(robot, 5, 0, q=q)
