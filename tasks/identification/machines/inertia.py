"""A mechanism with other inertial parameters: in numbers, or in the symbols of a family that has them as parameters."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from robots.model import Family, Inertia, Limb, Link, Mechanism, Robot
from robots.parameters import Parameter
from robots.types import Number, Vector
from tasks.identification.columns import (
    BODY,
    LimbColumns,
    limb_columns,
    platform_has_columns,
    shared_columns,
)
from tasks.identification.regressor import standard_parameters
from tasks.kernels.expression import Expression
from tasks.kernels.types import Array
from tasks.mathematics.algebra import array

SIZE = len(BODY)


def inertia_of(parameters: Sequence[Number]) -> Inertia:
    """Mass, centre and tensor about it of ten parameters about the origin of a body's frame, numbers or symbols."""
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
    """The mechanism of a robot with these values of the columns that limbs which are copies share."""
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
    """The family whose parameters are the inertial ones of a robot's columns, its geometry in numbers.

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
    """The robot's own values of the columns that `with_inertia` takes."""
    return np.array(list(standard_parameters(robot, shared=True).values()))
