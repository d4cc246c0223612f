from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from applications.identification.estimation.consistent import near_consistent, parameters_of, pseudo_inertia
from applications.identification.estimation.entropic import (
    BodyLimits,
    PriorProblem,
    cross_validated_bodies,
    divergence,
    entropic,
    reduced_rows,
)

RANDOM = np.random.default_rng(4)


def body(mass: float, size: float) -> np.ndarray:
    points = RANDOM.normal(size=(4, 3)) * size
    homogeneous = np.column_stack([points, np.ones(4)])
    return near_consistent(parameters_of(mass * homogeneous.T @ homogeneous / 4.0))


NOMINAL = np.concatenate([body(4.0, 0.3), body(2.0, 0.2), [0.5]])
TRUTH = np.concatenate([body(5.0, 0.3), NOMINAL[10:20], [0.7]])
PROBLEM = PriorProblem(NOMINAL, (0, 10), signed=(20,))


def rows(told: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Rows that tell `told` combinations of the first body and the last column, with noise of one."""
    random = np.random.default_rng(seed)
    matrix = np.zeros((200, 21))
    matrix[:, :10] = random.normal(size=(200, told)) @ random.normal(size=(told, 10)) * 30.0
    matrix[:, 20] = random.normal(size=200) * 30.0
    return matrix, matrix @ TRUTH + random.normal(size=200)


def test_the_divergence_is_zero_at_the_nominal_body_and_the_same_in_all_frames() -> None:
    assert divergence(NOMINAL[:10], NOMINAL[:10]) == pytest.approx(0.0, abs=1e-12)
    assert divergence(2.0 * NOMINAL[:10], NOMINAL[:10]) == pytest.approx(4.0 - 4.0 * np.log(2.0))
    turned = np.linalg.qr(RANDOM.normal(size=(3, 3)))[0]
    frame = np.block([[turned, RANDOM.normal(size=(3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]])
    moved = [parameters_of(frame @ pseudo_inertia(x) @ frame.T) for x in (TRUTH[:10], NOMINAL[:10])]
    assert divergence(*moved) == pytest.approx(divergence(TRUTH[:10], NOMINAL[:10]), rel=1e-6)
    with pytest.raises(ValueError, match="got those of no body"):
        divergence(-NOMINAL[:10], NOMINAL[:10])


def test_what_data_do_not_tell_is_the_nominal_body() -> None:
    solution = entropic(reduced_rows(*rows(6)), PROBLEM, 1.0)
    assert solution.converged
    assert solution.values[10:20] == pytest.approx(NOMINAL[10:20], rel=1e-3, abs=1e-4)
    assert solution.values[20] == pytest.approx(0.7, rel=0.02)


def test_data_that_tell_all_win_and_a_large_weight_gives_the_nominal_bodies() -> None:
    triangle = reduced_rows(*rows(10))
    told = entropic(triangle, PROBLEM, 0.1).values
    assert told[:10] == pytest.approx(TRUTH[:10], rel=0.05, abs=0.05)
    assert entropic(triangle * 1e-4, PROBLEM, 10.0).values[:10] == pytest.approx(NOMINAL[:10], rel=2e-2, abs=1e-2)


def test_the_solution_is_the_minimum() -> None:
    matrix, forces = rows(6)

    def cost(values: np.ndarray) -> float:
        distances = sum(divergence(values[k : k + 10], NOMINAL[k : k + 10]) for k in (0, 10))
        return 0.5 * float(np.sum((forces - matrix @ values) ** 2)) + 10.0 * distances

    solution = entropic(reduced_rows(matrix, forces), PROBLEM, 10.0).values
    for draw in RANDOM.normal(size=(20, 21)):
        assert cost(solution + 1e-4 * draw * np.abs(solution)) > cost(solution) - 1e-6


def test_held_out_rows_choose_the_weight() -> None:
    near = replace(PROBLEM, nominal=np.concatenate([TRUTH[:10] * 1.01, NOMINAL[10:]]))
    far = replace(PROBLEM, nominal=np.concatenate([body(0.5, 1.0), NOMINAL[10:]]))
    matrix, forces = rows(10)
    triangles = [reduced_rows(matrix[k::3], forces[k::3]) for k in range(3)]
    assert cross_validated_bodies(triangles, near).weight > cross_validated_bodies(triangles, far).weight


def test_total_mass_and_boxes_hold() -> None:
    triangle = reduced_rows(*rows(6))
    counts = np.zeros(21)
    counts[[0, 10]] = 1.0, 2.0
    low, high = np.full(3, -0.05), np.full(3, 0.1)
    limits = BodyLimits(mass=12.0, counts=counts, boxes={10: (low, high)})
    solution = entropic(triangle, replace(PROBLEM, limits=limits), 1.0)
    assert solution.converged
    assert solution.values[0] + 2.0 * solution.values[10] == pytest.approx(12.0, rel=1e-6)
    inertia = pseudo_inertia(solution.values[10:20])
    centre = inertia[:3, 3] / inertia[3, 3]
    assert (centre > low).all()
    assert (centre < high).all()
    assert (np.diag(inertia)[:3] / inertia[3, 3] < 0.1**2 + 1e-9).all()
