"""Datasets and identification of an imported robot: without parameters, and with a joint that follows another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from applications.identification.identify import identify
from pipeline import run
from pipeline.robot_files.importing import import_robot
from pipeline.sweep.model import Sweep
from storage import open_results
from tests.applications.identification.test_dataset import TREE
from tests.pipeline.robot_files.test_urdf import ARM
from tests.pipeline.runs import SYNCHRONOUS
from tests.robots.formats.test_strangers import GRIPPER

SWEEP = "\n".join(
    line for line in TREE.replace("planar_3r", "./robot.yaml").splitlines() if not line.startswith("design:")
)


@pytest.mark.parametrize("text", [ARM, GRIPPER], ids=["plain", "coupled"])
def test_an_imported_robot_is_identified(text: str, tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(text)
    (tmp_path / "robot.yaml").write_text(import_robot(tmp_path / "robot.urdf", parameters=False).text)
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    run(Sweep.from_yaml(tmp_path / "sweep.yaml"), tmp_path / "s.zarr", SYNCHRONOUS)
    data = open_results(tmp_path / "s.zarr").load()
    body = "upper" if text == ARM else "wrist"
    assert data[f"true_{body}_mass"].values.tolist() == [2.0]
    found = identify(tmp_path / "s.zarr", "least_squares", clean=True, cluster=SYNCHRONOUS)
    assert not found.failed
    fits = found.fits.values()
    assert max(np.abs(each.values - each.truth).max() / np.abs(each.truth).max() for each in fits) < 1e-8
