"""A robot family whose links have shapes: their masses and inertias follow from lengths, profiles and materials."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property

from robots.criteria.selection import of_parts, real_link_names
from robots.criteria.shapes import Line, LinkShape, joint_points, lines_of, shape_inertia
from robots.data_classes import dataclass, field, replace
from robots.loads.wrapped import ExtendedDescription, LimbGroups, extended
from robots.model import Family, Limb, Mechanism
from robots.parameter_errors import ParameterError
from robots.types import Number

ShapedLink = tuple[int, int, tuple[Line, ...]]
"""Number of a link, of its shape, and its lines."""


@dataclass(frozen=True, eq=False)
class ShapedDescription(ExtendedDescription):
    """A family with shapes of links.

    `limbs` has the shaped links of each group of limbs.
    """

    shapes: tuple[LinkShape, ...] = field(kw_only=True)
    limbs: LimbGroups[tuple[ShapedLink, ...]] = field(kw_only=True)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the robot, the parameters, and the shapes."""
        shaped = (super().digest, self.shapes, self.limbs.items, self.limbs.groups)
        return hashlib.sha256(repr(shaped).encode()).hexdigest()

    def changed(self, whole: Mechanism, values: Mapping[str, Number]) -> Mechanism:
        """Return the mechanism with the masses and inertias of its shapes."""
        shapes = [shape.at(values) for shape in self.shapes]
        return self.limbs.split(whole, lambda limb, items: _shaped_limb(limb, items, shapes))


def _shaped_limb(limb: Limb, items: tuple[ShapedLink, ...], shapes: list[LinkShape]) -> Limb:
    links = list(limb.links)
    for link, shape, lines in items:
        inertia = shape_inertia(shapes[shape], joint_points(limb, link), lines)
        links[link] = replace(links[link], inertia=inertia)
    return replace(limb, links=tuple(links))


def shaped(family: Family, shapes: Mapping[str, LinkShape]) -> ShapedDescription:
    """Return the family with shapes of links, under names and patterns of links or `all`. Raises ParameterError."""
    mechanism = family.reference
    by_pattern = {pattern: number for number, pattern in enumerate(shapes)}
    numbers = of_parts("shapes", by_pattern, real_link_names(mechanism), "link")
    items: list[tuple[ShapedLink, ...]] = []
    for k, instance in enumerate(mechanism.instances):
        limb = mechanism.limbs[instance.limb]
        links = [(link, number, lines_of(limb, link)) for (of, link), number in sorted(numbers.items()) if of == k]
        items.append(tuple(entry for entry in links if entry[2]))
    found = {entry[1] for group in items for entry in group}
    for number, pattern in enumerate(shapes):
        if number not in found:
            raise ParameterError(f"shapes {pattern}: got links with one place of joints; expected two joints apart")
    limbs = LimbGroups.of(mechanism, items)
    return ShapedDescription(*extended(family), base=family, shapes=tuple(shapes.values()), limbs=limbs)
