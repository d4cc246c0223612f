"""Criteria as arguments of callers: checked to be of their type, and of parts that the robot has."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from robots.criteria.elasticity import Elasticity
from robots.criteria.parts import NO_CRITERIA, CriteriaParameters
from robots.criteria.selection import joint_names, link_names
from robots.limits import Place
from robots.model import Mechanism, Robot
from tasks.features.criteria import sharing_problems

_PLACES: Mapping[str, Callable[[Mechanism], Mapping[str, Place]]] = {
    "joints": joint_names, "links": link_names, "lengths": link_names, "growth": link_names,
}  # fmt: skip
"""Parts of criteria by place, and the places that a mechanism has."""


def check_parts(robot: Robot, name: str, value: object, kind: type[object]) -> None:
    """Raise ValueError for criteria of another type, and for criteria of a missing actuator, joint or link."""
    _check_kind(name, value, kind)
    mechanism = robot.mechanism
    places: dict[str, Collection[object]] = {part: names(mechanism).values() for part, names in _PLACES.items()}
    places["actuators"] = range(len(mechanism.actuators))
    for part, present in places.items():
        odd = [key for key in getattr(value, part, ()) if key not in present]
        if odd:
            raise ValueError(f"{name}: {part}: got {odd[0]!r}, which {robot.name} does not have; "
                             f"expected numbers as limbsweep.robots.{kind.__name__}.of gives them")  # fmt: skip


def reaction_criteria(robot: Robot, elasticity: Elasticity | None) -> CriteriaParameters:
    """Return the criteria that decide reactions that statics leaves open: none, or elasticity.

    Raises ValueError where elasticity cannot decide them.
    """
    if elasticity is None:
        return NO_CRITERIA
    check_parts(robot, "elasticity", elasticity, Elasticity)
    criteria = CriteriaParameters(elasticity, reactions=True)
    for problem in sharing_problems(robot.family, criteria):
        raise ValueError(f"elasticity: got {problem}; expected elastic joints or links wherever they share loads")
    return criteria


def _check_kind(name: str, value: object, kind: type[object]) -> None:
    """Raise ValueError for an argument of another type."""
    if not isinstance(value, kind):
        got = f"an object of type {type(value).__name__}"
        raise ValueError(f"{name}: got {got}; expected limbsweep.robots.{kind.__name__}, such as by its method of")
