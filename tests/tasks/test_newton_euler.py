"""The recursion on random trees against Pinocchio, and single bodies against the textbook."""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robots.model import BASE, Frame, Inertia, Link
from tasks.kinematics import JointState
from tasks.newton_euler import Massing, inverse_dynamics, spin_matrix

PARENTS = (BASE, 0, 0, 1, 2, 1, 4)
AXES = np.array([*np.eye(3), *-np.eye(3)])


@pytest.fixture(name="peer", scope="module")
def _peer() -> ModuleType:
    pytest.importorskip("pinocchio", reason="no second engine to compare with: Pinocchio (package pin) is missing")
    from tests.reference import tree_pinocchio

    return tree_pinocchio


def body(rng: np.random.Generator) -> Inertia:
    spread = rng.normal(size=(3, 3))
    moments = spread @ spread.T
    tensor = np.trace(moments) * np.eye(3) - moments
    return Inertia(rng.uniform(0.5, 3.0), tuple(rng.normal(size=3)), tuple(map(tuple, tensor)))  # type: ignore[arg-type]


def random_tree(rng: np.random.Generator) -> list[Link]:
    links = []
    for k, parent in enumerate(PARENTS):
        rotation = tuple(map(tuple, Rotation.random(rng=rng).as_matrix()))
        placement = Frame(rotation, tuple(rng.normal(size=3)))  # type: ignore[arg-type]
        kind = "prismatic" if rng.random() < 0.4 else "revolute"
        axis = tuple(AXES[rng.integers(6)])
        links.append(Link(str(k), f"body{k}", parent, kind, axis, placement, body(rng)))  # type: ignore[arg-type]
    return links


@pytest.mark.parametrize("seed", range(10))
def test_trees_agree_with_pinocchio(peer: ModuleType, seed: int) -> None:
    rng = np.random.default_rng(seed)
    links, gravity = random_tree(rng), rng.normal(size=3) * 9.0
    q, qd, qdd = rng.normal(size=(3, len(links)))
    bodies = [
        peer.TreeBody(
            link.parent,
            np.array(link.placement.rotation),
            np.array(link.placement.position),
            np.array(link.axis),
            link.kind,
            link.inertia.mass,
            np.array(link.inertia.centre),
            np.array(link.inertia.tensor),
        )
        for link in links
    ]
    expected = peer.tree_pinocchio(bodies, gravity).rnea(q, qd, qdd)
    states = [
        JointState(math.cos(x), math.sin(x)) if link.kind == "revolute" else JointState(shift=x)
        for link, x in zip(links, q, strict=True)
    ]
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
    inertia = body(rng)
    omega, alpha, acceleration = rng.normal(size=(3, 3))
    moment, force = Massing.of(inertia).wrench(spin_matrix(omega, alpha), acceleration)
    centre, tensor = np.array(inertia.centre), np.array(inertia.tensor)
    lift = acceleration + np.cross(alpha, centre) + np.cross(omega, np.cross(omega, centre))
    np.testing.assert_allclose(force, inertia.mass * lift, rtol=1e-12)
    euler = tensor @ alpha + np.cross(omega, tensor @ omega) + np.cross(centre, inertia.mass * lift)
    np.testing.assert_allclose(moment, euler, rtol=1e-12, atol=1e-12)
