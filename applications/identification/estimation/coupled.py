"""From the recordings of a design to its base parameters where reactions load friction that changes them.

Forces are those of inverse dynamics itself, linear about a point only, see
`applications.identification.estimation.machines.coupled_friction`.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from applications.identification.estimation import estimators
from applications.identification.estimation.base import BaseParameters, from_matrix
from applications.identification.estimation.encoders import finite
from applications.identification.estimation.fit_data import FitOptions
from applications.identification.estimation.machines.coupled_friction import (
    STEPS,
    CoupledFriction,
    own_values,
    settled,
)
from applications.identification.estimation.machines.machine import TangentModel
from applications.identification.estimation.machines.machine_model import MachineModel, base_of
from applications.identification.estimation.machines.recorded_motion import actuator_motion
from applications.identification.estimation.recorded import Recordings, is_slow
from applications.identification.estimation.states import Motions
from applications.identification.estimation.table import FitTable, Groupings
from robots.model import Robot
from tasks.dynamics.designs import RobotDesigns
from tasks.dynamics.records import Moving


def fit_coupled(design: RobotDesigns, number: np.ndarray, recorded: Recordings, options: FitOptions) -> FitTable:
    """Return the base parameters of a single design, by steps from the frictionless nominal inertia.

    One parameter of friction for all joints of a group. Raises ValueError for a base that moves, for methods that want
    a regressor, and where steps do not settle.
    """
    if recorded.base is not None:
        raise ValueError(
            "friction: got a load from reactions that it changes, on a base that moves, of which the model of such "
            "friction knows nothing; expected load: constant, or a base that stands"
        )
    if options.method not in estimators.ESTIMATORS:
        names = ", ".join(estimators.ESTIMATORS)
        raise ValueError(f"method: got {options.method!r} and friction that reactions load; expected one of {names}")
    robot = design.robot(0)
    x, y, z = design.gravity[0].tolist()
    model = MachineModel(friction="none", offset=False, joints=options.friction, gravity=(x, y, z))
    coupled = model.coupled(robot)
    assert coupled is not None, "friction was found to be loaded by reactions"
    motion, trained = recorded.motions(design), recorded.samples_of(training=True)
    base = _base(robot, model, coupled, _at(recorded.planned if recorded.follows else motion, trained))
    inertial = own_values(options.nominal)
    guess = np.concatenate([inertial, np.zeros(len(coupled.columns) - len(inertial))])
    actuators = len(robot.mechanism.actuators)

    def rows_at(point: np.ndarray, *, training: bool) -> tuple[np.ndarray, np.ndarray]:
        tangent = TangentModel(robot, model, coupled, base, tuple(point.tolist()), tuple(guess.tolist()))

        def columns(samples: slice) -> np.ndarray:
            moving = _at(motion, samples)
            matrix, beside = tangent.rows(moving, actuator_motion(robot, moving))
            return np.moveaxis(np.concatenate([base.reduced(matrix), beside[:, :, None]], axis=2), 0, -1)[None]

        (rows,) = recorded.filtered(columns, options.filtering, (training,))
        (reduced,), (forces,) = rows.rows(rows.matrix), rows.rows(rows.forces)
        return reduced[:, :-1], forces - reduced[:, -1]

    def estimate(point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        result = estimators.estimate(options.method, *rows_at(point, training=True), actuators)
        return result.values, result.deviations

    rubbing = [k >= len(inertial) for k in base.independent]
    point = settled(base.of(guess), estimate, rubbing)
    if point is None:
        raise ValueError(
            f"friction loaded by reactions did not settle within {STEPS} steps; expected trajectories that tell it; "
            "give more motion, or load: constant"
        )
    result = estimators.estimate(options.method, *rows_at(point, training=True), actuators)
    unused = np.nan
    if recorded.spans_of(training=False):
        unused = estimators.residual_norm(*rows_at(point, training=False), result.values)
    truth, condition, noise = base.of(coupled.nominal)[None], np.array([result.condition]), np.array([result.noise])
    estimated = result.values[None], result.deviations[None], condition, noise
    return FitTable(options.number, number, Groupings.of([base]), truth, *estimated, np.array([unused]))


def _at(motion: Motions, samples: np.ndarray | slice) -> Moving:
    """Return the motion of a single design at some samples."""
    return cast("Moving", {name: values[0, samples] for name, values in motion.items()})


def _base(robot: Robot, model: MachineModel, coupled: CoupledFriction, planned: Moving) -> BaseParameters:
    """Return base parameters of a model with reaction-loaded friction; for slow motions the ones they excite."""
    if not is_slow({name: np.asarray(values)[None] for name, values in planned.items()}).all():
        return base_of(robot, model, lambda moving: actuator_motion(robot, moving))
    whole = model.matrix(robot, planned, actuator_motion(robot, planned))
    return from_matrix(whole[finite(whole)].reshape(-1, whole.shape[2]), [column.name for column in coupled.columns])
