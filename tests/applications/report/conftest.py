from __future__ import annotations

from pathlib import Path

import pytest

from applications.report.data.recomputed import results_of
from applications.report.data.results import Results
from pipeline.cluster.connection import ClusterConfig
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep
from tests.applications.report.browser import opened

TEXT = """\
limbsweep: 1
title: Small arms do not reach <everything> & more
robot: delta_3rr2rrr
design:
  grid:
    upper_arm: {values: [0.22, 0.25, 0.28, 0.31]}
    base_radius: {values: [0.14, 0.15, 0.16, 0.17]}
friction:
  law: coulomb_viscous
  parameters: {coulomb: 0.2}
  grid: {viscous: {values: [0.0, 0.05, 0.1]}}
trajectories:
  slow: {kind: line_sine, amplitude: [0.1, 0.15, 0.05], period: 1.0}
  deep: {kind: quintic, start: [0, 0, -0.1], end: [0, 0, -0.3], duration: 0.7}
time: {stop: 0.8, step: 0.02}
outputs: [actuator_force, joint_reaction]
metrics: [peak_force, energy, condition, peak_reaction]
"""
"""16 designs x 3 friction sets x 2 trajectories x 41 times; those with the shortest arm fail on `deep`."""


@pytest.fixture(scope="package")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished store of `TEXT`."""
    path = tmp_path_factory.mktemp("report") / "small.zarr"
    run(Sweep.from_text(TEXT), store=path, cluster=ClusterConfig.of("synchronous"))
    return path


@pytest.fixture(scope="package")
def results(store: Path) -> Results:
    """Provide the data of a report of that store."""
    return results_of(store)


@pytest.fixture(scope="package")
def page(store: Path, results: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of that store."""
    pytest.importorskip("plotly", reason="no plotly; install limbsweep[report] to test pages")
    from applications.report.page.page import write

    path = tmp_path_factory.mktemp("page") / "report.html"
    write(results, path)
    return path


@pytest.fixture(scope="package")
def window(page: Path):
    """A browser that shows that report, whose mechanism stands still; tests leave it as they found it."""
    with opened(page) as window:
        window.execute_script("document.getElementById('play').click()")
        yield window
