"""Indices of functions whose shares of variance are known in closed form."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from applications.studies.columns import objective
from applications.studies.sensitivity import interaction, main_effect, of_saltelli_store, saltelli, sobol
from pipeline.errors import InputError
from pipeline.execution.run import compute
from pipeline.sweep.doors import sweep

PI = np.pi
BOX = dict.fromkeys(("x1", "x2", "x3"), (-PI, PI))
A, B = 7.0, 0.1


def ishigami(x: np.ndarray) -> np.ndarray:
    return np.sin(x[:, 0]) + A * np.sin(x[:, 1]) ** 2 + B * x[:, 2] ** 4 * np.sin(x[:, 0])


V1, V2, V13 = 0.5 * (1 + B * PI**4 / 5) ** 2, A**2 / 8, B**2 * PI**8 * (1 / 18 - 1 / 50)
FIRST = np.array([V1, V2, 0.0]) / (V1 + V2 + V13)
TOTAL = np.array([V1 + V13, V2, V13]) / (V1 + V2 + V13)
"""Ishigami and Homma, 1990; the shares as in Saltelli et al., Global Sensitivity Analysis, 2008."""


def test_ishigami() -> None:
    found = sobol(ishigami, BOX, 4096, seed=1)
    np.testing.assert_allclose(found.first, FIRST, atol=0.015)
    np.testing.assert_allclose(found.total, TOTAL, atol=0.015)
    for bounds, exact in ((found.first_bounds, FIRST), (found.total_bounds, TOTAL)):
        assert (bounds[:, 0] - 0.01 <= exact).all()
        assert (exact <= bounds[:, 1] + 0.01).all()


def test_sobol_g() -> None:
    """Product of (|4 x - 2| + a) / (1 + a): V_i = 1 / (3 (1 + a)^2), the others are products of these."""
    a = np.array([0.0, 1.0, 4.5, 9.0])
    parts = 1.0 / (3.0 * (1.0 + a) ** 2)
    variance = np.prod(1.0 + parts) - 1.0
    total = parts * np.prod(1.0 + parts) / (1.0 + parts) / variance
    box = {f"x{i}": (0.0, 1.0) for i in range(4)}
    found = sobol(lambda x: np.prod((np.abs(4 * x - 2) + a) / (1 + a), axis=1), box, 4096, seed=3)
    np.testing.assert_allclose(found.first, parts / variance, atol=0.01)
    np.testing.assert_allclose(found.total, total, atol=0.01)


def test_a_saltelli_sample_is_read_back_from_a_store() -> None:
    designs = saltelli(BOX, 1024, seed=5)
    coordinates = {name: ("design", designs[:, i]) for i, name in enumerate(BOX)}
    ds = xr.Dataset({"condition": (("design", "trajectory"), ishigami(designs)[:, None])}, coords=coordinates)
    found = of_saltelli_store(ds, objective("condition"))
    np.testing.assert_allclose(found.total, TOTAL, atol=0.03)
    direct = sobol(ishigami, BOX, 1024, seed=5)
    np.testing.assert_array_equal(found.first, direct.first)


@pytest.mark.parametrize("rule", [{}, {"derive": {"platform_mass": "2 * proximal_length"}}], ids=["plain", "derived"])
def test_a_saltelli_sample_keeps_the_order_of_its_parameters(rule: dict[str, object]) -> None:
    """Stores sort coordinates by name, and what follows from a parameter is none of the sample."""
    box = {"proximal_length": (0.5, 0.56), "distal_length": (0.5, 0.56)}
    designs = saltelli(box, 8, seed=1)
    made = sweep(
        "five_bar",
        design={"list": dict(zip(box, designs.T, strict=True)), **rule},
        trajectories={"c": {"kind": "circle", "radius": 0.05, "normal": [0, 1, 0]}},
        time=(1.0, 0.5),
        metrics="peak_force",
    )
    results = compute(made, progress=False)
    found = of_saltelli_store(results[sorted(map(str, results.variables))], objective("peak_force"))
    assert found.names == tuple(box)
    assert found.first[0] > 2.0 * abs(found.first[1])


def test_main_effects_are_means_over_the_range() -> None:
    x = np.linspace(-1.0, 1.0, 4001)
    middle, mean = main_effect(x, x**2, 20)
    assert len(middle) == 20
    np.testing.assert_allclose(mean, middle**2, atol=2e-3)


def test_a_constant_has_no_shares() -> None:
    found = sobol(lambda x: np.full(len(x), 3.0), BOX, 8, seed=0)
    assert found.first.tolist() == found.total.tolist() == [0.0] * 3


def test_what_cannot_be_done_is_refused() -> None:
    with pytest.raises(InputError, match=r"n: got 100; expected a power of two\. 256 gives indices"):
        saltelli(BOX, 100, 0)
    with pytest.raises(InputError, match=r"values: got 8 of 40 designs without a value; expected a value for every"):
        sobol(lambda x: np.where(np.arange(len(x)) < 8, np.nan, 1.0), BOX, 8, 0)
    ds = xr.Dataset(
        {"condition": (("design", "trajectory"), np.ones((8, 1)))}, coords={"a": ("design", np.arange(8.0))}
    )
    with pytest.raises(InputError, match=r"designs: got 8 designs in 1 parameters; expected the designs of a Saltelli"):
        of_saltelli_store(ds, objective("condition"))


def test_interaction_of_a_grid_is_exact() -> None:
    x, y = (each.ravel() for each in np.meshgrid(np.arange(4.0), np.arange(3.0), indexing="ij"))
    adding, both = interaction(x, y, 2.0 * x + y**2), interaction(x, y, x * y)
    np.testing.assert_array_equal(adding.first, np.arange(4.0))
    np.testing.assert_array_equal(adding.second, np.arange(3.0))
    np.testing.assert_allclose(adding.mean, 2.0 * np.arange(4.0)[:, None] + np.arange(3.0) ** 2)
    np.testing.assert_allclose(adding.effect, 0.0, atol=1e-12)
    np.testing.assert_allclose(both.effect, np.outer(np.arange(4.0) - 1.5, np.arange(3.0) - 1.0), atol=1e-12)


def test_interaction_of_samples() -> None:
    x, y = np.random.default_rng(3).uniform(-1.0, 1.0, (2, 40_000))
    values = x + x * y
    values[::100] = np.nan
    found = interaction(x, y, values, parts=5)
    np.testing.assert_allclose(found.mean, found.first[:, None] * (1.0 + found.second), atol=0.02)
    np.testing.assert_allclose(found.effect, np.outer(found.first, found.second), atol=0.03)
    few = interaction(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    assert np.isnan(few.mean[0, 1])  # no design is there


def test_a_parameter_without_effect_has_no_share() -> None:
    found = sobol(lambda x: 2.0 * x[:, 0], {"x1": (0.0, 1.0), "x2": (0.0, 1.0)}, 16, seed=0)
    np.testing.assert_allclose(found.first[1], 0.0, atol=1e-12)
    np.testing.assert_allclose(found.total, [1.0, 0.0], atol=0.1)
    np.testing.assert_array_equal(found.total_bounds[1], 0.0)


def test_estimates_are_those_of_scipy_and_intervals_hold_what_is_exact() -> None:
    """SciPy's bootstrap gives total shares from 1024 samples intervals of +- 0.08, where their errors are 0.003."""
    inside, widths = [], []
    for seed in range(8):
        found = sobol(ishigami, BOX, 1024, seed)
        values = ishigami(saltelli(BOX, 1024, seed)).reshape(5, 1, 1024)
        other = stats.sobol_indices(func={"f_A": values[0], "f_B": values[1], "f_AB": values[2:]}, n=1024)
        np.testing.assert_allclose(found.first, np.ravel(other.first_order), rtol=1e-9)
        np.testing.assert_allclose(found.total, np.ravel(other.total_order), rtol=1e-9)
        for bounds, exact in ((found.first_bounds, FIRST), (found.total_bounds, TOTAL)):
            inside += ((bounds[:, 0] <= exact) & (exact <= bounds[:, 1])).tolist()
        widths.append(np.ptp(found.total_bounds, axis=1))
    assert np.mean(inside) > 0.85  # 43 of 48; nominally 0.95
    assert np.mean(widths) < 0.07
