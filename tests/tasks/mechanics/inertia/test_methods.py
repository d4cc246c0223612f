"""Four methods for one matrix: against each other, against inverse dynamics, and against Pinocchio."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robots.catalog import five_axis_tree, planar_3r, rover_rocker, three_loop_leg
from robots.model import Link, Robot
from tasks.mechanics.inertia import METHODS, inertia_matrix
from tasks.mechanics.inertia.explicit import bias
from tasks.mechanics.recursion import inverse_dynamics
from tests.tasks import trees

PAPERS = [module.FAMILIES[0] for module in (planar_3r, rover_rocker, five_axis_tree, three_loop_leg)]
peer = pytest.fixture(scope="module")(trees.engine)

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 30)


def all_methods(links: list[Link], q: np.ndarray) -> dict[str, np.ndarray]:
    """The matrix by every method, held to be alike, symmetric and positive semidefinite."""
    found = {name: inertia_matrix(links, trees.joint_states(links, q), name) for name in METHODS}
    size = np.abs(found["crba"]).max()
    for name, matrix in found.items():
        np.testing.assert_allclose(matrix, found["crba"], rtol=0.0, atol=1e-12 * size, err_msg=name)
        np.testing.assert_allclose(matrix, matrix.T, rtol=0.0, atol=1e-14 * size, err_msg=name)
        assert np.linalg.eigvalsh(matrix).min() >= -1e-13 * size, name
    return found


def compare(peer: ModuleType, links: list[Link], rng: np.random.Generator) -> None:
    """Matrix and bias vector at a random state against Pinocchio's composite bodies and recursion."""
    gravity = rng.normal(size=3) * 9.0
    q, qd = rng.normal(size=(2, len(links))) * 2.0
    other = trees.in_pinocchio(peer, links, gravity)
    expected = other.inertia_matrix(q)
    for name, matrix in all_methods(links, q).items():
        np.testing.assert_allclose(matrix, expected, rtol=0.0, atol=1e-10 * np.abs(expected).max(), err_msg=name)
    pull = other.rnea(q, qd, np.zeros(len(links)))
    got = bias(links, trees.joint_states(links, q), qd, gravity)
    np.testing.assert_allclose(got, pull, rtol=0.0, atol=1e-10 * np.abs(pull).max())


@given(seeds, sizes)
def test_random_trees_agree_with_pinocchio(peer: ModuleType, seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    compare(peer, trees.random_tree(rng, trees.random_parents(rng, size)), rng)


@pytest.mark.parametrize("family", PAPERS, ids=lambda family: family.name)
def test_trees_of_the_papers_agree_with_pinocchio(peer: ModuleType, family) -> None:
    rng = np.random.default_rng(5)
    links = list(Robot.of(family, {}).mechanism.limbs[0].links)
    for _ in range(5):
        compare(peer, links, rng)


@given(seeds, sizes)
def test_columns_are_forces_of_unit_accelerations(seed: int, size: int) -> None:
    """Compare with the recursion on bodies, which shares only poses with the four methods."""
    rng = np.random.default_rng(seed)
    links = [
        replace(link, armature=rng.uniform(0.0, 5.0))
        for link in trees.random_tree(rng, trees.random_parents(rng, size))
    ]
    q, qd = rng.normal(size=(2, size))
    states, still = trees.joint_states(links, q), np.zeros(size)
    columns = [inverse_dynamics(links, states, still, unit, np.zeros(3)) for unit in np.eye(size)]
    found = all_methods(links, q)["explicit"]
    np.testing.assert_allclose(found, np.array(columns).T, rtol=0.0, atol=1e-12 * np.abs(found).max())
    expected = np.array(inverse_dynamics(links, states, qd, still, np.array([1.0, 2.0, -9.0])))
    got = bias(links, states, qd, np.array([1.0, 2.0, -9.0]))
    np.testing.assert_allclose(got, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


def test_the_rover_has_no_inertia_about_two_of_its_axes() -> None:
    links = list(Robot.of(rover_rocker.ROVER_ROCKER, {}).mechanism.limbs[0].links)
    for matrix in all_methods(links, np.array([0.3, -0.7, 1.1, 0.4, 2.0])).values():
        np.testing.assert_allclose(matrix[[2, 4]], 0.0, atol=1e-17)
        assert np.linalg.matrix_rank(matrix) == 3


def test_an_unknown_method_is_refused() -> None:
    text = "method: got 'momentun'; expected one of crba, explicit, momentum, pseudo_inertia; did you mean 'momentum'"
    with pytest.raises(ValueError, match=text):
        inertia_matrix([], [], "momentun")
