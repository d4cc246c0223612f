"""Reactions of trees: every wrench against the body forces of Pinocchio, for the papers' trees and for random ones."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import regions
from robots import catalog
from robots.model import Family, Mechanism, Robot
from robots.status import Status
from tasks import forward_dynamics, inverse_dynamics, joint_reactions
from tasks.dynamics.records import Forces
from tasks.mechanics import recursion
from tests.catalogue import CHAINS, TREES
from tests.tasks import trees

GRAVITY = (1.0, -2.0, -9.0)


@pytest.fixture(scope="module")
def peer() -> ModuleType:
    return trees.engine()


def _agree(robot: Robot, states: Any, peer: ModuleType) -> None:
    tree = trees.in_pinocchio(peer, robot.mechanism.limbs[0].links, GRAVITY)
    found = joint_reactions(robot, **states, gravity=GRAVITY).wrench[:, 0]
    expected = np.array([tree.wrenches(*state) for state in zip(*states.values(), strict=True)])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    assert np.abs(expected).max() > 5.0


@pytest.mark.parametrize("name", TREES)
def test_reactions_are_the_body_forces_of_pinocchio(name: str, peer: ModuleType) -> None:
    robot = catalog.build(name)
    _agree(robot, regions.states(robot, 16), peer)


@pytest.mark.parametrize("seed", [1, 2])
def test_so_are_those_of_random_trees(seed: int, peer: ModuleType) -> None:
    rng, count = np.random.default_rng(seed), 6
    links = tuple(trees.random_tree(rng, trees.random_parents(rng, count)))
    joints = tuple(link.joint for link in links)
    made = Family(f"random_tree_{seed}", "made up", "made up", (), lambda p: Mechanism.chain("tree", links, joints))
    q, qd, qdd = rng.normal(size=(3, 8, count))
    _agree(Robot.of(made, {}), {"q": q, "qd": qd, "qdd": qdd}, peer)


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.integers(1, 30))
def test_so_are_those_of_one_sample_of_any_tree(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    links = trees.random_tree(rng, trees.random_parents(rng, count))
    q, qd, qdd = rng.normal(size=(3, count))
    states = trees.joint_states(links, q)
    field = recursion.Field.of(np.array(GRAVITY))
    own = recursion.body_wrenches(links, recursion.body_motions(links, states, qd, qdd, field))
    found = recursion.joint_wrenches(links, states, own)
    peer = trees.engine()
    tree = trees.in_pinocchio(peer, links, GRAVITY)
    expected = tree.wrenches(q, qd, qdd)
    for (moment, force), wrench in zip(found, expected, strict=True):
        for part, other in ((moment, wrench[:3]), (force, wrench[3:])):
            assert np.linalg.norm(part.astype(float)) == pytest.approx(
                np.linalg.norm(other), rel=1e-9, abs=1e-9 * np.abs(expected).max()
            )


@pytest.mark.parametrize("name", sorted(set(CHAINS) - {"rover_rocker"}))
def test_forward_dynamics_gives_back_the_accelerations(name: str) -> None:
    robot = catalog.build(name)
    states = regions.states(robot, 64)
    force = inverse_dynamics(robot, **states, gravity=GRAVITY).force
    moved = forward_dynamics(robot, q=states["q"], qd=states["qd"], gravity=GRAVITY, forces=Forces(actuator=force))
    found, status = moved.acceleration, moved.status
    assert (status == Status.OK).all()
    np.testing.assert_allclose(found, states["qdd"], rtol=0, atol=1e-10 * np.abs(states["qdd"]).max())


def test_the_rover_has_no_accelerations() -> None:
    """Two of its links have no inertia about their joints: the rank of its mass matrix is 3 of 5."""
    robot = catalog.build("rover_rocker")
    states = regions.states(robot, 32)
    force = inverse_dynamics(robot, **states).force
    assert np.isfinite(force).all()
    moved = forward_dynamics(robot, q=states["q"], qd=states["qd"], forces=Forces(actuator=force))
    found, status = moved.acceleration, moved.status
    assert (status == Status.SINGULAR).all()
    assert np.isnan(found).all()
