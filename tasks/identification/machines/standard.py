"""Parameters of all bodies that a machine can have, near those of its base parameters; and the robot that has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robots.formats.description import Description, describe
from tasks.identification.columns import ARMATURE, BODY, SPIN
from tasks.identification.consistent import SIZE, consistent, near_consistent
from tasks.identification.machines.fitting import MachineFit
from tasks.identification.machines.inertia import with_inertia
from tasks.identification.machines.machine import TRAIN, RecordedMachine
from tasks.identification.machines.model import FADING, OFFSET

FIRST = next(iter(BODY))
SIGNED = (OFFSET, FADING)
"""Columns that may have any sign, beside those of a user's own."""


@dataclass(frozen=True)
class Standard:
    """Parameters (column,) that bodies can have, their deviations, whether the solver converged, and what it said.

    deviations: of those that data tell alone; NaN for the others, which are near the nominal robot's.
    """

    values: np.ndarray
    deviations: np.ndarray
    converged: bool
    status: str


def standard_parameters_of(machine: RecordedMachine, fit: MachineFit, pull: float | None = None) -> Standard:
    """Parameters of all columns by a semidefinite program, on the rows and weights of a fit."""
    names = [column.name for column in machine.columns]
    known = machine.nominal.copy()
    bodies = [k for k, column in enumerate(machine.columns) if column.parameter == FIRST]
    for k in bodies:
        known[k : k + SIZE] = near_consistent(known[k : k + SIZE])
    own = {f"{machine.robot.mechanism.actuators[column.actuator]}.{column.name}" for column in machine.model.own}
    free = [k for k, column in enumerate(machine.columns) if column.parameter in SIGNED or names[k] in own]
    runs = machine.of(TRAIN)
    weights = [np.broadcast_to(1.0 / fit.noise, run.good.shape)[run.good] for run in runs]
    rows = np.concatenate([run.matrix[run.good] * w[:, None] for run, w in zip(runs, weights, strict=True)])
    forces = np.concatenate([run.linear_forces[run.good] * w for run, w in zip(runs, weights, strict=True)])
    options = {} if pull is None else {"pull": pull}
    payloads = [k for k in bodies if k >= machine.payload_columns.start]
    found = consistent(rows, forces, known, bodies, free=free, unknown=payloads, **options)
    deviations = np.full(len(names), np.nan)
    for place, k in enumerate(fit.kept):
        if np.count_nonzero(fit.base.groups[k]) == 1:
            deviations[fit.base.independent[k]] = fit.deviations[place]
    return Standard(found.values, deviations, found.converged, found.status)


def identified_robot(machine: RecordedMachine, standard: Standard, name: str = "") -> Description:
    """The robot with the identified inertia of bodies and drives, in numbers, as a robot file has it.

    Raises ValueError for limbs that are copies with parameters of their own, which a robot file cannot say.
    """
    robot, mechanism = machine.robot, machine.robot.mechanism
    several = len({instance.limb for instance in mechanism.instances}) < len(mechanism.instances)
    if several and not machine.model.shared:
        raise ValueError(
            "model: limbs that are copies were given parameters of their own, which a robot file cannot say; expected "
            "shared: true"
        )
    values = standard.values.copy()
    for k, column in enumerate(machine.columns):
        if column.parameter == ARMATURE or column.parameter.startswith(SPIN):
            values[k] = max(values[k], 0.0)
    identified = with_inertia(robot, values.tolist())
    family = describe(robot)
    title = f"{family.title or family.name}, identified from recordings"
    return Description(name or family.name, title, family.source, (), (), identified)
