"""A robot family some of whose parameters are off by a deviation, which is a parameter of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robots.loads.wrapped import ExtendedDescription
from robots.model import Family, Mechanism
from robots.parameters import Parameter, ParameterError, nearest
from robots.types import Number

SUFFIX = "_deviation"
"""Behind the name of a parameter, what it is off by."""


@dataclass(frozen=True, eq=False)
class TolerancedDescription(ExtendedDescription):
    """A family with deviations of some of its parameters as further parameters, by default zero."""

    toleranced: tuple[str, ...] = ()

    def __call__(self, values: Mapping[str, Number]) -> Mechanism:
        """The mechanism for values of the parameters: floats, arrays or symbols."""
        assert self.base is not None
        moved = {name: values[name] + values[name + SUFFIX] for name in self.toleranced}
        return self.base.assemble({**values, **moved})


def toleranced(family: Family, names: Sequence[str]) -> TolerancedDescription:
    """The family with `NAME_deviation` for each of some parameters. Raises ParameterError."""
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
