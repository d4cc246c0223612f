"""Display of our objects in notebooks, and the methods of `Dataset.limbsweep`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray

import applications.report.registered  # noqa: F401 - which xarray loads by itself where limbsweep is installed
from applications.report import accessor, save_figure
from applications.report.accessor import robot_html
from applications.report.data.recomputed import results_of
from pipeline.errors import InputError
from pipeline.execution import opening
from pipeline.execution.preparation import lazy
from pipeline.execution.run import compute, run
from pipeline.monitor.status import status
from pipeline.plan.plan import plan
from pipeline.robot_files import files
from pipeline.stores.verify import verify
from pipeline.sweep.model import Sweep
from pipeline.sweep.user_metrics import UserMetric
from robots import catalog
from robots.parameter_errors import ParameterError
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


def test_a_grid_of_one_parameter_has_it_in_order(ds: xarray.Dataset) -> None:
    name = "proximal_length"
    one = ds.isel(design=ds["base_half_width"].values == ds["base_half_width"].values[0])
    grid = accessor.Limbsweep(one.isel(design=[2, 0, 1])).grid()
    np.testing.assert_array_equal(grid[name].values, np.sort(one[name].values))
    for k in range(one.sizes["design"]):
        found = grid["peak_force"].sel({name: float(one[name][k])}).values
        np.testing.assert_array_equal(found, one["peak_force"].isel(design=k).values)


def test_a_grid_keeps_the_times_of_each_trajectory() -> None:
    lengths, circle = [0.4, 0.5, 0.45], {"kind": "circle", "radius": 0.02, "normal": [0, 1, 0]}
    content = {
        "robot": "five_bar",
        "design": {"grid": {"proximal_length": {"values": lengths}}},
        "trajectories": {"slow": circle, "fast": {**circle, "time": {"stop": 0.1, "step": 0.02}}},
        "time": {"stop": 0.1, "step": 0.01},
        "outputs": ["actuator_force"],
        "metrics": ["peak_force"],
    }
    results = compute(Sweep.from_dict(content))
    grid = results.limbsweep.grid()
    assert grid["time"].dims == ("trajectory", "time")
    assert grid["proximal_length"].attrs == results["proximal_length"].attrs
    for k, length in enumerate(lengths):
        found, expected = grid["peak_force"].sel(proximal_length=length), results["peak_force"].isel(design=k)
        np.testing.assert_array_equal(found.values, expected.values)


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
    with pytest.raises(InputError, match="which exists already; expected a new file"):
        files.write(catalog.build("five_bar"), file)
    with pytest.raises(ParameterError):
        files.read(file, no_such_parameter=1.0)
    (tmp_path / "arm.urdf").write_text(FOUR_BAR.replace('name="a"', 'name="crank_joint"'))
    assert len(files.load(tmp_path / "arm.urdf").mechanism.actuators) > 0


MOTORS = """\
limbsweep: 1
robot: five_bar
design: {file: designs.csv, labels: [motor]}
friction: {law: viscous, joints: actuated, grid: {viscous: [0.0, 0.1]}}
trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}
time: {stop: 1, step: 0.25}
outputs: [actuator_force]
metrics: [peak_force]
"""
DESIGNS = "motor,payload_mass,proximal_length\n" + "".join(
    f"{motor},{mass},{length}\n" for length in (0.5, 0.53, 0.56) for motor, mass in (("A", 0.1), ("B", 0.2))
)


@pytest.fixture
def tabled(tmp_path: Path) -> Sweep:
    (tmp_path / "designs.csv").write_text(DESIGNS, encoding="utf-8")
    sweep = Sweep.from_text(MOTORS, folder=tmp_path)
    (tmp_path / "designs.csv").unlink()  # what a DataFrame has never had
    return sweep


@pytest.mark.parametrize("made", [compute, lazy, run], ids=["compute", "lazy", "run"])
def test_a_table_of_designs_is_with_its_results(made: Callable[[Sweep], xarray.Dataset], tabled: Sweep) -> None:
    results = made(tabled)
    assert len(results.limbsweep.animation(design=1).svg) > 1000
    assert len(results.isel(design=[4, 2]).limbsweep.animation(design=1).svg) > 1000
    grid = results.limbsweep.grid()
    assert (grid.sizes["motor"], grid.sizes["proximal_length"]) == (2, 3)
    chosen = grid["peak_force"].sel(motor="B", proximal_length=0.53)
    np.testing.assert_array_equal(chosen.values, results["peak_force"].isel(design=3).values)


def test_a_store_has_the_table_of_its_designs(tabled: Sweep, tmp_path: Path) -> None:
    run(tabled, tmp_path / "s.zarr")
    opened = opening.open(tmp_path / "s.zarr")
    assert len(opened.limbsweep.animation().svg) > 1000
    opened.load().to_netcdf(tmp_path / "s.nc")
    with pytest.raises(InputError, match="a sweep that can be read again"):
        xarray.open_dataset(tmp_path / "s.nc").limbsweep.animation()


def test_a_selection_shows_its_own_designs(tabled: Sweep) -> None:
    results = compute(tabled)
    for chosen in ([0, 1], [5, 2], [3]):
        part = results.isel(design=chosen)
        cases = results_of(part).cases(range(len(chosen)))
        lengths = [case.robot.values["proximal_length"] for case in cases if case.robot is not None]
        assert lengths == part["proximal_length"].values.tolist()
    with pytest.raises(InputError, match="a selection of friction, not of designs alone"):
        results.isel(friction=[1]).limbsweep.animation()


SETS = """\
limbsweep: 1
robot: five_bar
design: {grid: {proximal_length: [0.5, 0.53]}}
friction: {law: coulomb_viscous, joints: actuated, grid: {coulomb: [0.0, 5.0]}}
trajectories:
  circle: {kind: circle, radius: 0.05, normal: [0, 1, 0]}
  line: {kind: line_sine, amplitude: [0.05, 0, 0]}
time: {stop: 1, step: 0.25}
metrics: [peak_force]
"""


@pytest.mark.parametrize(
    "places",
    [{"friction": 1}, {"trajectory": [1]}, {"trajectory": 1}, {"time": 2}, {"time": slice(0, 3)}],
    ids=lambda places: repr(places),
)
def test_a_selection_along_other_dims_shows_no_other_place(places: dict[str, object]) -> None:
    """The sweep has the first friction set or trajectory at the place of the selected one."""
    part = compute(Sweep.from_text(SETS)).isel(places)  # type: ignore[arg-type]
    name = next(iter(places))
    with pytest.raises(InputError, match=f"a selection of {name}, not of designs alone"):
        part.limbsweep.animation()
    with pytest.raises(InputError, match="got results without it"):
        part.limbsweep.plot("series")
    assert len(part.limbsweep.page().html) > 1000


def test_a_dataset_of_one_trajectory_may_be_squeezed() -> None:
    whole = compute(
        Sweep.from_text(
            SETS.replace("  line: {kind: line_sine, amplitude: [0.05, 0, 0]}\n", "").replace("0.0, 5.0", "1.0")
        )
    )
    one, two = (results_of(data).case.results["actuator_force"] for data in (whole, whole.squeeze(drop=True)))
    np.testing.assert_array_equal(one.values, two.values)


def test_a_dataset_without_designs_is_refused() -> None:
    with pytest.raises(InputError, match=r"got no dim design; expected a dataset with designs.*isel\(design=\[3\]\)"):
        compute(Sweep.from_text(SETS)).isel(design=1).limbsweep.plot("series")


def test_results_with_metrics_of_a_users_own_have_motions() -> None:
    metrics = {"mean": UserMetric(lambda actuator_force: float(np.abs(actuator_force).mean()))}
    results = compute(sweep(), metrics=metrics, progress=False)
    assert accessor.Limbsweep(results).animation(0) is not None
