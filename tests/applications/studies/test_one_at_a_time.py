"""One parameter at a time: against the kernels called directly, a grid that is stored, and a sweep that is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from applications.studies import DesignProblem
from applications.studies.columns import objective, value_of
from applications.studies.refinement import with_designs
from applications.studies.screening import designs, effects, of_store
from pipeline import Sweep, run
from pipeline.errors import InputError
from storage import open_results
from tests.pipeline.runs import SYNCHRONOUS

TEXT = """\
limbsweep: 1
robot: delta_3rr2rrr
design:
  grid:
    upper_arm: {start: 0.22, stop: 0.3, num: 5}
    base_radius: [0.14, 0.15, 0.16]
trajectories: {turn: {kind: circle, radius: 0.1, period: 0.8}}
time: {stop: 0.8, step: 0.05}
metrics: [peak_force, energy, condition]
"""
BOUNDS = {"upper_arm": (0.22, 0.3), "base_radius": (0.14, 0.16)}
BASE = {"upper_arm": 0.26, "base_radius": 0.15}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("once") / "grid.zarr"
    run(Sweep.from_text(TEXT), path, SYNCHRONOUS)
    return path


def test_curves_are_values_of_the_problem() -> None:
    problem = DesignProblem.of(Sweep.from_text(TEXT), BOUNDS)
    found = effects(problem, objective("peak_force"), BASE, parts=5)
    swings = [each.swing for each in found.curves]
    assert swings == sorted(swings, reverse=True)
    assert found.result == problem.values([[0.26, 0.15]], ["peak_force"])["peak_force"][0]
    for each in found.curves:
        points = [[v if n == each.name else BASE[n] for n in problem.names] for v in each.values]
        np.testing.assert_array_equal(each.results, problem.values(points, ["peak_force"])["peak_force"])
        assert each.base in each.values
        assert (each.values[0], each.values[-1]) == BOUNDS[each.name]


def test_a_stored_grid_has_the_same_curves(store: Path) -> None:
    ds, wanted = open_results(store), objective("energy_sum / 2 + 0 * upper_arm")
    base = 2 * 3 + 1  # in the middle
    read = of_store(ds, wanted, base)
    computed = effects(DesignProblem.of(Sweep.from_text(TEXT)), wanted, BASE, parts=5)
    assert read.result == computed.result == value_of(ds, wanted)[base]
    for each in read.curves:
        other = next(curve for curve in computed.curves if curve.name == each.name)
        at = np.isin(np.round(other.values, 12), np.round(each.values, 12))
        np.testing.assert_allclose(other.values[at], each.values, rtol=1e-14)
        np.testing.assert_allclose(other.results[at], each.results, rtol=1e-9)


def test_designs_make_a_sweep_of_their_own() -> None:
    table = designs(BOUNDS, BASE, 3)
    assert table.shape[1] == 2
    assert len(np.unique(table, axis=0)) == len(table) <= 7
    assert ((table != table[0]).sum(axis=1) <= 1).all()
    text = with_designs(TEXT, {"list": {name: table[:, k].tolist() for k, name in enumerate(BOUNDS)}}, "Once.")
    ds = run(Sweep.from_text(text), cluster=SYNCHRONOUS)
    read = of_store(ds, objective("peak_force"), 0)
    assert {each.name: len(each.values) for each in read.curves} == {"upper_arm": 3, "base_radius": 3}
    computed = effects(DesignProblem.of(Sweep.from_text(TEXT), BOUNDS), objective("peak_force"), BASE, parts=3)
    for mine, other in zip(read.curves, computed.curves, strict=True):
        np.testing.assert_array_equal(mine.results, other.results)


def test_what_fails_is_no_part_of_a_swing() -> None:
    problem = DesignProblem.of(Sweep.from_text(TEXT), {"upper_arm": (0.01, 0.3)})
    (curve,) = effects(problem, objective("peak_force"), parts=5).curves
    assert np.isnan(curve.results[0])
    assert np.isfinite(curve.swing)
    row = list(effects(problem, objective("peak_force"), parts=5).rows())[1]
    assert (row[0], row[2], row[4]) == ("upper_arm", "0.01", "nan")


def test_misuse_is_refused(store: Path) -> None:
    problem, wanted, ds = DesignProblem.of(Sweep.from_text(TEXT), BOUNDS), objective("peak_force"), open_results(store)
    for call, text in (
        (
            lambda: effects(problem, wanted, {"arm": 1.0}),
            "base.arm: got no parameter that varies; expected one of them",
        ),
        (lambda: effects(problem, wanted, {"upper_arm": 0.5}), "base.upper_arm: got 0.5; expected a number in"),
        (lambda: effects(problem, wanted, parts=1), "parts: got 1; expected 2 or more"),
        (lambda: designs(BOUNDS, {}), "base.upper_arm: got no value"),
        (lambda: of_store(ds, wanted, 99), "base: got 99; expected a design from 0 to 14"),
        (lambda: of_store(ds.isel(design=[0, 4]), wanted, 0), "got no design that differs from design 0 in"),
        (lambda: effects(problem, objective("peak_farce")), "peak_farce: got no such metric"),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert text in str(caught.value)
