"""The error of integration that is told, beside what a run of much finer steps shows, for controllers and friction."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import limbsweep as ls
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from robots.status import Status
from tasks.blocks.pool import Arrays
from tasks.dynamics.simulate import simulate_adaptive
from tasks.sources.accuracy import integration_error

STEP, FINER = 0.002, 16
MOVE = {"move": {"kind": "quintic", "end": 0.3, "duration": 0.06}}
GAINS = {"kp": 200.0, "kd": 6.0, "kd_joint_3": 1.0, "sample_time": 0.004}
PD = {"controller": {"kind": "pd", "parameters": GAINS}}
LIMITED = {"controller": {"kind": "pid", "parameters": {**GAINS, "ki": 2000.0, "delay": 0.004, "force_limit": 8.0}}}
FALL = {"state": {"list": {"joint_1": [0.5], "joint_2_rate": [3.0]}}}
SMOOTH = {"law": "coulomb_viscous", "parameters": {"coulomb": 0.5, "viscous": 0.05, "width": 0.1}}
DRY = {"law": "coulomb_viscous", "parameters": {"coulomb": 0.5, "viscous": 0.05}}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "pd": (PD, None),
    "pid at its limits": (LIMITED, None),
    "pd, smooth friction": (PD, SMOOTH),
    "pd, friction that sticks": (PD, DRY),
    "fall, friction that sticks": (FALL, DRY),
    "fall, semi-implicit": ({**FALL, "method": "semi_implicit"}, None),
    "fall, linearly implicit": ({**FALL, "method": "rosenbrock"}, SMOOTH),
}


def computed(simulation: dict[str, Any], friction: dict[str, Any] | None, step: float, *metrics: str) -> Arrays:
    text: dict[str, Any] = {"robot": "planar_3r", "gravity": [0.0, -9.81, 0.0], "time": {"stop": 0.06, "step": 0.012}}
    text |= {"outputs": ["joint_position"], "metrics": list(metrics)} | ({"friction": friction} if friction else {})
    text |= {"simulation": {**copy.deepcopy(simulation), "step": step}}
    text |= {"trajectories": MOVE} if "controller" in simulation else {}
    return work.whole(block_of(plan(Sweep.from_dict(text)), 0))


@pytest.mark.parametrize("name", CASES)
def test_the_error_that_is_told_is_that_beside_a_much_finer_run(name: str) -> None:
    arrays = computed(*CASES[name], STEP, "integration_error", *(["lost_steps"] if "limits" in name else []))
    fine = computed(*CASES[name], STEP / FINER)
    assert arrays["worst_status"].item() == Status.OK
    actual = float(np.abs(arrays["joint_position"] - fine["joint_position"]).max())
    assert actual > 1e-13
    assert 0.5 * actual < arrays["integration_error"].item() < 3.0 * actual
    if "limits" in name:
        assert arrays["lost_steps"].max() > 3


def test_the_error_of_a_quarter_turn_is_the_same_about_every_axis() -> None:
    for axis in np.eye(3):
        still, turned = np.zeros((2, 2, 18, 1))
        still[:, 3:12, 0] = turned[:, 3:12, 0] = np.eye(3).ravel()
        turned[1, 3:12, 0] = Rotation.from_rotvec(0.5 * np.pi * axis).as_matrix().ravel()
        run, finer = (SimpleNamespace(series={"motion": motion}) for motion in (turned, still))
        error, share = integration_error(run, finer, "euler", chain=False)
        assert error == pytest.approx([2.0 * np.sqrt(2.0)])
        assert share == pytest.approx([2.0])


def test_the_error_of_adaptive_steps_is_near_their_tolerance() -> None:
    """Compare the errors of steps of DOP853, by its embedded methods, with a run of the finest tolerance."""
    times = [0.0, 0.3, 0.6]

    def positions(tolerance: float) -> np.ndarray:
        motion: Any = simulate_adaptive(
            ls.robots.build("planar_3r"), force=np.zeros(3), q=[0.5, 0.0, 0.0], qd=[0.0, 3.0, 0.0],
            gravity=[0.0, -9.81, 0.0], times=times, rtol=tolerance, atol=tolerance, balance=np.inf,
        )  # fmt: skip
        return np.asarray(motion.q)

    finest = positions(1e-13)
    for tolerance in (1e-5, 1e-7, 1e-9):
        error = float(np.abs(positions(tolerance) - finest).max())
        assert 0.01 * tolerance < error < 10.0 * tolerance
