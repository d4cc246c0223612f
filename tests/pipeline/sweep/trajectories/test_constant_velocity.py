"""The constant-velocity friction test: pairs of trajectories in a sweep, and the curve that their results give back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from applications.identification.friction_curve import friction_curve
from pipeline import run
from pipeline.errors import InputError
from pipeline.sweep.model import Sweep
from robots import catalog
from tasks.features.friction import laws as friction
from tasks.features.friction.curve import fit

ROBOT = "planar_3r"
JOINTS = catalog.family(ROBOT).reference.freedoms
SPEEDS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3]
LAW = {"coulomb": 0.15, "static": 0.3, "viscous": 0.2, "stribeck_velocity": 0.02}

TEXT = f"""\
limbsweep: 1
robot: {ROBOT}
friction: {{law: stribeck, parameters: {LAW}}}
trajectories:
  second: {{kind: friction_test, joint: {JOINTS[1]}, speeds: {SPEEDS}, at: [0.3, -0.2, 0.1]}}
time: {{stop: 1.0, step: 0.02}}
gravity: [0, -9.81, 0]
outputs: [actuator_force, actuator_position, actuator_velocity]
""".replace("'", "")


def test_the_curve_of_the_law_comes_back_from_simulated_runs(tmp_path: Path) -> None:
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text("limbsweep: {cluster: {kind: synchronous}}\n")
    sweep = Sweep.from_text(TEXT)
    assert len(sweep.trajectories) == 2 * len(SPEEDS)
    results = run(sweep, store=tmp_path / "out.zarr", cluster=cluster)
    found = friction_curve(results, "second", JOINTS[1])
    np.testing.assert_allclose(found.speed, SPEEDS, rtol=1e-12)
    force = float(np.abs(results.actuator_force.sel(actuator=JOINTS[1])).max())
    expected = [friction.force("stribeck", speed, 1.0, LAW) for speed in SPEEDS]
    np.testing.assert_allclose(found.friction, expected, rtol=0, atol=1e-9 * force)
    for name, value in fit("stribeck", found.speed, found.friction).values.items():
        if name in LAW:
            assert value == pytest.approx(LAW[name], rel=1e-3), name
    assert force > 5 * max(expected)  # gravity is there


@pytest.mark.parametrize(
    ("old", "new", "fragment"),
    [
        (f"joint: {JOINTS[1]}", "joint: elbow", "an independent joint of the robot"),
        (f"speeds: {SPEEDS}", "speeds: [0.1, -0.1]", "a list of numbers above zero"),
        ("at: [0.3, -0.2, 0.1]", "at: [0.3]", "a list of 3 numbers"),
        ("at: ", "where: ", "an unknown key"),
    ],
)
def test_a_wrong_test_is_refused(old: str, new: str, fragment: str) -> None:
    with pytest.raises(InputError, match=fragment):
        Sweep.from_text(TEXT.replace(old, new))


def test_results_without_what_the_curve_needs_are_refused(tmp_path: Path) -> None:
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text("limbsweep: {cluster: {kind: synchronous}}\n")
    results = run(Sweep.from_text(TEXT), store=tmp_path / "out.zarr", cluster=cluster)
    with pytest.raises(ValueError, match="name: got 'third'; expected a friction test"):
        friction_curve(results, "third", JOINTS[1])
    with pytest.raises(ValueError, match="got no actuator_position; expected actuator_force"):
        friction_curve(results.drop_vars("actuator_position"), "second", JOINTS[1])
