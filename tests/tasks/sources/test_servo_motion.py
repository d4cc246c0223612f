"""Motions under a servo in the compiled loop: the bits of `simulate`, and what goes to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import limbsweep as ls
from tasks.dynamics.simulate import simulate
from tasks.sources.servo_motion import StatesOfMotion, simulate_states

FRICTION = {"law": "coulomb_viscous", "coulomb": 0.05, "viscous": 0.02, "width": 0.1, "joints": "all"}
STEP, COUNT = 2e-3, 20


def _moved(robot: Any, force: Any, step: float, steps: int, **parts: Any) -> StatesOfMotion | None:
    return simulate_states(robot, force, step, steps, parts)


def _call(name: str) -> tuple[Any, dict[str, Any]]:
    robot = ls.robots.build(name)
    wave = 0.02 * np.sin(10.0 * STEP * np.arange(COUNT + 1))[:, None]
    if robot.mechanism.is_chain:
        start: dict[str, Any] = {"q": [0.1, 0.2, 0.3], "qd": [0.2, 0.0, -0.1]}
        reference = {"q": start["q"] + wave * [1.0, 2.0, 3.0]}
    else:
        start = {"position": np.array(robot.mechanism.platform.home.position), "twist": [0, 0, 0, 0.1, 0, 0]}
        reference = {"position": start["position"] + wave * [1.0, 0.5, 0.0]}
    servo = ls.servo(robot, "pd", reference=reference, step=STEP, kp=200.0, kd=5.0)
    return robot, {"force": servo, "step": STEP, "steps": COUNT, "friction": FRICTION, **start}


@pytest.mark.parametrize("name", ["planar_3r", "delta_3rr2rrr"])
def test_states_are_those_of_simulate(name: str) -> None:
    robot, call = _call(name)
    moved, plain = _moved(robot, **call), simulate(robot, **call)
    for part in ("q", "qd") if robot.mechanism.is_chain else ("position", "twist"):
        np.testing.assert_array_equal(getattr(moved, part), getattr(plain, part))


def test_a_batch_of_starts() -> None:
    robot, call = _call("planar_3r")
    call["q"] = np.array([[0.1, 0.2, 0.3], [0.0, 0.4, 0.1]])
    moved, plain = _moved(robot, **call), simulate(robot, **call)
    assert moved is not None
    assert moved.q is not None
    assert moved.q.shape == (COUNT + 1, 2, 3)
    np.testing.assert_array_equal(moved.q, plain._asdict()["q"])


def test_what_the_loop_does_not_take_is_simulated() -> None:
    robot, call = _call("delta_3rr2rrr")
    load = {**call, "load": [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]}
    assert _moved(robot, **load) is None
    assert _moved(robot, **call, method="euler") is None
    away = {**call, "position": call["position"] + np.array([0.0, 0.0, 5.0])}
    assert _moved(robot, **away) is None
    assert _moved(robot, **{**call, "force": np.zeros(3)}) is None
