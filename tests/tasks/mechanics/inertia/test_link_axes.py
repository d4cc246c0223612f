"""Composites in axes of links: turns of one plane, axes that are parallel or nearly so, and operations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robots.catalog import five_axis_tree, rover_rocker
from robots.model import Family, Robot
from tasks.kernels.interpreter import interpret
from tasks.kernels.kernel import Kernel
from tasks.kernels.program import trace
from tasks.mechanics.inertia import crba, link_axes, methods
from tasks.mechanics.inertia.link_axes import EulerTurns, PlaneTurn
from tasks.mechanics.inertia.placed import Placed
from tasks.mechanics.kinematics import state_at
from tests.tasks import trees
from tests.tasks.bits import assert_same_bits

TREES = [five_axis_tree.FIVE_AXIS_TREE, rover_rocker.ROVER_ROCKER]
HALF = np.diag([1.0, -1.0, -1.0])


@pytest.mark.parametrize("about", [link_axes.X, link_axes.Z])
@pytest.mark.parametrize("angle", [0.0, 0.3, -2.0])
@pytest.mark.parametrize("square", [False, True], ids=["", "a right angle more"])
def test_a_turn_of_a_tensor_is_the_product_with_its_matrix(about: int, angle: float, square: bool) -> None:
    turn = PlaneTurn(about, np.cos(angle), np.sin(angle))
    if square:
        turn = turn.after(PlaneTurn(about, 0.0, 1.0))
    rotation = Rotation.from_rotvec((angle + square * np.pi / 2) * np.eye(3)[about]).as_matrix()
    np.testing.assert_allclose(turn.matrix, rotation, rtol=0.0, atol=1e-15)
    tensor = np.random.default_rng(1).normal(size=(3, 3))
    tensor = tensor + tensor.T
    np.testing.assert_allclose(turn.tensor(tensor), rotation @ tensor @ rotation.T, rtol=0.0, atol=1e-14)


def tilted(sine: float, about: float, turn: float) -> np.ndarray:
    """A rotation whose z axis is inclined by a small sine, in a direction."""
    return (Rotation.from_euler("ZXZ", [about, np.arcsin(sine), turn])).as_matrix()


ROTATIONS = [
    np.eye(3),
    HALF,
    np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    *(tilted(sine, 1.1, -0.4) @ last for sine in (1e-17, 1e-15, 1e-14, 1e-9, 1e-3) for last in (np.eye(3), HALF)),
    *Rotation.random(20, np.random.default_rng(2)).as_matrix(),
]


def rotation_of(euler: EulerTurns) -> np.ndarray:
    return np.asarray(euler.leading.matrix @ euler.tilt.matrix @ euler.last.matrix)


@pytest.mark.parametrize("rotation", ROTATIONS)
def test_three_turns_make_a_rotation(rotation: np.ndarray) -> None:
    np.testing.assert_allclose(rotation_of(EulerTurns.of(rotation)), rotation, rtol=0.0, atol=3e-15)


def test_three_turns_make_rotations_that_only_the_case_tells() -> None:
    def one_sample(rotation: np.ndarray, x: np.ndarray) -> dict[str, np.ndarray]:
        return {"made": rotation_of(EulerTurns.of(rotation)).ravel() * x[0]}

    program = trace("turns", one_sample, case={"rotation": (3, 3)}, sample={"x": (1,)})
    given = {"rotation": np.array(ROTATIONS).reshape(len(ROTATIONS), 9), "x": np.ones((1, 1, 8))}
    found = Kernel(program)(given, 8)
    assert_same_bits(found, interpret(program, given, 8))
    np.testing.assert_allclose(found["made"][..., 0], given["rotation"], rtol=0.0, atol=3e-15)


def test_deep_trees_are_in_the_axes_of_the_base() -> None:
    rng = np.random.default_rng(3)
    for count, way in ((5, link_axes.matrix), (30, lambda *tree: crba.matrix(Placed.of(*tree)))):
        links = trees.random_tree(rng, range(-1, count - 1))
        states = trees.joint_states(links, rng.normal(size=count))
        drives = np.diag([link.armature for link in links])
        np.testing.assert_array_equal(methods.METHODS["crba"](links, states), way(links, states) + drives)


@pytest.mark.parametrize("family", TREES, ids=lambda family: family.name)
def test_they_take_fewer_operations_than_axes_of_the_base(family: Family) -> None:
    limb = Robot.of(family, {}).mechanism.limbs[0]

    def operations(way) -> int:
        def one_sample(q: np.ndarray) -> dict[str, np.ndarray]:
            return {"inertia": way(limb.links, [state_at(*pair) for pair in zip(limb.links, q, strict=True)]).ravel()}

        program = trace("inertia", one_sample, case={}, sample={"q": (len(limb.links),)})
        return sum(program.operations().values())

    base = operations(lambda links, states: crba.matrix(Placed.of(links, states)))
    assert operations(link_axes.matrix) < 0.85 * base
