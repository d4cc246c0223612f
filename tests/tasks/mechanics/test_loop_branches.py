"""Branches of closed chains: what the reference configuration is connected to, and nothing beyond a fold of loops."""

from __future__ import annotations

import numpy as np
import pytest

from robots import catalog
from robots.status import Status
from tasks import inverse_kinematics
from tests.reference.branches import CHAINS
from tests.reference.continuation import branches, compare
from tests.tasks.bits import bits

POSES = 400


@pytest.mark.parametrize("name", CHAINS)
def test_parallelograms_stay_what_they_are(name: str) -> None:
    """They fold where two of their bars are on one line; antiparallelograms begin there, with det G_y as before."""
    robot, rng = catalog.build(name), np.random.default_rng(5)
    q = rng.uniform(-np.pi, np.pi, (POSES, len(robot.mechanism.freedoms)))
    expected, reached = CHAINS[name](robot.values, q)
    solved = inverse_kinematics(robot, q=q)
    np.testing.assert_array_equal(solved.status == Status.OK, reached)
    assert set(solved.status[~reached]) <= {Status.WRONG_BRANCH, Status.NOT_REACHABLE}
    names = [link.joint for link in robot.mechanism.limbs[0].links]
    for joint, value in expected.items():
        gap = solved.position[reached, 0, names.index(joint)] - value[reached]
        np.testing.assert_allclose((gap + np.pi) % (2.0 * np.pi) - np.pi, 0.0, atol=1e-9)


@pytest.mark.parametrize("turns", [(1.0, -1.0), (-1.0, 1.0)])
def test_the_other_way_round_is_a_way(turns: tuple[float, float]) -> None:
    """Straight from zero, crank and arm would fold on each other; both turning the same way they do not."""
    robot = catalog.build("irb6")
    q = np.array([0.0, 3.0 * turns[0], 3.0 * turns[1], 0.0, 0.0])
    assert inverse_kinematics(robot, q=q).status == Status.OK


def test_other_samples_of_a_vector_change_no_bit() -> None:
    robot, rng = catalog.build("irb6"), np.random.default_rng(6)
    near, far = rng.uniform(-0.4, 0.4, (7, 5)), np.array([[0.0, 3.0, -3.0, 0.0, 0.0]])
    alone = inverse_kinematics(robot, q=near).position
    together = inverse_kinematics(robot, q=np.vstack([near, far])).position
    np.testing.assert_array_equal(bits(alone), bits(together[:7]))


def test_ways_turn_aside_through_necks() -> None:
    """Rooms of an ankle behind necks, in any company; but not what its rods do not reach."""
    robot = catalog.build("ankle")
    behind = np.array([[0.07, 2.83], [0.31, -2.97], [2.08, -2.75], [3.12, -1.61]])
    out_of_reach = np.array([[1.6, 0.0], [-1.5, 1.5]])
    together = inverse_kinematics(robot, q=np.vstack([np.zeros((3, 2)), behind, out_of_reach]))
    np.testing.assert_array_equal(together.status, [Status.OK] * 7 + [Status.NOT_REACHABLE] * 2)
    alone = inverse_kinematics(robot, q=behind[2:3])
    np.testing.assert_array_equal(bits(alone.position), bits(together.position[5:6]))


@pytest.mark.parametrize(("name", "poses"), [("irb6", 12), ("six_bar", 8)])
def test_chains_beside_paths_in_small_steps(name: str, poses: int) -> None:
    robot = catalog.build(name)
    q = np.random.default_rng(7).uniform(-np.pi, np.pi, (poses, len(robot.mechanism.freedoms)))
    solved = inverse_kinematics(robot, q=q)
    solves = solved.status == Status.OK
    reached, right = compare(branches(robot.mechanism, q), solved.position, solves)
    assert (reached <= solves).all()  # so few poses may leave gaps in what the reference reaches
    np.testing.assert_array_equal(right, reached)
    assert reached.sum() > poses / 6
