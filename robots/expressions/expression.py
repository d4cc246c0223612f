"""Expressions over parameters, such as `upper_arm + forearm > 0.9`: a small language that can do nothing else.

It has numbers and names, `+ - * / **`, comparisons, `and or not`, parentheses, and some functions: the part of Python's
syntax that `robots.expressions.parser` allows. Values may be floats, arrays, or symbols of a kernel. An undefined
number (0 / 0, the root of a negative) compares as false with everything.

Sweeps allow the functions EXACT. All their operations are exactly rounded by IEEE 754 (exponents are whole, so that
powers are products). An expression therefore has the same bits on every machine. Robot files allow the functions
GEOMETRIC.
"""

from __future__ import annotations

import functools

import numpy as np

from robots.data_classes import dataclass
from robots.expressions.parser import (
    CHOOSING,
    EXACT,
    GEOMETRIC,
    INVERSE,
    SMOOTH,
    STATEFUL,
    Evaluate,
    ExpressionError,
    Functions,
    Kind,
    Values,
    tokenize,
    translate,
)
from robots.types import Number

__all__ = [
    "EXACT",
    "GEOMETRIC",
    "MAX_LENGTH",
    "SMOOTH",
    "STATEFUL",
    "ExpressionError",
    "Kind",
    "ParsedExpression",
    "parse",
]

MAX_LENGTH = 500
"""Characters of an expression."""

MAX_TOKENS = 200
"""Names, numbers and signs: sums nest to the left, and are computed as they nest."""


@dataclass(frozen=True)
class ParsedExpression:
    """A parsed expression: its text in one spelling, its kind of result, its names. Equal texts are equal."""

    text: str
    kind: Kind
    names: tuple[str, ...]
    functions: Functions = EXACT

    def __call__(self, values: Values) -> Number:
        """Return the value, with the shape that the `values` of the names broadcast to: floats, or booleans."""
        with np.errstate(all="ignore"):
            return _compiled(self.text, self.functions)(values)

    def margin(self, values: Values) -> Number:
        """Compute the normalized margin of a condition, from -1 to 1.

        The margin is above 0 where the condition holds, and NaN where a number is undefined. The margin of a
        comparison is the difference of its sides over the sum of their sizes. `and` takes the least margin, `or`
        the largest.
        """
        with np.errstate(all="ignore"):
            return _compiled(self.text, self.functions, margins=self.kind == "condition")(values)


def parse(text: str, kind: Kind, functions: Functions = EXACT) -> ParsedExpression:
    """Parse the expression in a text; `kind` is its result, `functions` are allowed. Raises ExpressionError."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(MAX_LENGTH, f"{len(text)} characters", f"at most {MAX_LENGTH}", "Write several.")
    tokens = tokenize(text, functions)
    if len(tokens) > MAX_TOKENS:
        got = f"{len(tokens)} names, numbers and signs"
        raise ExpressionError(tokens[MAX_TOKENS].place, got, f"at most {MAX_TOKENS}", "Write several.")
    part = translate(tokens, functions)
    if functions == STATEFUL and not any(token.text in CHOOSING for token in tokens):
        functions = GEOMETRIC
    if functions == GEOMETRIC and not any(token.text in INVERSE for token in tokens):
        functions = SMOOTH  # an expression without new functions has the hash that it had
    if part.kind != kind:
        rule = "a number" if kind == "number" else "a condition, such as upper_arm < rod_length"
        raise ExpressionError(0, f"a {part.kind}", rule)
    names = {token.text for token in tokens if token.kind == "name"} - set(functions)
    return ParsedExpression(" ".join(token.text for token in tokens[:-1]), kind, tuple(sorted(names)), functions)


@functools.lru_cache(maxsize=1024)
def _compiled(text: str, functions: Functions, *, margins: bool = False) -> Evaluate:
    return translate(tokenize(text, functions), functions, margins=margins).value
