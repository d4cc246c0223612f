"""Programs of whole matrices and of single elements: the same numbers, and the same bits interpreted and compiled."""

from __future__ import annotations

import numpy as np
import pytest

from robots import catalog
from robots.catalog import five_axis_tree, planar_3r, rover_rocker
from robots.model import Robot
from tasks.dynamics.inertia import bias_program, element_program, matrix_program
from tasks.kernels.interpreter import interpret
from tasks.kernels.kernel import Kernel
from tasks.mechanics.inertia import METHODS, inertia_matrix
from tasks.mechanics.inertia.explicit import bias
from tests.tasks import trees
from tests.tasks.bits import assert_same_bits

ROVER = rover_rocker.ROVER_ROCKER
SAMPLES = 16


def inputs(family, *names: str) -> dict[str, np.ndarray]:
    """Default parameters and random sample inputs."""
    rng = np.random.default_rng(3)
    count = len(Robot.of(family, {}).mechanism.limbs[0].links)
    samples = {name: rng.normal(size=(1, count, SAMPLES)) for name in names}
    return samples | {"parameters": np.array([[each.default for each in family.parameters]])}


@pytest.mark.parametrize(("row", "column"), [(1, 0), (0, 0), (2, 3), (1, 4)])
def test_one_element_of_a_batch(row: int, column: int) -> None:
    program, given = element_program(ROVER, row, column), inputs(ROVER, "q")
    compiled, interpreted = Kernel(program)(given, SAMPLES), interpret(program, given, SAMPLES)
    assert_same_bits(compiled, interpreted)
    whole = Kernel(matrix_program(ROVER, "explicit"))(given, SAMPLES)["inertia"]
    np.testing.assert_allclose(compiled["element"][0, 0], whole[0, 5 * row + column], rtol=0.0, atol=1e-15)


def test_an_element_costs_less_than_the_matrix() -> None:
    whole = sum(matrix_program(ROVER, "explicit").operations().values())
    alone = [sum(element_program(ROVER, 1, column).operations().values()) for column in range(5)]
    assert alone[3] == alone[4] == 0  # on another branch
    assert max(alone) < 0.5 * whole


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", [planar_3r.PLANAR_3R, five_axis_tree.FIVE_AXIS_TREE], ids=lambda each: each.name)
def test_matrices_of_a_batch(family, method: str) -> None:
    program, given = matrix_program(family, method), inputs(family, "q")
    compiled = Kernel(program)(given, SAMPLES)
    assert_same_bits(compiled, interpret(program, given, SAMPLES))
    links = Robot.of(family, {}).mechanism.limbs[0].links
    for k in range(SAMPLES):
        expected = inertia_matrix(links, trees.joint_states(links, given["q"][0, :, k]))
        np.testing.assert_allclose(compiled["inertia"][0, :, k], expected.ravel(), rtol=1e-13, atol=1e-14)


def test_a_parameter_is_an_input() -> None:
    program, given = element_program(ROVER, 1, 1), inputs(ROVER, "q")
    given["parameters"] = np.repeat(given["parameters"], 2, axis=0)
    given["parameters"][1, [each.name for each in ROVER.parameters].index("link_2_inertia_zz")] = 0.25
    found = Kernel(program)(given, SAMPLES)["element"]
    np.testing.assert_allclose(found[1] - found[0], 0.25, rtol=1e-14)


def test_bias_vectors_of_a_batch() -> None:
    family = five_axis_tree.FIVE_AXIS_TREE
    program, given = bias_program(family), inputs(family, "q", "qd")
    given["gravity"] = np.array([[1.0, -9.0, 2.0]])
    compiled = Kernel(program)(given, SAMPLES)
    assert_same_bits(compiled, interpret(program, given, SAMPLES))
    links = Robot.of(family, {}).mechanism.limbs[0].links
    for k in range(SAMPLES):
        states = trees.joint_states(links, given["q"][0, :, k])
        expected = bias(links, states, given["qd"][0, :, k], given["gravity"][0])
        np.testing.assert_allclose(compiled["bias"][0, :, k], expected, rtol=1e-13, atol=1e-13)


def test_misuse_is_told() -> None:
    with pytest.raises(ValueError, match=r"row, column: got \(5, 0\) for rover_rocker, .* indices from 0 to 4"):
        element_program(ROVER, 5, 0)
    with pytest.raises(ValueError, match="robot: got five_bar, whose 2 limbs hold a platform; expected a chain"):
        matrix_program(catalog.family("five_bar"))
    with pytest.raises(ValueError, match="method: got 'crab'; expected one of crba"):
        matrix_program(ROVER, "crab")
