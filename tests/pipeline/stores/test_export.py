"""An export writes files into its new folder and nowhere else, whatever a store calls the parts of its designs."""

from __future__ import annotations

import csv
import math
from itertools import cycle
from pathlib import Path

import numpy as np
import pandas
import pytest
import xarray
from click.testing import CliRunner

from applications.commands.cli import cli
from applications.export.tables import FORMATS, MAT_NAME, export
from pipeline.execution.run import run
from pipeline.stores import metric_rows
from pipeline.sweep.model import Sweep
from robots.dims import GAINS
from storage.errors import StoreError
from storage.schema import Coordinate
from storage.store import create
from tests.pipeline.runs import SYNCHRONOUS
from tests.storage.cases import ATTRIBUTES, FEW, fill


def store(path: Path, part: str) -> None:
    """A store with a part of this name among its designs."""
    create(path, FEW, [Coordinate("design_part", "design", ("train", "test", part))], ATTRIBUTES)
    fill(path)


def exported(form: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["export", "s.zarr", "--format", form, "--output", "here/x"])
    assert "Traceback" not in result.stderr
    return result.exit_code, result.stderr


@pytest.mark.parametrize(
    ("part", "form"),
    [
        *zip(
            ["metrics", "designs", "../x", "/tmp/limbsweep_no_such_file", "a/b", "..", "", "x\n", "x\0", "p" * 81],
            cycle(FORMATS),
            strict=False,
        )
    ],
)
def test_a_part_that_is_no_name_of_a_file_is_refused(
    form: str, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store(tmp_path / "s.zarr", part)
    before = sorted(tmp_path.rglob("*"))
    code, said = exported(form)
    assert (code, sorted(tmp_path.rglob("*"))) == (2, before)
    assert "s.zarr: design_part is '" in said
    assert "expected at most 80 letters, digits, '_' and '-'" in said
    assert not Path(f"/tmp/limbsweep_no_such_file.{form}").exists()


def test_a_part_that_is_a_name_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store(tmp_path / "s.zarr", "hold-out_2")
    assert exported("csv") == (0, "")
    assert sorted(file.name for file in Path("here/x").iterdir()) == [
        "designs.csv",
        "friction.csv",
        "hold-out_2.csv",
        "metrics.csv",
        "test.csv",
        "train.csv",
        "trajectories.csv",
    ]


def test_names_in_a_store_are_no_formulas_in_its_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = ("=1+1", "@SUM(A1)", "-2+3", "circle")[: FEW.sizes["trajectory"]]
    numbers = tuple(-0.5 * k for k in range(FEW.sizes["design"]))
    coordinates = [
        Coordinate("trajectory", "trajectory", names),
        Coordinate("upper_arm", "design", numbers, units="m"),
        Coordinate("name", "design", tuple(f"=cmd|{k}" for k in range(FEW.sizes["design"]))),
    ]
    create(tmp_path / "s.zarr", FEW, coordinates, ATTRIBUTES)
    fill(tmp_path / "s.zarr")
    assert exported("csv") == (0, "")
    with Path("here/x/trajectories.csv").open(newline="", encoding="utf-8") as file:
        assert [row[1] for row in list(csv.reader(file))[1:]] == [f"'{name}" for name in names]
    with Path("here/x/designs.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert [row[rows[0].index("name")] for row in rows[1:]] == [f"'=cmd|{k}" for k in range(len(numbers))]
    assert [float(row[rows[0].index("upper_arm")]) for row in rows[1:]] == list(numbers)


SWEEPS = {
    "friction": """\
limbsweep: 1
robot: five_bar
design: {grid: {proximal_length: [0.5, 0.53, 0.56]}}
friction: {law: viscous, joints: all, grid: {viscous: [0.0, 0.1]}}
trajectories:
  c: {kind: circle, radius: 0.05, normal: [0, 1, 0]}
  d: {kind: circle, radius: 0.04, normal: [0, 1, 0]}
time: {stop: 1, step: 0.1}
metrics: [peak_force, condition, peak_reaction, failed_samples]
""",
    "simulation": """\
limbsweep: 1
robot: five_bar
design: {grid: {proximal_length: [0.5, 0.53]}}
trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}
simulation:
  step: 0.005
  controller: {kind: pd, space: actuator, parameters: {kd: 4.0}}
  gains: {grid: {kp: [50, 90, 120]}}
time: {stop: 0.2, step: 0.1}
outputs: [actuator_force]
metrics: [peak_force, rms_position_error]
""",
}


@pytest.mark.parametrize("name", SWEEPS)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_tables_have_all_metrics(name: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metric_rows, "CELLS", 1)  # a part for each design
    data = run(Sweep.from_text(SWEEPS[name]), tmp_path / "s.zarr", SYNCHRONOUS).load()
    files = [path.name for path in export(tmp_path / "s.zarr", tmp_path / "tables", form)]
    assert (f"all.{form}" in files) == (name == "simulation")
    path = tmp_path / "tables" / f"metrics.{form}"
    table = pandas.read_csv(path) if form == "csv" else pandas.read_parquet(path)
    numbered = {dim: range(data.sizes[dim]) for dim in ("design", "friction", "trajectory", GAINS) if dim in data.sizes}
    cases = [dim for dim in numbered if any(dim in data[metric].dims for metric in metric_rows.metric_names(data))]
    assert len(table) == math.prod(data.sizes[dim] for dim in cases)
    assert not table.duplicated(cases).any()
    for metric in metric_rows.metric_names(data):
        numbers = data[metric].assign_coords({dim: numbered[dim] for dim in cases if dim in data[metric].dims})
        others = [dim for dim in numbers.dims if dim not in cases]
        for at in np.ndindex(*(numbers.sizes[dim] for dim in others)):
            labels = [str(data[dim].values[k]) for dim, k in zip(others, at, strict=True)]
            one = numbers.isel(dict(zip(others, at, strict=True)))
            own = [dim for dim in cases if dim in one.dims]
            expected = one.sel({dim: xarray.DataArray(table[dim], dims="row") for dim in own}).values
            numbers_of_table = table["_".join([metric, *labels])].to_numpy()
            np.testing.assert_array_max_ulp(numbers_of_table, expected, 1)  # pandas before 3.1 rounds what it reads


LONG = "x" * MAT_NAME
TWINS = """\
limbsweep: 1
robot: five_bar
trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}
time: {stop: 1, step: 0.5}
metrics: [peak_force]
"""


@pytest.mark.parametrize("form", ["mat", "mat_designs"])
def test_names_that_matlab_cuts_to_the_same_are_told_apart(form: str, tmp_path: Path) -> None:
    """Two variables under one name would be read as the second."""
    from scipy.io import loadmat

    own = {f"{LONG}_a": lambda time: 1.0, f"{LONG}_b": lambda time: 2.0, "units": lambda time: 3.0}
    run(Sweep.from_text(TWINS), tmp_path / "s.zarr", SYNCHRONOUS, metrics=own)
    export(tmp_path / "s.zarr", tmp_path / "m", form)
    found = loadmat(next((tmp_path / "m").glob("*.mat")))
    assert [float(found[name].item()) for name in (LONG, f"{LONG[:-2]}_2", "units_2")] == [1.0, 2.0, 3.0]
    assert found["units"]["peak_force"].item().item() == "N m"


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_two_columns_of_one_name_are_refused(form: str, tmp_path: Path) -> None:
    arm = TWINS.replace("five_bar", "planar_3r").replace("circle, radius: 0.05, normal: [0, 1, 0]", "harmonic")
    own = {"peak_force_joint_1": lambda time: 1.0}
    run(Sweep.from_text(arm), tmp_path / "s.zarr", SYNCHRONOUS, metrics=own)
    with pytest.raises(StoreError, match=r"got two columns peak_force_joint_1.*rename the metric of your own"):
        export(tmp_path / "s.zarr", tmp_path / "t", form)
    assert not (tmp_path / "t").exists()
