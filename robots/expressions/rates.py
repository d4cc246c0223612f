"""Derivatives of expressions, exact to rounding: a number with its rates, on which all operations of expressions work.

Forward mode: each operation of NumPy that expressions use has a row with its partial derivatives. At a kink, such as
`abs` at zero or `min` of equal numbers, the rate is a one-sided derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass
from robots.expressions.expression import ParsedExpression

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NumberWithRates(np.lib.mixins.NDArrayOperatorsMixin):
    """Numbers (...) and their rates (direction, ...), which NumPy's functions take as they take numbers."""

    value: Array
    rates: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the numbers."""
        return np.shape(self.value)

    def __array_ufunc__(self, function: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Apply an operation to the numbers and, where it is a row of PARTIALS, to their rates."""
        values = [x.value if isinstance(x, NumberWithRates) else x for x in inputs]
        result = getattr(function, method)(*values, **options)
        if function not in PARTIALS:
            return result  # a comparison or a connective, which has no rates
        partials = PARTIALS[function](*values)
        terms = [p * x.rates for p, x in zip(partials, inputs, strict=True) if isinstance(x, NumberWithRates)]
        return NumberWithRates(result, np.asarray(sum(terms)))

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        """Apply the functions of expressions that are no operations: `numpy.shape` and `numpy.where`."""
        if function is np.shape:
            return self.shape
        if function is not np.where or options:
            return NotImplemented
        condition, *pair = arguments
        values = [x.value if isinstance(x, NumberWithRates) else x for x in pair]
        rates = [x.rates if isinstance(x, NumberWithRates) else 0.0 for x in pair]
        return NumberWithRates(np.where(condition, *values), np.where(condition, *rates))


PARTIALS: Mapping[np.ufunc, Callable[..., tuple[Any, ...]]] = {
    np.add: lambda a, b: (1.0, 1.0),
    np.subtract: lambda a, b: (1.0, -1.0),
    np.multiply: lambda a, b: (b, a),
    np.divide: lambda a, b: (1.0 / b, -a / (b * b)),
    np.negative: lambda a: (-1.0,),
    np.positive: lambda a: (1.0,),
    np.absolute: lambda a: (np.sign(a),),
    np.sqrt: lambda a: (0.5 / np.sqrt(a),),
    np.sin: lambda a: (np.cos(a),),
    np.cos: lambda a: (-np.sin(a),),
    np.arctan2: lambda y, x: (x / (x * x + y * y), -y / (x * x + y * y)),
    np.minimum: lambda a, b: (a <= b, b < a),
    np.maximum: lambda a, b: (a >= b, b > a),
    np.fmax: lambda a, b: (~(b > a), b > a),
}
"""Partial derivatives of each operation by its arguments, from these."""


def with_rates(
    expression: ParsedExpression, values: Mapping[str, NumberWithRates], *, margin: bool = False
) -> NumberWithRates:
    """Evaluate an expression on numbers with rates in the same directions; with `margin`, the margin of a condition.

    >>> from robots.expressions.expression import parse
    >>> x = NumberWithRates(np.array(3.0), np.array([1.0, 0.0]))
    >>> with_rates(parse("2 * x ** 2", "number"), {"x": x}).rates
    array([12.,  0.])
    """
    with np.errstate(all="ignore"):
        result = expression.margin(values) if margin else expression(values)
    if isinstance(result, NumberWithRates):
        return result
    return NumberWithRates(np.asarray(result, dtype=float), np.zeros(1))
