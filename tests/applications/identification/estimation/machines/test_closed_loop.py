"""Motions simulated under a controller, against the simulation of chains; instrumental variables and output error."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from applications.identification.estimation.machines.choices import Preparation
from applications.identification.estimation.machines.closed_loop import (
    PositionController,
    fit_instrumental,
    reference_of,
    simulated,
)
from applications.identification.estimation.machines.machine import RecordedMachine
from applications.identification.estimation.machines.machine_model import MachineModel, nominal
from applications.identification.estimation.machines.preparation import Prepared, Signals, prepare
from robots import catalog
from robots.model import Robot
from robots.parameter_errors import ParameterError
from tasks.dynamics.simulate import simulate
from tasks.mathematics.signals import rate
from tests.applications.identification.estimation.machines.synthetic import FRICTION, STEP, series

CONTROLLER = PositionController(np.array([400.0, 200.0, 60.0]), np.array([40.0, 15.0, 4.0]))
DURATION = 5.0


def reference_over(duration: float) -> tuple[np.ndarray, np.ndarray]:
    time, reference = series(3, duration)[:2]
    return time, reference


def signals_of(
    reference: np.ndarray, q: np.ndarray, forces: np.ndarray, noises: tuple[float, float] = (0.0, 0.0)
) -> Prepared:
    """A recording under the controller; noises of positions [rad] and of forces, relative."""
    random, time = np.random.default_rng(1), np.arange(len(q)) * STEP
    noisy = q + random.normal(size=q.shape) * noises[0]
    sizes = np.sqrt(np.mean(forces**2, axis=0)) * noises[1]
    signals = Signals("run", "train", time, noisy, forces + random.normal(size=q.shape) * sizes, None, reference)
    return prepare(signals, Preparation(cutoff=15.0, rest=0.0, outliers=0.0))


@cache
def clean() -> tuple[Robot, np.ndarray, np.ndarray, np.ndarray]:
    """A chain under its controller: the reference, the positions that it makes, and the forces."""
    robot, (_, reference) = catalog.build("planar_3r"), reference_over(DURATION)
    planned = signals_of(reference, reference, np.zeros_like(reference))
    machine = RecordedMachine(robot, MachineModel(), (planned,))
    motion = simulated(machine, truth_of(machine), planned, CONTROLLER)
    rates = rate(reference, STEP) - motion.velocity
    forces = CONTROLLER.position_gain * (reference - motion.position) + CONTROLLER.velocity_gain * rates
    return robot, reference, motion.position, forces


@cache
def recording(position_noise: float = 0.0, force_noise: float = 0.0) -> Prepared:
    return signals_of(*clean()[1:], (position_noise, force_noise))


def machine_of(prepared: Prepared) -> RecordedMachine:
    return RecordedMachine(clean()[0], MachineModel(), (prepared,))


def truth_of(machine: RecordedMachine) -> np.ndarray:
    known = dict(zip((c.name for c in machine.columns), nominal(machine.robot, machine.model), strict=True))
    for name in machine.robot.mechanism.actuators:
        known |= {f"{name}.{key}": FRICTION[key] for key in ("coulomb", "viscous")}
    return machine.base.of(list(known.values()))


def test_a_motion_under_a_controller_is_that_of_the_simulation_of_chains() -> None:
    robot, (time, reference) = catalog.build("planar_3r"), reference_over(0.6)
    goal = CubicSpline(time, reference)

    def force(t: np.ndarray, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        gains = CONTROLLER.position_gain, CONTROLLER.velocity_gain
        return np.asarray(gains[0] * (goal(t) - q) + gains[1] * (goal(t, 1) - qd))

    start = {"q": reference[0], "qd": np.asarray(goal(0.0, 1))}
    motion: Any = simulate(robot, force=force, step=STEP, steps=len(time) - 1, friction=FRICTION, **start)
    prepared = signals_of(reference, reference, np.zeros_like(reference))
    prepared = replace(prepared, position=reference, velocity=goal(time, 1))
    machine = RecordedMachine(robot, MachineModel(), (prepared,))
    again = simulated(machine, truth_of(machine), prepared, CONTROLLER)
    tracking = np.abs(reference - motion.q).max()
    assert tracking > 0.005
    assert np.abs(again.position - motion.q).max() < 0.05 * tracking


def test_the_reference_alone_gives_instruments() -> None:
    machine = machine_of(recording(1e-3, 0.02))
    fit = fit_instrumental(machine)
    scores = (fit.values - truth_of(machine)[list(fit.kept)]) / fit.deviations
    assert np.square(scores).mean() < 2.0


def test_what_cannot_be_simulated_is_refused() -> None:
    prepared = recording()
    with pytest.raises(ParameterError, match="run: got no reference; expected the positions that the controller was"):
        reference_of(clean()[0], replace(prepared, reference=None))
    with pytest.raises(ParameterError, match="five_bar is not driven in the coordinates of its motion alone"):
        reference_of(catalog.build("five_bar"), prepared)
    machine = machine_of(prepared)
    weak = PositionController(CONTROLLER.position_gain * -1.0, CONTROLLER.velocity_gain * -1.0)
    with pytest.raises(ParameterError, match="run: the simulation under the controller does not settle"):
        simulated(machine, truth_of(machine), prepared, weak)
