"""Turns of platforms in sweep files: what is read, stored, and drawn at random."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pipeline import run
from pipeline.documents.report import Report
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError
from pipeline.sweep.model import Sweep
from pipeline.sweep.trajectories.turns import ORDERS, read_orientation, read_turn
from robots import catalog
from robots.trajectories.trajectory import LOOKED_AT
from tasks import inverse_dynamics
from tests.pipeline.runs import SYNCHRONOUS

TEXT = """\
limbsweep: 1
robot: gough_stewart
trajectories:
  excite: {kind: random_fourier, count: 2, seed: 4, period: 2.0, position: 0.2, velocity: 2, acceleration: 30, TURN}
  swing: {kind: line_sine, amplitude: [0.1, 0, 0], turn: {kind: harmonic, amplitude: [0.1, 0.2, 0], period: 2}}
time: {stop: 2.0, samples: 101}
outputs: [actuator_force, platform_position, platform_rotation, platform_twist, platform_acceleration]
"""
TURN = "turn: {position: [0.2, 0.1, 0.3], velocity: 1.5, acceleration: 20, orientation: {quaternion: [0.8, 0, 0.6, 0]}}"


def report() -> Report:
    return Report(parse_yaml("{}", "s"))


def oriented(**given: Any) -> np.ndarray:
    told = report()
    found = np.array(read_orientation(told, given, ()))
    assert not told.problems
    return found


@pytest.mark.parametrize("order", [*ORDERS, *(each.upper() for each in ORDERS)])
def test_orders_of_angles_are_those_of_others(order: str) -> None:
    angles = [0.3, -0.7, 1.1]
    np.testing.assert_allclose(
        oriented(euler=angles, order=order), Rotation.from_euler(order, angles).as_matrix(), atol=1e-15
    )


def test_an_orientation_has_three_spellings() -> None:
    expected = Rotation.from_rotvec([0.4, -0.5, 0.6])
    x, y, z, w = expected.as_quat()
    np.testing.assert_allclose(oriented(quaternion=[w, x, y, z]), expected.as_matrix(), atol=1e-15)
    near = np.round(expected.as_matrix(), 7)
    found = oriented(matrix=near.tolist())
    np.testing.assert_allclose(found, expected.as_matrix(), atol=1e-6)
    np.testing.assert_allclose(found @ found.T, np.eye(3), atol=1e-15)  # what is written with few digits is made one


def test_a_platform_that_turns_is_stored_as_it_moves(tmp_path: Path) -> None:
    data = run(Sweep.from_text(TEXT.replace("TURN", TURN)), tmp_path / "out.zarr", SYNCHRONOUS).load()
    assert data["platform_rotation"].dims == ("trajectory", "time", "axis", "platform_axis")
    moving = {name: data[f"platform_{name}"].values for name in ("position", "rotation", "twist", "acceleration")}
    assert np.abs(moving["twist"][:, :, :3]).max() > 0.5
    expected = inverse_dynamics(catalog.build("gough_stewart"), **moving).force
    np.testing.assert_allclose(data["actuator_force"].values[0, 0], expected, rtol=1e-11)
    start = Rotation.from_quat([0.0, 0.6, 0.0, 0.8]).as_matrix()
    np.testing.assert_allclose(moving["rotation"][0, [0, -1]], [start, start], atol=1e-12)  # at rest at both ends
    np.testing.assert_allclose(moving["rotation"][2, 0], np.eye(3), atol=1e-15)


def test_a_turn_does_not_change_how_a_random_motion_translates() -> None:
    turned, held = (Sweep.from_text(TEXT.replace("TURN", text)) for text in (TURN, "centre: 0"))
    for one, other in zip(turned.trajectories[:2], held.trajectories[:2], strict=True):
        assert one.values == other.values
        assert (one.turn is None, other.turn is None) == (False, True)
    assert turned.fingerprint != held.fingerprint


def test_random_turns_keep_their_limits() -> None:
    (first, second, _) = Sweep.from_text(TEXT.replace("TURN", TURN)).trajectories
    times = np.linspace(0.0, 2.0, LOOKED_AT + 1)[:, None]
    for each in (first, second):
        assert each.turn is not None
        values = each.turn.values
        angles = sum(
            np.sin(np.pi * k * times) * values[f"sine_{k}"] + np.cos(np.pi * k * times) * values[f"cosine_{k}"]
            for k in range(1, 6)
        )
        assert (np.abs(angles).max(axis=0) <= np.array([0.2, 0.1, 0.3]) * (1 + 1e-9)).all()
        assert (np.abs(angles).max(axis=0) >= np.array([0.2, 0.1, 0.3]) * 0.1).all()


def test_a_random_motion_stays_in_the_plane_of_a_planar_robot() -> None:
    text = "limbsweep: 1\nrobot: irsbot2\nmetrics: [peak_force]\ntime: {stop: 1.0, step: 0.1}\n"
    text += "trajectories: {excite: {kind: random_fourier, seed: 1, position: 0.05}}\n"
    (drawn,) = Sweep.from_text(text).trajectories
    amplitudes = np.array([drawn.values[f"{kind}_{k}"] for kind in ("sine", "cosine") for k in range(1, 6)])
    still = [name not in catalog.family("irsbot2").reference.platform.mobility for name in ("vx", "vy", "vz")]
    assert any(still)
    assert (np.abs(amplitudes).max(axis=0) == 0.0).tolist() == still


def test_a_platform_that_turns_about_one_axis_takes_no_other_angles() -> None:
    told, mobility = report(), ("wz", "vx", "vy")
    good = {"turn": {"kind": "harmonic", "amplitude": [0.0, 0.0, 0.3]}}
    assert read_turn(told, good, (), mobility, 1.0, no_points) is not None
    assert not told.problems
    read_turn(told, {"turn": {"kind": "harmonic", "amplitude": [0.1, 0.0, 0.3]}}, (), mobility, 1.0, no_points)
    (problem,) = told.problems
    assert "expected 0 there: the platform does not turn about x" in str(problem)


def no_points(section: Any, path: Any, columns: Any) -> None:
    raise AssertionError("the section names no file")


ANGLES = """\
t,roll [deg],pitch,yaw
0,0,0,0
0.5,5,0.05,0.1
2,0,0.1,-0.1
"""
FROM_FILE = """\
limbsweep: 1
robot: gough_stewart
trajectories: {moved: {kind: line_sine, amplitude: [0.1, 0, 0], turn: {kind: waypoints, file: angles.csv}}}
time: {stop: 2.0, samples: 41}
outputs: [platform_rotation]
"""


def test_angles_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "angles.csv").write_text(ANGLES)
    results = run(Sweep.from_text(FROM_FILE, folder=tmp_path), cluster=SYNCHRONOUS)
    rotation = results["platform_rotation"].isel(trajectory=0)
    home = np.array(catalog.family("gough_stewart").reference.platform.home.rotation)
    expected = Rotation.from_euler("xyz", [[0, 0, 0], [np.deg2rad(5), 0.05, 0.1], [0, 0.1, -0.1]]).as_matrix() @ home
    np.testing.assert_allclose(rotation.sel(time=[0.0, 0.5, 2.0]), expected, atol=1e-12)
    (tmp_path / "angles.csv").write_text(ANGLES.replace("0.05", "0.06"))
    other = Sweep.from_text(FROM_FILE, folder=tmp_path).fingerprint
    assert other != results.attrs["fingerprint"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2,0,0.1,-0.1\n", "", "angles from 0 s to 0.5 s; expected angles for all times of the sweep, 0 s to 2 s"),
        ("pitch", "tilt", "expected the header t,roll,pitch,yaw"),
        ("deg", "mm", "angles.csv:1:1 roll: got 'mm'"),
        ("0.05", "nan", "angles.csv:3:3 pitch: got 'nan'; expected a finite number"),
    ],
)
def test_a_file_of_angles_that_cannot_be_used_is_told(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert old in ANGLES
    (tmp_path / "angles.csv").write_text(ANGLES.replace(old, new))
    with pytest.raises(InputError) as refused:
        Sweep.from_text(FROM_FILE, folder=tmp_path)
    (line,) = str(refused.value).splitlines()
    assert message in line


def test_angles_that_the_platform_is_not_free_to_make_are_refused() -> None:
    told = report()
    angles = np.array([[0.0, 0.1, 0.0, 0.0], [1.0, 0.1, 0.0, 0.2]])
    section = {"turn": {"kind": "waypoints", "file": "a.csv"}}
    read_turn(told, section, (), ("wz", "vx", "vy"), 1.0, lambda *_: angles)
    (problem,) = told.problems
    assert "got angles in the column roll; expected 0 in all rows: the platform does not turn about x" in str(problem)


def test_a_chain_has_no_platform_to_turn() -> None:
    text = TEXT.replace("gough_stewart", "planar_3r").replace("TURN", TURN)
    with pytest.raises(InputError, match=r"trajectories\.excite\.turn: got an unknown key"):
        Sweep.from_text(text)
