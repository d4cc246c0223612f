"""Metrics of one of several trajectories, as objectives and conditions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import limbsweep as ls
from applications.report import write_report
from pipeline.errors import InputError

TEXT = """
limbsweep: 1
robot: five_bar
design: {grid: {proximal_length: [0.5, 0.53, 0.56]}}
trajectories:
  fast: {kind: quintic, start: [-0.1, 0, 0], end: [0.1, 0, 0], duration: 0.2}
  slow: {kind: circle, radius: 0.05, normal: [0, 1, 0]}
time: {stop: 1, samples: 21}
metrics: [peak_force, energy]
study: {objectives: [min peak_force_on_slow, min energy_sum_on_fast / 2], where: [peak_force_on_fast < 1000]}
"""


def test_a_column_may_be_that_of_one_trajectory() -> None:
    sweep = ls.Sweep.from_text(TEXT)
    found = ls.compute(sweep)
    values = [ls.study.value_of(found, text) for text in sweep.question.objectives]
    alone = found.squeeze("friction")
    np.testing.assert_array_equal(values[0], alone["peak_force"].sel(trajectory="slow").max("actuator"))
    np.testing.assert_allclose(values[1], alone["energy"].sel(trajectory="fast").sum("actuator") / 2, rtol=1e-15)
    assert (values[0] != ls.study.value_of(found, "peak_force")).all()
    middle = float(np.median(alone["peak_force"].sel(trajectory="fast").max("actuator")))
    assert ls.study.feasible(found, [f"peak_force_on_fast <= {middle!r}"]).sum() == 2
    assert ls.study.objective("max peak_force_on_slow").direction == "max"
    with pytest.raises(InputError, match="no trajectory quick"):
        ls.study.value_of(found, "peak_force_on_quick")
    cases = ls.study.by_cases(found, ["trajectory"])
    with pytest.raises(InputError, match="trajectories that are operating cases"):
        ls.study.value_of(cases, "peak_force_on_fast")


def test_what_computes_designs_refuses_one_trajectory() -> None:
    problem = ls.study.DesignProblem.of(ls.Sweep.from_text(TEXT), {"proximal_length": (0.5, 0.56)})
    with pytest.raises(InputError, match=r"one of several trajectories.*Make a sweep of slow alone"):
        problem.values(np.array([[0.51]]), ["peak_force_on_slow"])
    with pytest.raises(InputError, match="one of several trajectories"):
        ls.study.optimise(problem, "peak_force_on_slow", np.array([0.51]))


def test_an_unknown_trajectory_is_told_when_the_file_is_read() -> None:
    with pytest.raises(InputError, match=r"'slw'; expected a trajectory of this file. Did you mean 'slow'"):
        ls.Sweep.from_text(TEXT.replace("on_slow", "on_slw"))


def test_a_report_of_one_trajectory_is_written(tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    store = tmp_path / "t.zarr"
    ls.run(ls.Sweep.from_text(TEXT), store=store, cluster=ls.ClusterConfig.of("threads"))
    assert "peak_force_on_slow" in write_report(ls.open(store), tmp_path / "t.html").read_text("utf-8")
