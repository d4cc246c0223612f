from __future__ import annotations

import numpy as np
import pytest
import xarray

from applications.report.data.advice import Advice
from applications.report.data.answer import key_numbers, question_words
from applications.report.data.designs import MOST_SHOWN, DesignColumn, Designs, designs
from applications.report.data.recomputed import results_of
from applications.report.data.results import Results
from applications.report.page.decides import decides
from pipeline.execution.run import compute
from pipeline.sweep.model import Sweep
from pipeline.sweep.question.question import StudyQuestion
from storage import open_results
from tests.applications.report.large import large


def test_a_metric_is_the_worst_of_all_but_the_design(results: Results) -> None:
    dataset, table = results.dataset, results.designs
    peak = np.where(table.good, np.abs(dataset["actuator_force"].values).max(axis=(1, 2, 3, 4)), np.nan)
    np.testing.assert_array_equal(table.column("peak_force").values, peak)
    energy = dataset["energy"].values.sum(axis=-1).max(axis=(1, 2))
    np.testing.assert_array_equal(table.column("energy").values, energy)
    assert table.column("energy").how == "sum of all actuators, worst over friction, trajectory"
    assert table.column("peak_reaction").label == "peak reaction [N]"


def test_a_design_that_fails_once_has_no_metrics(results: Results) -> None:
    table = results.designs
    assert np.flatnonzero(~table.good).tolist() == [0, 1, 2, 3]
    for each in table.objectives:
        assert np.isnan(each.values).tolist() == (~table.good).tolist()
    assert table.good[table.best]
    assert table.column("peak_force").values[table.best] == np.nanmin(table.column("peak_force").values)


def test_parameters_that_vary_are_told_apart(results: Results) -> None:
    one = designs(results.dataset.isel(design=slice(4, 8)))
    assert {each.name for each in one.parameters} == {"base_radius"}
    assert one.row(0)["upper_arm"] == 0.25


def test_a_large_table_is_thinned_and_keeps_what_matters() -> None:
    dataset = large(100_000)
    table = designs(dataset)
    shown = table.shown(always=(1,))
    assert len(shown) == MOST_SHOWN
    assert table.good[shown].all()
    assert (np.diff(shown) > 0).all()
    assert {1, table.best, *np.concatenate(list(table.fronts.values())).tolist()} <= set(shown.tolist())
    np.testing.assert_array_equal(shown, table.shown(always=(1,)))
    rest = np.setdiff1d(shown, np.concatenate(list(table.fronts.values())))
    assert 0.5 < dataset["rod_length"].values[rest].mean() < 0.6, "not a fair draw"


def test_fronts_that_are_longer_than_the_limit_are_thinned() -> None:
    table = designs(large(3000))
    front = table.fronts["peak_force", "energy"]
    shown = table.shown(most=20)
    assert len(front) > 20 == len(shown)
    best = {int(np.nanargmin(each.values)) for each in table.objectives}
    assert best <= set(shown.tolist()) <= set(np.concatenate(list(table.fronts.values())).tolist())


def test_metrics_to_be_large_turn_round() -> None:
    dataset = large(50)
    dataset["manipulability"] = dataset["condition"].copy(data=np.arange(100.0).reshape(50, 2))
    table = designs(dataset)
    found = table.column("manipulability")
    assert found.sign == -1.0
    np.testing.assert_array_equal(found.values[table.good], dataset["manipulability"].values[table.good].min(axis=1))
    pair = next(pair for pair in table.fronts if "manipulability" in pair)
    assert int(np.nanargmax(found.values)) in table.fronts[pair]


def table_of(asked: tuple[str, ...] = (), **values: list[float]) -> Designs:
    columns = tuple(DesignColumn(name, "N", name, np.array(x), objective=True) for name, x in values.items())
    count = len(columns[0].values)
    every = np.ones(count, dtype=bool)
    return Designs(columns, every, every, np.arange(count)[:, None], asked)


def test_rounding_decides_nothing() -> None:
    weight, cost = [7.0, 7.0 - 1e-13, 9.0], [3.0, 2.0, 1.0]
    assert table_of(weight=weight, cost=cost).best == 1  # the first two weigh the same, and the second costs less
    assert table_of(weight=weight).best == 0
    alike = table_of(weight=[7.0, 7.0 - 1e-13, 7.0], cost=cost)
    assert (alike.first is alike.column("cost"), alike.best) == (True, 2)
    asked = table_of(("weight",), weight=[7.0, 7.0 - 1e-13, 7.0], cost=cost)
    assert (asked.first is asked.column("weight"), asked.best) == (True, 2)


def test_a_store_without_metrics_has_a_table(results: Results) -> None:
    table = designs(results.dataset[["actuator_force", "status"]])
    assert (table.objectives, table.count, table.best) == ((), 16, 0)
    assert table.fronts == {}


def test_derivatives_are_no_metrics(results: Results) -> None:
    peak = results.dataset["peak_force"]
    slopes = peak.expand_dims(parameter=["upper_arm", "coulomb"], axis=-1).rename("peak_force_derivative") * np.nan
    table = designs(results.dataset.assign(peak_force_derivative=slopes))
    assert [each.name for each in table.objectives] == [each.name for each in results.designs.objectives]
    np.testing.assert_array_equal(table.good, results.designs.good)


@pytest.mark.parametrize("written", [True, False])
def test_designs_that_are_not_written_are_not_good(store, written: bool) -> None:
    dataset = open_results(store)
    marks = np.ones((16, 2), bool)
    marks[5, 1] = written
    table = designs(dataset.assign_coords(written=(("design", "trajectory"), marks)))
    assert table.good[5] == written


def test_rounding_is_no_difference(results: Results) -> None:
    dataset = results.dataset.copy()
    dataset["condition"] = dataset["condition"] * 0.0 + 117.0 + 1e-13 * dataset["condition"]
    assert np.ptp(dataset["condition"].values[4:]) > 0
    table = designs(dataset)
    assert not table.column("condition").varies
    assert table.column("peak_force").varies


def test_parameters_that_go_together_are_one_cause() -> None:
    draw = np.random.default_rng(0)
    motor, (arm, rod) = np.repeat([0, 1, 2], 30), draw.uniform(0.2, 0.4, (2, 90))
    columns = {"inertia": motor * 2.0, "resistance": 1.0 / (1 + motor), "upper_arm": arm, "rod": rod}
    force = xarray.DataArray(motor + 10.0 * arm, dims="design", attrs={"units": "N"})
    table = designs(xarray.Dataset({"peak_force": force}, {name: ("design", x) for name, x in columns.items()}))
    assert list(table.causes) == ["inertia, resistance", "upper arm", "rod"]
    ((objective, found),) = table.explained
    assert objective.name == "peak_force"
    assert found.names == tuple(table.causes)
    assert 0.4 < found.first[0] < 0.9


FRICTION = """\
limbsweep: 1
robot: five_bar
design: {grid: {proximal_length: [0.5, 0.53, 0.56]}, derive: {distal_length: 0.9 * proximal_length}}
friction:
  law: coulomb_viscous
  joints: actuated
  grid: {viscous: [0.0, 0.2, 0.4, 0.6], coulomb: [0.0, 1.0, 2.0, 4.0]}
trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}
time: {stop: 1, step: 0.1}
metrics: [peak_force, energy, condition]
"""


def test_friction_parameters_are_factors_of_what_decides() -> None:
    results = results_of(compute(Sweep.from_text(FRICTION)))
    assert [column.name for column in results.designs.parameters] == ["proximal_length"]
    assert list(results.runs.causes) == ["proximal length", "viscous", "coulomb"]
    assert (results.designs.count, results.runs.count) == (3, 48)
    forces = results.dataset["peak_force"].max(["trajectory", "actuator"]).values
    np.testing.assert_array_equal(results.runs.column("peak_force").values, forces.ravel())
    energies = next(shares for column, shares in results.runs.explained if column.name == "energy")
    assert energies.first[2] > 0.3 > energies.first[1]  # the dry part decides at this speed
    part = decides(results)
    assert part is not None
    assert "3 designs under 16 friction sets each" in part.body
    assert "coulomb" in part.body
    assert "The worst of 16 friction sets counts." in question_words(results)
    asked = results_of(results.dataset, question=StudyQuestion(where=("distal_length < 0.49",)))
    assert [column.name for column in asked.designs.parameters] == ["distal_length", "proximal_length"]
    cased = results_of(results.dataset, question=StudyQuestion(cases=("friction",)))
    assert cased.runs.count == 3


def test_shares_without_friction_sets_are_over_all_designs() -> None:
    head, _, rest = FRICTION.partition("design:")
    grid = (
        "{grid: {proximal_length: {start: 0.5, stop: 0.56, num: 5}, distal_length: {start: 0.43, stop: 0.5, num: 4}}}"
    )
    part = decides(results_of(compute(Sweep.from_text(f"{head}design: {grid}\n{rest[rest.index('trajectories') :]}"))))
    assert part is not None
    assert "Share of the variance of a metric over all designs that a parameter explains alone" in part.body


def test_no_design_is_the_best_of_none() -> None:
    dataset = compute(Sweep.from_text(FRICTION))
    question = StudyQuestion(objectives=("peak_force",), where=("peak_force < 0",))
    results = results_of(dataset, question=question)
    energy = next(number for number in key_numbers(results) if number.column.name == "energy")
    assert energy.note(results, 0).endswith("of 3, none of which meets all conditions")
    assert "of 3" in energy.note(results_of(dataset), 0)


BOX = """\
limbsweep: 1
robot: delta_3rr2rrr
design: {grid: {base_radius: [0.12, 0.15], rod_length: [0.7, 1.0]}}
tolerances: {parameters: {upper_arm: {limit: 1.0e-3}}, count: 4, seed: 5}
criteria: {stiffness: {actuators: {all: 2.0e+4}}}
limits: {actuators: {all: {force: 100}}}
trajectories:
  pick: {kind: pick_and_place, lift: 0.02, start: [-0.05, 0, 0], end: [0.05, 0, 0], time: {stop: 0.5, samples: 6}}
  reach: {kind: workspace, centre: [0, 0, 0.2], size: [0.9, 0.9, 0.2], counts: [2, 2, 2], time: {stop: 1, samples: 8}}
metrics: [peak_force, least_stiffness, condition, usable_share]
study:
  objectives: ['min peak_force, quantile 0.9 over tolerances', max least_stiffness]
  where: [condition < 60, usable_share >= 0.5]
"""


def test_a_box_that_is_missed_and_tolerances_have_words_and_no_other_numbers() -> None:
    results = results_of(compute(Sweep.from_text(BOX)))
    assert results.designs.asked == ("peak_force (quantile 0.9 over tolerances)", "least_stiffness")
    share = results.by_case["usable_share"].min(["trajectory", "case"]).values
    assert 0 < (share < 1.0).sum() < len(share)
    for name in ("least_stiffness", "condition"):  # that of the motion alone would be no answer
        np.testing.assert_array_equal(np.isnan(results.designs.column(name).values), share < 1.0)
    rows = {words: (spare, gain) for words, spare, gain in Advice(results).limits()}
    assert {"condition < 60", "usable share >= 0.5", "force of all actuators, 100 N m"} <= rows.keys()
