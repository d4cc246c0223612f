"""Columns, objectives and conditions on a dataset, ranking, and the sweep of the next round."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from applications.studies.columns import column, feasible, names, objective, reduced, unit, value_of
from applications.studies.ranking import rank
from applications.studies.refinement import box, refine, saltelli_sweep
from applications.studies.sensitivity import saltelli
from applications.studies.stored_factors import varied_numbers
from pipeline.errors import InputError
from pipeline.sweep.model import Sweep

TEXT = """\
limbsweep: 1
robot: delta_3rr2rrr
design:
  sample: {method: sobol, count: 4, seed: 1, parameters: {upper_arm: {low: 0.2, high: 0.3}}}
  where: upper_arm < rod_length
trajectories: {turn: {kind: circle}}
time: {stop: 1.0, step: 0.5}
metrics: [peak_force, dexterity]
"""
FORCE = np.array([[3.0, 1.0], [2.0, 2.0], [np.nan, 1.0], [0.5, 4.0]]).reshape(4, 1, 2, 1)


@pytest.fixture
def ds() -> xr.Dataset:
    metric = ("design", "friction", "trajectory", "actuator")
    return xr.Dataset(
        {
            "peak_force": (metric, FORCE, {"units": "N m"}),
            "dexterity": (("design", "trajectory"), np.array([[0.5, 0.2], [0.4, 0.4], [0.0, 0.1], [0.9, 0.3]])),
            "failed_samples": (("design", "trajectory"), np.array([[0, 0], [0, 0], [1, 0], [0, 0]])),
        },
        coords={
            "upper_arm": ("design", np.array([0.2, 0.25, 0.3, 0.22]), {"units": "m"}),
            "rod_length": ("design", np.full(4, 0.8)),
        },
        attrs={"sweep": TEXT, "robot": "delta_3rr2rrr"},
    )


def test_a_column_is_the_worst_unless_it_says_otherwise(ds: xr.Dataset) -> None:
    np.testing.assert_array_equal(column(ds, "peak_force"), [3.0, 2.0, np.nan, 4.0])
    np.testing.assert_array_equal(column(ds, "peak_force_mean"), [2.0, 2.0, np.nan, 2.25])
    np.testing.assert_array_equal(column(ds, "peak_force_sum"), [4.0, 4.0, np.nan, 4.5])
    np.testing.assert_array_equal(column(ds, "dexterity"), [0.2, 0.4, 0.0, 0.3])
    np.testing.assert_array_equal(column(ds, "dexterity_max"), [0.5, 0.4, 0.1, 0.9])
    np.testing.assert_array_equal(column(ds, "upper_arm"), [0.2, 0.25, 0.3, 0.22])
    assert names(ds) == ["upper_arm", "rod_length", "peak_force", "dexterity", "failed_samples"]
    assert varied_numbers(ds) == ["upper_arm"]
    assert (unit(ds, "peak_force_sum"), unit(ds, "upper_arm"), unit(ds, "dexterity")) == ("N m", "m", "")


def test_objectives_know_their_direction(ds: xr.Dataset) -> None:
    directions = {"peak_force": "min", "dexterity": "max", "min dexterity": "min", "max peak_force": "max"}
    assert {text: objective(text).direction for text in directions} == directions
    np.testing.assert_allclose(value_of(ds, objective("min(peak_force, 3) / upper_arm"))[:2], [15.0, 8.0])


def test_feasible_designs_meet_all_conditions_and_have_not_failed(ds: xr.Dataset) -> None:
    assert feasible(ds).tolist() == [True, True, False, True]
    assert feasible(ds, ("peak_force < 3.5", "dexterity > 0.25")).tolist() == [False, True, False, False]
    assert feasible(ds, ("failed_samples <= 1",)).tolist() == [True] * 4


def test_ranks_follow_the_weights(ds: xr.Dataset) -> None:
    both = [objective("peak_force"), objective("dexterity")]
    order, scores = rank(ds, both)
    assert order.tolist() == [1, 0, 3] or order.tolist() == [1, 3, 0]
    np.testing.assert_allclose(scores, [0.0, 1.5, 1.5])
    assert rank(ds, both, (1.0, 0.0))[0].tolist() == [1, 0, 3]
    assert rank(ds, both, (0.0, 1.0))[0].tolist() == [1, 3, 0]
    assert rank(ds, both, where=("peak_force < 0",))[0].tolist() == []


def test_the_next_sweep_lies_around_the_best(ds: xr.Dataset, tmp_path: Path) -> None:
    sweep = refine(ds, [0, 3], tmp_path / "next.yaml", count=16, seed=3)
    assert box(ds, [0, 3]) == {"upper_arm": pytest.approx((0.198, 0.222))}
    arms = sweep.designs(0, sweep.design.size)["upper_arm"]
    assert len(arms) == 16
    assert 0.198 <= arms.min() < arms.max() <= 0.222
    assert Sweep.from_yaml(tmp_path / "next.yaml").fingerprint == sweep.fingerprint
    assert "where: upper_arm < rod_length" in sweep.text
    with pytest.raises(InputError, match="which exists already"):
        refine(ds, [0], tmp_path / "next.yaml")


def test_one_best_design_has_a_box_too(ds: xr.Dataset) -> None:
    assert box(ds, [1])["upper_arm"] == pytest.approx((0.24, 0.26))


def test_a_sweep_lists_the_designs_of_a_saltelli_sample() -> None:
    designs = saltelli({"upper_arm": (0.2, 0.3), "rod_length": (0.7, 0.9)}, 4, seed=1)
    sweep = Sweep.from_text(saltelli_sweep(TEXT, designs, ("upper_arm", "rod_length")))
    found = sweep.designs(0, sweep.design.size)
    np.testing.assert_array_equal(found["upper_arm"], designs[:, 0])
    np.testing.assert_array_equal(found["rod_length"], designs[:, 1])


def test_mistakes_are_refused(ds: xr.Dataset, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"peak_frce: got no such column; expected a .*\. Did you mean 'peak_force'"):
        column(ds, "peak_frce")
    with pytest.raises(InputError, match=r"objective: got the end; expected a number"):
        objective("peak_force +")
    with pytest.raises(InputError, match=r"where: got a number; expected a condition"):
        feasible(ds, ("peak_force",))
    with pytest.raises(InputError, match=r"weights: got \[1.0\]; expected 2 numbers that are not negative"):
        rank(ds, [objective("peak_force"), objective("dexterity")], (1.0,))
    with pytest.raises(InputError, match=r"best: got no designs; expected at least one"):
        refine(ds, [], tmp_path / "next.yaml")
    several = ds.assign_attrs(sweep=TEXT.replace("robot: delta_3rr2rrr", "robots: [delta_3rr2rrr, delta_rl5_1450]"))
    with pytest.raises(InputError, match=r"robots: got 2 robots; expected one of them to be chosen\. Name it"):
        refine(several, [0], tmp_path / "next.yaml")


def test_joints_that_a_limb_has_not_are_no_failure() -> None:
    values = np.arange(2.0 * 3 * 2 * 4).reshape(2, 3, 2, 4)  # design, trajectory, limb, joint
    values[..., 1, 3] = np.nan
    np.testing.assert_array_equal(reduced(values, "max", joints=True), np.nanmax(values, axis=(1, 2, 3)))
    np.testing.assert_array_equal(reduced(values, "max", joints=False), [np.nan, np.nan])
    values[1, 2] = np.nan  # a case that failed
    np.testing.assert_array_equal(np.isnan(reduced(values, "sum", joints=True)), [False, True])
    assert np.isnan(reduced(np.full((2, 1, 2, 4), np.nan), "max", joints=True)).all()
