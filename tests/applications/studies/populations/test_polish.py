"""The end of a search: best designs improved by derivatives, against a fine grid, with motors that stay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from applications.studies.cases import stored_number
from applications.studies.columns import objective
from applications.studies.populations.polish import polished
from applications.studies.populations.search import search
from applications.studies.problem import DesignProblem
from pipeline.sweep.model import Sweep

TEXT = """\
limbsweep: 1
robot: delta_rl5_1450_motors
design:
  grid: {payload_mass: [0, 3]}
  list: {gearbox_inertia: [4.0e-5, 9.0e-5], torque_constant: [0.3, 0.5]}
  sample:
    method: sobol
    count: 1
    seed: 1
    parameters: {upper_arm: {low: 0.34, high: 0.46}, gear_ratio: {low: 20, high: 60}}
trajectories: {pick: {kind: quintic, start: [-0.15, 0, 0], end: [0.15, 0, 0.05], duration: 0.4}}
time: {stop: 0.4, step: 0.04}
metrics: [rms_force, peak_velocity]
study: {objectives: [min rms_force], where: peak_velocity < 300, cases: payload_mass}
"""


def test_the_best_design_ends_at_the_optimum_of_its_motor(tmp_path: Path) -> None:
    sweep = Sweep.from_text(TEXT)
    outcome = search(sweep, tmp_path / "s.zarr", method="random", generations=1, population=12, seed=3)
    (design,) = polished(sweep, sweep.question, outcome)
    assert design.is_better
    assert design.optimum is not None
    assert set(design.optimum.design) == {"upper_arm", "gear_ratio"}
    row = outcome.designs.isel(design=design.start)
    assert f"(design {stored_number(outcome.designs, design.start)} has" in str(design)
    bounds = {"upper_arm": (0.34, 0.46), "gear_ratio": (20.0, 60.0)}
    motor = {name: float(row[name]) for name in ("gearbox_inertia", "torque_constant")}
    alone = Sweep.from_text(TEXT.replace(TEXT[TEXT.index("  list:") : TEXT.index("  sample:")], ""))
    problem = DesignProblem.of(alone, bounds, ["payload_mass"]).at(motor)
    grid = np.stack(np.meshgrid(*[np.linspace(*ends, 41) for ends in bounds.values()]), axis=-1).reshape(-1, 2)
    force, speed = (
        problem.objective(grid, objective("rms_force")),
        problem.values(grid, ["peak_velocity"])["peak_velocity"],
    )
    least = force[speed < 300.0].min()
    assert design.optimum.value <= least * (1.0 + 1e-6)
    assert design.optimum.value == pytest.approx(least, rel=0.02)


def test_an_objective_without_derivatives_does_not_keep_others_from_theirs(tmp_path: Path) -> None:
    sweep = Sweep.from_text(
        TEXT.replace("[min rms_force]", '["peak_velocity, quantile 0.5 over cases", min rms_force]')
    )
    outcome = search(sweep, tmp_path / "s.zarr", method="random", generations=1, population=12, seed=3)
    refused, improved = polished(sweep, sweep.question, outcome)
    assert refused.optimum is None
    assert not refused.is_better
    assert str(refused).startswith(
        "peak_velocity, quantile 0.5 over cases: not improved, got an objective that is quantile 0.5"
    )
    assert improved.is_better
