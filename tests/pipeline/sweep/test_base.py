"""A base that moves, in sweep files: forces and reactions are those of other engines whose base has six joints."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import limbsweep as ls
from pipeline import Sweep, run
from robots import catalog
from tests.pipeline.runs import SYNCHRONOUS, content_hash, cut_finely
from tests.tasks.mechanics.test_loads_peers import mujoco as mujoco  # a fixture
from tests.tasks.mechanics.test_loads_peers import tree_of

CLOSE = 1e-10
"""Tolerance relative to the largest value."""

SWAY, SWAY_PERIOD = np.array([0.3, -0.2, 0.5]), 2.0
ROLL, ROLL_PERIOD = np.array([0.2, 0.15, -0.1]), 1.5
BASE = """\
base:
  {kind: line_sine, amplitude: [0.3, -0.2, 0.5], period: 2,
   turn: {kind: harmonic, amplitude: [0.2, 0.15, -0.1], period: 1.5}}
"""
REST = """\
design: {grid: {payload_mass: [0.5, 1.5]}}
time: {stop: 1.0, step: 0.1}
outputs: [actuator_force, joint_reaction, joint_position, joint_velocity, joint_acceleration]
metrics: [peak_force, peak_reaction]
"""
ARM = "limbsweep: 1\nrobot: ur5e\ntrajectories: {swing: {kind: harmonic, amplitude: 0.4, period: 1.2}}\n"


def base_at(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, y, z, yaw, pitch, roll of the base and their rates and accelerations (6,)."""
    parts = []
    for amplitude, period in ((SWAY, SWAY_PERIOD), (ROLL[::-1], ROLL_PERIOD)):
        rate = 2.0 * np.pi / period
        wave = np.sin(rate * t), rate * np.cos(rate * t), -rate * rate * np.sin(rate * t)
        parts.append([amplitude * x for x in wave])
    q, qd, qdd = (np.concatenate(pair) for pair in zip(*parts, strict=True))
    return q, qd, qdd


def test_an_arm_on_a_base_that_moves_is_that_of_pinocchio_with_six_joints_more() -> None:
    pytest.importorskip("pinocchio", reason="Pinocchio is missing")
    import pinocchio as pin

    results = run(Sweep.from_text(ARM + BASE + REST), cluster=SYNCHRONOUS)
    assert not results["worst_status"].values.any()
    for design, mass in enumerate((0.5, 1.5)):
        robot = catalog.build("ur5e", payload_mass=mass)
        armature = np.array([link.armature for link in robot.mechanism.limbs[0].links])
        tree = tree_of(robot, afloat=True)
        part = results.isel(design=design, trajectory=0)
        for k, t in enumerate(results["time"].values):
            arm = (part[f"joint_{name}"].values[k, 0] for name in ("position", "velocity", "acceleration"))
            q, qd, qdd = (np.concatenate(pair) for pair in zip(base_at(t), arm, strict=True))
            expected = tree.rnea(q, qd, qdd)[6:] + armature * qdd[6:]
            found = part["actuator_force"].values[0, k] if "friction" in part.dims else part["actuator_force"].values[k]
            assert np.abs(found - expected).max() < CLOSE * np.abs(expected).max()
            wrenches = tree.wrenches(q, qd, qdd)
            turn = pin.rpy.rpyToMatrix(q[5], q[4], q[3])
            inward = np.concatenate([wrenches[6:, :3] @ turn, wrenches[6:, 3:] @ turn], axis=1)
            assert np.abs(part["joint_reaction"].values[k, 0] - inward).max() < CLOSE * np.abs(inward).max()


def carried(base: tuple[np.ndarray, ...], state: dict[str, np.ndarray]) -> tuple[np.ndarray, ...]:
    """Pose and motion in the world of what moves relative to a base, by the rules of relative motion."""
    place, turn, twist, change = base
    p, v, a = turn @ state["position"], turn @ state["twist"][3:], turn @ state["acceleration"][3:]
    spin, spinning = turn @ state["twist"][:3], turn @ state["acceleration"][:3]
    omega, alpha = twist[:3], change[:3]
    velocity = twist[3:] + np.cross(omega, p) + v
    swirl = np.cross(alpha, p) + np.cross(omega, np.cross(omega, p)) + 2.0 * np.cross(omega, v)
    turning = alpha + spinning + np.cross(omega, spin)
    return (
        place + p,
        turn @ state["rotation"],
        np.concatenate([omega + spin, velocity]),
        np.concatenate([turning, change[3:] + swirl + a]),
    )


@pytest.mark.parametrize("name", ["gough_stewart", "delta_3rr2rrr"])
def test_a_parallel_robot_on_a_base_that_moves_is_that_of_mujoco(name: str, mujoco: ModuleType) -> None:
    turn = ", turn: {kind: harmonic, amplitude: [0.1, 0.05, 0.2], period: 1.0}" if name == "gough_stewart" else ""
    names = ("position", "rotation", "twist", "acceleration")
    text = (
        f"limbsweep: 1\nrobot: {name}\n{BASE}trajectories: {{circle: {{kind: circle, radius: 0.05{turn}}}}}\n"
        "time: {stop: 1.0, step: 0.2}\n"
        f"outputs: [actuator_force, joint_position, {', '.join(f'platform_{key}' for key in names)}]\n"
    )
    results = run(Sweep.from_text(text), cluster=SYNCHRONOUS)
    assert not results["worst_status"].values.any()
    engine = mujoco.ClosedMechanism(catalog.build(name).mechanism, afloat=True)
    part = results.isel(design=0, trajectory=0)
    for k, t in enumerate(results["time"].values):
        state = {key: part[f"platform_{key}"].values[k] for key in names}
        position, rotation, twist, acceleration = carried(engine.sail(*base_at(t)), state)
        joints = part["joint_position"].values[k, :, : engine.count]
        assert engine.place(joints, position, rotation) < 1e-12
        expected = engine.solve(twist, acceleration).force
        found = part["actuator_force"].values.reshape(len(results["time"]), -1)[k]
        assert np.abs(found - expected).max() < CLOSE * np.abs(expected).max()


def test_a_file_of_points_and_arrays_are_the_same_motion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times = np.linspace(0.0, 1.0, 11)
    positions = np.stack([0.1 * np.sin(times), 0.05 * times**2, 0.2 * np.cos(3.0 * times)], axis=1)
    header = {"header": "t,x,y,z", "comments": "", "delimiter": ","}
    np.savetxt(tmp_path / "deck.csv", np.column_stack([times, positions]), fmt="%.17g", **header)  # type: ignore[arg-type]
    text = ARM + "base: {kind: waypoints, file: deck.csv}\n" + REST
    (tmp_path / "sweep.yaml").write_text(text)
    of_file = Sweep.from_yaml(tmp_path / "sweep.yaml")
    parts: dict[str, Any] = {"design": {"grid": {"payload_mass": [0.5, 1.5]}}, "metrics": ["peak_force"]}
    parts |= {"trajectories": {"swing": {"kind": "harmonic", "amplitude": 0.4, "period": 1.2}}, "time": (1.0, 0.1)}
    of_arrays = ls.sweep("ur5e", base=(times, positions), **parts)
    assert of_arrays.base is not None
    assert of_file.base is not None
    assert of_arrays.base.points is not None
    np.testing.assert_array_equal(of_arrays.base.points, of_file.base.points)
    assert of_file.fingerprint != Sweep.from_text(ARM + REST).fingerprint
    whole = content_hash(run(of_file, cluster=SYNCHRONOUS))
    with pytest.raises(ls.InputError, match=r"^base: got an object of type int"):
        ls.sweep("ur5e", base=5, **parts)  # type: ignore[arg-type]
    cut_finely(monkeypatch, small=11)
    assert content_hash(run(of_file, cluster=SYNCHRONOUS)) == whole
