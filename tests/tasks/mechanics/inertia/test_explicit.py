"""Elements alone: all eight cases, and the textbook's planar arm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robots.catalog import planar_3r
from robots.joint_kinds import TREE_KINDS
from robots.model import Link, Robot
from robots.types import BASE, JointKind
from tasks.mechanics.inertia import explicit, inertia_matrix
from tasks.mechanics.inertia.placed import Placed
from tasks.mechanics.recursion import inverse_dynamics
from tests.tasks import trees


def chain(kinds: dict[int, JointKind]) -> list[Link]:
    """Four links in a row and a branch, whose joints 1 and 2 are of these kinds."""
    links = trees.random_tree(np.random.default_rng(7), (BASE, 0, 1, 2, 0))
    pitches: dict[JointKind, float] = {"screw": 0.3}
    return [
        replace(link, kind=kinds[k], pitch=pitches.get(kinds[k])) if k in kinds else link
        for k, link in enumerate(links)
    ]


@pytest.mark.parametrize("place", ["before", "from"])
@pytest.mark.parametrize("k_kind", TREE_KINDS)
@pytest.mark.parametrize("u_kind", TREE_KINDS)
def test_each_case_is_the_force_of_an_acceleration(u_kind: JointKind, k_kind: JointKind, place: str) -> None:
    """Compare with inverse dynamics: the force at joint u for an acceleration of joint k; a screw is two cases."""
    u, k = (2, 1) if place == "before" else (1, 2)
    links = chain({u: u_kind, k: k_kind})
    states = trees.joint_states(links, [0.3, -0.8, 1.2, 0.5, 0.1])
    expected = inverse_dynamics(links, states, np.zeros(5), np.eye(5)[k], np.zeros(3))[u]
    assert explicit.element(links, states, u, k) == pytest.approx(expected, rel=1e-12)
    assert abs(expected) > 0.1


def test_the_cases_are_the_eight_of_the_paper() -> None:
    """Case 3 is for two revolute joints: as printed, it would be case 4 over again, and there would be seven."""
    assert [each.equation for each in explicit.CASES.values()] == list(range(30, 38))
    assert explicit.CASES["turns", "turns", "from"].equation == 32


def test_an_element_alone_is_that_of_the_matrix() -> None:
    rng = np.random.default_rng(11)
    links = trees.random_tree(rng, (BASE, 0, 0, 1, 2, 1, 4, BASE))
    links[3] = replace(links[3], armature=0.7)
    states = trees.joint_states(links, rng.normal(size=8))
    whole = inertia_matrix(links, states, "explicit")
    alone = np.array([[explicit.element(links, states, u, k) for k in range(8)] for u in range(8)])
    np.testing.assert_allclose(alone, whole, rtol=0.0, atol=1e-14 * np.abs(whole).max())
    np.testing.assert_array_equal(alone == 0.0, whole == 0.0)
    assert alone[1, 2] == alone[7, 0] == alone[3, 5] == 0.0  # on different branches


def test_an_element_does_not_depend_on_joints_before_it() -> None:
    rng = np.random.default_rng(12)
    links = trees.random_tree(rng, (BASE, 0, 1, 2), sliding=0.0, winding=0.0)
    q = rng.normal(size=4)
    first = explicit.element(links, trees.joint_states(links, q), 2, 1)
    second = explicit.element(links, trees.joint_states(links, q + np.array([1.0, 2.0, 0.0, 0.0])), 2, 1)
    assert first == second != 0.0


def test_the_planar_arm_is_that_of_the_textbook() -> None:
    """Compare with the closed form, with the squares and factors that the paper misprints."""
    values = Robot.of(planar_3r.PLANAR_3R, {"centre_2": 0.17, "inertia_3": 0.02}).values
    links = Robot.of(planar_3r.PLANAR_3R, values).mechanism.limbs[0].links
    q = np.array([0.4, -1.1, 0.7])
    (l1, l2), (c1, c2, c3) = (values["length_1"], values["length_2"]), (values[f"centre_{k}"] for k in (1, 2, 3))
    (m1, m2, m3), (i1, i2, i3) = (values[f"mass_{k}"] for k in (1, 2, 3)), (values[f"inertia_{k}"] for k in (1, 2, 3))
    cos2, cos3, cos23 = np.cos(q[1]), np.cos(q[2]), np.cos(q[1] + q[2])
    m33 = i3 + m3 * c3**2
    m23 = m33 + m3 * l2 * c3 * cos3
    m13 = m23 + m3 * l1 * c3 * cos23
    m22 = i2 + m2 * c2**2 + m3 * (l2**2 + l2 * c3 * cos3) + m23
    m12 = m22 + m2 * l1 * c2 * cos2 + m3 * l1 * (l2 * cos2 + c3 * cos23)
    m11 = (
        i1 + m1 * c1**2 + i2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * cos2)
        + i3 + m3 * (l1**2 + l2**2 + c3**2 + 2 * (l1 * l2 * cos2 + l1 * c3 * cos23 + l2 * c3 * cos3))
    )  # fmt: skip
    expected = [[m11, m12, m13], [m12, m22, m23], [m13, m23, m33]]
    found = inertia_matrix(links, trees.joint_states(links, q), "explicit")
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_chains_and_subtrees_start_at_the_root() -> None:
    links = trees.random_tree(np.random.default_rng(1), (BASE, 0, 1, 1, 0))
    states = trees.joint_states(links, np.ones(5))
    whole, part = Placed.of(links, states), Placed.of(links, states, root=1)
    assert whole.chain(3) == (0, 1, 3)
    assert whole.subtree(1) == (1, 2, 3)
    assert list(part.bodies) == [1, 2, 3]
    assert part.chain(3) == (1, 3)
    np.testing.assert_array_equal(part.bodies[1].axis, links[1].axis)
