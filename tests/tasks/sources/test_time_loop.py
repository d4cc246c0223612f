"""The compiled loop over time has the bits of steps taken one by one, with events, delays and ends of cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.simulate import whole_block
from pipeline.execution import work
from robots.status import Status
from tasks.blocks import simulated
from tasks.blocks.pool import Arrays
from tasks.kernels.keys import LANES
from tasks.sources.time_loop import TimeLoop
from tests.tasks.sources.test_fused import CASES as FUSED
from tests.tasks.sources.test_fused import CHAIN, DRY, LINE

ALL = ["work", "dissipated_energy", "rms_tracking_error", "overshoot", "settling_time", "lost_steps", "peak_force"]
SENSORS = {"resolution": 1e-4, "sample_time": 0.002, "force_limit": 3.0, "rate_limit": 500.0}
CASES: dict[str, dict[str, Any]] = {
    **FUSED,
    "encoders, delays that differ, limits": {
        "robot": "five_bar", "trajectories": LINE, "metrics": [*ALL, "peak_position_error"],
        "outputs": ["platform_position", "tracking_error", "joint_reaction"],
        "simulation": {
            "controller": {"kind": "pid", "parameters": {"kp": 400.0, "ki": 50.0, "kd": 4.0, **SENSORS}},
            "gains": {"grid": {"delay": [0.0, 0.001, 0.004]}},
        },
    },
    "a controller of the platform under a load": {
        "robot": "planar_3rrr", "metrics": [*ALL, "rms_position_error"], "outputs": ["actuator_force"],
        "trajectories": {"line": {"kind": "quintic", "end": [0.02, 0.01, 0], "load": {"force": [1.0, 0.0, 0.0]}}},
        "simulation": {
            "controller": {"kind": "computed_torque", "space": "task", "parameters": {"kp": 400.0, "kd": 40.0}},
            "state": {"list": {"yaw": [0.1, 0.0]}},
        },
    },
    "joints that stick, in more than one group of lanes": {
        **CHAIN, "friction": DRY, "metrics": ALL, "outputs": ["joint_friction"],
        "simulation": {
            "controller": {"kind": "computed_torque", "space": "joint", "parameters": {"kd": 40.0}},
            "gains": {"grid": {"kp": {"start": 100.0, "stop": 400.0, "num": LANES + 1}}},
        },
    },
    "one case of like limbs with friction": {
        "robot": "delta_3rr2rrr", "trajectories": LINE, "outputs": ["actuator_force", "joint_friction"],
        "friction": {**DRY, "joints": "all", "parameters": {"coulomb": 0.01, "viscous": 0.1}},
        "simulation": {"controller": {"kind": "pd", "parameters": {"kp": 2000.0, "kd": 20.0}}},
    },
    "a base that moves": {
        "robot": "five_bar", "trajectories": LINE, "outputs": ["actuator_force"], "metrics": ["work"],
        "base": {"kind": "circle", "radius": 0.05, "period": 0.5},
        "simulation": {"controller": {"kind": "pd", "parameters": {"kp": 200.0, "kd": 2.0}}},
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_bits_are_those_of_steps_taken_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken, advance = [0], TimeLoop.advance

    def counted(self: TimeLoop, *arguments: Any, **more: Any) -> Any:
        stretch = advance(self, *arguments, **more)
        taken[0] += stretch.steps if stretch is not None else 0
        return stretch

    def computed() -> Arrays:
        metrics = {"metrics": ["work", "dissipated_energy"]}
        return work.whole(whole_block({"time": {"stop": 0.02, "step": 0.001}, **metrics, **CASES[name]}))

    monkeypatch.setattr(TimeLoop, "advance", counted)
    looped = computed()
    ended = bool((looped["worst_status"] != Status.OK).any())
    assert taken[0] >= (2 if ended or "friction" in CASES[name] else 20)
    monkeypatch.setattr(simulated, "time_loop", lambda *arguments, **more: None)
    alone = computed()
    assert looped.keys() == alone.keys()
    for key, values in looped.items():
        assert values.tobytes() == alone[key].tobytes(), key
    assert ended == ("diverge" in name)
    assert all(np.isfinite(values).any() for values in looped.values() if values.size)


def test_other_methods_have_no_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TimeLoop, "advance", lambda *arguments, **more: pytest.fail("a loop"))
    block = whole_block({
        **CHAIN, "time": {"stop": 0.003, "step": 0.001}, "outputs": ["joint_position"],
        "simulation": {"method": "euler", "controller": {"kind": "pd", "parameters": {"kp": 400.0, "kd": 20.0}}},
    })  # fmt: skip
    assert work.whole(block)["worst_status"].item() == Status.OK
