"""Loads on the platform of a simulation: the motion is that of `simulate` with the same load and forces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import limbsweep as ls
from pipeline.execution.graph import block_of
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from tasks.blocks import compute

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
    arrays = {name: values[0, 0, :, 0] for name, values in compute.whole(block).items() if name in series}
    moved = arrays["platform_position"][:, -1]
    assert np.abs(moved[:2] - moved[2]).max() > 1e-6
    for j, pull in enumerate((lambda t: np.array(wrench) * (1.0 + 100.0 * t), lambda t: [0.0] * 3 + wrench[3:])):
        position, rotation, twist = (arrays[name][j] for name in series[:3])
        for k in range(10):
            force, start = arrays["actuator_force"][j, k], k * 0.001
            turned = rotation[k] if robot == "planar_3rrr" else None
            motion: Any = ls.simulate(
                built, force=force, load=pull, load_axes=axes, position=position[k], rotation=turned, twist=twist[k],
                step=0.001, steps=1, method="rk4", start=start,
            )  # fmt: skip
            assert np.abs(position[k + 1] - motion.position[-1]).max() < 1e-13
            assert np.abs(twist[k + 1] - motion.twist[-1]).max() < 1e-11
