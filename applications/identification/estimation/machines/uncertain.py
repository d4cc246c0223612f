"""Identified robot whose uncertain inertial parameters are parameters of the robot, with their joint covariance.

Forces tell base parameters: each is a parameter of a body or a drive with the parameters that are grouped with it.
Where the others keep their values, a deviation of a base parameter is one of its own column, so that columns with the
covariance of the base parameters give forces with that of the fit, whatever the values of the others. Parameters are
about the origin of the frame of a body, in which forces are linear: mass, first moments m x, and the tensor there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from applications.identification.estimation.machines import residuals
from applications.identification.estimation.machines.fitting import MachineFit, Standard, identified_robot
from applications.identification.estimation.machines.machine import RecordedMachine
from robots.data_classes import dataclass, replace
from robots.expressions.expression import GEOMETRIC, ParsedExpression, parse
from robots.formats.description import Description, Late
from robots.model import Inertia, Robot
from robots.parameters import LARGEST, Parameter
from robots.types import Number
from tasks.dynamics.inertial_parameters import BODY, limb_columns, platform_has_columns

FIRST_MOMENTS = ("mx", "my", "mz")
TENSOR = (("Ixx", "Ixy", "Ixz"), ("Ixy", "Iyy", "Iyz"), ("Ixz", "Iyz", "Izz"))
SOURCE = "identified from recordings"
PLATFORM_LIMB = -1
"""Number of the limb of columns that are of the platform."""


@dataclass(frozen=True)
class ColumnOwner:
    """Part of a robot that a column is of: a link of a limb, or the platform."""

    limb: int
    link: int


@dataclass(frozen=True)
class UncertainRobot:
    """Identified robot, names of its uncertain parameters, and their covariance (parameter, parameter)."""

    description: Description
    names: tuple[str, ...]
    covariance: np.ndarray


def uncertain_robot(machine: RecordedMachine, fit: MachineFit, standard: Standard) -> UncertainRobot:
    """Return the identified robot with a parameter for each inertial parameter that data tell, alone or in a group.

    Inertia of bodies and of drives at joints (armature) counts; that of spinning drives and friction keep their values.
    Raises ValueError for limbs that are copies with parameters of their own.
    """
    identified = identified_robot(machine, standard)
    owners = dict(enumerate(_owners(machine.robot)))
    chosen: dict[int, Parameter] = {}
    rows = []
    for row, kept in enumerate(fit.kept):
        number = fit.base.independent[kept]
        owner, kind = owners.get(number, (None, ""))
        if owner is None or (kind in BODY and standard.values[_mass_of(number, kind)] <= 0.0):
            continue
        column = machine.columns[number]
        name = re.sub(r"[^A-Za-z0-9]+", "_", column.name).strip("_")
        name = name if name[:1].isalpha() else f"body_{name}"
        value = float(standard.values[number])
        lower = 0.0 if kind in ("mass", "armature") else -LARGEST
        chosen[number] = Parameter(name, column.unit, max(value, lower), lower, LARGEST, column.name, SOURCE)
        rows.append(row)
    spread = covariance_of(fit)[np.ix_(rows, rows)]
    named = _with_parameters(identified, owners, chosen, standard.values)
    return UncertainRobot(named, tuple(parameter.name for parameter in chosen.values()), spread)


def covariance_of(fit: MachineFit) -> np.ndarray:
    """Return the covariance (kept, kept): correlations of HAC, deviations of the fit."""
    matrix = residuals.covariance(fit.used, fit.values)
    size = np.sqrt(np.diag(matrix))
    scale = np.divide(fit.deviations, size, out=np.zeros_like(size), where=size > 0.0)
    return np.asarray(matrix * np.outer(scale, scale))


def _mass_of(number: int, kind: str) -> int:
    """Return the number of the column of the mass of the body that a column is of."""
    return number - list(BODY).index(kind)


def _owners(robot: Robot) -> Iterator[tuple[ColumnOwner | None, str]]:
    """Yield owner and kind of each inertial column of a robot whose copies share them; None where no file names it."""
    mechanism = robot.mechanism
    for index in range(len(mechanism.limbs)):
        columns = limb_columns(robot.family, index)
        for k in columns.bodies:
            yield from ((ColumnOwner(index, k), kind) for kind in BODY)
        for k in columns.armatures:
            yield ColumnOwner(index, k), "armature"
        yield from ((None, "spin") for _ in columns.spins)
    if platform_has_columns(robot.family):
        yield from ((ColumnOwner(PLATFORM_LIMB, 0), kind) for kind in BODY)


def _with_parameters(
    description: Description,
    owners: Mapping[int, tuple[ColumnOwner | None, str]],
    chosen: Mapping[int, Parameter],
    values: Sequence[float] | np.ndarray,
) -> Description:
    """Return the robot with names in place of the numbers of the chosen columns."""
    mechanism = description.template
    links = {(i, k): link for i, limb in enumerate(mechanism.limbs) for k, link in enumerate(limb.links)}
    platform = mechanism.platform
    for number, parameter in chosen.items():
        owner, kind = owners[number]
        assert owner is not None, "columns without an owner are not chosen"
        place = (owner.limb, owner.link)
        if kind == "armature":
            links[place] = replace(links[place], armature=_expression(parameter.name))
            continue
        is_platform = owner.limb == PLATFORM_LIMB
        numbers = mechanism.platform.inertia if is_platform else mechanism.limbs[owner.limb].links[owner.link].inertia
        inertia = _inertia(_mass_of(number, kind), chosen, values, numbers)
        if is_platform:
            platform = replace(platform, inertia=inertia)
        else:
            links[place] = replace(links[place], inertia=inertia)
    limbs = tuple(
        replace(limb, links=tuple(links[i, k] for k in range(len(limb.links))))
        for i, limb in enumerate(mechanism.limbs)
    )
    template = replace(mechanism, limbs=limbs, platform=platform)
    return replace(description, parameters=tuple(chosen.values()), template=template)


def _inertia(
    first: int, chosen: Mapping[int, Parameter], values: Sequence[float] | np.ndarray, numbers: Inertia
) -> Inertia:
    """Return the inertia of a body by its ten parameters about the origin, the first of them in column `first`.

    Numbers that no chosen parameter changes stay those of `numbers`.
    """
    texts = {
        kind: chosen[first + k].name if first + k in chosen else f"({float(values[first + k])!r})"
        for k, kind in enumerate(BODY)
    }
    mass = texts["mass"]
    x, y, z = (
        _named(f"{texts[kind]} / {mass}", number) for kind, number in zip(FIRST_MOMENTS, numbers.centre, strict=True)
    )
    tensor = [
        [_named(_about_centre(texts, min(i, j), max(i, j)), numbers.tensor[min(i, j)][max(i, j)]) for j in range(3)]
        for i in range(3)
    ]
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = tensor
    return Inertia(_named(mass, numbers.mass), (x, y, z), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))


def _about_centre(texts: Mapping[str, str], i: int, j: int) -> str:
    """Return an element of the tensor about the centre of mass, from that about the origin (Steiner)."""
    first, second = texts[FIRST_MOMENTS[i]], texts[FIRST_MOMENTS[j]]
    if i != j:
        return f"{texts[TENSOR[i][j]]} + {first} * {second} / {texts['mass']}"
    a, b = (texts[kind] for k, kind in enumerate(FIRST_MOMENTS) if k != i)
    return f"{texts[TENSOR[i][i]]} - ({a} ** 2 + {b} ** 2) / {texts['mass']}"


def _named(text: str, number: Number) -> Late:
    """Return an expression, or the number where the expression has no names."""
    expression = _expression(text)
    return expression if expression.names else number


def _expression(text: str) -> ParsedExpression:
    return parse(text, "number", GEOMETRIC)
