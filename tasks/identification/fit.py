"""From recorded motions and forces of one robot to its base parameters: what one task of an identification does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robots.model import Robot
from robots.parameters import nearest
from tasks.arrays.inputs import GRAVITY, Moving, present
from tasks.friction.given import FrictionInput
from tasks.identification import estimators
from tasks.identification.base import BaseParameters, base_along, base_parameters
from tasks.identification.methods import METHODS
from tasks.identification.recorded import Data, Filtering, Recording
from tasks.identification.regressor import standard_parameters

RATES = ("acceleration", "qdd")


@dataclass(frozen=True)
class Fit:
    """Base parameters of a robot, and how well they explain recordings.

    names: their groupings, then parameters of friction that forces are not linear in, where the method finds them;
    truth, values, deviations: one for each name; condition: of the regressor; noise: of the residuals [N m or N];
    validation: residuals of recordings that were not used, relative to the forces; NaN without any.
    """

    names: tuple[str, ...]
    truth: np.ndarray
    values: np.ndarray
    deviations: np.ndarray
    condition: float
    noise: float
    validation: float

    @property
    def scores(self) -> np.ndarray:
        """Errors over standard deviations (kept,)."""
        return np.asarray((self.values - self.truth) / self.deviations)


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
    """The base parameters of a robot from recordings; limbs that are copies share their parameters.

    Of the robot the geometry is used, its inertia and the linear parameters of its friction for `truth` alone; those
    that are not linear are as given, unless the method finds them. `base` absent: found at random states, or where no
    motion has an acceleration, as in tests of gravity and friction, along the motions. `nominal`: the robot that a user
    takes it for, whose inertia decides what data do not; absent: `robot`. Raises ValueError for recordings that are not
    enough, or an unknown method.
    """
    if method not in METHODS:
        raise ValueError(f"method: got {method!r}; expected an estimator; {nearest(method, METHODS)}")
    if base is None:
        planned = [recording.planned for recording in training]
        if planned and all(map(_is_slow, planned)):
            base = base_along(robot, planned, friction=friction, shared=True, gravity=gravity)
        else:
            base = base_parameters(robot, friction=friction, shared=True, gravity=gravity)
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


def _is_slow(motion: Moving) -> bool:
    """Whether a motion has no acceleration."""
    return not any(np.any(values) for name, values in present(motion).items() if name in RATES)
