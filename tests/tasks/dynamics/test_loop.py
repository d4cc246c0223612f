"""A sampled controller sees its samples alone: what it does depends on nothing in between, and so not on the step."""

from __future__ import annotations

import numpy as np

from robots import catalog
from robots.controllers import Controller
from tasks.dynamics.control import ControlLoop, Settings
from tasks.dynamics.drive_model import InverseModel, case_rows
from tasks.dynamics.inputs import parameters

SAMPLES, SHARES, SAMPLE_TIME = 40, 4, 0.004
VALUES = {"kp": 100.0, "ki": 4000.0, "kd": 2.0, "force_limit": 8.0, "sample_time": SAMPLE_TIME, "resolution": 1e-3}


def forces(position: np.ndarray, step: float) -> np.ndarray:
    """Forces at all samples of a loop that holds zero and is shown positions (step,) of all joints, alike."""
    robot = catalog.build("planar_3r")
    family, controller = robot.family, Controller("pid", "actuator", tuple(VALUES))
    lanes = 8
    rows = np.repeat(parameters(robot), lanes, axis=0)
    model = InverseModel(family, case_rows(family, rows, (0.0, 0.0, 0.0)))
    numbers = np.repeat([[VALUES[name]] for name in controller.parameters], lanes, axis=1)
    settings = Settings.of(family, controller, numbers)
    loop, wanted, seen = ControlLoop(model, controller, settings, step), np.zeros((9, lanes)), []
    there = model.run(wanted)
    for number, q in enumerate(position):
        motion = np.zeros((9, lanes))
        motion[:3] = q
        seen.append(loop.force(number, motion, wanted, model.run(motion), there)[:, 0])
    return np.array(seen[:: round(SAMPLE_TIME / step)])


def test_forces_depend_on_nothing_between_samples() -> None:
    at_samples = 0.3 * np.sin(0.35 * np.arange(SAMPLES))
    between = np.repeat(at_samples, SHARES)
    between[np.arange(len(between)) % SHARES != 0] *= -0.7  # the other way, where the integral would not wait
    coarse, fine = forces(at_samples, SAMPLE_TIME), forces(between, SAMPLE_TIME / SHARES)
    assert np.array_equal(coarse, fine)
    assert (np.abs(coarse) == 8.0).any()
    assert (np.abs(coarse) < 8.0).any()
