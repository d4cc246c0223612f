"""Objectives over tolerances: against robots built by hand and deviations of another generator, and each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from applications.studies import DesignProblem, by_cases, objective, optimise, search, tolerance_effect, value_of
from pipeline import run
from pipeline.errors import InputError
from pipeline.sweep.model import Sweep
from robots import catalog
from tasks import inverse_dynamics
from tests.pipeline.runs import SYNCHRONOUS

HEAD = """\
limbsweep: 1
robot: five_bar
design:
  grid: {payload_mass: {values: [0.5, 1.5]}}
  list: {proximal_length: [0.51, 0.53], distal_length: [0.55, 0.54]}
"""
TOLERANCES = """\
tolerances:
  parameters: {proximal_length: {deviation: 2.0e-3}, distal_length: {limit: 4.0e-3}}
  count: 64
  seed: 5
"""
REST = """\
trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0], period: 0.5}}
time: {stop: 0.5, samples: 9}
metrics: [peak_force]
study: {objectives: [peak_force], cases: payload_mass}
"""
CASES = ("payload_mass", "proximal_length_deviation", "distal_length_deviation")
SPREAD = np.array([2e-3, 4e-3 / np.sqrt(3.0)])


def by_hand(proximal: float, distal: float, payload: float) -> float:
    """The largest force of both actuators along the circle."""
    t = np.linspace(0.0, 0.5, 9)
    robot = catalog.build("five_bar", proximal_length=proximal, distal_length=distal, payload_mass=payload)
    reference = np.asarray(catalog.family("five_bar").reference.platform.home.position, float)
    angle, rate = 4.0 * np.pi * t, 4.0 * np.pi
    # about the normal y the circle starts along x, and turns towards -z
    out = np.stack([np.cos(angle), 0.0 * t, -np.sin(angle)], axis=1)
    along = np.stack([-np.sin(angle), 0.0 * t, -np.cos(angle)], axis=1)
    still = np.zeros((len(t), 3))
    twist = np.concatenate([still, 0.05 * rate * along], axis=1)
    acceleration = np.concatenate([still, -0.05 * rate**2 * out], axis=1)
    forces = inverse_dynamics(robot, position=reference + 0.05 * out, twist=twist, acceleration=acceleration).force
    return float(np.abs(forces).max())


def test_deviations_are_those_of_robots_built_by_hand() -> None:
    sweep = Sweep.from_text(HEAD + TOLERANCES + REST)
    assert sweep.question.cases == CASES
    results = by_cases(run(sweep, cluster=SYNCHRONOUS), sweep.question.cases)
    assert (results.sizes["design"], results.sizes["case"]) == (2, 128)
    forces = results["peak_force"].max("actuator").squeeze(drop=True).transpose("design", "case").values
    off = np.stack([results[name].values for name in CASES], axis=1)
    for case in (0, 37, 127):
        payload, proximal, distal = off[case]
        assert forces[1, case] == pytest.approx(by_hand(0.53 + proximal, 0.54 + distal, payload), rel=1e-9)
    assert off[:, 1].std() == pytest.approx(SPREAD[0], rel=0.05)
    assert off[:, 2].std() == pytest.approx(SPREAD[1], rel=0.05)
    assert np.abs(off[:, 2]).max() <= 4e-3
    # over payloads first, then over deviations
    _, number = np.unique(off[:, 1:], axis=0, return_inverse=True)
    worst = np.stack([forces[:, number.ravel() == k].max(axis=1) for k in range(64)], axis=1)
    mean = np.stack([forces[:, number.ravel() == k].mean(axis=1) for k in range(64)], axis=1)
    expected = {
        "peak_force, mean over tolerances": worst.mean(axis=1),
        "peak_force, quantile 0.9 over tolerances": np.quantile(worst, 0.9, axis=1),
        "peak_force, worst over cases, deviation over tolerances": worst.std(axis=1),
        "peak_force, mean over cases, worst over tolerances": mean.max(axis=1),
        "peak_force": worst.max(axis=1),
    }
    for text, values in expected.items():
        np.testing.assert_allclose(value_of(results, text), values, rtol=1e-12)


def test_first_order_and_samples_against_monte_carlo() -> None:
    random = np.random.default_rng(11)
    draws = [(random.normal(0.0, 2e-3), random.uniform(-4e-3, 4e-3)) for _ in range(300)]
    forces = np.array([by_hand(0.53 + proximal, 0.54 + distal, 1.5) for proximal, distal in draws])
    sweep = Sweep.from_text(HEAD + TOLERANCES + REST)
    effect = tolerance_effect(sweep, "peak_force", {"proximal_length": 0.53, "distal_length": 0.54})
    assert effect.value == pytest.approx(by_hand(0.53, 0.54, 1.5), rel=1e-9)
    assert effect.deviation == pytest.approx(forces.std(), rel=0.12)  # of 300 draws it is known to 5 %
    assert effect.quantile(0.9) == pytest.approx(np.quantile(forces, 0.9), rel=5e-3)
    step = 1e-6
    slope = (by_hand(0.53 + step, 0.54, 1.5) - by_hand(0.53 - step, 0.54, 1.5)) / (2 * step)
    assert effect.slopes["proximal_length"] == pytest.approx(slope, rel=1e-5)
    results = by_cases(run(sweep, cluster=SYNCHRONOUS), CASES)
    for how, statistic, within in (("mean", forces.mean(), 3e-3), ("deviation", forces.std(), 0.12)):
        assert value_of(results, f"peak_force, {how} over tolerances")[1] == pytest.approx(statistic, rel=within)


def test_a_search_over_tolerances_goes_on(tmp_path: Path) -> None:
    text = HEAD.replace("list: {proximal_length: [0.51, 0.53], distal_length: [0.55, 0.54]}", "SAMPLE")
    sample = "sample: {method: sobol, count: 1, seed: 1, parameters: {proximal_length: {low: 0.5, high: 0.56}}}"
    rest = REST.replace("[peak_force], cases", "['peak_force, quantile 0.9 over tolerances'], cases")
    sweep = Sweep.from_text(text.replace("SAMPLE", sample) + TOLERANCES.replace("64", "4") + rest)
    options = {"method": "random", "population": 4, "seed": 2, "cluster": SYNCHRONOUS}
    whole = search(sweep, tmp_path / "whole.zarr", generations=2, **options)
    search(sweep, tmp_path / "parts.zarr", generations=1, **options)
    parts = search(sweep, tmp_path / "parts.zarr", generations=2, **options)
    np.testing.assert_array_equal(parts.costs, whole.costs)
    assert whole.designs.sizes["case"] == 8
    again = objective("peak_force, quantile 0.9 over tolerances")
    np.testing.assert_array_equal(value_of(whole.designs, again), whole.costs[:, 0])


@pytest.mark.parametrize("how", ["mean", "worst"])
def test_the_mean_over_tolerances_is_made_small(how: str) -> None:
    sweep = Sweep.from_text(HEAD + TOLERANCES.replace("64", "8") + REST)
    problem = DesignProblem.of(sweep, {"proximal_length": (0.5, 0.56), "distal_length": (0.52, 0.56)}, CASES)
    assert problem.case_count == 16
    means = f"peak_force, {how} over cases, mean over tolerances"
    best, *_ = optimise(problem, means, [[0.53, 0.54]])
    assert best.value < best.start
    names = ("proximal_length", "distal_length")
    here = np.array([[best.design[name] for name in names]])
    assert problem.objective(here, objective(means))[0] == pytest.approx(best.value, rel=1e-12)
    around = np.clip(here + 2e-3 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]), [0.5, 0.52], [0.56, 0.56])
    assert (problem.objective(around, objective(means)) >= best.value * (1.0 - 1e-6)).all()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEAD + TOLERANCES.replace("deviation: 2.0e-3", "") + REST, "expected one of deviation and limit"),
        (HEAD + TOLERANCES.replace("distal_length", "distal") + REST, "tolerances.parameters.distal"),
        (HEAD + TOLERANCES.replace("  seed: 5\n", "") + REST, "tolerances: got no seed"),
        (HEAD + REST.replace("[peak_force], c", "['peak_force, mean over tolerances'], c"), "Add a section tolerances"),
    ],
)
def test_what_is_refused(text: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        Sweep.from_text(text)
    assert expected in str(caught.value)


def test_without_deviations_nothing_counts_over_them() -> None:
    results = run(Sweep.from_text(HEAD + REST), cluster=SYNCHRONOUS)
    with pytest.raises(InputError, match="a sweep with a section tolerances"):
        value_of(results, "peak_force, mean over tolerances")
    with pytest.raises(InputError, match="a section tolerances"):
        tolerance_effect(Sweep.from_text(HEAD + REST), "peak_force")
