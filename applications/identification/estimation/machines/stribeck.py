"""Search the velocities of the Stribeck effect, one for each actuator, in which forces are not linear.

The search is separable least squares (Golub and Pereyra 1973): the linear parameters follow from each trial of the
others. The rows of actuators share parameters, so one velocity after the other is searched until none changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar

from applications.identification.estimation.machines.fitting import fit_machine
from applications.identification.estimation.machines.machine import TRAIN, RecordedMachine, columns_beside

SWEEPS = 4
SLOWEST, FASTEST = 1e-3, 0.5
"""Shares of an actuator's largest speed between which its velocity is sought."""
TRIALS = 8
SETTLED = 1e-3


def with_stribeck(machine: RecordedMachine, method: str) -> RecordedMachine:
    """Return the machine with the Stribeck velocities that explain its recordings best."""
    training = machine.of(TRAIN)
    fit = fit_machine(machine, method)
    speeds = np.max([np.abs(run.motion[1]).max(axis=0) for run in training], axis=0)
    velocities = 0.05 * speeds
    weights = [np.broadcast_to(1.0 / fit.noise, run.good.shape)[run.good] for run in training]
    forces = np.concatenate([run.linear_forces[run.good] * w for run, w in zip(training, weights, strict=True)])

    def unexplained(trial: np.ndarray) -> float:
        model = replace(machine.model, stribeck_velocity=tuple(float(x) for x in trial))
        parts = []
        for run, w in zip(training, weights, strict=True):
            matrix = run.matrix.copy()
            matrix[:, :, machine.beside] = columns_beside(run, machine.robot, model)
            parts.append(machine.base.reduced(matrix)[run.good] * w[:, None])
        rows = np.concatenate(parts)
        sizes = np.maximum(np.linalg.norm(rows, axis=0), np.finfo(float).tiny)
        answer = np.linalg.lstsq(rows / sizes, forces, rcond=1e-10)[0]
        return float(np.linalg.norm(forces - rows / sizes @ answer))

    for _ in range(SWEEPS):
        before = velocities.copy()
        for k, speed in enumerate(speeds):

            def cost(share: float, k: int = k, speed: float = speed) -> float:
                return unexplained(np.where(np.arange(len(speeds)) == k, share * speed, velocities))

            velocities[k] = speed * _best(cost)
        if np.all(np.abs(velocities - before) < SETTLED * velocities):
            break
    model = replace(machine.model, stribeck_velocity=tuple(float(x) for x in velocities))
    return replace(machine, model=model)


def _best(cost: Callable[[float], float]) -> float:
    """Return the share with the least cost: trials over all sizes, then a search near the best."""
    trials = np.geomspace(SLOWEST, FASTEST, TRIALS)
    costs = [cost(share) for share in trials]
    k = int(np.argmin(costs))
    low, high = np.log(trials[max(k - 1, 0)]), np.log(trials[min(k + 1, TRIALS - 1)])
    found = minimize_scalar(lambda logarithm: cost(np.exp(logarithm)), bounds=(low, high), method="bounded")
    return float(np.exp(found.x))
