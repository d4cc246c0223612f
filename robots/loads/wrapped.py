"""Robot families made of other families: with further parameters, which change the assembled robot.

One of them adds to some parameters a deviation, which is a parameter itself.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeVar

from robots.formats.description import Description
from robots.model import Family, Mechanism
from robots.parameters import Parameter, ParameterError, nearest
from robots.types import Number

Items = TypeVar("Items", bound=tuple[object, ...])


@dataclass(frozen=True, eq=False)
class ExtendedDescription(Description):
    """A family with more parameters than its `base`; a subclass builds the mechanism."""

    base: Family | None = None

    @property
    def in_file(self) -> Description | None:
        """The robot without these parameters, which are a section of their own."""
        base = self.base.assemble if self.base else None
        return base.in_file if isinstance(base, Description) else None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the robot and the parameters."""
        base = self.base.assemble if self.base else None
        source = base.digest if isinstance(base, Description) else self.name
        return hashlib.sha256(repr((source, type(self).__name__, self.parameters)).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        """Return whether both descriptions have the same content and family.

        The digest of a family of code contains only its name, so `base` is compared as well.
        """
        return isinstance(other, type(self)) and self.digest == other.digest and self.base == other.base

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def family(self) -> Family:
        """The family; one for all equal descriptions of a process, so that kernels are compiled once."""
        return _family(self)

    def moved(self, values: Mapping[str, Number]) -> Mapping[str, Number]:
        """Return the parameters that the base builds its mechanism from, for those of this family."""
        return values


@functools.lru_cache(maxsize=64)
def _family(description: ExtendedDescription) -> Family:
    assert description.base is not None
    return replace(description.base, parameters=description.parameters, assemble=description)


@dataclass(frozen=True)
class LimbGroups(Generic[Items]):
    """Limbs of which some copies are told other things than others, each group a limb of its own.

    items: what is told of each group; sources: the limb that it is a copy of; names: what it is called; groups: that of
    each instance.
    """

    items: tuple[Items, ...]
    sources: tuple[int, ...]
    names: tuple[str, ...]
    groups: tuple[int, ...]

    @classmethod
    def of(cls, mechanism: Mechanism, items: Sequence[Items]) -> LimbGroups[Items]:
        """Group the limbs of instances by their items, so that each group deviates by its own parameters."""
        keys = [(instance.limb, group_items) for instance, group_items in zip(mechanism.instances, items, strict=True)]
        distinct = list(dict.fromkeys(keys))
        whole, names = len(distinct) == len(mechanism.limbs), []
        for limb, group_items in distinct:
            first, name = mechanism.instances[keys.index((limb, group_items))], mechanism.limbs[limb].name
            names.append(name if whole or not group_items else f"{name}_{first.name}")
        return cls(
            tuple(group_items for _, group_items in distinct), tuple(limb for limb, _ in distinct), tuple(names),
            tuple(distinct.index(key) for key in keys),
        )  # fmt: skip


SUFFIX = "_deviation"
"""Suffix of the name of a deviation."""


@dataclass(frozen=True, eq=False)
class TolerancedDescription(ExtendedDescription):
    """A family with deviations of some of its parameters as further parameters, by default zero."""

    toleranced: tuple[str, ...] = ()

    def __call__(self, values: Mapping[str, Number]) -> Mechanism:
        """Return the mechanism for values of the parameters: floats, arrays or symbols."""
        assert self.base is not None
        return self.base.assemble(self.moved(values))

    def moved(self, values: Mapping[str, Number]) -> Mapping[str, Number]:
        """Return the parameters with their deviations."""
        return {**values, **{name: values[name] + values[name + SUFFIX] for name in self.toleranced}}


def moved_values(family: Family, values: Mapping[str, Number]) -> Mapping[str, Number]:
    """Return the parameters of a family with the deviations that it adds to some of them."""
    while isinstance(description := family.assemble, ExtendedDescription) and description.base is not None:
        values, family = description.moved(values), description.base
    return values


@dataclass(frozen=True, eq=False)
class VariedDescription(ExtendedDescription):
    """A family with parameters that its mechanism does not need: numbers of limits and criteria follow from them."""

    def __call__(self, values: Mapping[str, Number]) -> Mechanism:
        """Return the mechanism for values of the parameters: floats, arrays or symbols."""
        assert self.base is not None
        return self.base.assemble(values)


def varied(family: Family, variables: Sequence[Parameter]) -> VariedDescription:
    """Return the family with further parameters. Raises ParameterError for a name that it has."""
    taken = {parameter.name for parameter in family.parameters}
    for variable in variables:
        if variable.name in taken:
            raise ParameterError(f"{family.name} has a parameter {variable.name!r} already")
    return VariedDescription(
        family.name, family.title, family.source, (*family.parameters, *variables), (), family.reference, base=family
    )


def toleranced(family: Family, names: Sequence[str]) -> TolerancedDescription:
    """Return the family with `NAME_deviation` for each of some parameters. Raises ParameterError."""
    table = {parameter.name: parameter for parameter in family.parameters}
    more = []
    for name in names:
        if name not in table:
            raise ParameterError(f"{family.name} has no parameter {name!r}; {nearest(name, table)}")
        if name + SUFFIX in table:
            raise ParameterError(f"{family.name} has a parameter {name + SUFFIX!r} already")
        more.append(Parameter(name + SUFFIX, table[name].unit, 0.0, text=f"what {name} is off by"))
    return TolerancedDescription(
        family.name, family.title, family.source, (*family.parameters, *more), (), family.reference,
        base=family, toleranced=tuple(names),
    )  # fmt: skip
