"""Results of a robot with drives that turn and drives that slide have the units of both, wherever they are shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import limbsweep as ls
from applications.commands.cli import cli

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
outputs: [actuator_force]
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


@pytest.mark.parametrize("opened", [False, True])
def test_a_report_has_the_units_of_all_drives(opened: bool, folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    store = folder / "sweep.zarr"
    ls.report(ls.open(store) if opened else store, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text().replace("\N{NO-BREAK SPACE}", " ")
    assert "peak force [N m or N]" in text
    assert "peak force [N]" not in text
