from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from applications.report.data import workspace
from applications.report.data import workspace as maps
from applications.report.data.recomputed import ComputedResults
from applications.report.data.results import Results
from applications.report.figures import case as kinds
from pipeline.cluster.connection import ClusterConfig
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep
from tests.applications.report.browser import complaints, opened, settle, values

TEXT = """\
limbsweep: 1
robot: delta_3rr2rrr
design:
  grid:
    upper_arm: {values: [0.22, 0.25, 0.28]}
    base_radius: {values: [0.14, 0.16]}
trajectories:
  box: {kind: workspace, size: [0.8, 1.2, 0.5], counts: [5, 7, 4]}
time: {stop: 1, samples: 140}
metrics: [usable_share, dexterity, condition]
"""
"""A sweep in which each design cannot reach some of the points."""


@pytest.fixture(scope="module")
def results() -> Results:
    return ComputedResults(run(Sweep.from_text(TEXT), cluster=ClusterConfig.of("synchronous")))


def test_designs_that_reach_only_a_part_are_compared(results: Results) -> None:
    table = results.designs
    assert table.good.all()
    share = results.dataset["usable_share"].values[:, 0]
    assert 0.0 < share.min() < share.max() < 1.0
    assert table.best == int(results.dataset["dexterity"].values[:, 0].argmax())


def test_the_grid_of_a_workspace_is_that_of_the_sweep(results: Results) -> None:
    (grid,) = maps.grids(results.case)
    assert [len(axis) for axis in grid.axes] == [5, 7, 4]
    assert [np.ptp(axis) for axis in grid.axes] == pytest.approx([0.8, 1.2, 0.5])
    assert grid.order == (0, 1, 2)
    assert grid.is_deep


@pytest.mark.parametrize(("counts", "order"), [((5, 1, 4), (0, 2, 1)), ((3, 4, 5), (1, 2, 0)), ((4, 4, 1), (0, 1, 2))])
def test_slices_follow_the_axis_with_the_fewest_points(
    counts: tuple[int, int, int], order: tuple[int, int, int]
) -> None:
    axes = [np.linspace(0.0, 1.0, n) for n in counts]
    grid = maps.WorkspaceGrid(0, "box", (axes[0], axes[1], axes[2]))
    assert grid.order == order
    z, y, x = np.meshgrid(*reversed(axes), indexing="ij")
    place = [x, y, z]
    for axis, along in zip(order, (2, 1, 0), strict=True):
        slices = grid.slices(place[axis].ravel())
        shape = [1, 1, 1]
        shape[along] = -1
        np.testing.assert_array_equal(slices, np.broadcast_to(axes[axis].reshape(shape), slices.shape))


def test_maps_agree_with_the_metrics_of_the_store(results: Results) -> None:
    stored = results.dataset.isel(design=results.design, trajectory=0)
    case = results.case
    found = workspace.conditions(case.robot, workspace.visited(case))[0]
    assert np.isfinite(found).mean() == pytest.approx(float(stored["usable_share"]))
    assert np.where(np.isfinite(found), 1.0 / found, 0.0).mean() == pytest.approx(float(stored["dexterity"]), rel=1e-12)


def test_conditions_are_those_of_platforms_that_turn() -> None:
    content = {
        "robot": "gough_stewart",
        "trajectories": {
            "wave": {
                "kind": "line_sine", "amplitude": [0.05, 0.0, 0.1], "period": 1.0,
                "turn": {"kind": "harmonic", "amplitude": [0.3, -0.2, 0.25], "period": 1.0},
            }
        },
        "time": {"stop": 0.3, "step": 0.05},
        "metrics": ["condition"],
    }  # fmt: skip
    results = ComputedResults(run(Sweep.from_dict(content), cluster=ClusterConfig.of("synchronous")))
    (colour,) = (each for each in workspace.own_colours(results.case) if each.label.startswith("condition"))
    assert colour.values.max() == pytest.approx(float(results.dataset["condition"].values.max()), rel=1e-12)


def test_a_figure_of_slices_shows_them(results: Results) -> None:
    made = kinds.figure(results, "workspace")
    meshes = [each for axes in made.axes for each in axes.collections if each.get_array() is not None]
    assert [axes.get_title() for axes in made.axes[:4]] == [
        f"z = {z:.4g} m" for z in maps.grids(results.case)[0].axes[2]
    ]
    force = np.abs(results.case.results["actuator_force"].values[0]).max(axis=-1).reshape(4, 7, 5)
    np.testing.assert_array_equal(np.ma.filled(meshes[0].get_array(), np.nan), force[0])


def test_a_page_has_the_maps_of_the_store(results: Results, tmp_path: Path) -> None:
    pytest.importorskip("plotly", reason="no plotly; install limbsweep[report] to test pages")
    from applications.report.page.page import write

    write(results, tmp_path / "maps.html")
    case = results.case
    found = workspace.conditions(case.robot, workspace.visited(case))[0].reshape(4, 7, 5)
    with opened(tmp_path / "maps.html") as window:
        give(window, "workspace-colour", "condition number of J_IK")
        for height in (3, 1):
            give(window, "slice", str(height), "input")
            shown = np.array(values(window, "document.getElementById('workspace').data[0].z"), float)
            np.testing.assert_allclose(shown, found[height], rtol=1e-5)  # single precision, cut to 16 bits
        told = window.execute_script("return document.getElementById('workspace-readout').textContent")
        assert told.startswith(f"{np.isfinite(found).sum()} of 140 points are usable; condition number of J_IK: ")
        across, up = np.argwhere(np.isfinite(found[1]))[0][::-1]
        window.execute_script(CLICK, int(across), int(up))
        settle(window)
        place = 5 * 7 * 1 + 5 * up + across
        assert window.execute_script("return document.getElementById('time').value") == str(place)
        centre = np.mean(values(window, "window.limbsweepReport.mechanism.corners()"), axis=0)
        np.testing.assert_allclose(centre, workspace.visited(case)[0, place], atol=2e-5)
        assert complaints(window) == []


CLICK = """
const figure = document.getElementById('workspace'), {x, y} = figure.data[0];
figure.emit('plotly_click', {points: [{curveNumber: 0, x: x[arguments[0]], y: y[arguments[1]]}]});
"""


def give(window: Any, identity: str, value: str, event: str = "change") -> None:
    window.execute_script(
        "const it = document.getElementById(arguments[0]); it.value = arguments[1];"
        "it.dispatchEvent(new Event(arguments[2]));",
        identity,
        value,
        event,
    )
    settle(window)
