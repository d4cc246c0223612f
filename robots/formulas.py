"""Numbers of limits and criteria that follow from the parameters of a design, such as a torque limit of a motor.

A `Formula` is a float, its value at the reference design, so that all checks of numbers hold for it; arithmetic with it
gives formulas. Case inputs have a row of numbers each, with a value for every design where a formula is among them.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from robots.types import Number

Values = Mapping[str, Number]


def _chooses(condition: Number, a: Number, b: Number) -> Number:
    """Return a where a condition holds, else b: of arrays, and of symbols, which have no truth."""
    return condition.where(a, b) if hasattr(condition, "where") else np.where(condition, a, b)


def _power(base: Number, exponent: int) -> Number:
    return functools.reduce(operator.mul, [base] * int(exponent))


OPERATIONS: Mapping[str, Callable[..., Number]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": _power,
    "negative": operator.neg,
    "root": np.sqrt,
    "min": lambda a, b: _chooses(a < b, a, b),
    "max": lambda a, b: _chooses(a > b, a, b),
    "above zero": lambda x, size: x * (np.sqrt(size) / np.sqrt(size)),
    "not below zero": lambda x, size: x + 0.0 * np.sqrt(size),
}
"""Operations on numbers, arrays and symbols. The last two give x where a size allows it, else NaN."""


class Formula(float):
    """A number that follows from parameters: an `operation` on `parts`, or an expression (no operation)."""

    operation: str
    parts: tuple[Any, ...]

    def __new__(cls, value: float, operation: str, parts: tuple[object, ...]) -> Self:
        """Make a formula with its value at the reference design."""
        formula = super().__new__(cls, value)
        formula.operation, formula.parts = operation, parts
        return formula

    @classmethod
    def of(cls, expression: Callable[[Values], Number], reference: Values) -> Self:
        """Return an expression as a formula. It has a `text` and is compared by it."""
        with np.errstate(all="ignore"):
            return cls(float(expression(reference)), "", (expression,))

    def __call__(self, values: Values) -> Number:
        """Return the number for values of the parameters: floats, arrays or symbols."""
        if not self.operation:
            return self.parts[0](values)
        with np.errstate(all="ignore"):
            return OPERATIONS[self.operation](*(value_of(part, values) for part in self.parts))

    @property
    def text(self) -> str:
        """The formula in words of expressions, for fingerprints and messages."""
        if not self.operation:
            return str(self.parts[0].text)
        return f"{self.operation}({', '.join(x.text if isinstance(x, Formula) else repr(x) for x in self.parts)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Formula, (float(self), self.operation, self.parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and (self.operation, self.parts) == (other.operation, other.parts)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.operation, self.parts))

    def __repr__(self) -> str:
        return f"Formula({self.text})"

    def __neg__(self) -> Formula:
        return Formula(-float(self), "negative", (self,))

    def __pow__(self, exponent: int) -> Formula:  # type: ignore[override]  # whole powers alone
        if not isinstance(exponent, int) or exponent < 1:
            raise TypeError(f"got the power {exponent!r} of a formula; expected a whole one above zero")
        return Formula(float(self) ** exponent, "**", (self, exponent))


def _binary(sign: str, *, swapped: bool) -> Callable[[Formula, object], Formula]:
    def combined(self: Formula, other: object) -> Formula:
        if not isinstance(other, float | int):
            return NotImplemented
        parts = (other, self) if swapped else (self, other)
        return Formula(OPERATIONS[sign](*(float(x) for x in parts)), sign, parts)

    return combined


for _sign, _name in (("+", "add"), ("-", "sub"), ("*", "mul"), ("/", "truediv")):
    setattr(Formula, f"__{_name}__", _binary(_sign, swapped=False))
    setattr(Formula, f"__r{_name}__", _binary(_sign, swapped=True))


def checked(number: float, size: float, *, zero: bool = False) -> float:
    """Return a number where a size is above zero, with `zero` at least zero, else NaN; numbers without formulas stay.

    >>> checked(2.0, -1.0)
    2.0
    """
    if not isinstance(number, Formula) and not isinstance(size, Formula):
        return number
    return Formula(float(number), "not below zero" if zero else "above zero", (number, size))


def root(number: float) -> float:
    """Return the root of a number, a formula of a formula."""
    return Formula(math.sqrt(number), "root", (number,)) if isinstance(number, Formula) else math.sqrt(number)


def ordered(a: float, b: float) -> tuple[float, float]:
    """Return the lesser and the larger of two numbers, of which some may be formulas."""
    if not isinstance(a, Formula) and not isinstance(b, Formula):
        return min(a, b), max(a, b)
    return Formula(min(a, b), "min", (a, b)), Formula(max(a, b), "max", (a, b))


def described(record: object) -> Any:
    """Return numbers, lists and mappings in types of JSON, formulas as texts."""
    if isinstance(record, list | tuple):
        return [described(x) for x in record]
    if isinstance(record, Mapping):
        return {key: described(x) for key, x in record.items()}
    return record.text if isinstance(record, Formula) else record


def value_of(number: object, values: Values) -> Number:
    """Return a number, or the number of a formula for values of the parameters."""
    return number(values) if isinstance(number, Formula) else number


def as_row(numbers: Iterable[float]) -> np.ndarray:
    """Return numbers as the row of a case input (1, number): of objects where a formula is among them."""
    row = list(numbers)
    return np.array([row], dtype=object if any(isinstance(x, Formula) for x in row) else float)


def has_formulas(row: np.ndarray) -> bool:
    """Return whether formulas are among the numbers of a row."""
    return row.dtype == object


def evaluated(row: np.ndarray, values: Values) -> NDArray[np.float64]:
    """Return a row with the numbers of its formulas: (design, number) for values (design,), as it is without any."""
    if not has_formulas(row):
        return row
    numbers = [value_of(x, values) for x in row[0]]
    return np.stack(np.broadcast_arrays(*numbers), axis=-1).reshape(-1, len(numbers)).astype(float)


def formulas_of(record: object) -> Iterator[Formula]:
    """Yield the formulas among numbers, tuples, mappings and records."""
    if isinstance(record, Formula):
        yield record
    elif isinstance(record, tuple):
        yield from itertools.chain.from_iterable(map(formulas_of, record))
    elif isinstance(record, Mapping):
        yield from formulas_of(tuple(record.values()))
    elif dataclasses.is_dataclass(record) and not isinstance(record, type):
        yield from formulas_of(tuple(getattr(record, each.name) for each in dataclasses.fields(record)))


def names_of(record: object) -> Iterator[str]:
    """Yield the names of the parameters from which the formulas of a record follow."""
    for formula in formulas_of(record):
        yield from names_of(formula.parts) if formula.operation else formula.parts[0].names


def replaced(record: object, values: Values) -> Any:
    """Return numbers, tuples, mappings and records with the numbers of their formulas for one design."""
    if isinstance(record, Formula):
        return float(record(values))
    if isinstance(record, tuple) and not hasattr(record, "_fields"):
        return tuple(replaced(x, values) for x in record)
    if isinstance(record, Mapping):
        return {key: replaced(x, values) for key, x in record.items()}
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        fields = {each.name: replaced(getattr(record, each.name), values) for each in dataclasses.fields(record)}
        return dataclasses.replace(record, **fields)
    return record
