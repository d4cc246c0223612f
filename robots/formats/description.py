"""A robot file as data: a family without code, which can be written, sent to a worker and made a family there."""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property

from robots import catalog
from robots.expressions.expression import Expression
from robots.formats.assembly import References, counted_from
from robots.formats.ratings import Rating
from robots.formats.templates import fill
from robots.model import Family, Mechanism, Robot
from robots.parameters import Parameter
from robots.types import Number

CONSTANTS = {"pi": math.pi}
"""Names that expressions may use beside the parameters."""


_OPTIONAL = {"ratings", "massless", "reference"}
"""Fields that count for the digest where they are there: descriptions without them keep the digest that they had."""


@dataclass(frozen=True, eq=False)
class Description:
    """What a robot file says.

    `derived` are named values that expressions of the template may use, each of parameters and those before it;
    `reference` has positions of joints from which they count, found by `robots.formats.assembly` where loops are open.
    `template` is a mechanism with late values (`robots.formats.templates`) in place of numbers. `ratings` are what is
    known of joints beside it, `massless` names bodies that end the tree and are meant to have no inertia. Two
    descriptions are equal where they say the same.
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
        known = {**CONSTANTS, **values}
        for name, expression in self.derived:
            known[name] = fill(expression, known)
        made: Mechanism = fill(self.template, known)
        return counted_from(made, self.reference) if self.reference else made

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
    if isinstance(family.assemble, Description) and family.assemble.written:
        given = tuple(replace(each, default=robot.values[each.name]) for each in family.parameters)
        return replace(family.assemble, parameters=given)
    return Description(family.name, family.title, family.source, (), (), fill(robot.mechanism, {}))
