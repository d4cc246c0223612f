"""From recorded motions and forces of one robot to its base parameters: the work of one identification task.

Where reactions load friction that changes them, forces are those of inverse dynamics itself, linear about a point only:
`applications.identification.estimation.machines.coupled_friction`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from applications.identification.estimation import estimators
from applications.identification.estimation.base import BaseParameters, base_along, base_parameters, from_matrix
from applications.identification.estimation.encoders import finite
from applications.identification.estimation.fitted import Fit
from applications.identification.estimation.machines.coupled_friction import STEPS, is_coupled, own_values, settled
from applications.identification.estimation.machines.machine import TangentModel
from applications.identification.estimation.machines.machine_model import MachineModel, base_of
from applications.identification.estimation.machines.recorded_motion import actuator_motion
from applications.identification.estimation.methods import METHODS
from applications.identification.estimation.recorded import Data, Filtering, Recording
from robots.model import Robot
from robots.parameter_errors import nearest
from tasks.dynamics.inputs import present
from tasks.dynamics.records import GRAVITY, Environment, Forces, Moving
from tasks.dynamics.regressor import standard_parameters
from tasks.features.friction.inputs import FrictionInput

RATES = ("acceleration", "qdd")


def fit(
    robot: Robot,
    friction: FrictionInput,
    training: Sequence[Recording],
    validation: Sequence[Recording],
    method: str = "weighted",
    gravity: ArrayLike = GRAVITY,
    base: BaseParameters | None = None,
    filtering: Filtering | None = None,
    nominal: Robot | None = None,
) -> Fit:
    """Return the base parameters of a robot from recordings; limbs that are copies share their parameters.

    Of the robot the geometry is used, its inertia and the linear parameters of its friction for `truth` alone;
    nonlinear ones keep their given values, unless the method estimates them. `base` absent: found at random states, or
    where no motion has an acceleration, as in tests of gravity and friction, along the motions; a base that moves does
    so in the same way in all recordings. `nominal`: the robot as the user knows it, whose inertia decides directions
    that the data leave open; absent: `robot`. Raises ValueError for recordings that are not enough, or an unknown
    method.
    """
    if method not in METHODS:
        raise ValueError(f"method: got {method!r}; expected an estimator; {nearest(method, METHODS)}")
    moved = [recording.base for recording in training if recording.base is not None]
    if is_coupled(robot, friction):
        if moved:
            raise ValueError(
                "friction: got a load from reactions that it changes, on a base that moves, of which the model of such "
                "friction knows nothing; expected load: constant, or a base that stands"
            )
        return _fit_coupled(robot, friction, training, validation, method, gravity, filtering, nominal or robot)
    if base is None:
        planned = [recording.planned for recording in training]
        if planned and all(map(is_slow, planned)):
            bases = [recording.base for recording in training]
            base = base_along(
                robot, planned, Forces(friction=friction), Environment(gravity=gravity), shared=True, bases=bases
            )
        else:
            environment = Environment(gravity=gravity, base=moved[0] if moved else None)
            base = base_parameters(robot, Forces(friction=friction), environment, shared=True)
    data = Data(robot, friction, tuple(training), base, gravity, filtering, nominal or robot)
    solution = METHODS[method](data)
    truth = base.of(list(standard_parameters(robot, friction=friction, shared=True).values()))
    count, unused = len(truth), np.nan
    if validation:
        unused = estimators.residual_norm(*data.of(validation, solution.friction), solution.values[:count])
    return Fit(
        names=(*base.groupings, *solution.nonlinear),
        truth=np.concatenate([truth, list(solution.nonlinear.values())]),
        values=solution.values,
        deviations=solution.deviations,
        condition=solution.condition,
        noise=solution.noise,
        validation=unused,
    )


def _fit_coupled(
    robot: Robot,
    friction: FrictionInput,
    training: Sequence[Recording],
    validation: Sequence[Recording],
    method: str,
    gravity: ArrayLike,
    filtering: Filtering | None,
    nominal: Robot,
) -> Fit:
    """Fit base parameters where reactions load friction that changes them, from the frictionless nominal inertia.

    One parameter of friction for all joints of a group. Raises ValueError where steps do not settle, and for methods
    that want a regressor.
    """
    if method not in estimators.ESTIMATORS:
        names = ", ".join(estimators.ESTIMATORS)
        raise ValueError(f"method: got {method!r} and friction that reactions load; expected one of {names}")
    x, y, z = np.asarray(gravity, dtype=float).tolist()
    model = MachineModel(friction="none", offset=False, joints=friction, gravity=(x, y, z))
    coupled = model.coupled(robot)
    assert coupled is not None, "friction was found to be loaded by reactions"
    base = _coupled_base(robot, model, [recording.planned for recording in training])
    inertial = own_values(nominal)
    guess = np.concatenate([inertial, np.zeros(len(coupled.columns) - len(inertial))])
    data = Data(robot, friction, tuple(training), base, gravity, filtering, nominal)

    def rows_at(point: np.ndarray, recordings: Sequence[Recording]) -> tuple[np.ndarray, np.ndarray]:
        tangent = TangentModel(robot, model, coupled, base, tuple(point.tolist()), tuple(guess.tolist()))
        parts = []
        for recording in recordings:
            matrix, beside = tangent.rows(recording.moving, actuator_motion(robot, recording.moving))
            parts.append(data.filtered(base.reduced(matrix), recording.forces, beside))
        matrix = np.concatenate([part[0].reshape(-1, part[0].shape[-1]) for part in parts])
        return matrix, np.concatenate([part[1].ravel() for part in parts])

    def estimate(point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = estimators.estimate(method, *rows_at(point, training), data.actuators)
        return found.values, found.deviations

    rubbing = [k >= len(inertial) for k in base.independent]
    point = settled(base.of(guess), estimate, rubbing)
    if point is None:
        raise ValueError(
            f"friction loaded by reactions did not settle within {STEPS} steps; expected trajectories that tell it; "
            "give more motion, or load: constant"
        )
    found = estimators.estimate(method, *rows_at(point, training), data.actuators)
    unused = estimators.residual_norm(*rows_at(point, validation), found.values) if validation else np.nan
    return Fit(
        names=base.groupings,
        truth=base.of(coupled.nominal),
        values=found.values,
        deviations=found.deviations,
        condition=found.condition,
        noise=found.noise,
        validation=unused,
    )


def _coupled_base(robot: Robot, model: MachineModel, planned: Sequence[Moving]) -> BaseParameters:
    """Return base parameters of a model with reaction-loaded friction; for slow motions the ones they excite."""
    if not planned or not all(map(is_slow, planned)):
        return base_of(robot, model, lambda moving: actuator_motion(robot, moving))
    rows = [model.matrix(robot, motion, actuator_motion(robot, motion)) for motion in planned]
    whole = np.concatenate([part[finite(part)].reshape(-1, part.shape[2]) for part in rows])
    coupled = model.coupled(robot)
    assert coupled is not None, "friction was found to be loaded by reactions"
    return from_matrix(whole, [column.name for column in coupled.columns])


def is_slow(motion: Moving) -> bool:
    """Return whether a motion has no acceleration."""
    return not any(np.any(values) for name, values in present(motion).items() if name in RATES)
