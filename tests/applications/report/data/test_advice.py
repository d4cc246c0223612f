"""Advice about the chosen design, against optima that are found with relaxed limits and by other designs."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from applications.report.data.advice import Advice
from applications.report.data.answer import _is_worst, answer_words, key_numbers, question_words, verdict
from applications.report.data.display import percent
from applications.report.data.recomputed import results_of
from applications.report.data.results import Results
from applications.report.page.failed import failed
from applications.report.page.page import mechanism
from applications.report.page.trade_off import trade_off
from applications.studies.columns import objective
from applications.studies.link_masses import weightless
from applications.studies.optimisation import optimise
from applications.studies.outlook import RELAXED, _share_of_bound, outlook, parts_of
from applications.studies.problem import DesignProblem
from pipeline.cluster.connection import ClusterConfig
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep

TEXT = """\
limbsweep: 1
robot: delta_rl5_1450
design:
  grid: {payload_mass: [0.0, 3.0]}
  sample:
    method: sobol
    count: 64
    seed: 1
    parameters: {upper_arm: {low: 0.3, high: 0.45}, gear_ratio: {low: 40, high: 60}}
trajectories:
  pick: {kind: quintic, start: [-0.15, 0, 0], end: [0.15, 0, 0.05], duration: 0.3}
time: {stop: 0.3, step: 0.05}
metrics: [peak_force, peak_velocity, condition]
study:
  objectives: [min peak_force]
  where: condition < 2.6 and peak_velocity < 8
  cases: payload_mass
"""


@pytest.fixture(scope="module")
def results() -> Results:
    return results_of(run(Sweep.from_text(TEXT), cluster=ClusterConfig.of("synchronous")))


def problem_of(results: Results) -> DesignProblem:
    """Return the sweep of results as a problem under its cases."""
    assert results.sweep is not None
    return DesignProblem.of(results.sweep, cases=results.question.cases)


def test_gains_are_those_of_optima_with_relaxed_limits(results: Results) -> None:
    problem = problem_of(results)
    target, start = (
        objective("min peak_force"),
        np.array([*problem.stored_design(results.by_case, results.place).values()]),
    )
    best = optimise(problem, target, start, results.question.where)[0]
    at_best = outlook(problem, target, results.question.where, np.array([*best.design.values()]))
    assert at_best.best == pytest.approx(best.value, rel=2e-3)  # nothing is better nearby
    checked = 0
    for limit in at_best.limits:
        where, bounds = list(parts_of(results.question.where)), dict(problem.bounds)
        if limit.factor:
            low, high = bounds[limit.factor]
            room = RELAXED * (high - low)
            bounds[limit.factor] = (low - room, high) if limit.text.startswith("least") else (low, high + room)
        else:
            name, bound = limit.text.split(" < ")
            where[where.index(limit.text)] = f"{name} < {float(bound) * (1.0 + RELAXED)}"
        relaxed = optimise(replace(problem, bounds=bounds), target, np.array([*best.design.values()]), where)[0]
        assert best.value - relaxed.value == pytest.approx(limit.gain, rel=0.15, abs=2e-3 * best.value * RELAXED)
        checked += limit.gain > 0.0
    assert checked


def test_the_better_design_is_computed_and_meets_the_conditions(results: Results) -> None:
    problem, target = problem_of(results), objective("min peak_force")
    stored = np.array([*problem.stored_design(results.by_case, results.place).values()])
    for bound in (2.6, 1.001 * float(problem.objective(stored, objective("min condition"))[0])):  # the second is tight
        found = outlook(problem, target, [f"condition < {bound!r}"], stored)
        better = np.array([*found.design.values()])
        assert found.best < found.value
        assert found.best == pytest.approx(problem.objective(better, target)[0], rel=1e-9)
        assert problem.objective(better, objective("min condition"))[0] <= bound * (1.0 + 1e-5)
        ranges = np.array([high - low for low, high in problem.bounds.values()])
        assert (np.abs(better - stored) <= 0.1001 * ranges).all()


def test_words_name_the_next_design_the_defaults_and_the_edge(results: Results) -> None:
    advice, table = Advice(results), results.designs
    force = np.where(table.meets, table.column("peak_force").values, np.inf)
    order = np.argsort(force)
    assert f"the next, design {table.numbers[order[1], 0]}" in advice.better()
    middle = float(np.median(force[table.meets]))
    assert f"{percent((middle - force[order[0]]) / middle)} below the median of designs" in advice.better()
    usual = Sweep.from_text(TEXT[: TEXT.index("  sample:")] + TEXT[TEXT.index("trajectories:") :])
    peak = float(run(usual, cluster=ClusterConfig.of("synchronous"))["peak_force"].max())
    share = 100.0 * (peak - force[order[0]]) / peak
    below = advice.better().split(" and ")[-1]
    assert float(below.split("\N{NO-BREAK SPACE}")[0]) == pytest.approx(abs(share), rel=0.06)
    assert ("below" in below) == (share > 0.0)
    assert [row[0] for row in advice.limits()]
    assert advice.next_step()


def test_no_design_that_breaks_a_condition_is_compared_with_others(results: Results) -> None:
    impossible = replace(results, question=replace(results.question, where=("condition < 0.5",)))
    assert Advice(impossible).better() == "No design meets all conditions."
    page_part = failed(impossible)
    assert page_part is not None
    assert "64 (100\N{NO-BREAK SPACE}%)" in page_part.body


REACH = """\
limbsweep: 1
robot: planar_3rrr
design:
  grid:
    proximal_length: [0.16, 0.20, 0.24]
    base_radius: [0.30, 0.35, 0.40]
trajectories: {disc: {kind: workspace_cylinder, radius: 0.08, height: 0, counts: [2, 6, 1]}}
time: {stop: 1, samples: 12}
criteria: {stiffness: {actuators: {all: 8.0e+3}}}
metrics: [least_stiffness, condition, usable_share]
study:
  objectives: [max least_stiffness]
  where: [usable_share >= 1, condition < 6]
"""


def test_a_condition_that_is_met_exactly_leaves_other_limits() -> None:
    results = results_of(run(Sweep.from_text(REACH), cluster=ClusterConfig.of("synchronous")))
    prospect, why = Advice(results).prospect
    assert prospect is not None, why
    gains = {limit.text: limit.gain for limit in prospect.limits}
    assert math.isnan(gains["usable_share >= 1"])  # a share of samples has steps alone
    assert any(limit.factor and limit.gain > 0.0 for limit in prospect.limits)
    assert Advice(results).limits()[0] == ("usable share >= 1", "0\N{NO-BREAK SPACE}%", "not known")
    problem, chosen = problem_of(results), problem_of(results).stored_design(results.by_case, results.place)
    spans = {name: (high - low) / 10.0 for name, (low, high) in problem.bounds.items()}
    bounds = {
        name: (max(low, chosen[name] - spans[name]), min(high, chosen[name] + spans[name]))
        for name, (low, high) in problem.bounds.items()
    }
    target, start = objective("max least_stiffness"), np.array([*chosen.values()])
    best = optimise(replace(problem, bounds=bounds), target, start, ["condition < 6"])[0]
    assert prospect.best == pytest.approx(best.value, rel=2e-3)  # the best within a tenth of each range
    for limit in (limit for limit in prospect.limits if limit.factor and limit.gain > 0.0):
        low, high = bounds[limit.factor]
        room = 0.1 * spans[limit.factor]  # 1 % of the range
        wider = {limit.factor: (low - room, high) if limit.text.startswith("least") else (low, high + room)}
        relaxed = optimise(replace(problem, bounds=bounds | wider), target, start, ["condition < 6"])[0]
        assert relaxed.value - best.value == pytest.approx(limit.gain, rel=0.15)
    found = problem.values(np.array([[*prospect.design.values()]]), ["least_stiffness", "usable_share"])
    assert found["usable_share"][0] == 1.0
    assert found["least_stiffness"][0] == pytest.approx(prospect.best, rel=1e-9)


def test_points_of_a_disc_are_no_times() -> None:
    results = results_of(run(Sweep.from_text(REACH), cluster=ClusterConfig.of("synchronous")))
    assert results.case is not None
    assert results.case.has_points(0)
    assert results.case.grid(0) == ()  # no map of a box
    assert mechanism(results)[1]["mechanism"]["trajectories"] == [{"grid": True}]


def test_designs_that_miss_a_point_do_not_hide_the_trade_off() -> None:
    results = results_of(run(Sweep.from_text(REACH), cluster=ClusterConfig.of("synchronous")))
    without = ~np.isfinite(results.designs.column("least_stiffness").values[results.designs.good])
    assert 0 < without.sum() < len(without)
    part = trade_off(results)
    assert part is not None
    assert results.conflict is not None
    assert [column.name for column in results.conflict] == ["least_stiffness", "condition"]
    assert f"which are not drawn: {without.sum()}." in part.body


CATALOGUE = """\
limbsweep: 1
robot: linear_delta
variables:
  thrust: {default: 100, unit: N, lower: 0, text: of the motor}
  top_speed: {default: 5, unit: m/s, lower: 0, text: of the motor}
design:
  list: {carriage_mass: [0.8, 2.6], thrust: [60, 320], top_speed: [5.0, 3.2]}
  grid: {rod_length: [0.44, 0.48, 0.52]}
limits: {actuators: {all: {force: thrust, velocity: top_speed}}}
trajectories: {pick: {kind: quintic, start: [-0.15, 0, 0], end: [0.15, 0, 0.05], duration: 0.3}}
time: {stop: 0.3, samples: 16}
metrics: [cycle_time]
study: {objectives: [min cycle_time]}
"""


def test_numbers_of_the_row_of_a_table_are_limits_by_what_they_gain() -> None:
    results = results_of(run(Sweep.from_text(CATALOGUE), cluster=ClusterConfig.of("synchronous")))
    assert results.sweep is not None
    advice, chosen = Advice(results), results.dataset.isel(design=results.place)
    names = ("thrust", "carriage_mass", "top_speed")
    own = {name: float(chosen[name]) for name in names}
    relaxed = []
    for name, factor in (("thrust", 1.01), ("carriage_mass", 0.99), ("top_speed", 1.01)):
        row = ", ".join(f"{key}: [{own[key] * (factor if key == name else 1.0)!r}]" for key in names)
        text = re.sub(r"  list: .*", f"  list: {{{row}}}", CATALOGUE).replace(
            "[0.44, 0.48, 0.52]", f"[{float(chosen['rod_length'])!r}]"
        )
        time = run(Sweep.from_text(text), cluster=ClusterConfig.of("synchronous"))["cycle_time"]
        relaxed.append(float(chosen["cycle_time"].max()) - float(time.max()))
    limits = {limit.factor: limit for limit in advice._row}
    assert limits["thrust"].gain == pytest.approx(relaxed[0], rel=0.05)
    assert limits["carriage_mass"].gain == pytest.approx(relaxed[1], rel=0.05)
    assert ("top_speed" in limits) == (relaxed[2] > 1e-9)
    assert advice.limits()[0][:2] == ("more thrust than 320 N", "a row")


PLAIN = """\
limbsweep: 1
robot: linear_delta
design: {grid: {base_radius: [0.24, 0.28, 0.32]}}
limits: {actuators: {all: {force: 320, velocity: 3.2, acceleration: 1.0e+6}}}
trajectories: {pick: {kind: quintic, start: [-0.15, 0, 0], end: [0.15, 0, 0.05], duration: 0.3}}
time: {stop: 0.3, samples: 16}
metrics: [cycle_time]
study: {objectives: [min cycle_time]}
"""
RANGE = """\
limbsweep: 1
robot: delta_rl5_1450
variables: {most: {default: 1, unit: N m, lower: 0, text: torque that a motor may have}}
design:
  grid: {upper_arm: [0.30, 0.32, 0.34, 0.36, 0.40], gear_ratio: [40, 45, 50]}
limits:
  joints: {actuated: {position: [-27, 27], unit: deg}, "limb*.2": {velocity: 1.0e+3}}
  actuators: {all: {force: 50 * most, velocity: 100}}
trajectories: {pick: {kind: quintic, start: [-0.15, 0, 0], end: [0.15, 0, 0.05], duration: 0.3}}
time: {stop: 0.3, step: 0.05}
metrics: [peak_force]
study: {objectives: [min peak_force]}
"""


def optimum(text: str, wanted: str, where: list[str], within: Advice) -> float:
    """Return the best value within a tenth of the ranges about the design of an advice, for another text of a sweep."""
    sweep, problem = Sweep.from_text(text), within._problem[0]
    assert problem is not None
    chosen = within._stored(problem)
    bounds = {
        name: (max(low, chosen[name] - (high - low) / 10.0), min(high, chosen[name] + (high - low) / 10.0))
        for name, (low, high) in problem.bounds.items()
    }
    return optimise(DesignProblem.of(sweep, bounds), wanted, np.array([*chosen.values()]), where)[0].value


def test_plain_numbers_of_limits_are_listed_with_what_they_gain() -> None:
    advice = Advice(results_of(run(Sweep.from_text(PLAIN), cluster=ClusterConfig.of("synchronous"))))
    prospect, why = advice.prospect
    assert prospect is not None, why
    rows = {words: (share, gain) for words, share, gain in advice.limits()}
    force, speed = advice.limits()[:2]
    assert [force[0], speed[0]] == ["force of all actuators, 320 N", "velocity of all actuators, 3.2 m/s"]
    assert not any(words.startswith("acceleration") for words in rows)  # nothing reaches it
    gains = [limit.gain for limit in prospect.limits if limit.is_number]
    at = ", ".join(f"{name}: [{value!r}]" for name, value in prospect.design.items())
    there = re.sub(r"grid: {.*}}", f"grid: {{{at}}}}}", PLAIN)
    times = [
        float(run(Sweep.from_text(text), cluster=ClusterConfig.of("synchronous"))["cycle_time"].max())
        for text in (there, there.replace(" 320,", " 323.2,"), there.replace(" 3.2,", " 3.232,"))
    ]
    assert prospect.best == pytest.approx(times[0], rel=1e-9)
    assert gains == pytest.approx([times[0] - times[1], times[0] - times[2]], rel=0.05)  # all else is at its best there
    assert force[1] == speed[1] == "0\N{NO-BREAK SPACE}%"
    assert not any("limit_scale" in text for row in (*advice.limits(), advice.next_step()) for text in row)


def test_a_range_of_joints_is_a_limit_and_others_show_what_is_left() -> None:
    stored = run(Sweep.from_text(RANGE), cluster=ClusterConfig.of("synchronous"))
    advice = Advice(results_of(stored))
    prospect, why = advice.prospect
    assert prospect is not None, why
    rows = {words: (share, gain) for words, share, gain in advice.limits()}
    assert not any("limit margin" in words for words in rows)
    gain = next(limit.gain for limit in prospect.limits if limit.is_number)
    inside = ["1 - limit_margin <= 1"]
    best = optimum(RANGE, "min peak_force", inside, advice)
    wider = RANGE.replace("[-27, 27]", "[-27.27, 27.27]")
    assert gain > 0.0
    assert gain == pytest.approx(best - optimum(wider, "min peak_force", inside, advice), rel=0.15)
    for words, alone, metric in (
        ("range of all actuated joints, -27 to 27 °", "joints: {actuated: {position: [-27, 27], unit: deg}}", "limit"),
        ("force of all actuators, 50 N m", "actuators: {all: {force: 50}}", "actuator"),
        ("velocity of all actuators, 100 rad/s", "actuators: {all: {velocity: 100}}", "actuator"),
    ):
        lines = RANGE.splitlines()
        at = lines.index("limits:")
        text = "\n".join([*lines[:at], f"limits: {{{alone}}}", *lines[at + 3 :]]).replace(
            "[peak_force]", f"[{metric}_margin]"
        )
        text = text[: text.index("study")]
        margin = run(Sweep.from_text(text), cluster=ClusterConfig.of("synchronous"))[f"{metric}_margin"]
        assert rows[words][0] == percent(float(margin.isel(design=advice.results.place).min()))
    assert rows["force of all actuators, 50 N m"][1] == "nothing: no condition needs it"


def test_limits_of_the_row_of_a_table_show_what_is_left() -> None:
    text = CATALOGUE.replace("[cycle_time]", "[peak_force]").replace("min cycle_time", "min peak_force")
    results = results_of(run(Sweep.from_text(text), cluster=ClusterConfig.of("synchronous")))
    chosen = results.dataset.isel(design=results.place)
    rows = {words: (share, gain) for words, share, gain in Advice(results).limits()}
    thrust, speed = float(chosen["thrust"]), float(chosen["top_speed"])
    share, gain = rows[f"force of all actuators, {thrust:g} N"]
    assert share == percent(1.0 - float(chosen["peak_force"].max()) / thrust)
    assert gain == "nothing: no condition needs it"
    assert f"velocity of all actuators, {speed:g} m/s" in rows  # beside the other one, whichever is tighter
    of_row = Advice(results_of(run(Sweep.from_text(CATALOGUE), cluster=ClusterConfig.of("synchronous")))).limits()
    assert not any("of all actuators" in words for words, _, _ in of_row)  # more thrust says it


SERVO = """\
limbsweep: 1
robot: planar_3r
gravity: [0, -9.81, 0]
friction: {law: coulomb_viscous, parameters: {width: 0.05}, list: {coulomb: [0.1, 0.3], viscous: [0.1, 0.2]}}
trajectories: {move: {kind: quintic, start: 0.0, end: [0.4, 0.2, -0.2], duration: 0.1}}
simulation:
  controller: {kind: pd_gravity, parameters: {force_limit: 500.0}}
  gains: {grid: {kp: [100, 200, 400], kd: [2, 4, 8]}}
  step: 0.001
time: {stop: 0.12, step: 0.01}
metrics: [rms_tracking_error, peak_force]
study:
  objectives: [min rms_tracking_error]
  where: [peak_force < 400]
  cases: friction
"""


def test_gains_of_a_servo_have_limits_with_what_they_gain() -> None:
    results = results_of(run(Sweep.from_text(SERVO), cluster=ClusterConfig.of("synchronous")))
    advice = Advice(results)
    assert "default parameters" not in advice.better()  # gains have none
    prospect, why = advice.prospect
    assert prospect is not None, why
    best = results.dataset["rms_tracking_error"].max(("friction", "trajectory", "actuator")).min()
    assert prospect.value == pytest.approx(float(best), rel=1e-9)  # the worst over friction sets
    ends = [limit for limit in prospect.limits if limit.factor and not limit.is_number]
    assert ends
    assert sorted((limit.gain for limit in ends), reverse=True) == [limit.gain for limit in ends]
    assert results.sweep is not None
    wide = DesignProblem.of(results.sweep, {"kp": (50.0, 800.0), "kd": (1.0, 16.0)})
    here = dict.fromkeys(("kp", "kd"), 0.0) | {name: prospect.design[name] for name in ("kp", "kd")}
    for limit in ends:
        room = RELAXED * (300.0 if limit.factor == "kp" else 6.0) * (-1.0 if limit.text.startswith("least") else 1.0)
        there = here | {limit.factor: here[limit.factor] + room}
        values = wide.values(np.array([[*here.values()], [*there.values()]]), ["rms_tracking_error"])
        first, second = values["rms_tracking_error"]
        assert first - second == pytest.approx(limit.gain, rel=0.1)
    several = replace(results, question=replace(results.question, where=("peak_force < 1000 * rms_tracking_error",)))
    assert Advice(several).prospect[1] == "several metrics in one expression under the cases friction"


CUT = """\
limbsweep: 1
robot: delta_3rr2rrr
design: {grid: {upper_arm: [0.24, 0.26]}}
trajectories:
  pick: {kind: quintic, start: [-0.1, 0.0, 0.0], end: [0.1, 0.05, 0.03], duration: 0.15}
simulation:
  step: 0.001
  controller:
    kind: pd_gravity
    parameters: {kp: 1500.0, kd: 15.0, force_limit: 40.0, force_limit_limb1.1: 12.0, rate_limit: 1.0e+5}
time: {stop: 0.2, step: 0.002}
metrics: [rms_tracking_error, peak_force]
study: {objectives: [min rms_tracking_error]}
"""


def test_limits_of_a_controller_are_listed_with_what_they_gain() -> None:
    def ran(text: str) -> xr.Dataset:
        return run(Sweep.from_text(text), cluster=ClusterConfig.of("synchronous"))

    def error(text: str) -> float:
        return float(ran(text)["rms_tracking_error"].isel(design=-1).max())

    dataset = ran(CUT)
    advice = Advice(results_of(dataset))
    prospect, why = advice.prospect
    assert prospect is not None, why
    limits = {limit.factor: limit for limit in prospect.limits}
    relaxed = CUT.replace("limb1.1: 12.0", f"limb1.1: {12.0 * (1.0 + RELAXED)}")
    assert limits["force_limit_limb1.1"].spare == 0.0
    assert limits["force_limit_limb1.1"].gain == pytest.approx(error(CUT) - error(relaxed), rel=0.05)
    largest = float(dataset["peak_force"].isel(design=-1, actuator=[1, 2]).max())
    assert limits["force_limit"].spare == pytest.approx(1.0 - largest / 40.0)
    assert "rate_limit" not in limits, "it costs nothing"
    rows = {words: share for words, share, _ in advice.limits()}
    assert any(words.startswith("force limit of limb1.1, 12") and rows[words].startswith("0") for words in rows)
    assert any(words.startswith("force limit of limb2.1 and limb3.1, 40") for words in rows)


def test_a_length_that_no_mass_follows_is_told(results: Results) -> None:
    problem = problem_of(results)
    design = np.array([*problem.stored_design(results.by_case, results.place).values()])
    assert weightless(problem, design) == ("upper_arm",)
    assert "no mass follows upper arm" in Advice(results).sure().lower()
    heavier = TEXT.replace("trajectories:", "  derive: {arm_mass: 3.7 * upper_arm / 0.4}\ntrajectories:")
    assert weightless(DesignProblem.of(Sweep.from_text(heavier), cases=["payload_mass"]), design) == ()


def test_a_mean_is_reached_in_no_case_and_tables_have_nothing_between_their_rows() -> None:
    table = "list: {torque_constant: [0.32, 0.36, 0.45], resistance: [6.0, 4.0, 2.0]}"
    text = re.sub(r"  sample:.*?(?=trajectories)", f"  {table}\n", TEXT, flags=re.S)
    text = text.replace("rl5_1450", "rl5_1450_motors").replace("[peak_force, ", "[peak_force, electrical_energy, ")
    text = text.replace("[min peak_force]", '["min electrical_energy, mean over cases"]').replace(
        "condition < 2.6 and peak_velocity < 8", "condition < 9"
    )
    results = results_of(run(Sweep.from_text(text), cluster=ClusterConfig.of("synchronous")))
    advice = Advice(results)
    assert "reached with" not in answer_words(results)
    assert "counts, unless an objective says otherwise" in question_words(results)
    assert all("off by" not in sentence for sentence in (advice.sure(), *advice.next_step()))
    assert advice.next_step() == [
        "Only rows of tables vary, and no design lies between them: compute more of them by study search."
    ]


def test_a_design_whose_samples_fail_is_not_praised() -> None:
    text = TEXT.replace("start: [-0.15, 0, 0]", "start: [-2.0, 0, 0]").replace("count: 64", "count: 4")
    results = results_of(run(Sweep.from_text(text), cluster=ClusterConfig.of("synchronous")))
    advice = Advice(results)
    assert {advice.better(), advice.sure(), advice.unlimited()} == {"Not known: this design has no number."}
    assert advice.limits() == []
    assert advice.next_step() == ["Samples of every design fail: Failures has the reasons and a remedy for each."]
    assert verdict(results)[1] == "Every design has a failed sample: this one is no better than others."
    assert all("no number" in number.note(results, results.place) for number in key_numbers(results))


def test_a_quantile_over_tolerances_is_reached_in_no_case() -> None:
    assert _is_worst("peak_force, worst over cases, max over tolerances")
    assert not _is_worst("peak_force, worst over cases, quantile 0.9 over tolerances")


def test_a_bound_of_zero_has_no_share_to_spare() -> None:
    assert _share_of_bound(0.5, "a < 1") == pytest.approx(2.0 / 3.0)
    assert [_share_of_bound(margin, "a > 0") for margin in (1.0, -1.0)] == [math.inf, pytest.approx(-1.0)]
    assert _share_of_bound(-1.0, "a < 0") == -math.inf
