"""Results of a robot with drives that turn and drives that slide have the units of both, wherever they are shown."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

import limbsweep as ls
from applications.commands.cli import cli
from pipeline.execution import contents
from storage.schema import units

ROBOT = """\
limbsweep: 1
name: column
title: Arm on a column, with a slide
parameters: {payload: {default: 1.0, unit: kg, lower: 0, upper: 10, text: mass at the slide}}
limbs:
  arm:
    links:
      - {joint: turn, body: post, parent: base, kind: revolute, axis: z, inertia: {mass: 5, moments: [0.2, 0.2, 0.1]}}
      - {joint: lift, body: slide, parent: post, kind: prismatic, axis: z, inertia: {mass: payload}}
    actuated: [turn, lift]
"""
SWEEP = """\
limbsweep: 1
robot: ./column.yaml
seed: 1
design: {grid: {payload: [0.5, 1.0]}}
trajectories:
  move: {kind: random_fourier, count: 2, seed: 1, period: 1.0, position: 0.05, velocity: 1, acceleration: 9}
time: {stop: 1.0, step: 0.01}
outputs: [actuator_force, actuator_velocity, joint_position]
metrics: [peak_force]
measurement: {force_noise: 0.1}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the store of a robot with drives of both kinds."""
    path = tmp_path_factory.mktemp("mixed")
    (path / "column.yaml").write_text(ROBOT)
    (path / "sweep.yaml").write_text(SWEEP)
    done = CliRunner().invoke(cli, ["dataset", str(path / "sweep.yaml"), "--store", str(path / "sweep.zarr")])
    assert done.exit_code == 0, done.output
    return path


def test_commands_show_the_units_of_all_drives(folder: Path) -> None:
    store = str(folder / "sweep.zarr")
    described = CliRunner().invoke(cli, ["info", store]).output
    (line,) = (line for line in described.splitlines() if line.startswith("peak_force"))
    assert "[N m, N]" in line
    ranked = CliRunner().invoke(cli, ["study", "rank", store, "--objective", "peak_force"]).output
    assert "peak_force [N m or N]" in ranked
    (card,) = folder.glob("sweep.zarr/*.md")
    assert "`peak_force` (design, friction, trajectory, actuator) [N m or N]" in card.read_text()


def test_attributes_in_the_store_name_both_units(folder: Path) -> None:
    for name, row in ls.open(folder / "sweep.zarr").data_vars.items():
        text = json.loads((folder / "sweep.zarr" / str(name) / "zarr.json").read_text())["attributes"]["units"]
        units = str(row.attrs.get("component_units", row.attrs.get("units"))).split(", ")
        assert {*text.split(" or ")} == {*units}
    raw = xr.open_zarr(folder / "sweep.zarr", decode_times=False)
    assert raw["peak_force"].attrs["units"] == "N m or N"
    assert raw["joint_position"].attrs["units"] == "rad or m"


def test_a_store_of_an_older_version_is_opened_and_sound(folder: Path, tmp_path: Path) -> None:
    old, new = tmp_path / "old.zarr", ls.open(folder / "sweep.zarr")
    sweep = ls.Sweep.from_yaml(folder / "sweep.yaml")
    with pytest.MonkeyPatch.context() as patch:  # as versions before wrote the units
        patch.setattr(contents, "variable_units", lambda _: units({False}))
        ls.run(sweep, old)
    for name in ("actuator_force", "joint_position", "peak_force"):
        assert ls.open(old)[name].attrs == new[name].attrs
        assert np.array_equal(ls.open(old)[name], new[name], equal_nan=True)
    assert ls.verify(old, recompute=1.0).is_sound
    text = (old / "peak_force" / "zarr.json").read_text()
    (old / "peak_force" / "zarr.json").write_text(text.replace('"N"', '"W"'))
    assert not ls.verify(old).is_sound
    assert ls.verify(old, repair=True).is_sound


@pytest.mark.parametrize("opened", [False, True])
def test_a_report_has_the_units_of_all_drives(opened: bool, folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    store = folder / "sweep.zarr"
    ls.report(ls.open(store) if opened else store, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text().replace("\N{NO-BREAK SPACE}", " ")
    assert "peak force [N m or N]" in text
    assert "peak force [N]" not in text
