"""A robot family whose links have shapes: their masses and inertias follow from lengths, profiles and materials."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from robots.criteria.elasticity import once
from robots.criteria.selection import real_link_names, select
from robots.criteria.shapes import Line, LinkShape, joint_points, lines_of, shape_inertia
from robots.limits import Place
from robots.loads.wrapped import ExtendedDescription, LimbGroups
from robots.model import Family, Limb, Mechanism
from robots.parameters import ParameterError
from robots.types import Number

ShapedLink = tuple[int, int, tuple[Line, ...]]
"""Number of a link, of its shape, and its lines."""


@dataclass(frozen=True, eq=False)
class ShapedDescription(ExtendedDescription):
    """A family with shapes of links.

    `items` are the shaped links of each group of limbs, `sources` the limb that each group is a copy of, `groups` that
    of each instance, `names` what the groups are called.
    """

    shapes: tuple[LinkShape, ...] = ()
    items: tuple[tuple[ShapedLink, ...], ...] = ()
    sources: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    names: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the robot, the parameters, and the shapes."""
        return hashlib.sha256(repr((super().digest, self.shapes, self.items, self.groups)).encode()).hexdigest()

    def __call__(self, values: Mapping[str, Number]) -> Mechanism:
        """Return the mechanism for values of the parameters: floats, arrays or symbols."""
        assert self.base is not None
        whole, shapes = self.base.assemble(values), [shape.at(values) for shape in self.shapes]
        limbs = tuple(
            replace(_shaped_limb(whole.limbs[source], items, shapes), name=name)
            for source, items, name in zip(self.sources, self.items, self.names, strict=True)
        )
        pairs = zip(whole.instances, self.groups, strict=True)
        return replace(whole, limbs=limbs, instances=tuple(replace(instance, limb=group) for instance, group in pairs))


def _shaped_limb(limb: Limb, items: tuple[ShapedLink, ...], shapes: list[LinkShape]) -> Limb:
    links = list(limb.links)
    for link, shape, lines in items:
        inertia = shape_inertia(shapes[shape], joint_points(limb, link), lines)
        links[link] = replace(links[link], inertia=inertia)
    return replace(limb, links=tuple(links))


def shaped(family: Family, shapes: Mapping[str, LinkShape]) -> ShapedDescription:
    """Return the family with shapes of links, under names and patterns of links or `all`. Raises ParameterError."""
    mechanism = family.reference
    numbers: dict[Place, int] = {}
    for number, pattern in enumerate(shapes):
        places = select(real_link_names(mechanism), pattern, "link")
        once(numbers, "shapes", pattern, dict.fromkeys(places, number))
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
    return ShapedDescription(
        family.name, family.title, family.source, family.parameters, (), family.reference, base=family,
        shapes=tuple(shapes.values()), items=limbs.items, sources=limbs.sources, groups=limbs.groups,
        names=limbs.names,
    )  # fmt: skip
