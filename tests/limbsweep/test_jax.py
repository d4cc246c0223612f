"""Functions of arrays of JAX: its own check of gradients, compiled programs, batches, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import limbsweep as ls
from benchmarks.gradients.checks import jax_check
from tests.limbsweep.differentiated import CALLS, CheckedCall

jax = pytest.importorskip("jax", reason="JAX (extra jax) is missing")
MASK = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])


@pytest.fixture(autouse=True)
def doubles() -> Iterator[None]:
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


@pytest.fixture
def robot() -> ls.Robot:
    return ls.robots.build("delta_3rr2rrr")


def _inputs() -> list[Any]:
    position = [[0.0, 0.1, -0.9], [0.05, 0.0, -0.85]]
    twist, acceleration = [[0.0, 0.0, 0.0, 1.0, 2.0, 3.0]] * 2, [0.0, 0.0, 0.0, 1.0, -1.0, 0.5]
    return [jax.numpy.array(x, dtype=float) for x in (position, twist, acceleration, 0.28, 0.3, [0.0, 0.0, -9.81])]


def _force(robot: ls.Robot) -> Any:
    def force(position: Any, twist: Any, acceleration: Any, arm: Any, coulomb: Any, gravity: Any) -> Any:
        friction = {"law": "coulomb_viscous", "coulomb": coulomb, "joints": "all", "width": 0.1}
        return ls.jax.inverse_dynamics(
            robot, position=position, twist=twist * MASK, acceleration=acceleration * MASK, gravity=gravity,
            forces=ls.Forces(friction=friction), parameters={"upper_arm": arm},
        ).force  # fmt: skip

    return force


@pytest.mark.parametrize("compiled", [False, True])
def test_inverse_dynamics_by_all_inputs(robot: ls.Robot, compiled: bool) -> None:
    from jax.test_util import check_grads

    force = jax.jit(_force(robot)) if compiled else _force(robot)
    check_grads(force, _inputs(), order=1, eps=1e-6)


def test_second_derivatives() -> None:
    from jax.test_util import check_grads

    arm = ls.robots.build("planar_3r")
    q = jax.numpy.array([0.3, -0.2, 0.5])

    def effort(q: Any, length: Any) -> Any:
        return (ls.jax.inverse_dynamics(arm, q=q, parameters={"length_1": length}).force ** 2).sum()

    check_grads(effort, (q, jax.numpy.array(0.5)), order=2, modes=["rev"], rtol=1e-3)
    whole = jax.jit(jax.hessian(effort))(q, 0.5)
    one = jax.vmap(jax.hessian(effort), in_axes=(None, 0))(q, jax.numpy.array([0.5, 0.6]))
    np.testing.assert_allclose(one[0], whole, rtol=1e-12)
    np.testing.assert_allclose(whole, whole.T, rtol=1e-9)


def test_functions_that_solve(robot: ls.Robot) -> None:
    from jax.test_util import check_grads

    position, twist, _, arm, _, _ = _inputs()
    push = jax.numpy.array([1.0, 2.0, 3.0])
    check_grads(
        lambda *x: ls.jax.forward_dynamics(
            robot, position=x[0], twist=x[1] * MASK, parameters={"upper_arm": x[2]}, forces=ls.Forces(actuator=x[3])
        ).acceleration,
        (position, twist, arm, push), order=1, eps=1e-6,
    )  # fmt: skip
    angles = ls.jax.actuator_positions(robot, position=position, parameters={"upper_arm": arm}).position
    check_grads(
        lambda *x: ls.jax.forward_kinematics(robot, actuator_position=x[0], parameters={"upper_arm": x[1]}).position,
        (angles, arm), order=1, eps=1e-6,
    )  # fmt: skip


def test_batches_are_samples_one_by_one(robot: ls.Robot) -> None:
    position, _, _, arm, _, _ = _inputs()

    def total(position: Any, arm: Any) -> Any:
        return ls.jax.inverse_dynamics(robot, position=position, parameters={"upper_arm": arm}).force.sum()

    gradient = jax.grad(total, argnums=(0, 1))
    by_position, by_arm = jax.vmap(gradient, (0, None))(position, arm)
    for k in range(2):
        alone = gradient(position[k], arm)
        np.testing.assert_allclose(by_position[k], alone[0], rtol=1e-12)
        np.testing.assert_allclose(by_arm[k], alone[1], rtol=1e-12)
    force = _force(robot)
    inputs = _inputs()
    coulombs = jax.numpy.array([0.1, 0.4])
    both = jax.vmap(force, (None, None, None, None, 0, None))(*inputs[:4], coulombs, inputs[5])
    for k in range(2):
        np.testing.assert_array_equal(both[k], force(*inputs[:4], coulombs[k], inputs[5]))
    forward, reverse = jax.jacfwd(total)(position[0], arm), jax.jit(jax.jacrev(total))(position[0], arm)
    np.testing.assert_allclose(forward, reverse, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("row", CALLS, ids=lambda row: f"{row.function}-{row.robot}-{len(row.arrays)}")
def test_every_function_by_the_check_of_the_package(row: CheckedCall) -> None:
    assert jax_check(row, row.build())


def test_single_precision_is_refused(robot: ls.Robot) -> None:
    with pytest.raises(
        ValueError, match=r"position: got an array of float32; expected float64: call jax\.config\.update"
    ):
        ls.jax.inverse_dynamics(robot, position=jax.numpy.zeros(3, dtype="float32"))
