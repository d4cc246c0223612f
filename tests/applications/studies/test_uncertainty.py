"""Uncertainty of metrics: against samples, independent tolerances, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import limbsweep as ls
from pipeline import run
from pipeline.errors import InputError
from tests.applications.studies.test_space import said
from tests.pipeline.runs import SYNCHRONOUS

SWEEP = """\
limbsweep: 1
robot: five_bar
design: {grid: {payload_mass: {values: [0.5, 1.0]}}}
friction: {law: coulomb_viscous, joints: actuated, parameters: {coulomb: 1.0}, grid: {viscous: {values: [2.0]}}}
trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0], phase: 0.3}}
time: {stop: 1, step: 0.05}
metrics: [rms_force, condition]
"""
NAMES, SIZES = ["payload_mass", "viscous", "coulomb"], np.array([0.05, 0.2, 0.1])
CORRELATED = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, -0.8], [0.0, -0.8, 1.0]])


def covariance(correlations: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(correlations * np.outer(SIZES, SIZES), index=NAMES, columns=NAMES)


def test_first_order_is_that_of_samples() -> None:
    sweep = ls.Sweep.from_text(SWEEP)
    found = ls.study.uncertainty(sweep, covariance(CORRELATED), design=1, samples=100, seed=2)
    assert list(found) == ["rms_force", "condition"]
    force = found["rms_force"]
    assert force.sampled is not None
    assert force.sampled.failed == 0
    assert abs(force.sampled.deviation - force.deviation) < 4.0 * force.sampled.error
    assert abs(sum(force.shares.values()) - 1.0) < 1e-12
    assert force.quantile(0.975) == pytest.approx(force.value + 1.96 * force.deviation, rel=1e-4)
    assert found["condition"].deviation == 0.0


def test_correlations_count() -> None:
    sweep = ls.Sweep.from_text(SWEEP)
    apart, alike = (
        ls.study.uncertainty(sweep, dict(zip(NAMES, SIZES, strict=True)), ["rms_force"])["rms_force"],
        ls.study.uncertainty(sweep, covariance(CORRELATED), ["rms_force"])["rms_force"],
    )
    slopes = np.array(list(apart.slopes.values()))
    assert apart.deviation == pytest.approx(np.sqrt(((slopes * SIZES) ** 2).sum()), rel=1e-12)
    expected = slopes @ covariance(CORRELATED).to_numpy() @ slopes
    assert alike.deviation == pytest.approx(np.sqrt(expected), rel=1e-12)


def test_the_command_prints_and_writes_the_table(tmp_path: Path) -> None:
    run(ls.Sweep.from_text(SWEEP), tmp_path / "s.zarr", SYNCHRONOUS)
    (tmp_path / "c.csv").write_text("parameter,deviation\npayload_mass,0.05\nviscous,0.2\n", "utf-8")
    more = ("--covariance", tmp_path / "c.csv", "--design", 1, "--csv", tmp_path / "t.csv")
    text = said("uncertainty", tmp_path / "s.zarr", *more)
    assert text.splitlines()[-1].startswith("design 1: standard deviations to first order")
    table = pd.read_csv(tmp_path / "t.csv")
    effect = ls.study.uncertainty(ls.Sweep.from_text(SWEEP), {"payload_mass": 0.05, "viscous": 0.2}, design=1)
    assert table["deviation"][0] == pytest.approx(effect["rms_force"].deviation, rel=1e-4)
    fit = {"tolerances": {"parameters": ["payload_mass", "viscous"], "covariance": [[0.0025, 0.0], [0.0, 0.04]]}}
    (tmp_path / "fit.json").write_text(json.dumps(fit), "utf-8")
    again = said("uncertainty", tmp_path / "s.zarr", "--covariance", tmp_path / "fit.json", "--design", 1)
    assert again.splitlines()[:2] == text.splitlines()[:2]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (({"payload_mas": 0.1},), r"covariance.payload_mas: got no such parameter.*'payload_mass'"),
        (({"payload_mass": 0.0},), r"covariance: got payload_mass = 0; expected standard deviations above zero"),
        ((covariance(2.0 * CORRELATED - np.eye(3)),), r"correlations that contradict each other"),
        ((covariance(np.triu(CORRELATED)),), r"not symmetric"),
        ((covariance(CORRELATED).rename(index={"viscous": "x"}),), r"other names of rows than of columns"),
        (({"payload_mass": 0.1}, ["failed_samples"]), r"failed_samples, which has no derivatives"),
    ],
)
def test_mistakes_are_told(parts: tuple[object, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ls.study.uncertainty(ls.Sweep.from_text(SWEEP), *parts)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"design: got 2; expected a number from 0 to 1"):
        ls.study.uncertainty(ls.Sweep.from_text(SWEEP), {"payload_mass": 0.1}, design=2)
