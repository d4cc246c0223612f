"""Loads on the platform of a simulation, and a base that moves: the motion is that of `simulate` with the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import limbsweep as ls
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from tasks.dynamics.simulate import simulate

HOLD = {"kind": "quintic", "start": [0.0, 0.0, 0.0], "end": [0.0, 0.0, 0.0]}


@pytest.mark.parametrize(
    ("robot", "axes", "state"),
    [("delta_3rr2rrr", "world", {"x": [0.01]}), ("planar_3rrr", "platform", {"yaw": [0.3], "yaw_rate": [2.0]})],
)
def test_a_load_acts_beside_the_forces(robot: str, axes: str, state: dict[str, Any], tmp_path: Any) -> None:
    built = ls.robots.build(robot)
    wrench = [0.0, 0.0, 0.3, 2.0, 1.0, 0.0] if robot == "planar_3rrr" else [0.0, 0.0, 0.0, 5.0, 0.0, -20.0]
    rows = [[0.0, *wrench], [0.01, *(2.0 * x for x in wrench)]]
    table = "\n".join(["t,mx,my,mz,fx,fy,fz", *(",".join(map(str, row)) for row in rows)])
    (tmp_path / "load.csv").write_text(table + "\n")
    loads = {"over_time": {"file": "load.csv", "axes": axes}, "always": {"force": wrench[3:], "axes": axes}}
    trajectories = {name: {**HOLD, "load": load} for name, load in loads.items()} | {"free": HOLD}
    controller = {"kind": "pd_gravity", "parameters": {"kp": 60.0, "kd": 1.0}}
    text = {"robot": robot, "trajectories": trajectories, "time": {"stop": 0.01, "step": 0.001}}
    text |= {"simulation": {"controller": controller, "state": {"list": state}}}
    series = ["platform_position", "platform_rotation", "platform_twist", "actuator_force"]
    block = block_of(plan(Sweep.from_dict({**text, "outputs": series}, folder=tmp_path)), 0)
    arrays = {name: values[0, 0, :, 0] for name, values in work.whole(block).items() if name in series}
    moved = arrays["platform_position"][:, -1]
    assert np.abs(moved[:2] - moved[2]).max() > 1e-6
    for j, pull in enumerate((lambda t: np.array(wrench) * (1.0 + 100.0 * t), lambda t: [0.0] * 3 + wrench[3:])):
        position, rotation, twist = (arrays[name][j] for name in series[:3])
        for k in range(10):
            force, start = arrays["actuator_force"][j, k], k * 0.001
            turned = rotation[k] if robot == "planar_3rrr" else None
            motion: Any = simulate(
                built, force=force, load=pull, load_axes=axes, position=position[k], rotation=turned, twist=twist[k],
                step=0.001, steps=1, method="rk4", start=start,
            )  # fmt: skip
            assert np.abs(position[k + 1] - motion.position[-1]).max() < 1e-13
            assert np.abs(twist[k + 1] - motion.twist[-1]).max() < 1e-11


@pytest.mark.parametrize(("robot", "state"), [("planar_3r", {"joint_1": [0.2]}), ("planar_3rrr", {"yaw": [0.1]})])
def test_a_base_that_moves_is_felt(robot: str, state: dict[str, Any]) -> None:
    sway, period = np.array([0.3, -0.2, 0.0]), 0.5
    base = {"kind": "line_sine", "amplitude": sway.tolist(), "period": period}
    base |= {"turn": {"kind": "harmonic", "amplitude": [0.0, 0.0, 0.4], "period": period}}
    forces = {"push": {"values": [0.2, -0.1, 0.1]}}
    friction = {"law": "coulomb_viscous", "parameters": {"coulomb": 0.05, "viscous": 0.01}}
    output = "joint_position" if robot == "planar_3r" else "platform_position"
    text = {"robot": robot, "gravity": [0.0, -9.81, 0.0], "base": base, "time": {"stop": 0.05, "step": 0.001}}
    text |= {"friction": friction, "simulation": {"forces": forces, "state": {"list": state}}, "outputs": [output]}
    arrays = work.whole(block_of(plan(Sweep.from_dict(text)), 0))
    assert arrays["worst_status"].item() == 0
    rate = 2.0 * np.pi / period

    def rotation(t: float) -> np.ndarray:
        c, s = np.cos(0.4 * np.sin(rate * t)), np.sin(0.4 * np.sin(rate * t))
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    def rates(t: float, order: int) -> np.ndarray:
        wave = rate * np.cos(rate * t) if order == 1 else -rate * rate * np.sin(rate * t)
        return np.array([0.0, 0.0, 0.4 * wave, *(sway * wave)])

    start = {"q": [0.2, 0.0, 0.0]} if robot == "planar_3r" else {}
    if robot == "planar_3rrr":
        c, s = np.cos(0.1), np.sin(0.1)
        home = np.array(ls.robots.build(robot).mechanism.platform.home.rotation, dtype=float)
        start = {"rotation": np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ home}
    law = {"law": friction["law"], **friction["parameters"]}  # type: ignore[dict-item]
    motion: Any = simulate(
        ls.robots.build(robot), force=[0.2, -0.1, 0.1], friction=law, gravity=[0.0, -9.81, 0.0], step=0.001, steps=50,
        base_rotation=rotation, base_twist=lambda t: rates(t, 1), base_acceleration=lambda t: rates(t, 2), **start,
    )  # fmt: skip
    simulated = arrays[output].reshape(51, -1)
    expected = motion.q if robot == "planar_3r" else motion.position
    assert np.abs(simulated - expected).max() < 1e-11
    assert np.abs(simulated[-1] - simulated[0]).max() > 1e-3
