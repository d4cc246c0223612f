"""Rotors without their gyroscopic moment: sweeps and robot files warn where they turn about as fast as their joints."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from pipeline import Sweep
from pipeline.robot_files.reader import read_robot

ROBOT = """
limbsweep: 1
name: gimbal
limbs:
  arm:
    links:
      - {{body: yoke, parent: base, joint: yaw, kind: revolute, axis: z, inertia: {{mass: 1, moments: [1, 1, 1]}}}}
      - {{body: frame, parent: yoke, joint: pitch, kind: revolute, axis: x, inertia: {{mass: 1, moments: [1, 1, 1]}}}}
    actuated: [yaw, pitch]
    drives:
      - {{name: turn, ratios: {{yaw: 1}}}}
      - name: wheel
        ratios: {{pitch: {ratio}}}
        spins: [{{inertia: 0.01, carrier: {carrier}, axis: [1, 0, 0]{coupling}}}]
"""
SWEEP = """
limbsweep: 1
robot: gimbal.yaml
trajectories: {swing: {kind: harmonic, amplitude: 0.4, period: 2.0}}
time: {stop: 1.0, step: 0.5}
outputs: [actuator_force]
"""


@pytest.mark.parametrize(
    ("ratio", "carrier", "coupling", "told"),
    [
        (1, "yoke", "", True),
        (1, "yoke", ", coupling: 0", True),
        (1, "yoke", ", coupling: 1", False),
        (100, "yoke", "", False),
        (1, "base", "", False),
    ],
)
def test_a_slow_rotor_without_coupling_is_told(
    tmp_path: Path, ratio: int, carrier: str, coupling: str, told: bool
) -> None:
    file = tmp_path / "gimbal.yaml"
    file.write_text(ROBOT.format(ratio=ratio, carrier=carrier, coupling=coupling), encoding="utf-8")
    (tmp_path / "sweep.yaml").write_text(SWEEP, encoding="utf-8")
    sweep = Sweep.from_yaml(tmp_path / "sweep.yaml")
    assert ["drive wheel without its gyroscopic moment" in str(each) for each in sweep.warnings] == [True] * told
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        read_robot(file)
    assert ["coupling: 1" in str(each.message) for each in heard] == [True] * told
