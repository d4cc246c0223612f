"""Shares of variance from designs of any sweep, against functions whose shares are known, and against noise."""

from __future__ import annotations

import numpy as np
import pytest

from applications.report.data.display import with_error
from applications.studies.shares import Explained, from_samples
from benchmarks.shares import FUNCTIONS, judged, shares_of
from pipeline.errors import InputError


@pytest.mark.parametrize("size", [128, 512, 2048])
def test_bars_hold_known_shares_and_noise_has_none(size: int) -> None:
    holds: list[bool] = []
    for seed in range(4):
        found = shares_of(FUNCTIONS["Ishigami"], size, seed)
        held, noise_told = judged(found, FUNCTIONS["Ishigami"])
        holds += held
        assert not noise_told
        assert found.names == ("a", "b, copy", "c", "noise", "motor")  # a copy is no factor of its own
    assert np.mean(holds) > 0.9


def test_a_pair_is_not_biased() -> None:
    """0.244 of Ishigami's variance belong to the pair; bins saw 0.09 of it in 128 designs, 0.22 in 8192."""
    x = np.random.default_rng(4).random((4000, 3))
    found = from_samples(dict(zip("abc", x.T, strict=True)), FUNCTIONS["Ishigami"].of(x))
    assert found.interaction[0, 2] == pytest.approx(0.2437, abs=0.01)
    assert found.interaction_error[0, 2] < 0.02
    assert found.total[2] == pytest.approx(0.2437, abs=0.01)
    assert found.unexplained < 1e-3


def test_shares_of_a_grid_are_exact() -> None:
    """y = 2 a + b + a b on {-1, 1}^2: shares 4/6, 1/6 and 1/6."""
    a, b = (np.tile(each.ravel(), 50) for each in np.meshgrid([-1.0, 1.0], [-1.0, 1.0]))
    values = 2 * a + b + a * b
    values[:8] = np.nan
    found = from_samples({"a": a, "b": b}, values)
    np.testing.assert_allclose(found.first, [4 / 6, 1 / 6], atol=1e-9)
    assert found.interaction[0, 1] == pytest.approx(1 / 6, abs=1e-9)
    assert found.samples == 192


def test_rows_of_a_table_have_no_order() -> None:
    motor = np.arange(240.0) % 6
    force = np.array([3.0, -1.0, 2.0, -2.0, 1.0, 5.0])[motor.astype(int)]
    length = np.random.default_rng(0).random(240)
    found = from_samples({"motor": motor, "length": length}, force + 4.0 * length, categories=("motor",))
    variances = np.array([force.var(), 16.0 * length.var()])
    np.testing.assert_allclose(found.first, variances / variances.sum(), atol=0.02)
    many = from_samples({"motor": np.arange(240.0) // 2, "length": length}, force, categories=("motor",))
    assert np.isnan(many.first[0])  # two designs for each row tell nothing of it


@pytest.mark.parametrize("mean", [1e6, 1e9])
def test_shares_do_not_depend_on_the_mean(mean: float) -> None:
    x = np.random.default_rng(1).uniform(size=(2, 1000))
    y = np.ldexp(np.round(np.ldexp(x[0] + 0.1 * x[1], 20)), -20)  # what a mean of 1e9 leaves of it
    parameters = {"a": x[0], "b": x[1]}
    found, expected = from_samples(parameters, mean + y), from_samples(parameters, y)
    np.testing.assert_allclose(found.first, expected.first, atol=1e-5)


def correlated(count: int, correlation: float) -> tuple[dict[str, np.ndarray], Explained]:
    """Return y = a + b of two normal inputs of some correlation, beside a third one without effect."""
    draw = np.random.default_rng(3).normal(size=(3, count))
    b = correlation * draw[0] + np.sqrt(1.0 - correlation**2) * draw[1]
    columns = {"a": draw[0], "b": b, "c": draw[2]}
    return columns, from_samples(columns, draw[0] + b)


def test_dependent_parameters_share_what_both_explain() -> None:
    """Check y = a + b: each share is (1 + r) / 2 alone, (1 - r) / 2 last, and one half by Shapley (symmetry)."""
    _, found = correlated(2000, 0.6)
    assert found.dependent == (("a", "b"),)
    np.testing.assert_allclose(found.first[:2], 0.8, atol=0.03)
    np.testing.assert_allclose(found.total[:2], 0.2, atol=0.03)
    np.testing.assert_allclose(found.shapley, [0.5, 0.5, 0.0], atol=0.03)
    assert found.shapley.sum() == pytest.approx(1.0, abs=1e-6)
    assert found.shapley[2] < found.shapley_error[2]
    assert np.isnan(found.interaction).all()
    _, apart = correlated(2000, 0.0)
    assert apart.dependent == ()
    assert np.isnan(apart.shapley).all()


def test_noise_is_not_explained() -> None:
    draw = np.random.default_rng(7)
    found = from_samples({name: draw.random(200) for name in "abcd"}, draw.random(200))
    assert found.unexplained > 0.9
    assert (found.first <= found.first_error).all()


def test_few_designs_and_constants() -> None:
    same = from_samples({"a": np.arange(50.0)}, np.ones(50))
    assert (same.first.tolist(), same.unexplained) == ([0.0], 0.0)
    with pytest.raises(InputError, match=r"designs: got 5 designs with a value; expected at least 12"):
        from_samples({"a": np.arange(5.0)}, np.arange(5.0))
    draw = np.random.default_rng(0)
    with pytest.raises(InputError, match=r"got 12 designs with a value for 9 factors; expected at least 20"):
        from_samples({str(k): draw.random(12) for k in range(9)}, draw.random(12))


@pytest.mark.parametrize(
    ("value", "error", "text"), [(0.314, 0.021, "0.31 ± 0.02"), (0.314, 0.0, "0.314"), (0.3, 0.3, "0.3 ± 0.3")]
)
def test_numbers_are_told_to_their_errors(value: float, error: float, text: str) -> None:
    assert with_error(value, error) == text


def test_without_factors_nothing_is_explained() -> None:
    shares = from_samples({}, np.random.default_rng(2).uniform(size=200))
    assert (shares.names, shares.unexplained) == ((), 1.0)
