"""A robot file as data: a family without code, which can be written, sent to a worker and made a family there."""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property

from robots import catalog
from robots.coupled import CoupledPlatform, closed
from robots.expressions.expression import Expression
from robots.formats.assembly import References, counted_from
from robots.formats.oblique import Axes, is_oblique, nearest_axes, straightened, straightened_cuts, straightened_links
from robots.formats.ratings import Rating
from robots.formats.templates import fill
from robots.formats.variants import Variant, expanded
from robots.model import Family, Mechanism, Robot
from robots.parameters import Parameter
from robots.types import BASE, Number

CONSTANTS = {"pi": math.pi}
"""Names that expressions may use beside the parameters."""


_OPTIONAL = {"ratings", "massless", "reference", "platform", "joined", "variants", "standing"}
"""Fields that count for the digest where they are there: descriptions without them keep the digest that they had."""


@dataclass(frozen=True, eq=False)
class Description:
    """What a robot file says.

    `derived` are named values that expressions of the template may use, each of parameters and those before it;
    `reference` has positions of joints from which they count, found by `robots.formats.assembly` where loops are open.
    `template` is a mechanism with late values (`robots.formats.templates`) in place of numbers. `ratings` are what is
    known of joints beside it, `massless` names bodies that end the tree and are meant to have no inertia. With a
    `platform` whose coordinates follow, the template has limbs and instances alone, and `joined` says which of its
    bodies each instance joins. `variants`, one for each instance where there are any, say what is different in its
    limb; `standing` likewise on which carrier of the platform it is mounted. Two descriptions are equal where they say
    the same.
    """

    name: str
    title: str
    source: str
    parameters: tuple[Parameter, ...]
    derived: tuple[tuple[str, Expression], ...]
    template: Mechanism
    ratings: tuple[Rating, ...] = ()
    massless: tuple[str, ...] = ()
    reference: References = ()
    platform: CoupledPlatform | None = None
    joined: tuple[int, ...] = ()
    variants: tuple[Variant, ...] = ()
    standing: tuple[int, ...] = ()

    @property
    def in_file(self) -> Description | None:
        """What stands in a robot file, where a sweep says more of the robot than that; None for no file."""
        return self

    @property
    def written(self) -> bool:
        """Whether a robot file can say all of it."""
        return type(self) is Description

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content in hexadecimal; floats count with all their bits."""
        said = [(each.name, getattr(self, each.name)) for each in fields(self)]
        counted: list[object] = [value for name, value in said if name not in _OPTIONAL]
        counted += [pair for pair in said if pair[0] in _OPTIONAL and pair[1]]
        return hashlib.sha256(repr(counted).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Description) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __call__(self, values: Mapping[str, Number]) -> Mechanism:
        """The mechanism for values of the parameters: floats, arrays or symbols."""
        limbs, platform = self.parts(values)
        if platform is None:
            return limbs
        return closed(self.name, limbs.limbs, limbs.instances, platform, self.joined, self.standing)

    def parts(self, values: Mapping[str, Number]) -> tuple[Mechanism, CoupledPlatform | None]:
        """The template for values of the parameters, and its platform where that is none of the template."""
        made, _ = self._expanded(values)
        platform: CoupledPlatform | None = fill(self.platform, self.known(values))
        if any(self._oblique):
            *of_limbs, of_platform = self._oblique
            limbs = (straightened(limb, axes) for limb, axes in zip(made.limbs, of_limbs, strict=True))
            made = replace(made, limbs=tuple(limbs))
            if platform is not None and of_platform:
                made, platform = self._straight_platform(made, platform, of_platform)
        return counted_from(made, self.reference) if self.reference else made, platform

    def _expanded(self, values: Mapping[str, Number]) -> tuple[Mechanism, tuple[int, ...]]:
        """The template in numbers, with the limbs of all variants; which of its limbs each of them is."""
        if not self.variants:
            return fill(self.template, self.known(values)), tuple(range(len(self.template.limbs)))
        return expanded(self.template, self.variants, lambda changed: self.known({**values, **changed}))

    def known(self, values: Mapping[str, Number]) -> Mapping[str, Number]:
        """What expressions may use: constants, values of the parameters, and what is derived from them."""
        known = {**CONSTANTS, **values}
        for name, expression in self.derived:
            known[name] = fill(expression, known)
        return known

    @cached_property
    def _oblique(self) -> tuple[Axes, ...]:
        """Of each limb, and of the platform, coordinate axes of links that have others; none where all have one."""
        of_platform = self.platform.links if self.platform else ()
        lists = [*(limb.links for limb in self.template.limbs), of_platform]
        if not any(is_oblique(link.axis) for links in lists for link in links):
            return ()
        defaults = {each.name: each.scalar for each in self.parameters}
        made, sources = self._expanded(defaults)
        pairs = [(lists[source], limb.links) for source, limb in zip(sources, made.limbs, strict=True)]
        pairs.append((of_platform, fill(of_platform, self.known(defaults))))
        return tuple(nearest_axes(links, numbers) for links, numbers in pairs)

    def _straight_platform(
        self, limbs: Mechanism, platform: CoupledPlatform, axes: Axes
    ) -> tuple[Mechanism, CoupledPlatform]:
        """Limbs and platform, with the mount frames on those of its bodies that were turned."""
        links, back = straightened_links(platform.links, axes)
        bodies = self.joined or (BASE,) * len(limbs.instances)
        instances = tuple(
            replace(instance, platform=back(body, instance.platform))
            for instance, body in zip(limbs.instances, bodies, strict=True)
        )
        joined = straightened_cuts(platform.joined, back)
        return replace(limbs, instances=instances), replace(platform, links=links, joined=joined)

    @property
    def family(self) -> Family:
        """The family; one for all equal descriptions of a process, so that kernels are compiled once."""
        return _family(self)


@functools.lru_cache(maxsize=64)
def _family(description: Description) -> Family:
    return Family(description.name, description.title, description.source, description.parameters, description)


def family_of(name: str, description: Description | None) -> Family:
    """The family of a robot: that of its description, or without one that of the catalogue. Raises ParameterError."""
    return catalog.family(name) if description is None else description.family


def describe(robot: Robot) -> Description:
    """The robot as it stands, in numbers; that of a robot file keeps its parameters, with these values as defaults."""
    family = robot.family
    if family.signals or robot.mechanism.has_forces:
        raise ValueError(f"loads act on bodies of {robot.name}, which no robot file has; expected a robot without them")
    if any(limit != math.inf for motor in robot.mechanism.motors for limit in (motor.voltage, motor.current)):
        raise ValueError(
            f"amplifiers of {robot.name} are limited, which no robot file has; expected a robot without such limits, "
            "and the section motors of a sweep"
        )
    if isinstance(family.assemble, Description) and family.assemble.written:
        given = tuple(replace(each, default=robot.values[each.name]) for each in family.parameters)
        return replace(family.assemble, parameters=given)
    return Description(family.name, family.title, family.source, (), (), fill(robot.mechanism, {}))
