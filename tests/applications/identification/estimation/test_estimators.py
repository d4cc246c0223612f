from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from applications.identification.estimation import estimators
from applications.identification.estimation.base import BaseParameters, base_parameters
from applications.identification.estimation.consistent import (
    consistent,
    is_consistent,
    near_consistent,
    parameters_of,
    pseudo_inertia,
)
from applications.identification.estimation.estimators import ESTIMATORS, estimate, residual_norm
from applications.identification.estimation.separable import separable
from applications.identification.estimation.states import random_motion
from robots import catalog
from tasks import inverse_dynamics, regressor
from tasks.dynamics.inertial_parameters import body_parameters
from tasks.dynamics.records import Forces
from tasks.dynamics.regressor import standard_parameters

FRICTION = {"law": "coulomb_viscous", "coulomb": 0.6, "viscous": 0.2}
CASES = ("planar_3r", "delta_3rr2rrr", "gough_stewart", "three_loop_leg")


@cache
def base_of(name: str) -> BaseParameters:
    return base_parameters(catalog.build(name), forces=Forces(friction=FRICTION), shared=True)


@cache
def data(name: str, count: int = 200, seed: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Reduced regressor, forces, true base parameters, number of actuators."""
    robot, moving = catalog.build(name), random_motion(catalog.build(name), count, seed)
    base = base_of(name)
    forces = inverse_dynamics(robot, forces=Forces(friction=FRICTION), **moving).force
    matrix = base.reduced(regressor(robot, shared=True, forces=Forces(friction=FRICTION), **moving).matrix)
    truth = base.of(list(standard_parameters(robot, friction=FRICTION, shared=True).values()))
    return matrix.reshape(-1, base.count), forces.ravel(), truth, forces.shape[-1]


@pytest.mark.parametrize("method", ESTIMATORS)
@pytest.mark.parametrize("name", CASES)
def test_data_without_noise_return_the_base_parameters(name: str, method: str) -> None:
    matrix, forces, truth, actuators = data(name)
    found = estimate(method, matrix, forces, actuators)
    assert np.abs(found.values - truth).max() < 1e-8 * np.abs(truth).max()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("method", ["least_squares", "weighted"])
def test_standard_deviations_are_those_of_repeated_measurements(name: str, method: str) -> None:
    # seeded Monte Carlo: errors over their standard deviations have variance 1, to what 40 repetitions tell; errors of
    # several parameters may go together, those that are told apart are as many as parameters
    matrix, forces, truth, actuators = data(name)
    size, repetitions = 0.02 * np.abs(forces).max(), 40
    spread = np.tile(np.linspace(1.0, 3.0, actuators), len(forces) // actuators) if method == "weighted" else 1.0
    scores, apart = [], []
    for k in range(repetitions):
        noise = np.random.default_rng([7, k]).normal(size=len(forces)) * size * spread
        found = estimate(method, matrix, forces + noise, actuators)
        scores.append((found.values - truth) / found.deviations)
        apart.append(np.sum((matrix @ (found.values - truth) / (size * spread)) ** 2) / len(truth))
    assert abs(np.mean(apart) - 1.0) < 0.15
    assert abs(np.square(scores).mean() - 1.0) < 0.3
    assert (np.abs(scores) < 3.0).mean() > 0.99


def test_errors_shrink_as_one_over_the_root_of_the_number_of_samples() -> None:
    matrix, forces, truth, actuators = data("planar_3r", 4000)
    random, errors = np.random.default_rng(2), []
    for count in (400, 4000):
        rows = slice(count * actuators)
        noise = random.normal(size=(30, count * actuators))
        tries = [
            estimators.estimate("least_squares", matrix[rows], forces[rows] + each).values - truth for each in noise
        ]
        errors.append(np.sqrt(np.mean(np.square(tries), axis=0)))
    assert np.exp(np.log(errors[0] / errors[1]).mean()) == pytest.approx(np.sqrt(10.0), rel=0.15)


def test_weights_by_actuator_help_where_actuators_differ_in_noise() -> None:
    matrix, forces, truth, actuators = data("delta_3rr2rrr")
    noise = np.random.default_rng(0).normal(size=(len(forces) // actuators, actuators)) * [0.01, 1.0, 1.0]
    scales = estimators.estimate("least_squares", matrix, forces + noise.ravel()).deviations
    errors = [
        np.linalg.norm((estimate(name, matrix, forces + noise.ravel(), actuators).values - truth) / scales)
        for name in ("least_squares", "weighted")
    ]
    assert errors[1] < 0.5 * errors[0]


def test_reweighting_resists_gross_errors() -> None:
    matrix, forces, truth, actuators = data("planar_3r")
    noisy = forces + np.random.default_rng(0).normal(size=len(forces)) * 1e-3
    noisy[::20] += 100.0
    plain, robust = (estimate(name, matrix, noisy, actuators).values - truth for name in ("weighted", "reweighted"))
    assert np.linalg.norm(robust) < 1e-3 * np.linalg.norm(plain)


def test_total_least_squares_is_less_biased_where_the_regressor_is_noisy() -> None:
    random = np.random.default_rng(3)
    matrix, truth = random.normal(size=(20000, 4)), np.array([1.0, -2.0, 3.0, 0.5])
    forces = matrix @ truth
    size = 0.3
    noisy = matrix + random.normal(size=matrix.shape) * size
    measured = forces + random.normal(size=len(forces)) * size * np.linalg.norm(forces) / np.linalg.norm(matrix[:, 0])
    plain, total = (estimate(name, noisy, measured).values for name in ("least_squares", "total_least_squares"))
    assert np.linalg.norm(total - truth) < 0.2 * np.linalg.norm(plain - truth)


def test_validation_on_motions_not_used() -> None:
    matrix, forces, _, actuators = data("delta_3rr2rrr")
    other, wanted, _, _ = data("delta_3rr2rrr", 50, seed=77)
    assert residual_norm(other, wanted, estimate("least_squares", matrix, forces, actuators).values) < 1e-9


def test_stribeck_velocity_by_separable_least_squares() -> None:
    robot, moving = catalog.build("planar_3r"), random_motion(catalog.build("planar_3r"), 600, seed=2)
    moving["qd"] = np.asarray(moving["qd"]) * 0.2
    law = {"law": "stribeck", "coulomb": 1.0, "static": 2.0, "viscous": 0.4, "stribeck_velocity": 0.08}
    base = base_parameters(robot, forces=Forces(friction=law))
    clean = inverse_dynamics(robot, forces=Forces(friction=law), **moving).force.ravel()
    noisy = clean + np.random.default_rng(1).normal(size=len(clean)) * 0.02

    def matrix(nonlinear: np.ndarray) -> np.ndarray:
        trial = {**law, "stribeck_velocity": float(nonlinear[0])}
        return base.reduced(regressor(robot, forces=Forces(friction=trial), **moving).matrix).reshape(-1, base.count)

    exact, found = (separable(matrix, forces, [0.3], [1e-3], [2.0]) for forces in (clean, noisy))
    assert exact.converged
    assert exact.nonlinear[0] == pytest.approx(0.08, rel=1e-7)
    assert abs(found.nonlinear[0] - 0.08) < 3.0 * found.deviations[0]
    assert 0 < found.deviations[0] < 0.01
    truth = base.of(list(standard_parameters(robot, friction=law).values()))
    assert (np.abs(found.linear.values - truth) < 4.0 * found.linear.deviations).all()


def test_consistent_parameters_explain_the_data_and_are_those_of_bodies() -> None:
    robot = catalog.build("planar_3r")
    moving = random_motion(robot, 100, seed=4)
    found = regressor(robot, **moving)
    matrix, forces = found.matrix.reshape(-1, len(found.names)), inverse_dynamics(robot, **moving).force.ravel()
    noise = np.random.default_rng(1).normal(size=len(forces)) * 1e-3 * np.abs(forces).max()
    body = np.array([2.0, 0.1, 0.0, 0.0, 0.3, 0.0, 0.0, 0.3, 0.0, 0.4])
    nominal = np.concatenate([body, body, body, np.full(3, 0.1)])
    result = consistent(matrix, forces + noise, nominal, (0, 10, 20))
    assert result.converged
    assert all(is_consistent(result.values[k : k + 10]) for k in (0, 10, 20))
    assert (result.values[30:] >= 0).all()
    assert np.linalg.norm(forces - matrix @ result.values) < 0.5 * np.linalg.norm(noise)


def test_a_pseudo_inertia_and_back() -> None:
    body = np.array([2.0, 0.1, -0.2, 0.3, 0.5, 0.01, 0.02, 0.6, -0.03, 0.7])
    assert np.allclose(parameters_of(pseudo_inertia(body)), body)


def test_consistent_parameters_that_fit_are_found_and_offsets_may_have_any_sign() -> None:
    robot = catalog.build("planar_3r")
    moving = random_motion(robot, 100, seed=4)
    found = regressor(robot, **moving)
    matrix = found.matrix.reshape(-1, len(found.names))
    known = np.array(list(standard_parameters(robot).values()))
    truth = np.concatenate([*(near_consistent(body) for body in np.split(known[:30], 3)), known[30:]])
    matrix = np.column_stack([matrix, np.ones(len(matrix))])
    truth = np.append(truth, -3.0)
    nominal = np.append(truth[:-1] * 1.2, 0.0)
    result = consistent(matrix, matrix @ truth, nominal, (0, 10, 20), pull=1e-5, free=(33,))
    assert result.converged
    assert np.linalg.norm(matrix @ (result.values - truth)) < 1e-5 * np.linalg.norm(matrix @ truth)
    assert abs(result.values[33] + 3.0) < 1e-4
    held = consistent(matrix, matrix @ truth, nominal, (0, 10, 20))
    assert held.values[33] > -1e-6


def test_the_semidefinite_program_is_at_its_minimum() -> None:
    # convex: no consistent point between it and others, all feasible, has smaller residuals
    random = np.random.default_rng(8)
    matrix, forces = random.normal(size=(60, 10)), random.normal(size=60)
    nominal = near_consistent(np.array([1.0] + [0.0] * 9))
    result = consistent(matrix, forces, nominal, (0,), pull=1e-8)
    assert result.converged
    best = np.linalg.norm(forces - matrix @ result.values)
    for seed in range(200):
        draw = np.random.default_rng(seed).normal(size=(4, 4)) * 0.3
        other = near_consistent(parameters_of(draw @ draw.T))
        for share in (1e-3, 0.1, 1.0):
            mixed = result.values + share * (other - result.values)
            assert np.linalg.norm(forces - matrix @ mixed) >= best * (1 - 1e-7)


def test_a_point_mass_is_no_nominal_body() -> None:
    with pytest.raises(ValueError, match="whose pseudo-inertia is not positive definite"):
        consistent(np.ones((20, 10)), np.ones(20), np.array([1.0] + [0.0] * 9), (0,))


@pytest.mark.parametrize("parameters", [[0.0] * 10, [2.0, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.02, 0.0, 0.02]])
def test_points_and_lines_get_some_extent(parameters: list[float]) -> None:
    found = near_consistent(parameters)
    assert is_consistent(found)
    assert np.abs(found - parameters).max() < 1e-5
    body = body_parameters(catalog.build("gough_stewart").mechanism.platform.inertia)
    np.testing.assert_allclose(near_consistent(body), body, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize(
    ("matrix", "forces", "message"),
    [
        (np.ones((2, 2)), np.ones(2), "more rows than parameters"),
        (np.full((9, 2), np.nan), np.ones(9), "expected finite"),
        (np.eye(9)[:, :2] * 0.0, np.ones(9), "a column of zeros"),
    ],
)
def test_data_that_cannot_be_estimated_from_are_refused(matrix: np.ndarray, forces: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimate("least_squares", matrix, forces)


def test_an_unknown_estimator_is_refused() -> None:
    with pytest.raises(ValueError, match="did you mean 'weighted'"):
        estimate("weigthed", np.ones((3, 1)), np.ones(3))


def test_a_start_out_of_bounds_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 0 < lower < start < upper"):
        separable(lambda x: np.ones((3, 1)), np.ones(3), [1.0], [2.0], [3.0])
