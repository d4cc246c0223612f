"""Springs along joints, and rotors that drive their joints through springs: what they make of a limb.

A rotor is a link of its own on the base, without mass but for its armature: its energy is that of its own spin, as in
the reduced model of Spong 1987. The drive of its actuator turns it alone; what it spins goes with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from robots.drives import Drive
from robots.forces.elements import JointSpring
from robots.inertia import point
from robots.loads.declared import OF_JOINTS, ElasticDrive, JointLoad
from robots.model import Frame, Limb, Link
from robots.types import BASE, Number

AXIS = (0.0, 0.0, 1.0)


def rotor_name(actuator: str) -> str:
    """Name of the joint, and of the body, of a rotor."""
    return f"{actuator}_rotor"


def with_spring(limb: Limb, place: int, name: str, load: JointLoad, known: Mapping[str, Number]) -> Limb:
    """A limb with a spring in the joint of that index, or with a rotor for the actuator of that number."""
    numbers = {key: known.get(f"{name}_{key}", 0.0) for key in OF_JOINTS}
    inertia = numbers.pop("inertia")
    if not isinstance(load, ElasticDrive):
        return replace(limb, springs=(*limb.springs, JointSpring(((place, 1.0),), **numbers)))
    return _with_rotor(limb, place, inertia, numbers)


def _with_rotor(limb: Limb, number: int, inertia: Number, numbers: Mapping[str, Number]) -> Limb:
    actuator, kind = limb.actuators[number], limb.actuator_kinds[number]
    name, links = rotor_name(actuator), list(limb.links)
    freedoms = limb.independent or limb.actuated
    if not limb.drives:
        joint = limb.index(actuator)
        ratios: tuple[tuple[int, Number], ...] = ((joint, -1.0),)
        inertia = inertia + links[joint].armature
        links[joint] = replace(links[joint], armature=0.0)
        drives: tuple[Drive, ...] = ()
        moved = tuple(name if entry == actuator else entry for entry in limb.actuated)
    else:
        drive = limb.drives[number]
        ratios = tuple((limb.index(joint), -1.0 * ratio) for joint, ratio in drive.ratios)
        drives = (*limb.drives[:number], _of_rotor(drive, name), *limb.drives[number + 1 :])
        moved = (*limb.actuated, name)
    links.append(Link(name, name, BASE, kind, AXIS, Frame(), point(0.0), inertia))
    spring = JointSpring(((len(links) - 1, 1.0), *ratios), **numbers)
    return replace(
        limb, links=tuple(links), actuated=moved, independent=(*freedoms, name), drives=drives,
        springs=(*limb.springs, spring),
    )  # fmt: skip


def _of_rotor(drive: Drive, rotor: str) -> Drive:
    return replace(drive, ratios=((rotor, 1.0),))
