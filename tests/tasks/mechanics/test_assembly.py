"""Platform, assembly and actuation, for one sample."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial.transform import Rotation

from robots.geometry import diagonal
from robots.model import Frame, Inertia, Platform
from robots.status import Status
from robots.types import TRANSLATION, TWIST
from tasks.kernels.interpreter import interpret
from tasks.kernels.program import trace
from tasks.mechanics import assembly, platform_motion, recursion
from tasks.mechanics.kinematics import Pose, SpatialMotion


@pytest.mark.parametrize("actuators", [2, 3, 5, 6])
def test_forces_balance_the_wrench(actuators: int) -> None:
    rng = np.random.default_rng(actuators)
    jacobian, wrench = rng.normal(size=(actuators, actuators)), rng.normal(size=actuators)
    np.testing.assert_allclose(jacobian.T @ assembly.actuator_forces(jacobian, wrench), wrench, atol=1e-11)


def test_more_actuators_than_freedoms_share_with_least_norm() -> None:
    rng = np.random.default_rng(1)
    jacobian, wrench = rng.normal(size=(4, 3)), rng.normal(size=3)
    expected = np.linalg.lstsq(jacobian.T, wrench, rcond=None)[0]
    np.testing.assert_allclose(assembly.actuator_forces(jacobian, wrench), expected, rtol=1e-11)


def nearly_flat() -> tuple[np.ndarray, np.ndarray]:
    """Five rows of J_IK over three freedoms, of which one is the sum of the others to 2e-7; and a wrench of forces."""
    rng = np.random.default_rng(5)
    first, second, apart, forces = rng.normal(size=(4, 5))
    jacobian = np.stack([first, second, first + second + 2e-7 * apart], axis=1)
    return jacobian, jacobian.T @ forces


def of_least_norm(jacobian: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """Return J (J^T J)^-1 w in fifty digits."""
    with mpmath.workdps(50):
        j = mpmath.matrix(jacobian.tolist())
        return np.array((j * mpmath.lu_solve(j.T * j, mpmath.matrix(wrench.tolist()))).T.tolist()[0], dtype=float)


@pytest.mark.parametrize("weights", [None, np.array([4.0, 1.0, 0.5, 1.0, 2.0])])
def test_shared_forces_lose_digits_as_the_matrix_does(weights: np.ndarray | None) -> None:
    """Squares of the matrix lost twice as many."""
    jacobian, wrench = nearly_flat()
    root = np.ones(5) if weights is None else np.sqrt(weights)
    expected = of_least_norm(jacobian / root[:, None], wrench) / root
    np.testing.assert_allclose(assembly.actuator_forces(jacobian, wrench, weights), expected, rtol=1e-8)


def test_fewer_actuators_than_freedoms_lose_digits_as_the_matrix_does() -> None:
    jacobian, forces = nearly_flat()[0].T, np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(assembly.actuator_forces(jacobian, jacobian.T @ forces), forces, rtol=1e-8)


@pytest.mark.parametrize("rows", [4, 5])
def test_the_least_maximum_loses_digits_as_the_matrix_does(rows: int) -> None:
    """Of all forces that balance, those with equal maxima are the least: what remains is perpendicular to J_IK."""
    jacobian = nearly_flat()[0][:rows]
    wrench = jacobian.T @ np.arange(1.0, rows + 1.0)
    found = np.array(assembly.least_maximum_forces(jacobian, wrench, np.ones(rows)), dtype=float)
    np.testing.assert_allclose(of_least_norm(jacobian, jacobian.T @ found), of_least_norm(jacobian, wrench), rtol=1e-7)
    assert (np.sort(np.abs(found))[rows - 4 :] >= np.abs(found).max() * (1.0 - 1e-8)).sum() >= rows - 2


def test_two_spare_actuators_share_with_the_least_maximum() -> None:
    rng = np.random.default_rng(2)
    jacobian, wrench, weights = rng.normal(size=(5, 3)), rng.normal(size=3), np.array([1.0, 2.0, 1.0, 0.5, 1.0])
    found = np.array(assembly.least_maximum_forces(jacobian, wrench, weights), dtype=float)
    np.testing.assert_allclose(jacobian.T @ found, wrench, atol=1e-12)
    sides = np.vstack([np.c_[np.diag(sign * weights), -np.ones(5)] for sign in (1.0, -1.0)])
    balance, free = np.c_[jacobian.T, np.zeros(3)], (None, None)
    least = linprog([0.0] * 5 + [1.0], sides, np.zeros(10), balance, wrench, bounds=free).fun
    assert (weights * np.abs(found)).max() == pytest.approx(least, rel=1e-9)


def status(limbs: list[float], jacobian: np.ndarray, forces: list[float]) -> tuple[float, float]:
    """On floats, and as a program computes it."""
    size = jacobian.size

    def one_sample(x: np.ndarray) -> dict[str, object]:
        j = x[:size].reshape(jacobian.shape)
        return {"status": [assembly.combined_status(x[size : size + len(limbs)], j, x[size + len(limbs) :])]}

    flat = np.concatenate([jacobian.ravel(), limbs, forces])
    program = trace("status", one_sample, case={}, sample={"x": flat.shape})
    got = interpret(program, {"x": flat.reshape(1, -1, 1)}, 1)["status"].item()
    return float(assembly.combined_status(limbs, jacobian, forces)), got


FLAT = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("limbs", "jacobian", "forces", "expected"),
    [
        ([0.0, 0.0], np.eye(3), [1.0, 2.0], Status.OK),
        ([0.0, 2.0], np.eye(3), [1.0, 2.0], Status.WRONG_BRANCH),
        ([1.0, 2.0], np.eye(3), [1.0, 2.0], Status.NOT_REACHABLE),
        ([0.0, 0.0], FLAT, [1.0, 2.0], Status.SINGULAR),
        ([0.0, 1.0], FLAT, [math.nan, 2.0], Status.NOT_REACHABLE),
        ([0.0, 0.0], np.eye(3), [1.0, math.nan], Status.NONFINITE),
        ([0.0, 0.0], np.eye(3), [math.inf, 0.0], Status.NONFINITE),
        ([0.0, 0.0], np.full((3, 3), math.nan), [math.nan, 0.0], Status.NONFINITE),
    ],
)
def test_the_first_complaint_is_the_status(
    limbs: list[float], jacobian: np.ndarray, forces: list[float], expected: Status
) -> None:
    assert status(limbs, jacobian, forces) == (expected, expected)


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (6, 6)])
def test_singularity_is_loss_of_rank_at_any_scale(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    full = rng.normal(size=shape)
    for scale in (1e-3, 1.0, 1e3):
        assert not assembly.singularity(full * scale)
    lost = full.copy()
    lost[:, -1] = lost[:, 0] * 2.0
    assert assembly.singularity(lost)


BODY = Inertia(3.0, (0.1, -0.2, 0.05), diagonal(0.2, 0.3, 0.4))
GRAVITY = np.array([0.1, 0.2, -9.81])


def test_a_translating_platform() -> None:
    each = Platform(BODY, TRANSLATION, Frame())
    motion = np.arange(9.0)
    pose, moving = platform_motion.unpack(motion, each)
    np.testing.assert_array_equal(pose.position, [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(pose.rotation, np.eye(3))
    force = 3.0 * (motion[6:] - GRAVITY)
    expected = [*np.cross(BODY.centre, force), *force]  # the moment holds it back from turning
    np.testing.assert_allclose(recursion.platform_wrench(each, pose, moving, GRAVITY), expected, rtol=1e-14)
    np.testing.assert_array_equal(platform_motion.free_twist(each, moving), [3.0, 4.0, 5.0])
    assert (platform_motion.motion_size(TRANSLATION), platform_motion.motion_size(TWIST)) == (9, 24)


def test_a_turning_platform_obeys_euler() -> None:
    rng, each = np.random.default_rng(4), Platform(BODY, TWIST, Frame())
    rotation = Rotation.random(rng=rng).as_matrix()
    omega, v, alpha, a = rng.normal(size=(4, 3))
    pose, moving = platform_motion.unpack(np.concatenate([[1, 2, 3], rotation.ravel(), omega, v, alpha, a]), each)
    assert isinstance(pose, Pose)
    assert isinstance(moving, SpatialMotion)
    np.testing.assert_array_equal(pose.rotation, rotation)
    np.testing.assert_array_equal(platform_motion.free_twist(each, moving), [*omega, *v])
    centre, tensor = rotation @ BODY.centre, rotation @ np.array(BODY.tensor) @ rotation.T
    force = 3.0 * (a - GRAVITY + np.cross(alpha, centre) + np.cross(omega, np.cross(omega, centre)))
    moment = tensor @ alpha + np.cross(omega, tensor @ omega) + np.cross(centre, force)
    np.testing.assert_allclose(recursion.platform_wrench(each, pose, moving, GRAVITY), [*moment, *force], rtol=1e-12)
