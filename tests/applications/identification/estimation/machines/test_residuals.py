from __future__ import annotations

import numpy as np
import pytest

from applications.identification.estimation.machines.residuals import (
    Extension,
    FactoredRows,
    FitRows,
    autoregression,
    bootstrap,
    covariance,
    deviations,
    independent_columns,
    independent_samples,
    lack_of_fit,
    stacked,
    whiteness,
)
from tasks.mathematics.signals import coloured

SAMPLES = 600


def problem(time: float, seed: int, left_out: int = 0) -> tuple[FitRows, np.ndarray]:
    """Rows of two actuators with noise of that correlation time [samples], and the least squares of them.

    left_out: of the second actuator so many samples are no rows.
    """
    t = np.arange(SAMPLES)[:, None] / SAMPLES
    columns = [np.ones_like(t), np.sin(9.0 * t), np.cos(23.0 * t)]
    matrix = np.stack([np.concatenate([x, x * (1.0 + t)], axis=1) for x in columns], axis=2)
    noise = coloured(np.random.default_rng(seed).normal(size=(SAMPLES, 2)), time, 1.0)
    good = np.ones((SAMPLES, 2), dtype=bool)
    good[:left_out, 1] = False
    return FitRows(matrix, noise, good), np.linalg.lstsq(matrix[good], noise[good], rcond=None)[0]


@pytest.mark.parametrize(("time", "white", "left_out"), [(0.0, True, 0), (5.0, False, 0), (5.0, False, 250)])
def test_deviations_are_those_of_repeated_measurements(time: float, white: bool, left_out: int) -> None:
    found = [problem(time, seed, left_out) for seed in range(150)]
    actual = np.std([values for _, values in found], axis=0)
    for estimate in (
        lambda rows, values: np.sqrt(np.diag(covariance([rows], values))),
        lambda rows, values: np.sqrt(np.diag(bootstrap([rows], values, 40, 100))),
        lambda rows, values: deviations([rows], values, "bootstrap"),
        lambda rows, values: deviations([rows], values),
    ):
        told = np.mean([estimate(rows, values) for rows, values in found[:40]], axis=0)
        assert (np.abs(told / actual - 1.0) < 0.35).all()
    rows, values = found[0]
    assert whiteness([rows.residuals(values)], 0).is_white == white


def test_an_autoregressive_process_is_found() -> None:
    series = coloured(np.random.default_rng(1).normal(size=20_000), 5.0, 1.0)
    coefficients, noise = autoregression(series)
    assert coefficients[1] == pytest.approx(-np.exp(-0.2), abs=0.03)
    assert noise == pytest.approx(1.0 - np.exp(-0.4), rel=0.05)
    # samples over (1 + phi) / (1 - phi)
    phi = np.exp(-0.2)
    assert independent_samples(series) == pytest.approx(20_000 * (1 - phi) / (1 + phi), rel=0.15)


def test_columns_that_are_combinations_are_left_out() -> None:
    matrix = np.random.default_rng(2).normal(size=(50, 3))
    whole = np.column_stack([matrix[:, :2], matrix[:, 0] - 2.0 * matrix[:, 1], np.zeros(50), matrix[:, 2]])
    assert independent_columns(whole) == [0, 1, 4]


def test_a_test_of_more_columns_is_the_fit_with_all_of_them() -> None:
    rows, _ = problem(5.0, 3, left_out=40)
    extra = np.random.default_rng(1).normal(size=(SAMPLES, 2, 2)) + rows.matrix[..., :1]
    found = lack_of_fit(FactoredRows([rows]), Extension("more", (extra,)))
    whole = FitRows(np.concatenate([rows.matrix, extra], axis=2), rows.forces, rows.good)
    matrix, forces = stacked([whole])
    values = np.linalg.lstsq(matrix, forces, rcond=None)[0]
    np.testing.assert_allclose(found.values, values[-2:], rtol=1e-9, atol=1e-12)
    spread = np.sqrt(np.diag(covariance([whole], values)))[-2:]
    np.testing.assert_allclose(found.deviations, spread, rtol=1e-9)
    again = lack_of_fit(FactoredRows([rows]), Extension("known", (rows.matrix[..., :2] * 3.0,)))
    assert not len(again.values)
    assert again.chance == 1.0
