"""Friction that the reactions of passive joints load, while it changes them: actuator forces and exact derivatives.

Forces are then no product of a regressor with parameters. They are those of inverse dynamics itself, whose programs are
differentiated along inertial parameters and those of friction; parameters follow by Gauss and Newton's steps, each a
linear least squares. Source: joint-friction paper, Eqs. (45) to (48), for the friction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from robots.friction.laws import LAWS
from robots.joint_places import places
from robots.model import Robot
from robots.status import Status
from tasks.arrays.inputs import GRAVITY, Moving, field_input, present
from tasks.arrays.inverse import Dynamics
from tasks.friction.given import Friction, FrictionInput, friction_input
from tasks.identification.columns import Column, shared_columns
from tasks.identification.machines.inertia import freed, own_values
from tasks.kernels.cache import kernel
from tasks.kernels.keys import Rate, Values
from tasks.programs.actuation import OUTCOME
from tasks.programs.stages import stages

FRICTION = "friction"
FORCE = "actuator_force"
STEPS = 25
"""Steps of Gauss and Newton."""
TURNED = 0.2
"""A step counts as one back where it undoes as much of the one before."""
STEADY = 1e-2
"""Change of parameters, relative to their deviations, at which these are taken."""
EXACT = 1e-8
"""Change relative to the largest parameter at which these are taken, where there is no noise."""
LANES = 8192
"""Samples times directions that are differentiated at a time."""


def is_coupled(robot: Robot, friction: Friction) -> bool:
    """Whether friction in passive joints changes reactions that load it."""
    groups = friction_input(robot, friction)
    passive = {place for place, _ in places(robot.mechanism).values() if place.actuator < 0}
    return groups.statics and any(place in passive for group in groups.groups for place in group.places)


def settled(
    point: np.ndarray, estimate: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], rubbing: ArrayLike
) -> np.ndarray | None:
    """Parameters that settle by Gauss and Newton's steps from a point; None where they do not.

    estimate: values and deviations of a linear least squares about a point; infinite deviations for what stays as it
    is. rubbing (parameter,): those of friction, which are not below zero.
    """
    share, before = 1.0, np.zeros(len(point))
    for _ in range(STEPS):
        values, deviations = estimate(point)
        change = (values - point) / deviations
        # the sizes of loads have kinks, between whose sides whole steps may go to and fro
        turns = change @ before < -TURNED * (before @ before)
        share = 0.5 * share if turns else min(2.0 * share, 1.0)
        point = point + share * (values - point)
        # friction that pushes settles nowhere; a step beyond zero ends there
        point = np.where(np.asarray(rubbing), np.maximum(point, 0.0), point)
        before = change
        if np.abs(change).max() <= STEADY or np.abs(values - point).max() <= EXACT * np.abs(values).max():
            return point
    return None


@dataclass(frozen=True)
class CoupledFriction:
    """A robot whose inertial parameters are free, with friction of joints by groups; limbs that are copies share both.

    Columns are the inertial ones, then of each group the parameters in which its law is linear: one for all of its
    joints.
    """

    robot: Robot
    friction: FrictionInput
    gravity: tuple[float, float, float] = GRAVITY

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Names and units of the columns."""
        return (*shared_columns(self.robot.family)[0], *(column for column, _ in self._linear()))

    def _linear(self) -> Iterator[tuple[Column, int]]:
        """Columns of friction, and which of the numbers of all groups they are."""
        start, several = 0, len(self.friction.groups) > 1
        for number, group in enumerate(self.friction.groups):
            owner = group.name or (f"{FRICTION}_{number + 1}" if several else FRICTION)
            for parameter in LAWS[group.law].linear:
                yield (
                    Column(owner, parameter.name, parameter.unit),
                    start + group.parameters.index(parameter.name),
                )
            start += len(group.parameters)

    @cached_property
    def nominal(self) -> np.ndarray:
        """Values of the columns (column,) that the robot and its friction have."""
        numbers = self.friction.values[0]
        return np.concatenate([own_values(self.robot), [numbers[place] for _, place in self._linear()]])

    def at(self, values: ArrayLike) -> tuple[Robot, FrictionInput]:
        """The robot and the friction with these values of the columns."""
        numbers = np.asarray(values, dtype=float)
        family = freed(self.robot)
        count = len(family.parameters)
        robot = Robot(family, dict(zip((p.name for p in family.parameters), numbers[:count].tolist(), strict=True)))
        of_groups = self.friction.values.copy()
        of_groups[0, [place for _, place in self._linear()]] = numbers[count:]
        return robot, FrictionInput(self.friction.groups, of_groups)

    def linearised(self, values: ArrayLike, directions: ArrayLike, moving: Moving) -> tuple[np.ndarray, np.ndarray]:
        """Actuator forces (samples, actuator) at values (column,), and their rates (samples, actuator, direction).

        directions (direction, column); a motion with one batch dim. Samples that cannot be solved, or whose friction
        does not settle, hold NaN.
        """
        along = np.atleast_2d(np.asarray(directions, dtype=float))
        robot, friction = self.at(values)
        parts = {name: np.asarray(part) for name, part in present(moving).items()}
        samples = len(next(iter(parts.values())))
        step = max(LANES // len(along), 64)
        results = [
            self._part(robot, friction, along, {name: part[start : start + step] for name, part in parts.items()})
            for start in range(0, samples, step)
        ]
        return np.concatenate([force for force, _ in results]), np.concatenate([rates for _, rates in results])

    def _part(
        self, robot: Robot, friction: FrictionInput, along: np.ndarray, moving: dict[str, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        dynamics = Dynamics(robot, Moving(**moving), (FORCE, "status"), field_input(self.gravity), friction=friction)  # type: ignore[typeddict-item]
        count, inertial = len(along), len(robot.family.parameters)
        of_groups = np.zeros((count, friction.values.shape[1]))
        of_groups[:, [place for _, place in self._linear()]] = along[:, inertial:]
        values: Values = {
            key: np.repeat(value, count, axis=0) if value.ndim == 2 else value for key, value in dynamics.values.items()
        }
        values |= {Rate("parameters"): np.ascontiguousarray(along[:, :inertial]), Rate(FRICTION): of_groups}
        for stage in stages(dynamics.request):
            values |= stage.run_rates(kernel, values, dynamics.samples)
        status = values[OUTCOME][0, 0, : dynamics.samples]
        force = values[FORCE][0, :, : dynamics.samples].T.copy()
        rates = np.moveaxis(values[Rate(FORCE)][:, :, : dynamics.samples], (0, 1, 2), (2, 1, 0)).copy()
        force[status != Status.OK] = np.nan
        rates[status != Status.OK] = np.nan
        return force, rates
