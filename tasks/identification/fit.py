"""From recorded motions and forces of one robot to its base parameters: what one task of an identification does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robots.model import Robot
from robots.parameters import nearest
from tasks.arrays.inputs import GRAVITY, Moving
from tasks.friction.given import FrictionInput
from tasks.identification import estimators
from tasks.identification.base import BaseParameters, base_along, base_parameters
from tasks.identification.methods import METHODS
from tasks.identification.recorded import Data, Filtering, Recording
from tasks.identification.regressor import standard_parameters
from tasks.kernels.types import Array

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
    gravity: Array = GRAVITY,
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
        slow = [each.planned for each in training if _is_slow(each.planned)]
        options = {"friction": friction, "shared": True, "gravity": gravity}
        whole = len(slow) == len(training)
        base = base_along(robot, slow, **options) if whole and slow else base_parameters(robot, **options)
    data = Data(robot, friction, tuple(training), base, gravity, filtering, nominal or robot)
    found = METHODS[method](data)
    truth = base.of(list(standard_parameters(robot, friction=friction, shared=True).values()))
    count, unused = len(truth), np.nan
    if validation:
        unused = estimators.residual_norm(*data.of(validation, found.friction), found.values[:count])
    return Fit(
        names=(*base.groupings, *found.nonlinear),
        truth=np.concatenate([truth, list(found.nonlinear.values())]),
        values=found.values,
        deviations=found.deviations,
        condition=found.condition,
        noise=found.noise,
        validation=unused,
    )


def _is_slow(motion: Moving) -> bool:
    """Whether a motion has no acceleration."""
    return not any(np.any(motion[name]) for name in RATES if name in motion)  # type: ignore[literal-required]
