"""Numbers and rotations that are known once the parameters are: what a description holds where a mechanism has numbers.

A template is a record of `robots.model` with late values in place of numbers; `fill` gives the record.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np

from robots import geometry
from robots.expressions.expression import Expression
from robots.types import IDENTITY, Matrix, Number, Vector

Values = Mapping[str, Number]
Late = float | Expression


UNDECIDED: Matrix = ((math.nan,) * 3,) * 3


@dataclass(frozen=True)
class Turn:
    """A rotation as turns one after the other about axes of the turned frame: (x, y or z; degrees)."""

    steps: tuple[tuple[str, Late], ...]

    def __call__(self, values: Values) -> Matrix:
        """The rotation (3, 3)."""
        turns = (geometry.about(axis, *geometry.exact_circle(fill(angle, values))) for axis, angle in self.steps)
        return reduce(geometry.product, turns, IDENTITY)


@dataclass(frozen=True)
class Along:
    """The rotation that lays z along a direction and keeps x level; z of the outer frame is up."""

    direction: tuple[Late, Late, Late]

    def __call__(self, values: Values) -> Matrix:
        """The rotation (3, 3)."""
        direction: Vector = fill(self.direction, values)
        try:
            return geometry.along(direction)
        except ZeroDivisionError:  # numbers that leave x undecided: checked with the defaults, NaN elsewhere
            return UNDECIDED


@dataclass(frozen=True)
class DriveCurve:
    """The coordinate of a drive as a function of joint positions: an expression of joints and parameters."""

    expression: Expression

    def __call__(self, values: Values) -> Callable[[Values], Number]:
        """The function, for values of the parameters."""
        return partial(_along_curve, self.expression, values)


def _along_curve(expression: Expression, values: Values, positions: Values) -> Number:
    return expression({**values, **positions})


LATE = (Expression, Turn, Along, DriveCurve)


def fill(template: Any, values: Values) -> Any:
    """The template with the value of everything that is late: floats, arrays or symbols, as `values` are."""
    if isinstance(template, LATE):
        return fill(template(values), values)
    if isinstance(template, np.floating):
        return float(template)
    if isinstance(template, tuple):
        return tuple(fill(each, values) for each in template)
    if dataclasses.is_dataclass(template) and not isinstance(template, type):
        names = [each.name for each in dataclasses.fields(template)]
        return type(template)(**{name: fill(getattr(template, name), values) for name in names})
    return template


def names(template: Any) -> frozenset[str]:
    """Names that the late values of a template mention."""
    if isinstance(template, Expression):
        return frozenset(template.names)
    if isinstance(template, tuple):
        return frozenset().union(*map(names, template))
    if dataclasses.is_dataclass(template) and not isinstance(template, type):
        return names(tuple(getattr(template, each.name) for each in dataclasses.fields(template)))
    return frozenset()
