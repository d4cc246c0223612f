"""Swept parameters in words: rounded numbers with the units of their joints, and names of labels."""

from __future__ import annotations

from pathlib import Path

from applications.report.data import overview
from applications.report.data.recomputed import results_of
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep

TEXT = """\
limbsweep: 1
robot: ROBOT
design: {file: motors.csv, labels: [motor, rated_torque]}
friction:
  law: coulomb_viscous
  joints: actuated
  grid: {coulomb: [0.0, 0.6]}
trajectories: {line: {kind: line_sine, amplitude: [0.02, 0, 0.02]}}
time: {stop: 1.0, step: 0.5}
metrics: [peak_force]
"""
MOTORS = "motor,base_radius,rated_torque [N mm]\nA,0.3,320\nB,0.310123456,1270\nA,0.32,320\n"


def told(robot: str, folder: Path) -> tuple[dict[str, str], str]:
    (folder / "motors.csv").write_text(MOTORS, encoding="utf-8")
    run(Sweep.from_text(TEXT.replace("ROBOT", robot), folder=folder), folder / f"{robot}.zarr")
    results = results_of(folder / f"{robot}.zarr", friction=1)
    return dict(overview.swept(results.dataset, results.units)), results.heading(0)


def test_numbers_are_rounded_and_have_the_unit_of_the_joints(tmp_path: Path) -> None:
    rows, heading = told("delta_3rr2rrr", tmp_path)
    assert rows["designs"] == (
        "3: base radius 300 to 320 mm (3 values); motor A, B; rated torque 0.32 to 1.27 N m (2 values)"
    )
    assert rows["friction sets"] == "2: coulomb 0 to 0.6 N m (2 values)"
    assert heading.endswith(", friction set 1 (coulomb 0.6 N m).")
    rows, _ = told("linear_delta", tmp_path)
    assert rows["friction sets"] == "2: coulomb 0 to 0.6 N (2 values)"
