"""Robot families that extend other families by parameters, which change the assembled robot.

One such family adds a deviation to some parameters; the deviation is a parameter itself.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Generic, TypeVar

from robots.data_classes import dataclass, field, replace
from robots.formats.description import Description
from robots.model import Family, Limb, Mechanism
from robots.parameter_errors import ParameterError, nearest
from robots.parameters import DEVIATION, Parameter
from robots.types import Number

Items = TypeVar("Items", bound=tuple[object, ...])


@dataclass(frozen=True, eq=False)
class ExtendedDescription(Description):
    """A family with more parameters than its `base`; a subclass changes the mechanism."""

    base: Family = field(kw_only=True)

    @property
    def in_file(self) -> Description | None:
        """The robot without these parameters, which are a section of their own."""
        base = self.base.assemble
        return base.in_file if isinstance(base, Description) else None

    @property
    def origin(self) -> str:
        """Digest of the base; its name for a base that is code."""
        base = self.base.assemble
        return base.digest if isinstance(base, Description) else self.name

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the robot and the parameters."""
        return hashlib.sha256(repr((self.origin, type(self).__name__, self.parameters)).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        """Return whether both descriptions have the same content and family.

        The digest of a family of code contains only its name, so `base` is compared as well.
        """
        return isinstance(other, type(self)) and self.digest == other.digest and self.base == other.base

    def __hash__(self) -> int:
        return hash(self.digest)

    def __call__(self, values: Mapping[str, Number]) -> Mechanism:
        """Return the mechanism for values of the parameters: floats, arrays or symbols."""
        return self.changed(self.base.assemble(self.moved(values)), values)

    @property
    def signal_names(self) -> tuple[str, ...]:
        """Names of the signals of the family."""
        return self.base.signals

    @property
    def family(self) -> Family:
        """The family; one for all equal descriptions of a process, so that kernels are compiled once."""
        return _family(self)

    def moved(self, values: Mapping[str, Number]) -> Mapping[str, Number]:
        """Return the parameters with which the base builds its mechanism, from the parameters of this family."""
        return values

    def changed(self, whole: Mechanism, values: Mapping[str, Number]) -> Mechanism:
        """Return the mechanism of the base as this family has it."""
        return whole


def extended(
    base: Family, more: Iterable[Parameter] = ()
) -> tuple[str, str, str, tuple[Parameter, ...], tuple[()], Mechanism]:
    """Return the first fields of a description with more parameters. Raises ParameterError for a name that it has."""
    parameters = list(base.parameters)
    for parameter in more:
        if parameter.name in {row.name for row in parameters}:
            raise ParameterError(f"{base.name} has a parameter {parameter.name!r} already")
        parameters.append(parameter)
    return base.name, base.title, base.source, tuple(parameters), (), base.reference


@functools.lru_cache(maxsize=64)
def _family(description: ExtendedDescription) -> Family:
    return replace(
        description.base, parameters=description.parameters, assemble=description, signals=description.signal_names
    )


@dataclass(frozen=True)
class LimbGroups(Generic[Items]):
    """Groups of copies of limbs with the same items, such as loads or errors; each group becomes a limb of its own.

    items: the items of each group; sources: number of the limb that the group copies; names: name of each group;
    groups: number of the group of each instance.
    """

    items: tuple[Items, ...]
    sources: tuple[int, ...]
    names: tuple[str, ...]
    groups: tuple[int, ...]

    @classmethod
    def of(cls, mechanism: Mechanism, items: Sequence[Items]) -> LimbGroups[Items]:
        """Group the limbs of instances by their items, so that each group has its own parameters."""
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

    def split(self, whole: Mechanism, change: Callable[[Limb, Items], Limb]) -> Mechanism:
        """Return a mechanism with a limb for each group, changed by its items."""
        groups = zip(self.sources, self.names, self.items, strict=True)
        limbs = tuple(change(replace(whole.limbs[source], name=name), items) for source, name, items in groups)
        pairs = zip(whole.instances, self.groups, strict=True)
        return replace(whole, limbs=limbs, instances=tuple(replace(instance, limb=group) for instance, group in pairs))


@dataclass(frozen=True, eq=False)
class TolerancedDescription(ExtendedDescription):
    """A family with deviations of some of its parameters as further parameters, by default zero."""

    toleranced: tuple[str, ...] = ()

    def moved(self, values: Mapping[str, Number]) -> Mapping[str, Number]:
        """Return the parameters with their deviations."""
        return {**values, **{name: values[name] + values[name + DEVIATION] for name in self.toleranced}}


def moved_values(family: Family, values: Mapping[str, Number]) -> Mapping[str, Number]:
    """Return the parameters of a family with the deviations that it adds to some of them."""
    while isinstance(description := family.assemble, ExtendedDescription):
        values, family = description.moved(values), description.base
    return values


@dataclass(frozen=True, eq=False)
class VariedDescription(ExtendedDescription):
    """A family with parameters that its mechanism does not need: numbers of limits and criteria follow from them."""


def varied(family: Family, variables: Sequence[Parameter]) -> VariedDescription:
    """Return the family with further parameters. Raises ParameterError for a name that it has."""
    return VariedDescription(*extended(family, variables), base=family)


def toleranced(family: Family, names: Sequence[str]) -> TolerancedDescription:
    """Return the family with `NAME_deviation` for each of some parameters. Raises ParameterError."""
    table = {parameter.name: parameter for parameter in family.parameters}
    more = []
    for name in names:
        if name not in table:
            raise ParameterError(f"{family.name} has no parameter {name!r}; {nearest(name, table)}")
        more.append(Parameter(name + DEVIATION, table[name].unit, 0.0, text=f"what {name} is off by"))
    return TolerancedDescription(*extended(family, more), base=family, toleranced=tuple(names))
