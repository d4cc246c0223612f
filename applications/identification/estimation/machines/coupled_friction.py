"""Friction of passive joints that changes the reactions which load it, with inertial parameters that are free.

A mechanism may get other inertial parameters, in numbers or as symbols of a family. Forces are then no product of a
regressor with parameters. They are those of inverse dynamics itself, whose programs are differentiated by inertial
parameters and those of friction; parameters follow by Gauss-Newton steps, each a linear least squares. Source:
joint-friction paper, Eqs. (45) to (48), for the friction.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from robots.data_classes import dataclass, replace
from robots.friction.laws import LAWS as LAW_DATA
from robots.limits import places
from robots.model import Family, Inertia, Limb, Link, Mechanism, Robot
from robots.parameters import Parameter
from robots.status import Status
from robots.types import Number, Vector
from tasks.dynamics.inertial_parameters import (
    SIZE,
    Column,
    LimbColumns,
    limb_columns,
    platform_has_columns,
    shared_columns,
)
from tasks.dynamics.inputs import field_input, present
from tasks.dynamics.inverse import Dynamics, Influences
from tasks.dynamics.records import GRAVITY, Environment, Moving
from tasks.dynamics.regressor import standard_parameters
from tasks.features.friction.inputs import Friction, FrictionInput, friction_input
from tasks.kernels.expression import Array, Expression
from tasks.kernels.kernel import kernel
from tasks.kernels.keys import Rate, Values
from tasks.mathematics.algebra import array
from tasks.stages.parts import OUTCOME
from tasks.stages.stages import stages


def inertia_of(parameters: Sequence[Number]) -> Inertia:
    """Return mass, centre and tensor about it of ten parameters about a body frame's origin, numbers or symbols."""
    mass = parameters[0]
    is_nothing = isinstance(mass, float | int) and mass <= 0.0
    centre = array([0.0, 0.0, 0.0] if is_nothing else [moment / mass for moment in parameters[1:4]])
    xx, xy, xz, yy, yz, zz = parameters[4:]
    about = array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    tensor = about - (array(np.eye(3)) * (centre @ centre) - np.outer(centre, centre)) * mass
    return Inertia(mass, _three(centre), (_three(tensor[0]), _three(tensor[1]), _three(tensor[2])))


def _three(numbers: Array) -> Vector:
    x, y, z = (number if isinstance(number, Expression) else float(number) for number in numbers)
    return x, y, z


def with_inertia(robot: Robot, values: Sequence[Number]) -> Mechanism:
    """Return the mechanism of a robot with these values of the columns that limbs which are copies share."""
    mechanism, limbs, start = robot.mechanism, [], 0
    for index, limb in enumerate(mechanism.limbs):
        columns = limb_columns(robot.family, index)
        limbs.append(_limb(limb, columns, values[start : start + columns.count]))
        start += columns.count
    platform = mechanism.platform
    if platform_has_columns(robot.family):
        platform = replace(platform, inertia=inertia_of(values[start : start + SIZE]))
    return replace(mechanism, limbs=tuple(limbs), platform=platform)


def _limb(limb: Limb, columns: LimbColumns, values: Sequence[Number]) -> Limb:
    links: list[Link] = list(limb.links)
    for place, k in enumerate(columns.bodies):
        links[k] = replace(links[k], inertia=inertia_of(values[SIZE * place : SIZE * (place + 1)]))
    start = SIZE * len(columns.bodies)
    for place, k in enumerate(columns.armatures):
        links[k] = replace(links[k], armature=values[start + place])
    start += len(columns.armatures)
    drives = list(limb.drives)
    for place, (k, spin) in enumerate(columns.spins):
        spins = list(drives[k].spins)
        spins[spin] = replace(spins[spin], inertia=values[start + place])
        drives[k] = replace(drives[k], spins=tuple(spins))
    return replace(limb, links=tuple(links), drives=tuple(drives))


def freed(robot: Robot) -> Family:
    """Return the family whose parameters are the inertial ones of a robot's columns, its geometry in numbers.

    Limbs that are copies share them. Their defaults are those of the robot.
    """
    return _freed(robot.family, tuple(float(robot.values[p.name]) for p in robot.family.parameters))


@functools.lru_cache(maxsize=16)
def _freed(family: Family, numbers: tuple[float, ...]) -> Family:
    robot = Robot(family, dict(zip((p.name for p in family.parameters), numbers, strict=True)))
    names = [column.name for column in shared_columns(family)[0]]
    units = [column.unit for column in shared_columns(family)[0]]
    parameters = tuple(
        Parameter(name, unit, float(value)) for name, unit, value in zip(names, units, own_values(robot), strict=True)
    )

    def assemble(values: Mapping[str, Number]) -> Mechanism:
        return with_inertia(robot, [values[name] for name in names])

    return Family(family.name, family.title, family.source, parameters, assemble, family.gravity)


def own_values(robot: Robot) -> np.ndarray:
    """Return the robot's own values of the columns that `with_inertia` takes."""
    return np.array(list(standard_parameters(robot, shared=True).values()))


FRICTION = "friction"
FORCE = "actuator_force"
STEPS = 25
"""Steps of Gauss and Newton."""
TURNED = 0.2
"""Share of the previous step that a step undoes, from which on it counts as a step back."""
STEADY = 1e-2
"""Change of parameters, relative to their deviations, at which these are taken."""
EXACT = 1e-8
"""Change relative to the largest parameter at which these are taken, where there is no noise."""
LANES = 8192
"""Samples times directions that are differentiated at a time."""


def is_coupled(robot: Robot, friction: Friction) -> bool:
    """Return whether friction in passive joints changes the reactions that load this friction."""
    groups = friction_input(robot, friction)
    passive = {place for place, _ in places(robot.mechanism).values() if place.actuator < 0}
    return groups.statics and any(place in passive for group in groups.groups for place in group.places)


def settled(
    point: np.ndarray, estimate: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], rubbing: ArrayLike
) -> np.ndarray | None:
    """Return the parameters that settle by Gauss and Newton's steps from a point; None where they do not.

    estimate: values and deviations of a linear least squares about a point; infinite deviations for fixed parameters.
    rubbing (parameter,): mask of friction parameters, which are not below zero.
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
        """Yield the columns of friction, and which of the numbers of all groups they are."""
        start, several = 0, len(self.friction.groups) > 1
        for number, group in enumerate(self.friction.groups):
            owner = group.name or (f"{FRICTION}_{number + 1}" if several else FRICTION)
            for parameter in LAW_DATA[group.law].linear:
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
        """Return the robot and the friction with these values of the columns."""
        numbers = np.asarray(values, dtype=float)
        family = freed(self.robot)
        count = len(family.parameters)
        robot = Robot(family, dict(zip((p.name for p in family.parameters), numbers[:count].tolist(), strict=True)))
        of_groups = self.friction.values.copy()
        of_groups[0, [place for _, place in self._linear()]] = numbers[count:]
        return robot, FrictionInput(self.friction.groups, of_groups)

    def linearised(self, values: ArrayLike, directions: ArrayLike, moving: Moving) -> tuple[np.ndarray, np.ndarray]:
        """Return actuator forces (samples, actuator) at values (column,), and rates (samples, actuator, direction).

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
        acting = Influences(field_input(Environment(gravity=self.gravity)), friction=friction)
        dynamics = Dynamics(robot, cast(Moving, moving), (FORCE, "status"), acting)
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
