"""Articulated bodies: they undo the inertia matrix and the recursion, and say where there is no inertia to undo."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robots import catalog
from robots.drives import Drive, Spin
from robots.model import Inertia, Limb, Link, Robot
from robots.types import ZERO
from tasks.dynamics.equations import inertia_matrix
from tasks.dynamics.forward import forward_dynamics
from tasks.dynamics.inertia import acceleration_program
from tasks.dynamics.inverse import inverse_dynamics
from tasks.dynamics.records import Forces
from tasks.mechanics import recursion
from tasks.mechanics.inertia import methods
from tasks.mechanics.inertia.articulated import ArticulatedTree
from tasks.mechanics.recursion import Field
from tests.tasks import trees

NOTHING = Inertia(0.0, ZERO, (ZERO, ZERO, ZERO))


def as_limb(links: list[Link], drives: tuple[Drive, ...] = ()) -> Limb:
    return Limb("tree", tuple(links), (), (), tuple(link.joint for link in links), drives=drives)


def tree_of(links: list[Link], q: np.ndarray, drives: tuple[Drive, ...] = ()) -> ArticulatedTree:
    found = ArticulatedTree.of(as_limb(links, drives), trees.joint_states(links, q))
    assert found is not None
    return found


def at_random(seed: int, count: int) -> tuple[np.random.Generator, list[Link], np.ndarray, np.ndarray]:
    """A tree with armatures in some of its joints, positions and rates."""
    rng = np.random.default_rng(seed)
    links = trees.random_tree(rng, trees.random_parents(rng, count))
    heavy = [replace(link, armature=rng.uniform(0.0, 5.0)) if rng.random() < 0.5 else link for link in links]
    return rng, heavy, *rng.normal(size=(2, count))


@given(st.integers(0, 2**32 - 1), st.integers(1, 20))
def test_accelerations_undo_the_recursion_on_a_base_that_moves(seed: int, count: int) -> None:
    rng, links, q, qd = at_random(seed, count)
    wanted, field = rng.normal(size=count), Field(*rng.normal(size=(3, 3)))
    states = trees.joint_states(links, q)
    forces = np.array(recursion.inverse_dynamics(links, states, qd, wanted, field), dtype=float)
    found = tree_of(links, q).accelerations(qd, forces, field)
    size = np.linalg.cond(methods.inertia_matrix(links, states))
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-14 * size * (1.0 + np.abs(wanted).max()))


@given(st.integers(0, 2**32 - 1), st.integers(1, 20))
def test_a_solution_times_the_inertia_matrix_is_the_force(seed: int, count: int) -> None:
    rng, links, q, _ = at_random(seed, count)
    force, matrix = rng.normal(size=count), methods.inertia_matrix(links, trees.joint_states(links, q))
    found = tree_of(links, q).solve(force)
    np.testing.assert_allclose(matrix @ found, force, rtol=0.0, atol=1e-11 * (np.abs(matrix) @ np.abs(found)).max())
    assert not tree_of(links, q).massless


@pytest.mark.parametrize("last", ["massless", "point on its own axis"])
def test_a_joint_that_moves_nothing_is_told(last: str) -> None:
    rng = np.random.default_rng(3)
    links = trees.random_tree(rng, [-1, 0, 1], sliding=0.0, winding=0.0)
    axis = np.array(links[2].axis)
    body = NOTHING if last == "massless" else replace(NOTHING, mass=1.0, centre=tuple(0.3 * axis))  # type: ignore[arg-type]
    links[2] = replace(links[2], inertia=body)
    assert tree_of(links, rng.normal(size=3)).massless
    assert not tree_of([*links[:2], replace(links[2], armature=1e-6)], rng.normal(size=3)).massless


def test_rotors_that_a_joint_alone_feels_are_armatures_and_others_are_left_to_the_matrix() -> None:
    rng = np.random.default_rng(4)
    links = trees.random_tree(rng, [-1, 0])
    q, force = rng.normal(size=2), rng.normal(size=2)

    def drives(second: tuple[tuple[str, float], ...], coupling: float = 0.0) -> tuple[Drive, ...]:
        rotor = Spin(1e-4, 0, (0.0, 0.0, 1.0), share=50.0, coupling=coupling)
        return Drive("motor_0", (("0", 2.0),), spins=(rotor,)), Drive("motor_1", second, spins=(rotor,))

    simple = tree_of(links, q, drives((("1", 3.0),)))
    heavy = [replace(links[0], armature=1e-4 * 100.0**2), replace(links[1], armature=1e-4 * 150.0**2)]
    np.testing.assert_allclose(simple.solve(force), tree_of(heavy, q).solve(force), rtol=1e-13)
    states = trees.joint_states(links, q)
    assert ArticulatedTree.of(as_limb(links, drives((("0", 1.0), ("1", 3.0)))), states) is None
    assert ArticulatedTree.of(as_limb(links, drives((("1", 3.0),), coupling=1.0)), states) is None


@pytest.mark.parametrize("name", ["five_axis_tree", "planar_3r", "ur5e"])
def test_forward_dynamics_of_a_tree_undoes_its_inverse_dynamics(name: str) -> None:
    robot = Robot.of(catalog.family(name), {})
    assert acceleration_program(robot.family) is not None
    rng, joints = np.random.default_rng(6), len(robot.mechanism.freedoms)
    q, qd, qdd = rng.normal(size=(3, 5, joints))
    force = inverse_dynamics(robot, q=q, qd=qd, qdd=qdd).force
    moved = forward_dynamics(robot, q=q, qd=qd, forces=Forces(actuator=force))
    found, status = moved.acceleration, moved.status
    assert (status == 0).all()
    size = np.linalg.cond(inertia_matrix(robot, q=q).matrix).max()
    np.testing.assert_allclose(found, qdd, rtol=0.0, atol=1e-14 * size * np.abs(qdd).max())
