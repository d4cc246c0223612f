"""What notebooks show of our objects, and what `Dataset.limbsweep` does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray

from applications.report import accessor, save_figure
from applications.report.accessor import robot_html
from pipeline.errors import InputError
from pipeline.execution.run import run
from pipeline.monitor.status import status
from pipeline.plan.plan import plan
from pipeline.robot_files import importing as files
from pipeline.stores.verify import verify
from pipeline.sweep.model import Sweep
from robots import catalog
from robots.parameters import ParameterError
from tests.pipeline.robot_files.test_urdf import FOUR_BAR
from tests.pipeline.runs import SYNCHRONOUS

SWEEP = """\
limbsweep: 1
title: <b>two arms</b>
robot: five_bar
design:
  grid: {proximal_length: [0.5, 0.53, 0.56], base_half_width: [0.14, 0.15]}
  derive: {distal_length: 0.9 * proximal_length}
trajectories: {circle: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}
time: {stop: 1.0, step: 0.05}
metrics: [peak_force]
"""


def sweep() -> Sweep:
    return Sweep.from_text(SWEEP)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stores") / "five_bar.zarr"
    run(sweep(), path, SYNCHRONOUS)
    return path


@pytest.fixture
def ds(store: Path) -> xarray.Dataset:
    return run(sweep(), store, SYNCHRONOUS)


def test_a_grid_has_a_dim_for_each_swept_parameter(ds: xarray.Dataset) -> None:
    grid = accessor.Limbsweep(ds).grid()
    first, second = "proximal_length", "base_half_width"
    assert dict(grid.sizes) == {first: 3, second: 2} | {n: s for n, s in ds.sizes.items() if n != "design"}
    for k in range(ds.sizes["design"]):
        at = {name: float(ds[name][k]) for name in (first, second)}
        np.testing.assert_array_equal(grid["peak_force"].sel(at).values, ds["peak_force"].isel(design=k).values)
    with pytest.raises(InputError, match=r"grid: got 5 designs over .*; expected all combinations of values"):
        accessor.Limbsweep(ds.isel(design=slice(5))).grid()


def test_the_best_designs_are_the_least(ds: xarray.Dataset) -> None:
    peaks = ds["peak_force"].max(("friction", "trajectory", "actuator")).values
    best = accessor.Limbsweep(ds).best("peak_force")
    assert best["design"].item() == peaks.argmin()
    assert accessor.Limbsweep(ds).best("peak_force", count=3)["design"].values.tolist() == list(np.argsort(peaks)[:3])
    limit = float(np.sort(peaks)[-1])
    worst = accessor.Limbsweep(ds).best("peak_force", where=[f"peak_force >= {limit!r}"])
    assert worst["design"].item() == peaks.argmax()
    with pytest.raises(InputError, match="best: got 0 feasible designs; expected at least 1"):
        accessor.Limbsweep(ds).best("peak_force", where=["peak_force < 0"])


def test_one_design_is_no_grid_and_has_no_best(ds: xarray.Dataset) -> None:
    one = accessor.Limbsweep(ds.isel(design=0))
    for ask in (one.grid, one.best):
        with pytest.raises(InputError, match="got no dim design; expected a dataset of several designs"):
            ask()
    with pytest.raises(InputError, match="no_such"):
        accessor.Limbsweep(ds).best("no_such")


def test_notebooks_show_tables_and_a_picture(ds: xarray.Dataset, store: Path) -> None:
    shown = sweep()._repr_html_()
    assert "&lt;b&gt;two arms" in shown
    assert "peak_force" in shown
    assert "blocks" in plan(sweep())._repr_html_()
    assert "finished" in status(store)._repr_html_()
    assert "sound" in verify(store)._repr_html_()
    html = robot_html(catalog.build("five_bar"))
    assert "data:image/png;base64,iVBOR" in html
    assert all(parameter.name in html for parameter in catalog.family("five_bar").parameters)


def test_objects_are_short_in_a_console() -> None:
    assert repr(catalog.build("delta_3rr2rrr", upper_arm=0.28)) == "Robot(delta_3rr2rrr, upper_arm=0.28)"
    assert repr(catalog.build("delta_3rr2rrr")) == "Robot(delta_3rr2rrr)"
    assert len(repr(catalog.family("delta_3rr2rrr"))) < 60
    assert repr(sweep()) == "Sweep(five_bar: 6 design, 1 friction, 1 trajectory, 21 time)"


def test_a_figure_is_a_file(store: Path, tmp_path: Path) -> None:
    assert save_figure(store, "parallel", tmp_path / "a.svg").read_text("utf-8").startswith("<?xml")


def test_robots_come_from_files_and_go_into_them(tmp_path: Path) -> None:
    file = files.write(catalog.build("five_bar"), tmp_path / "own.yaml")
    assert files.read(file).mechanism.actuators == catalog.build("five_bar").mechanism.actuators
    with pytest.raises(FileExistsError):
        files.write(catalog.build("five_bar"), file)
    with pytest.raises(ParameterError):
        files.read(file, no_such_parameter=1.0)
    (tmp_path / "arm.urdf").write_text(FOUR_BAR.replace('name="a"', 'name="crank_joint"'))
    assert len(files.load(tmp_path / "arm.urdf").mechanism.actuators) > 0
