"""The recursion on random trees against Pinocchio, and single bodies against the textbook."""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np
import pytest

from robots.model import Frame, Inertia, Link
from robots.types import BASE
from tasks.mechanics.kinematics import JointState
from tasks.mechanics.recursion import Massing, inverse_dynamics, spin_matrix
from tests.tasks import trees

PARENTS = (BASE, 0, 0, 1, 2, 1, 4)


peer = pytest.fixture(scope="module")(trees.engine)


@pytest.mark.parametrize("seed", range(10))
def test_trees_agree_with_pinocchio(peer: ModuleType, seed: int) -> None:
    rng = np.random.default_rng(seed)
    links, gravity = trees.random_tree(rng, PARENTS), rng.normal(size=3) * 9.0
    q, qd, qdd = rng.normal(size=(3, len(links)))
    expected = trees.in_pinocchio(peer, links, gravity).rnea(q, qd, qdd)
    states = trees.joint_states(links, q)
    got = inverse_dynamics(links, states, qd, qdd, gravity)
    np.testing.assert_allclose(got, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


def test_the_drive_adds_its_inertia() -> None:
    still = Inertia(0.0, (0.0, 0.0, 0.0), ((0.0,) * 3,) * 3)  # type: ignore[arg-type]
    link = Link("1", "rotor", BASE, "revolute", (0.0, 0.0, 1.0), Frame(), still, armature=0.6)
    assert inverse_dynamics([link], [JointState()], [3.0], [2.0], np.zeros(3)) == [1.2]


def test_a_pendulum() -> None:
    bob = Inertia(2.0, (0.0, 0.0, -0.5), ((0.0,) * 3,) * 3)  # type: ignore[arg-type]
    link = Link("1", "bob", BASE, "revolute", (0.0, 1.0, 0.0), Frame(), bob)
    angle = 0.3
    torque = inverse_dynamics(
        [link], [JointState(math.cos(angle), math.sin(angle))], [5.0], [7.0], np.array([0, 0, -9.81])
    )
    assert torque[0] == pytest.approx(2.0 * 0.25 * 7.0 + 2.0 * 9.81 * 0.5 * math.sin(angle), rel=1e-14)


def test_second_moments_give_eulers_equations() -> None:
    rng = np.random.default_rng(3)
    inertia = trees.body(rng)
    omega, alpha, acceleration = rng.normal(size=(3, 3))
    moment, force = Massing.of(inertia).wrench(spin_matrix(omega, alpha), acceleration)
    centre, tensor = np.array(inertia.centre), np.array(inertia.tensor)
    lift = acceleration + np.cross(alpha, centre) + np.cross(omega, np.cross(omega, centre))
    np.testing.assert_allclose(force, inertia.mass * lift, rtol=1e-12)
    euler = tensor @ alpha + np.cross(omega, tensor @ omega) + np.cross(centre, inertia.mass * lift)
    np.testing.assert_allclose(moment, euler, rtol=1e-12, atol=1e-12)
