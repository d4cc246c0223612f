"""Friction laws compared by held-out error: the law of a machine has the least, and none is named without need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from applications.identification.estimation.machines.choices import Preparation
from applications.identification.estimation.machines.fitting import cross_validated, fit_machine
from applications.identification.estimation.machines.friction_laws import LawTrial, comparison, law_trials
from applications.identification.estimation.machines.machine import RecordedMachine
from applications.identification.estimation.machines.machine_model import MachineModel
from applications.identification.estimation.machines.preparation import Signals, prepare
from robots import catalog
from tests.applications.identification.estimation.machines.synthetic import chain, series

ROBOT = catalog.build("planar_3r")
RECORDING = chain(ROBOT)
VELOCITY = series(3)[2]


def presliding(signals: Signals) -> np.ndarray:
    position, state = signals.position, np.zeros_like(signals.position)
    width = 0.02 * np.ptp(position, axis=0)
    for k in range(1, len(state)):
        state[k] = np.clip(state[k - 1] + (position[k] - position[k - 1]) / width, -1.0, 1.0)
    return 0.6 * (state - np.sign(VELOCITY))


FORCES: dict[str, Callable[[Signals], np.ndarray]] = {
    "stribeck": lambda s: 0.6 * np.sign(VELOCITY) * np.exp(-((VELOCITY / 0.2) ** 2)),
    "asymmetric": lambda s: 0.3 * (VELOCITY > 0) + 0.3 * np.abs(VELOCITY),
    "load": lambda s: 0.1 * np.sign(VELOCITY) * np.abs(s.force),
    "temperature": lambda s: -0.5 * np.sign(VELOCITY) * (s.time / s.time[-1])[:, None],
    "presliding": presliding,
}


def trials_of(signals: Signals) -> tuple[RecordedMachine, tuple[LawTrial, ...]]:
    machine = RecordedMachine(ROBOT, MachineModel(), (prepare(signals, Preparation()),))
    return machine, law_trials(machine, fit_machine(machine))


@pytest.mark.parametrize("law", FORCES)
def test_the_law_of_the_machine_has_the_least_held_out_error(law: str) -> None:
    _, trials = trials_of(replace(RECORDING, force=RECORDING.force + FORCES[law](RECORDING)))
    assert min(trials, key=lambda trial: trial.error).law == law
    assert comparison(trials).endswith(f": {law} is better")


def test_no_law_is_named_for_a_machine_that_has_that_of_the_fit() -> None:
    named = 0
    for seed in range(4):
        machine, trials = trials_of(chain(ROBOT, seed=seed + 1))
        errors = {trial.law: trial.error for trial in trials}
        assert trials[0].law == "coulomb_viscous"
        assert errors["coulomb_viscous"] == pytest.approx(cross_validated(machine, fit_machine(machine)), rel=1e-2)
        assert errors["none"] > errors["viscous"] > 1.5 * errors["coulomb_viscous"]
        named += "better" in comparison(trials)
    assert named == 0
