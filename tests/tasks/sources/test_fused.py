"""A step in one call of machine code has the bits of the programs called one by one, with events and ends of cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from robots.status import Status
from tasks.blocks import simulated
from tasks.blocks.pool import Arrays
from tasks.dynamics.drive_model import InverseModel
from tasks.sources import plants
from tasks.sources.fused_step import FusedStep

MOVE = {"move": {"kind": "quintic", "end": 0.3, "duration": 0.03}}
LINE = {"line": {"kind": "quintic", "end": [0.02, 0.0, 0.01], "duration": 0.02}}
DRY = {"law": "coulomb_viscous", "parameters": {"coulomb": 0.3, "viscous": 0.02}}
CHAIN = {"robot": "planar_3r", "gravity": [0.0, -9.81, 0.0], "trajectories": MOVE}
CASES: dict[str, dict[str, Any]] = {
    "a chain with dry friction, and gains that diverge": {
        **CHAIN, "friction": DRY, "outputs": ["joint_position", "joint_friction", "actuator_force"],
        "simulation": {
            "controller": {"kind": "pid", "parameters": {"kp": 400.0, "ki": 50.0, "delay": 0.002}},
            "gains": {"grid": {"kd": [20.0, 1e5]}},
        },
    },
    "a platform": {
        "robot": "five_bar", "trajectories": LINE,
        "outputs": ["platform_position", "actuator_force"],
        "simulation": {
            "controller": {"kind": "pd_gravity", "parameters": {"kd": 2.0}}, "gains": {"grid": {"kp": [200.0, 250.0]}},
        },
    },
    "a platform that turns, under forces over time": {
        "robot": "planar_3rrr", "outputs": ["platform_rotation", "platform_twist"],
        "simulation": {
            "forces": {"push": {"values": [0.5, -0.2, 0.1]}},
            "state": {"list": {"yaw": [0.1, 0.0], "x_rate": [0.0, 0.1]}},
        },
    },
}  # fmt: skip


def computed(name: str) -> Arrays:
    sweep = {"time": {"stop": 0.03, "step": 0.001}, "metrics": ["work", "dissipated_energy"], **CASES[name]}
    return work.whole(block_of(plan(Sweep.from_dict(sweep)), 0))


@pytest.mark.parametrize("name", CASES)
def test_the_bits_are_those_of_programs_called_one_by_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, call = [0], FusedStep.__call__

    def counted(self: FusedStep, *arguments: Any) -> Any:
        calls[0] += 1
        return call(self, *arguments)

    monkeypatch.setattr(FusedStep, "__call__", counted)
    monkeypatch.setattr(simulated, "time_loop", lambda *arguments, **more: None)
    whole = computed(name)
    assert calls[0] == 30
    monkeypatch.setattr(plants, "in_one_call", lambda *arguments: False)
    monkeypatch.setattr(InverseModel, "_whole", None)
    apart = computed(name)
    assert whole.keys() == apart.keys()
    for key, values in whole.items():
        assert values.tobytes() == apart[key].tobytes(), key
    assert calls[0] == 30
    failed = whole["worst_status"] != Status.OK
    assert failed.any() == ("diverge" in name)
    if "friction" in name:
        assert (np.abs(whole["joint_friction"][0, 0, 0, 0]) < 0.3).any()  # some joint is at rest
