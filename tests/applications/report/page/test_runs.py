"""Several runs in one report: which is best, by numbers of each run alone; refusals; text of users."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from applications.report import write_report
from applications.report.data.recomputed import ComputedResults, results_of
from applications.report.data.runs import compared, differences
from pipeline.cluster.connection import ClusterConfig
from pipeline.errors import InputError
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep

pytest.importorskip("plotly", reason="no plotly; install limbsweep[report] to test pages")

TEXT = """\
limbsweep: 1
title: one
robot: delta_3rr2rrr
design: {grid: {rod_length: [0.75, 0.8, 0.85]}}
trajectories:
  pick: {kind: quintic, start: [-0.05, 0, 0], end: [0.05, 0, 0.05], duration: 0.4}
time: {stop: 0.4, step: 0.05}
metrics: [peak_power, condition, peak_force]
study: {objectives: [min peak_power], where: condition < 20}
"""


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("runs")
    texts = {"three-RUU": TEXT, "3-PUU <b>": TEXT.replace("delta_3rr2rrr", "linear_delta")}
    for name, text in texts.items():
        run(Sweep.from_text(text), store=folder / f"{name}.zarr", cluster=ClusterConfig.of("synchronous"))
    return [folder / f"{name}.zarr" for name in texts]


def least_power(store: Path) -> float:
    """The least peak power of designs that meet the condition, by plain numpy."""
    ds = results_of(store).dataset
    power, condition = (np.nanmax(ds[name].values.reshape(3, -1), axis=1) for name in ("peak_power", "condition"))
    return float(np.min(power[condition < 20]))


def test_the_best_run_is_that_with_the_best_design(two: list[Path]) -> None:
    runs = compared([(store.stem, results_of(store)) for store in two])
    powers = [least_power(store) for store in two]
    assert runs.best == int(np.argmin(powers))
    assert [runs.value(k, "peak_power") for k in range(2)] == pytest.approx(powers, rel=1e-12)
    assert "peak_force" not in runs.columns  # torques of one, forces of the other
    assert any(line.startswith("robot:") for line in differences(runs, 0, 1))


def test_a_page_has_both_and_goes_on_with_the_best(two: list[Path], tmp_path: Path) -> None:
    page = tmp_path / "both.html"
    result = CliRunner().invoke(cli, ["report", *map(str, two), "--output", str(page)])
    assert result.exit_code == 0, result.output
    text = page.read_text("utf-8")
    best = two[int(np.argmin([least_power(store) for store in two]))].stem
    assert f"{best.replace('<b>', '&lt;b&gt;')} is best: peak power" in text
    assert "<b>" not in text[text.index("<body>") : text.index('<script type="application/json"')]
    assert "Which robot is best" in text
    assert len(re.findall(r'<canvas id="run-\d"', text)) == 2
    for head in re.findall(r'data-head="([^"]*)"', text):
        assert "<" not in head


def test_runs_without_a_common_number_are_refused(two: list[Path], tmp_path: Path) -> None:
    bare = [results_of(store).dataset[["peak_force", "worst_status"]].assign_attrs(sweep="broken") for store in two]
    with pytest.raises(InputError, match="expected stores with a metric in common"):
        write_report(bare, tmp_path / "none.html")
    with pytest.raises(InputError, match="expected at most 8 to compare"):
        compared([(str(k), ComputedResults(bare[0])) for k in range(9)])
