"""Forces on the limbs and the platform of a robot as forces on the one tree that they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from robots.coupled import COORDINATES
from robots.model import Instance, Limb, Mechanism
from robots.springs import AppliedWrench, Bushing, ForceElement, ForceLaw, JointSpring, Spring
from robots.types import BASE, Number

PLATE = len(COORDINATES) - 1
"""Number of the platform among the bodies of the tree: it follows the last joint of its pose."""


def with_forces(tree: Limb, mechanism: Mechanism) -> Limb:
    """Return the tree of a robot with a platform with all that acts on its limbs and its platform."""
    elements: list[ForceElement] = [replace(element, body=PLATE) for element in mechanism.platform.forces]
    springs: list[JointSpring] = []
    first = len(COORDINATES)
    for instance in mechanism.instances:
        limb = mechanism.limbs[instance.limb]
        elements += [_of_body(element, instance, first) for element in limb.forces]
        springs += [_of_joints(spring, instance, first) for spring in limb.springs]
        first += len(limb.links)
    return replace(tree, forces=tuple(elements), springs=tuple(springs))


def _of_body(element: ForceElement, instance: Instance, first: int) -> ForceElement:
    numbers = _renamed(element, instance)
    if isinstance(element, Spring | Bushing) and element.other != BASE:
        numbers["other"] = element.other + first
    return replace(element, body=element.body + first, **numbers)


def _of_joints(spring: JointSpring, instance: Instance, first: int) -> JointSpring:
    ratios = tuple((joint + first, ratio) for joint, ratio in spring.ratios)
    return replace(spring, ratios=ratios, **_renamed(spring, instance))


def _renamed(element: ForceElement | JointSpring, instance: Instance) -> dict[str, Any]:
    """Return the numbers of an element that follow from the state, by field, with joints as the tree names them."""
    values = {entry.name: getattr(element, entry.name) for entry in fields(element)}
    result: dict[str, Any] = {name: _law(x, instance) for name, x in values.items() if isinstance(x, ForceLaw)}
    if isinstance(element, AppliedWrench):
        for name in ("moment", "force"):
            result[name] = tuple(_law(x, instance) if isinstance(x, ForceLaw) else x for x in values[name])
    return result


def _law(law: ForceLaw, instance: Instance) -> ForceLaw:
    names = {name: _name(name, instance) for name in law.names}
    before = {new: old for old, new in names.items()}

    def function(numbers: Mapping[str, Number]) -> Number:
        return law.function({before.get(name, name): x for name, x in numbers.items()})

    return ForceLaw(function, law.values, tuple(names.values()))


def _name(name: str, instance: Instance) -> str:
    """Return the name of a position or rate of a joint; values of a load itself keep theirs."""
    kind, apart, joint = name.partition("_")
    return f"{kind}_{instance.name}.{joint}" if apart else name
