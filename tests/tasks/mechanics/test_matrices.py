"""Spread of the columns of loop matrices, beside singular values; inverses of rows in different units."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from tasks.mechanics.matrices import RegularBlock, RowUnits

LENGTHS = (True, False, True, True, False, False)


def block(matrix: np.ndarray, lengths: tuple[bool, ...] = LENGTHS) -> RegularBlock:
    return RegularBlock(matrix, np.linalg.inv(matrix), tuple(range(len(matrix))), RowUnits(lengths, 1.0))


def spread(matrix: np.ndarray, lengths: tuple[bool, ...] = LENGTHS) -> float:
    found = block(matrix, lengths).spread
    assert isinstance(found, float)
    return found


def in_units(matrix: np.ndarray, unit: float) -> np.ndarray:
    scaled: np.ndarray = matrix * np.where(LENGTHS, 1.0 / unit, 1.0)[:, None]
    return scaled


@pytest.mark.parametrize("seed", range(5))
def test_a_spread_is_that_of_the_unit_of_length_in_which_it_is_least(seed: int) -> None:
    """A loop of 1 mm on a limb of 1 m is as regular as one of 1 m."""
    matrix = in_units(np.random.default_rng(seed).normal(size=(6, 6)), 1e3)

    def in_unit(logarithm: float) -> float:
        scaled = in_units(matrix, np.exp(logarithm))
        back = np.linalg.inv(scaled)
        return float((scaled**2).sum(axis=0) @ (back**2).sum(axis=1))

    least = minimize_scalar(in_unit, bounds=(-15.0, 5.0), method="bounded", options={"xatol": 1e-12})
    found = spread(matrix)
    assert found == pytest.approx(least.fun, rel=1e-9)
    assert found == pytest.approx(spread(in_units(matrix, 1e-3)), rel=1e-12)


def test_a_spread_bounds_the_least_singular_value_of_unit_columns() -> None:
    matrix = np.random.default_rng(7).normal(size=(6, 6))
    matrix[:, 5] = matrix[:, :5].sum(axis=1) + 1e-3 * matrix[:, 5]
    least = np.linalg.svd(matrix / np.linalg.norm(matrix, axis=0), compute_uv=False)[-1]
    ratio = 1.0 / (np.sqrt(spread(matrix, (True,) * 6)) * least)
    assert 1.0 / 6**0.5 <= ratio <= 1.0


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("count", [4, 5, 6])
def test_digits_of_a_solution_do_not_depend_on_the_unit_of_length(count: int, unit: float) -> None:
    """Reflections of rows in micrometres beside cosines had ten digits: lengths were added to cosines."""
    lengths, random = LENGTHS[:count], np.random.default_rng(count)
    scale = np.where(lengths, unit, 1.0)
    plain, right = random.normal(size=(count, count)), random.normal(size=count)
    units, matrix = RowUnits(lengths, unit), plain * scale[:, None]
    found, divisor = units.solution(matrix, right * scale)
    expected = np.linalg.solve(plain, right)
    np.testing.assert_allclose(np.array(found / divisor, dtype=float), expected, rtol=1e-13)
    np.testing.assert_allclose(np.array(units.inverse(matrix), dtype=float) * scale, np.linalg.inv(plain), rtol=1e-12)
