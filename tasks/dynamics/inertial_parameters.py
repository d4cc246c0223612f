"""Inertial parameters that forces are linear in, as named columns, of a body, a limb and a robot.

Ten for each body, about the origin of its frame in its axes: mass, first moment of mass and elements of the inertia
tensor; one for each armature, and for each rotor or shaft that spins. A body that a family declares as massless, such
as the cross of a universal joint, has no columns. Source: Atkeson, An and Hollerbach 1986.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from robots.data_classes import dataclass
from robots.joint_kinds import JOINT_KINDS
from robots.model import Family, Inertia, Limb, Link
from tasks.kernels.expression import CASE, Graph
from tasks.mathematics.algebra import array, is_zero
from tasks.mechanics.families import structure_of
from tasks.mechanics.recursion import Massing

TENSOR = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
BODY: Mapping[str, str] = {
    "mass": "kg",
    **{f"m{axis}": "kg m" for axis in "xyz"},
    **{"I" + "xyz"[i] + "xyz"[j]: "kg m^2" for i, j in TENSOR},
}
"""Inertial parameters of a body, with their units."""
SIZE = len(BODY)
"""Number of them."""

ARMATURE, SPIN = "armature", "spin"
PLATFORM = "platform"


@dataclass(frozen=True)
class Column:
    """One parameter: the body or joint that it belongs to, its own name, its unit."""

    owner: str
    parameter: str
    unit: str

    @property
    def name(self) -> str:
        """Name of the column."""
        return f"{self.owner}.{self.parameter}"


def body_parameters(inertia: Inertia) -> np.ndarray:
    """Return the ten parameters of a body (10,), from mass, centre, and tensor about the centre."""
    centre, mass = array(inertia.centre), inertia.mass
    about = array(inertia.tensor) + (array(np.eye(3)) * (centre @ centre) - np.outer(centre, centre)) * mass
    return array([mass, *(centre * mass), *(about[i, j] for i, j in TENSOR)])


def unit_massings() -> list[Massing]:
    """Return the mass distribution of one unit of each of the ten parameters."""
    result = [Massing(1.0, np.zeros(3), np.zeros((3, 3)))]
    result += [Massing(0.0, axis, np.zeros((3, 3))) for axis in np.eye(3)]
    for i, j in TENSOR:
        tensor = np.zeros((3, 3))
        tensor[i, j] = tensor[j, i] = 1.0
        result.append(Massing(0.0, np.zeros(3), np.eye(3) * (np.trace(tensor) * 0.5) - tensor))
    return result


@dataclass(frozen=True)
class LimbColumns:
    """Parts with columns in a representative limb: bodies of links, armatures of links, spins of drives.

    A spin is given by the number of its drive and its place among the spins of the drive.
    """

    bodies: tuple[int, ...]
    armatures: tuple[int, ...]
    spins: tuple[tuple[int, int], ...]

    @property
    def count(self) -> int:
        """Number of columns."""
        return len(BODY) * len(self.bodies) + len(self.armatures) + len(self.spins)

    def named(self, limb: Limb, prefix: str = "") -> list[Column]:
        """Return the columns in order; `prefix` goes before the names of bodies and joints."""
        links = limb.links
        result = [Column(prefix + links[k].body, name, unit) for k in self.bodies for name, unit in BODY.items()]
        result += [Column(prefix + links[k].joint, ARMATURE, links[k].joint_kind.units.inertia) for k in self.armatures]
        for k, place in self.spins:
            drive = limb.drives[k]
            unit = JOINT_KINDS[drive.kind].units.inertia
            result.append(Column(prefix + drive.name, f"{SPIN}_{place + 1}", unit))
        return result

    def values(self, limb: Limb) -> np.ndarray:
        """Return the parameters of a limb in numbers, in the same order."""
        bodies = [body_parameters(limb.links[k].inertia) for k in self.bodies]
        armatures = [limb.links[k].armature for k in self.armatures]
        spins = [limb.drives[k].spins[place].inertia for k, place in self.spins]
        return np.concatenate([*bodies, armatures, spins]).astype(float)


@functools.cache
def limb_columns(family: Family, limb_index: int) -> LimbColumns:
    """Return the links of a limb that have columns. The symbols of the family decide: all its robots have the same."""
    limb = _symbolic(family).limbs[limb_index]
    moving = tuple(k for k, link in enumerate(limb.links) if not _nothing(link.inertia))
    driven = tuple(k for k, link in enumerate(limb.links) if _has_drive(limb, link))
    spins = tuple((k, place) for k, drive in enumerate(limb.drives) for place in range(len(drive.spins)))
    return LimbColumns(moving, driven, spins)


@functools.cache
def platform_has_columns(family: Family) -> bool:
    """Return whether there is a platform, with an inertia."""
    return not family.reference.is_chain and not _nothing(_symbolic(family).platform.inertia)


def _symbolic(family: Family) -> Any:
    graph = Graph()
    return family.assemble({p.name: graph.node(CASE, data=("parameters", i)) for i, p in enumerate(family.parameters)})


def _has_drive(limb: Limb, link: Link) -> bool:
    return (link.joint in limb.actuated and not limb.drives) or not is_zero(link.armature)


def _nothing(inertia: Inertia) -> bool:
    return is_zero(inertia.mass) and all(is_zero(x) for row in inertia.tensor for x in row)


@functools.cache
def family_columns(family: Family) -> tuple[Column, ...]:
    """Return the columns of a robot: limb by limb, then the platform."""
    mechanism, result = structure_of(family).mechanism, []
    for instance in mechanism.instances:
        prefix = "" if mechanism.is_chain else f"{instance.name}."
        result += limb_columns(family, instance.limb).named(mechanism.limbs[instance.limb], prefix)
    if platform_has_columns(family):
        result += [Column(PLATFORM, name, unit) for name, unit in BODY.items()]
    return tuple(result)


@functools.cache
def shared_columns(family: Family) -> tuple[tuple[Column, ...], tuple[int, ...]]:
    """Return the columns with equal parameters for limbs that are copies of each other; and each column's target."""
    mechanism = structure_of(family).mechanism
    if mechanism.is_chain:
        return family_columns(family), tuple(range(len(family_columns(family))))
    result: list[Column] = []
    start: dict[int, int] = {}
    for k, limb in enumerate(mechanism.limbs):
        start[k] = len(result)
        result += limb_columns(family, k).named(limb, f"{limb.name}.")
    place = [start[each.limb] + i for each in mechanism.instances for i in range(limb_columns(family, each.limb).count)]
    if platform_has_columns(family):
        place += range(len(result), len(result) + len(BODY))
        result += [Column(PLATFORM, name, unit) for name, unit in BODY.items()]
    return tuple(result), tuple(place)


@functools.cache
def selection(family: Family) -> np.ndarray:
    """Return the 0/1 matrix (column, shared column); multiply a regressor by it so that copies share parameters."""
    shared, place = shared_columns(family)
    matrix = np.eye(len(shared))[list(place)]
    matrix.flags.writeable = False
    return matrix
