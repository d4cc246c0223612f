"""Estimators on machines that there are not: noise of positions under a controller, friction that reactions load.

    python -m benchmarks.campaigns.estimators [--seeds 5] [--only closed_loop coupled]

Closed loop: a chain of three joints follows a Fourier series under a controller, positions are read with 1 mrad of
white noise, forces with 2 %. Coupled: a Delta whose passive joints have friction that reactions load, forces with 2 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from applications.identification.estimation.machines.choices import Preparation
from applications.identification.estimation.machines.closed_loop import fit_instrumental, fit_output_error
from applications.identification.estimation.machines.fitting import MachineFit, fit_machine, with_coupled_friction
from applications.identification.estimation.machines.machine import RecordedMachine
from applications.identification.estimation.machines.machine_model import MachineModel, PositionController, nominal
from applications.identification.estimation.machines.preparation import Signals, prepare
from benchmarks.campaigns.coverage import INTERVAL, STEP, truth_of
from robots import catalog
from tasks import inverse_dynamics
from tasks.dynamics.records import Forces
from tasks.dynamics.simulate import simulate

CONTROLLER = PositionController(np.array([400.0, 200.0, 60.0]), np.array([40.0, 15.0, 4.0]))
FRICTION = {"law": "coulomb_viscous", "coulomb": 0.6, "viscous": 0.4}
DURATION = 5.0


@dataclass(frozen=True)
class Row:
    """An estimator: share of 95 % intervals that hold the truth, mean relative error, residuals over forces."""

    case: str
    coverage: float
    error: float
    residuals: float


def _row(case: str, fit: MachineFit, truth: np.ndarray) -> Row:
    values, known = fit.values, truth[list(fit.kept)]
    covered = float(np.mean(np.abs(values - known) < INTERVAL * fit.deviations))
    error = float(np.mean(np.abs(values - known) / (np.abs(known) + 0.05)))
    return Row(case, covered, error, next(iter(fit.errors.values())))


def closed_loop(seeds: int) -> Iterator[Row]:
    """Yield the rows of least squares, instrumental variables and output error on the same recordings."""
    robot, time = catalog.build("planar_3r"), np.arange(0.0, DURATION, STEP)
    random, reference = np.random.default_rng(1), np.zeros((len(time), 3))
    for k in range(1, 6):
        sine, cosine = random.normal(size=(2, 3)) * 0.5 / k
        angle = 2.0 * np.pi * 0.15 * k * time[:, None]
        reference += sine * np.sin(angle) + cosine * np.cos(angle)
    goal = CubicSpline(time, reference)

    def force(t: np.ndarray, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        gains = CONTROLLER.position_gain, CONTROLLER.velocity_gain
        return np.asarray(gains[0] * (goal(t) - q) + gains[1] * (goal(t, 1) - qd))

    motion: Any = simulate(
        robot, force=force, step=STEP, steps=len(time) - 1, friction=FRICTION, q=reference[0], qd=goal(0.0, 1)
    )
    forces = np.stack([force(np.array(t), q, qd) for t, q, qd in zip(time, motion.q, motion.qd, strict=True)])
    for seed in range(seeds):
        random = np.random.default_rng([seed, 5])
        q = motion.q + random.normal(size=motion.q.shape) * 1e-3
        noise = random.normal(size=q.shape) * 0.02 * np.sqrt(np.mean(forces**2, axis=0))
        signals = Signals("run", "train", time, q, forces + noise, None, reference)
        prepared = prepare(signals, Preparation(cutoff=15.0, rest=0.0, outliers=0.0))
        machine = RecordedMachine(robot, MachineModel(), (prepared,))
        known = dict(zip((c.name for c in machine.columns), nominal(robot, machine.model), strict=True))
        for name in robot.mechanism.actuators:
            known |= {f"{name}.{key}": float(str(FRICTION[key])) for key in ("coulomb", "viscous")}
        truth = machine.base.of(list(known.values()))
        yield _row("weighted", fit_machine(machine), truth)
        yield _row("instrumental, reference", fit_instrumental(machine), truth)
        yield _row("instrumental, simulation", fit_instrumental(machine, CONTROLLER), truth)
        yield _row("output_error", fit_output_error(machine, CONTROLLER)[1], truth)


def coupled(seeds: int) -> Iterator[Row]:
    """Yield rows of the friction of a Delta's passive joints, found from coefficients other than the machine's."""
    truth = truth_of("delta_3rr2rrr")
    time = np.arange(len(truth.force)) * STEP
    for coulomb in (0.1, 0.3):
        friction = {
            "law": "coulomb_viscous",
            "joints": "passive",
            "load": "reaction",
            "coulomb": coulomb,
            "viscous": 0.01,
        }
        forces = inverse_dynamics(truth.robot, forces=Forces(friction=friction), **truth.moving).force
        for seed in range(seeds):
            noise = np.random.default_rng([seed, 3]).normal(size=forces.shape) * 0.02 * np.sqrt(np.mean(forces**2))
            prepared = prepare(
                Signals("run", "train", time, truth.position, forces + noise), Preparation(cutoff=10.0, rest=0.0)
            )
            model = MachineModel(friction="none", offset=False, joints={**friction, "coulomb": 0.2, "viscous": 0.0})
            machine = with_coupled_friction(RecordedMachine(truth.robot, model, (prepared,)))
            known = machine.base.of(nominal(truth.robot, replace(model, joints=friction)))
            yield _row(f"Delta, coefficient {coulomb}", fit_machine(machine), known)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=["closed_loop", "coupled"])
    arguments = parser.parse_args()
    cases = {"closed_loop": closed_loop, "coupled": coupled}
    print("| estimator | seeds | 95 % intervals hold | mean relative error | not explained |")
    print("|---|---:|---:|---:|---:|")
    for name in arguments.only:
        rows = list(cases[name](arguments.seeds))
        for case in dict.fromkeys(row.case for row in rows):
            own = [row for row in rows if row.case == case]
            numbers = [float(np.mean([getattr(row, key) for row in own])) for key in ("coverage", "error", "residuals")]
            print(f"| {case} | {len(own)} | {numbers[0]:.0%} | {numbers[1]:.1%} | {numbers[2]:.2%} |", flush=True)


if __name__ == "__main__":
    main()
