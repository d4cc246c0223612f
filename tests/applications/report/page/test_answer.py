"""The answer to the question of a study: the chosen design, its case, margins and what rules others out."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from applications.report.data.answer import answer_words, condition_words, key_numbers, question_words, verdict
from applications.report.data.failures import broken_conditions, failure_map
from applications.report.data.recomputed import ComputedResults, results_of
from applications.report.data.results import Results
from pipeline.cluster.connection import ClusterConfig
from pipeline.errors import InputError
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep
from pipeline.sweep.question.question import StudyQuestion

pytest.importorskip("plotly", reason="no plotly; install limbsweep[report] to test pages")

from applications.report.page.failed import failed
from applications.report.page.page import parts

TEXT = """\
limbsweep: 1
title: <payloads>
robot: delta_rl5_1450
design:
  grid:
    payload_mass: [0.0, 2.0, 5.0]
    upper_arm: [0.3, 0.35, 0.4, 0.45]
    gear_ratio: [40, 50, 60]
trajectories:
  pick: {kind: quintic, start: [-0.15, 0, 0], end: [0.15, 0, 0.05], duration: 0.3}
time: {stop: 0.3, step: 0.05}
metrics: [peak_force, rms_force, condition]
study:
  title: Which arm & gear?
  objectives: [min peak_force, min condition]
  where: condition < 2.6
  cases: payload_mass
"""


@pytest.fixture(scope="module")
def results() -> Results:
    return results_of(run(Sweep.from_text(TEXT), cluster=ClusterConfig.of("synchronous")))


def stored(results: Results, name: str) -> np.ndarray:
    """A metric by payload and the twelve other designs, from the store as it is."""
    ds = results.dataset
    worst = np.nanmax(ds[name].values.reshape(36, -1), axis=1)
    assert (np.diff(ds["payload_mass"].values.reshape(3, 12), axis=1) == 0).all()
    return worst.reshape(3, 12)


def test_the_best_design_is_best_in_its_worst_case(results: Results) -> None:
    force, condition = stored(results, "peak_force"), stored(results, "condition")
    meets = (condition < 2.6).all(axis=0)
    assert 0 < meets.sum() < 12
    best = int(np.argmin(np.where(meets, force.max(axis=0), np.inf)))
    assert results.place == best
    case = int(force[:, best].argmax())
    assert results.design == 12 * case + best
    assert results.designs.meets.tolist() == meets.tolist()
    words = answer_words(results)
    assert words.startswith(f"Design {best}: ")
    assert words.endswith(f"reached with payload mass {[0, 2, 5][case]} kg.")
    assert "payload" not in words.split("Its peak force")[0]
    assert results.designs.column("peak_force").text_at(best) in words
    assert verdict(results) == (
        True,
        f"The best by the first objective: {meets.sum()} of 12 designs meet all conditions.",
    )
    assert question_words(results) == (
        "Objectives: least peak force, then least condition. The worst of 3 operating cases (payload mass 0 to "
        "5 kg) counts. Conditions: condition < 2.6."
    )


def test_bounds_of_conditions_have_units(results: Results) -> None:
    assert (
        condition_words(results, "peak_force < 120 and upper_arm >= 0.35")
        == "peak force < 120 N m and upper arm >= 350 mm"
    )
    for text in ("condition < 2.6", "no_such > 2", "peak_force < rms_force", "not (peak_force < 2)"):
        assert condition_words(results, text) == text.replace("_", " ")


def test_key_numbers_say_what_is_left(results: Results) -> None:
    numbers = {number.column.name: number for number in key_numbers(results)}
    condition = stored(results, "condition").max(axis=0)[results.place]
    assert numbers["condition"].spare(results.place) == pytest.approx((2.6 - condition) / 2.6)
    assert "2.6 at most" in numbers["condition"].note(results, results.place)
    assert numbers["peak_force"].note(results, results.place) == "best of " + str(int(results.designs.meets.sum()))


@pytest.mark.parametrize("text", ["condition < 2.6 or peak_force < 90", "not condition > 2.6"])
def test_a_bound_of_a_branch_is_no_bound(results: Results, text: str) -> None:
    asked = ComputedResults(results.dataset, question=results.question.with_options(where=[text]))
    assert all(number.bound is None for number in key_numbers(asked))


def test_what_rules_designs_out_is_counted(results: Results) -> None:
    condition = stored(results, "condition").max(axis=0)
    ((text, broken, alone),) = broken_conditions(results)
    assert (text, broken, alone) == ("condition < 2.6", int((condition >= 2.6).sum()), int((condition >= 2.6).sum()))
    asked = ComputedResults(results.dataset, question=results.question.with_options(where=["peak_force < 90"]))
    part = failed(asked)
    assert part is not None
    assert "peak force &lt; 90 N m" in part.body.replace("\xa0", " ")
    shares = failure_map(results)
    assert shares is not None
    assert {shares.across.name, shares.up.name} == {"upper_arm", "gear_ratio"}
    assert shares.shares.shape in ((3, 4), (4, 3))
    by_arm = (condition >= 2.6).reshape(4, 3).mean(axis=1)  # the condition does not see the gear
    arms = shares.shares if shares.up.name == "upper_arm" else shares.shares.T
    np.testing.assert_allclose(arms, np.repeat(by_arm[:, None], 3, axis=1))


def test_names_of_a_catalogue_are_in_the_words(tmp_path: Path) -> None:
    rows = "motor,gear_ratio,gearbox_inertia,most [N m]\nA 1,20,1e-4,50\nB 2,40,2e-4,80\n"
    (tmp_path / "motors.csv").write_text(rows, encoding="utf-8")
    text = """
limbsweep: 1
robot: delta_rl5_1450
design: {file: motors.csv, labels: [motor, most], grid: {upper_arm: [0.35, 0.4], payload_mass: [0, 2]}}
trajectories: {pick: {kind: quintic, start: [-0.1, 0, 0], end: [0.1, 0, 0], duration: 0.4}}
time: {stop: 0.4, step: 0.05}
metrics: [peak_force]
study: {objectives: [min peak_force], where: peak_force < 2 * most, cases: payload_mass}
"""
    ds = run(Sweep.from_text(text, folder=tmp_path), cluster=ClusterConfig.of("synchronous"))
    made = results_of(ds)
    place = made.place
    assert made.designs.labels[0].text_at(place) == made.by_case["motor"].values[place]
    told = answer_words(made)
    assert f"motor {made.by_case['motor'].values[place]}, upper arm" in told
    assert "gear ratio" not in told
    asked = ComputedResults(ds, question=made.question.with_options(where=["peak_force < most"]))
    worst = np.nanmax(asked.by_case["peak_force"].values[place])
    share = 100 * worst / asked.by_case["most"].values[place]
    assert f"; peak force {share:.0f} % of most." in answer_words(asked)
    assert key_numbers(asked)[0].bound_of(place) == asked.by_case["most"].values[place]


def test_no_design_that_meets_all_is_told(results: Results) -> None:
    asked = ComputedResults(results.dataset, question=results.question.with_options(where=["condition < 1"]))
    good, told = verdict(asked)
    assert not good
    assert told.startswith("No design meets all conditions")
    body = next(part.body for part in parts(asked) if part.identity == "answer")
    assert 'class="warning"' in body


def test_a_chosen_design_is_named_by_any_of_its_cases(results: Results) -> None:
    for number in (7, 19, 31):
        chosen = ComputedResults(results.dataset, number, question=results.question)
        assert (chosen.place, chosen.design) == (7, number)
        assert chosen.heading(number).startswith("Design 7 (")
        assert f"payload mass {[0, 2, 5][number // 12]} kg" in chosen.heading(number)


def test_an_objective_over_cases_has_a_column_of_its_own(results: Results) -> None:
    question = StudyQuestion("", ("min peak_force, mean over cases",), (), ("payload_mass",))
    asked = ComputedResults(results.dataset, question=question)
    force = stored(results, "peak_force").mean(axis=0)
    assert asked.place == int(force.argmin())
    (name,) = asked.designs.asked
    np.testing.assert_allclose(asked.designs.column(name).values, force)
    with pytest.raises(InputError, match="no such column"):
        _ = ComputedResults(results.dataset, question=StudyQuestion("", ("min nothing",), (), ())).designs


def test_neighbours_win_and_lose_what_they_say(results: Results) -> None:
    body = next(part.body for part in parts(results) if part.identity == "trade-off")
    table, force = results.designs, results.designs.column("peak_force")
    rows = re.findall(r'data-design="(\d+)">\d+</span></th><td[^>]*>([^<]*)<span class="(\w+)">([\d.]+) %', body)
    assert len(rows) >= 2
    for number, text, kind, share in rows:
        place = table.place(int(number))
        assert place is not None
        assert table.meets[place]
        change = force.values[place] / force.values[results.place] - 1
        assert unescape(text).strip() == force.text_at(place)
        assert kind == ("worse" if change > 0 else "better")
        assert float(share) == pytest.approx(100 * abs(change), rel=0.06)
