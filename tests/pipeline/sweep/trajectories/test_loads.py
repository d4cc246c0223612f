"""Loads in sweep files: what they do to forces and reactions, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline import Sweep, run
from pipeline.errors import InputError
from robots import catalog
from tasks import inverse_dynamics, joint_reactions
from tasks.dynamics.records import Forces
from tasks.mathematics.rotations import roll_pitch_yaw
from tests.arguments import in_records
from tests.pipeline.runs import SYNCHRONOUS, content_hash, cut_finely

CIRCLE = "kind: circle, radius: 0.05, normal: [0.2, 0.1, 1], period: 1.0"
TEXT = """\
limbsweep: 1
robot: {robot}
{more}
trajectories:
  free: {{{circle}}}
  pushed: {{{circle}, load: {{force: [3, -2, 20], moment: [{moments}]{axes}}}}}
  over_time: {{{circle}, load: {{file: load.csv{axes}}}}}
time: {{stop: 1.0, step: 0.05}}
outputs: [actuator_force, joint_reaction, platform_position, platform_rotation, platform_twist, platform_acceleration]
metrics: [peak_force, peak_reaction]
"""
ROWS = np.array([[0.0, 0, 0, 0, 0, 0, 0], [0.3, 0, 0, 0, 5.0, 0, -7.0], [1.2, 0, 0, 0, 0.0, 9.0, 1.0]])
FRICTION = """\
friction:
  {law: coulomb_viscous, joints: all, load: reaction, parameters: {pin_radius: 0.01}, grid: {coulomb: [0, 0.05]}}
design: {grid: {payload_mass: [0.5, 1.0, 1.5]}}"""


def sweep(folder: Path, **changes: str) -> Sweep:
    np.savetxt(folder / "load.csv", ROWS, delimiter=",", header="t,mx,my,mz,fx,fy,fz", comments="")
    values = {"robot": "delta_3rr2rrr", "more": "", "circle": CIRCLE, "moments": "0, 0, 0", "axes": ""} | changes
    path = folder / "sweep.yaml"
    path.write_text(TEXT.format(**values))
    return Sweep.from_yaml(path)


def state(of: Any) -> dict[str, np.ndarray]:
    parts = ("position", "rotation", "twist", "acceleration")
    return {part: of[f"platform_{part}"].values for part in parts}


@pytest.mark.parametrize("axes", ["world", "platform"])
@pytest.mark.parametrize("name", ["delta_3rr2rrr", "gough_stewart", "hexapod_6rrrprr"])
def test_forces_and_reactions_are_those_of_the_functions_with_a_load(name: str, axes: str, tmp_path: Path) -> None:
    six = len(catalog.family(name).reference.freedoms) == 6
    turn = ", turn: {kind: harmonic, amplitude: [0.1, 0.05, 0.2], period: 1.0}" if six else ""
    made = sweep(tmp_path, robot=name, circle=CIRCLE + turn, moments="1, 2, -0.5", axes=f", axes: {axes}")
    found = run(made, cluster=SYNCHRONOUS)
    assert not found["worst_status"].values.any()
    times = found["time"].values
    constant = np.broadcast_to([1.0, 2.0, -0.5, 3.0, -2.0, 20.0], (len(times), 6))
    over_time = np.stack([np.interp(times, ROWS[:, 0], column) for column in ROWS[:, 1:].T], axis=1)
    robot = catalog.build(name)
    for trajectory, load in (("free", None), ("pushed", constant), ("over_time", over_time)):
        one = found.sel(trajectory=trajectory).squeeze("design")
        given: dict[str, Any] = state(one) | ({} if load is None else {"load": load, "load_axes": axes})
        force = inverse_dynamics(robot, **in_records(**given)).force
        np.testing.assert_allclose(one["actuator_force"].squeeze(), force, rtol=1e-11, atol=1e-11 * np.abs(force).max())
        wrench = joint_reactions(robot, **in_records(**given)).wrench
        size = np.nanmax(np.abs(wrench))
        np.testing.assert_allclose(one["joint_reaction"].squeeze(), wrench, rtol=0.0, atol=1e-10 * size)
    largest = abs(found["actuator_force"]).max("time")
    np.testing.assert_allclose(found["peak_force"].transpose(*largest.dims), largest, rtol=1e-14)


def test_a_load_is_work_for_actuators_alone(tmp_path: Path) -> None:
    """The power that actuators give more is that which the load takes: an independent relation."""
    turn = ", turn: {kind: harmonic, amplitude: [0.1, 0.05, 0.2], period: 1.0}"
    text = sweep(tmp_path, robot="gough_stewart", circle=CIRCLE + turn, moments="1, 2, -0.5").text
    (tmp_path / "sweep.yaml").write_text(text.replace("outputs: [", "outputs: [actuator_velocity, "))
    found = run(Sweep.from_yaml(tmp_path / "sweep.yaml"), cluster=SYNCHRONOUS).squeeze()
    more = found["actuator_force"].sel(trajectory="pushed") - found["actuator_force"].sel(trajectory="free")
    power = (more * found["actuator_velocity"].sel(trajectory="free")).sum("actuator")
    taken = -(found["platform_twist"].sel(trajectory="free").values @ [1.0, 2.0, -0.5, 3.0, -2.0, 20.0])
    np.testing.assert_allclose(power, taken, rtol=1e-10, atol=1e-10)


def test_any_blocks_give_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks with loaded trajectories and without, friction from reactions included."""
    made = sweep(tmp_path, more=FRICTION)
    whole = content_hash(run(made, cluster=SYNCHRONOUS))
    cut_finely(monkeypatch, small=21, friction=21)
    assert content_hash(run(made, cluster=SYNCHRONOUS)) == whole
    assert content_hash(run(made, cluster=SYNCHRONOUS, granularity="block")) == whole


def test_the_load_belongs_to_the_identity_of_a_sweep(tmp_path: Path) -> None:
    prints = {sweep(tmp_path, axes=axes).fingerprint for axes in ("", ", axes: world", ", axes: platform")}
    assert len(prints) == 2
    before = sweep(tmp_path).fingerprint
    text = (tmp_path / "load.csv").read_text().replace("9.0", "9.5")
    (tmp_path / "load.csv").write_text(text.replace("9.000000000000000000e+00", "9.5"))
    assert Sweep.from_yaml(tmp_path / "sweep.yaml").fingerprint != before


def test_a_turned_platform_feels_its_own_axes(tmp_path: Path) -> None:
    """Check a platform at rest, turned by a quarter: its force x is force y of the world."""
    held = "kind: quintic, start: [0, 0, 0], end: [0, 0, 0], duration: 1.0"
    turn = "turn: {kind: constant, orientation: {euler: [0, 0, 0.4], order: xyz}}"
    text = sweep(tmp_path, robot="gough_stewart", circle=f"{held}, {turn}", axes=", axes: platform").text
    found = run(Sweep.from_text(text, "s", tmp_path), cluster=SYNCHRONOUS).squeeze()
    rotation = np.asarray(roll_pitch_yaw(np.array([0.0, 0.0, 0.4])).rotation, dtype=float)
    load = np.concatenate([np.zeros(3), rotation @ [3.0, -2.0, 20.0]])
    pose = {"position": catalog.build("gough_stewart").mechanism.platform.home.position, "rotation": rotation}
    expected = inverse_dynamics(catalog.build("gough_stewart"), forces=Forces(load=load), **pose).force
    np.testing.assert_allclose(found["actuator_force"].sel(trajectory="pushed").isel(time=3), expected, rtol=1e-11)


WRONG = [
    ("load: {}", "trajectories.pushed.load: got neither force, moment nor file; expected a mapping with force"),
    ("load: 3", "trajectories.pushed.load: got 3; expected a mapping with force"),
    ("load: {force: [1, 2]}", "trajectories.pushed.load.force: got [1, 2]; expected three numbers"),
    ("load: {force: [1, 2, .nan]}", "trajectories.pushed.load.force[2]: got .nan; expected a finite number"),
    (
        "load: {force: [1, 2, 1.0e+13]}",
        "trajectories.pushed.load.force: got [1, 2, 10000000000000.0]; expected three numbers",
    ),
    ("load: {force: [1, 2, true]}", "trajectories.pushed.load.force: got [1, 2, true]; expected three numbers"),
    (
        "load: {force: [1, 2, 3], axes: tool}",
        "trajectories.pushed.load.axes: got 'tool'; expected 'world' or 'platform'",
    ),
    ("load: {force: [1, 2, 3], forces: 1}", "trajectories.pushed.load.forces: got an unknown key"),
    (
        "load: {file: load.csv, force: [1, 2, 3]}",
        "trajectories.pushed.load.force: got force beside a file; expected one",
    ),
    ("load: {file: none.csv}", "none.csv: got no such file; expected an existing file. Did you mean load.csv?"),
    (
        "load: {file: short.csv}",
        "load.file: got a load from 0 s to 0.5 s; expected one for all times of the sweep, 0 s to 1",
    ),
    ("load: {file: heads.csv}", "heads.csv:1:1"),
]


@pytest.mark.parametrize(("section", "said"), WRONG)
def test_a_wrong_load_is_told_in_one_line(section: str, said: str, tmp_path: Path) -> None:
    text = sweep(tmp_path).text.replace("load: {force: [3, -2, 20], moment: [0, 0, 0]}", section)
    (tmp_path / "short.csv").write_text("t,mx,my,mz,fx,fy,fz\n0,0,0,0,0,0,1\n0.5,0,0,0,0,0,1\n")
    (tmp_path / "heads.csv").write_text("t,fx,fy,fz\n0,0,0,1\n0.5,0,0,1\n")
    with pytest.raises(InputError) as caught:
        Sweep.from_text(text, "s.yaml", tmp_path)
    assert len(caught.value.problems) == 1
    assert said in str(caught.value).replace('"', "'")


def test_a_chain_has_no_platform_to_load() -> None:
    swing = "{kind: harmonic, amplitude: 0.1, load: {force: [0, 0, 1]}}"
    rest = "time: {stop: 1, step: 0.1}\nmetrics: [peak_force]\n"
    text = f"limbsweep: 1\nrobot: planar_3r\ntrajectories: {{a: {swing}}}\n{rest}"
    with pytest.raises(InputError, match="load: got an unknown key"):
        Sweep.from_text(text)
