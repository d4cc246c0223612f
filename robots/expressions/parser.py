"""Reader of expressions with Python's parser: an allow-list of its syntax becomes a function of the values of names.

Python sees `x` for every name and `0` for every number. So its keywords are ordinary names, `010` is ten, and syntax
beyond `_SYNTAX` is refused. The number of tokens is limited in `robots.expressions.expression`, the depth of
parentheses here. Both limits apply before Python parses the text, which bounds its time and its stack. The meaning of
expressions is described in `robots.expressions.expression`.
"""

from __future__ import annotations

import ast
import functools
import math
import operator
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, starmap, takewhile
from typing import Literal, cast

import numpy as np

from robots.data_classes import dataclass
from robots.parameter_errors import nearest
from robots.types import Number

Kind = Literal["number", "condition"]
Values = Mapping[str, Number]
Evaluate = Callable[[Values], Number]

MAX_DEPTH = 32
"""Levels of parentheses."""

MAX_POWER = 8

Functions = tuple[str, ...]
"""Names of the functions that a text may call."""

EXACT: Functions = ("abs", "min", "max", "sqrt")
"""Functions whose bits are the same on every machine."""

SMOOTH: Functions = ("abs", "sqrt", "sin", "cos", "tan")
"""Functions that symbols of a kernel have too; angles in radians."""

INVERSE: Functions = ("asin", "acos", "atan", "atan2")
"""Functions that give angles in radians; `atan2(y, x)` is the angle of the point (x, y)."""

GEOMETRIC: Functions = (*SMOOTH, *INVERSE)
"""Functions of robot files."""

CHOOSING: Functions = ("min", "max", "where", "exp", "log", "tanh")
"""Functions of loads that follow from the state; `where(condition, a, b)` is a where the condition holds, else b."""

STATEFUL: Functions = (*GEOMETRIC, *CHOOSING)
"""Functions of loads that follow from the state."""

_ALPHABET = "names, numbers, + - * / **, comparisons, and, or, not, parentheses"
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/()<>,]|(?:and|or|not)(?![A-Za-z0-9_]))|(?P<name>[A-Za-z_][A-Za-z0-9_]*))"
)
_HINTS = {"=": "Write == for equality.", "^": "Write ** for powers.", "&": "Write and.", "|": "Write or."}

_SYNTAX = (
    *(ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator, ast.Compare, ast.cmpop),
    *(ast.Call, ast.Name, ast.Load, ast.Constant),
)
"""The nodes of Python's syntax that an expression may have. The tokens limit the operators."""

_WIDTH = 4
"""Columns of each token in the text for Python, so that the column of a node gives its token."""


class ExpressionError(ValueError):
    """An expression that cannot be read: `place` counts characters from 0; got, expected, and advice."""

    def __init__(self, place: int, got: str, expected: str, hint: str = "") -> None:
        super().__init__(f"got {got}; expected {expected}. {hint}".rstrip())
        self.place, self.got, self.expected, self.hint = place, got, expected, hint


@dataclass(frozen=True)
class Token:
    """A number, name or sign, or the end; `place` counts characters from 0."""

    kind: str
    text: str
    place: int


@dataclass(frozen=True)
class Subexpression:
    """A subexpression: its kind of result and the function that computes it."""

    kind: Kind
    value: Evaluate


def alphabet(functions: Functions = EXACT) -> str:
    """Describe the elements that an expression may contain."""
    return ", ".join((_ALPHABET, *functions))


def tokenize(text: str, functions: Functions = EXACT) -> list[Token]:
    """Return the numbers, names and signs of a text, and its end, as tokens. Raises ExpressionError."""
    tokens: list[Token] = []
    place, end = 0, len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if not match or not match.lastgroup:
            place += len(text[place:]) - len(text[place:].lstrip())
            hint = _HINTS.get(text[place], "Expressions are no program: nothing else is understood.")
            raise ExpressionError(place, ascii(text[place]), alphabet(functions), hint)
        tokens.append(Token(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)))
        place = match.end()
    return [*tokens, Token("end", "the end", end)]


def translate(tokens: Sequence[Token], functions: Functions = EXACT, *, margins: bool = False) -> Subexpression:
    """Return the expression of some tokens, the last of which is the end. Raises ExpressionError.

    With `margins` comparisons, `and`, `or` and `not` give numbers: the distance of a condition from its limit.
    """
    _check_tokens(tokens, functions)
    tree = _parsed(tokens[:-1])
    if tree is None or _missing(tokens):
        raise _misplaced(tokens)
    return _Translator(tokens, functions, _APPLY | _MARGINS if margins else _APPLY).part(tree)


def _check_tokens(tokens: Sequence[Token], functions: Functions) -> None:
    """Refuse deep parentheses, functions that are not called, and powers that are not small integers."""
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token.text == "(") - (token.text == ")")
        if depth > MAX_DEPTH:
            raise _unexpected(tokens[at + 1], f"at most {MAX_DEPTH} levels of parentheses")
        if token.text in functions and tokens[at + 1].text != "(":
            raise _unexpected(tokens[at + 1], "'('")
        if token.text == "**":
            last = at + 1 + (tokens[at + 1].text == "-")
            if not tokens[last].text.isdigit() or int(tokens[last].text) > MAX_POWER:
                raise _unexpected(tokens[last], f"a whole power of at most {MAX_POWER}", "Write sqrt for roots.")
            if tokens[last + 1].text == "**":
                raise _unexpected(tokens[last + 1], "an operator, or the end")


@dataclass(frozen=True)
class _Translator:
    """Translator of nodes of Python's syntax to parts of an expression."""

    tokens: Sequence[Token]
    functions: Functions
    operations: Mapping[str, Callable[..., Number]]

    def part(self, node: ast.expr) -> Subexpression:
        """Translate a syntax node into a subexpression."""
        token = self.tokens[_first(node)]
        match node:
            case ast.Constant() if math.isfinite(number := float(token.text)):
                return Subexpression("number", lambda names: number)
            case ast.Constant():
                raise _unexpected(token, "a finite number")
            case ast.Call(args=arguments):
                _check_call(token, len(arguments), self.functions)
                return self.apply(token.text, token, *map(self.part, arguments))
            case ast.UnaryOp():
                return self.signed(node)
            case ast.BinOp(left=left, op=ast.Pow()):
                sign = self.operator(left)
                exponent = int("".join(token.text for token in self.tokens[sign + 1 : _last(node) + 1]))
                base = self.apply("positive", self.tokens[sign], self.part(left))
                return Subexpression("number", lambda names: _power(base.value(names), exponent))
            case ast.BinOp(left=left, right=right):
                return self.joined(left, right)
            case ast.Compare(left=left, comparators=others):
                links = starmap(self.joined, pairwise((left, *others)))
                return functools.reduce(functools.partial(self.apply, "and", token), links)
            case ast.BoolOp(values=[left, *others]):
                word, parts = self.tokens[self.operator(left)], map(self.part, others)
                return functools.reduce(functools.partial(self.apply, word.text, word), parts, self.part(left))
        return Subexpression("number", lambda names: names[token.text])

    def joined(self, left: ast.expr, right: ast.expr) -> Subexpression:
        """Return two operands joined by the operator between them."""
        sign = self.tokens[self.operator(left)]
        return self.apply(sign.text, sign, self.part(left), self.part(right))

    def signed(self, node: ast.expr) -> Subexpression:
        """Return a number after any number of signs, or a condition after any number of `not`; two `not` cancel."""
        token, texts = self.tokens[_first(node)], (token.text for token in self.tokens[_first(node) :])
        signs = [*takewhile(("not",).__contains__ if token.text == "not" else ("+", "-").__contains__, texts)]
        for _ in signs:
            node = node.operand  # type: ignore[attr-defined]  # signs side by side are nodes one in the other
        part = self.part(node)
        if token.text != "not":
            return self.apply("negative" if signs.count("-") % 2 else "positive", token, part)
        for _ in range(2 - len(signs) % 2):
            part = self.apply("not", token, part)
        return part

    def apply(self, function: str, token: Token, *parts: Subexpression) -> Subexpression:
        """Return the function applied to parts, each of the kind that it takes; errors are at the token."""
        return _apply(function, self.operations[function], token, *parts)

    def operator(self, left: ast.expr) -> int:
        """Return the index of the operator that follows an operand and its parentheses."""
        return next(k for k in range(_last(left) + 1, len(self.tokens)) if self.tokens[k].text != ")")


def _check_call(function: Token, count: int, functions: Functions) -> None:
    """Refuse a function that may not be called, or not with this number of arguments."""
    if function.text not in functions:
        hint = nearest(function.text, functions)
        advice = f"{hint[:1].upper()}{hint[1:]}" if hint.startswith("did") else ""
        raise ExpressionError(function.place, f"the function {function.text!r}", alphabet(functions), advice)
    least, most = {"min": (2, 8), "max": (2, 8), "atan2": (2, 2), "where": (3, 3)}.get(function.text, (1, 1))
    if not least <= count <= most:
        rule = f"{least}" if least == most else f"{least} to {most}"
        got = "1 argument" if count == 1 else f"{count} arguments"
        raise ExpressionError(function.place, f"{got} of {function.text}", rule)


def _apply(function: str, evaluate: Callable[..., Number], token: Token, *parts: Subexpression) -> Subexpression:
    """Return the function of some parts, all of which have to be of the kind that it takes; errors are at the token."""
    for place, part in enumerate(parts):
        chooses = function == "where" and place == 0
        expected_kind: Kind = "condition" if function in _LOGIC or chooses else "number"
        if part.kind != expected_kind:
            hint = (
                "Compare it with something."
                if expected_kind == "condition"
                else "Conditions are joined by and, or, not."
            )
            raise ExpressionError(token.place, f"a {part.kind} for {function}", f"a {expected_kind}", hint)
    values = [part.value for part in parts]
    kind: Kind = "condition" if function in _LOGIC or function in _COMPARISONS else "number"
    return Subexpression(kind, lambda names: evaluate(*(value(names) for value in values)))


def _unexpected(token: Token, expected: str, hint: str = "") -> ExpressionError:
    return ExpressionError(token.place, token.text if token.kind == "end" else ascii(token.text), expected, hint)


def _parsed(tokens: Sequence[Token]) -> ast.expr | None:
    """Parse tokens with Python's parser, after closing their open parentheses; None if the syntax is not allowed."""
    spellings = [{"number": "0", "name": "x"}.get(token.kind, token.text) for token in tokens]
    text = "".join(spelling.ljust(_WIDTH) for spelling in (*spellings, *")" * _missing(tokens)))
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    return tree if all(_is_ours(node, text) for node in ast.walk(tree)) else None


def _is_ours(node: ast.AST, text: str) -> bool:
    """Return whether a node is allowed in an expression.

    A call must begin with a bare name, and none of its arguments may be missing.
    """
    if isinstance(node, ast.Call):
        is_named = isinstance(node.func, ast.Name) and node.func.col_offset == node.col_offset
        return is_named and not text[: node.end_col_offset].rstrip(") ").endswith(("(", ","))
    return isinstance(node, _SYNTAX)


def _misplaced(tokens: Sequence[Token]) -> ExpressionError:
    """Return the error at the first token that cannot follow the ones before; Python's place varies by version."""
    at = bisect_left(range(1, len(tokens)), True, key=lambda length: not _can_go_on(tokens[:length]))
    if _parsed(tokens[:at]) is None:
        return _unexpected(tokens[at], "a number, a name or '('")
    return _unexpected(tokens[at], "')'" if _missing(tokens[:at]) else "an operator, or the end")


def _can_go_on(tokens: Sequence[Token]) -> bool:
    """Return whether an expression can start with these tokens, complete as they are or after one more operand."""
    return any(_parsed([*tokens, *operand]) is not None for operand in ((), (Token("number", "0", 0),)))


def _missing(tokens: Sequence[Token]) -> int:
    """Count the parentheses that are still open."""
    return sum((token.text == "(") - (token.text == ")") for token in tokens)


def _first(node: ast.expr) -> int:
    """Return the index of the first token of a node, without parentheses around it."""
    return node.col_offset // _WIDTH


def _last(node: ast.expr) -> int:
    """Return the index of the last token of a node, without parentheses around it."""
    return ((node.end_col_offset or 0) - 1) // _WIDTH


def _power(base: Number, exponent: int) -> Number:
    if exponent == 0:
        return np.ones(np.shape(base))[()]
    result = functools.reduce(np.multiply, [base] * abs(exponent))
    return np.divide(1.0, result) if exponent < 0 else result


def _atan2(y: Number, x: Number) -> Number:
    """Return the angle of a point: of numbers and arrays NumPy's, of symbols their own."""
    if hasattr(y, "arctan2"):
        return y.arctan2(x)
    return (x * 0.0 + y).arctan2(x) if hasattr(x, "arctan2") else np.arctan2(y, x)


def chosen(condition: object, a: object, b: object) -> Number:
    """Return a where a condition holds, else b, of numbers, arrays and symbols."""
    mask, first, second = (cast(Number, x) for x in (condition, a, b))
    if _is_symbol(condition):
        return mask.where(first, second)
    selected: np.ndarray = np.where(mask, first, second)
    return selected[()]


def _is_symbol(number: object) -> bool:
    return hasattr(number, "arctan2")


def _either(of_symbols: Callable[..., Number], of_numbers: Callable[..., Number]) -> Callable[..., Number]:
    """Return an operation that is one function of symbols of a kernel, which have no truth, and another of numbers."""
    return lambda *values: (of_symbols if any(map(_is_symbol, values)) else of_numbers)(*values)


_LEAST = _either(lambda a, b: chosen(a < b, a, b), np.minimum)
_MOST = _either(lambda a, b: chosen(a > b, a, b), np.maximum)
_COMPARISONS: dict[str, Callable[..., Number]] = {
    "<": _either(operator.lt, np.less),
    "<=": _either(operator.le, np.less_equal),
    ">": _either(operator.gt, np.greater),
    ">=": _either(operator.ge, np.greater_equal),
    "==": _either(lambda a, b: (a <= b) & (a >= b), np.equal),
    "!=": lambda a, b: _COMPARISONS["<"](a, b) | _COMPARISONS[">"](a, b),  # undefined numbers are not unequal
}
_LOGIC: dict[str, Callable[..., Number]] = {
    "and": _either(operator.and_, np.logical_and),
    "or": _either(operator.or_, np.logical_or),
    "not": _either(operator.invert, np.logical_not),
}
_APPLY: dict[str, Callable[..., Number]] = {
    **_COMPARISONS,
    **_LOGIC,
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "negative": np.negative,
    "positive": np.positive,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": lambda x: np.sin(x) / np.cos(x),  # symbols have no tangent
    "asin": lambda x: _atan2(x, np.sqrt((1.0 - x) * (1.0 + x))),
    "acos": lambda x: _atan2(np.sqrt((1.0 - x) * (1.0 + x)), x),
    "atan": lambda x: _atan2(x, 1.0),
    "atan2": _atan2,
    "min": lambda *numbers: functools.reduce(_LEAST, numbers),
    "max": lambda *numbers: functools.reduce(_MOST, numbers),
    "where": chosen,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
}


def _room(low: Number, high: Number) -> Number:
    """Compute the difference `high` - `low` over the sum of both sizes: from -1 to 1, 0 where they are equal."""
    size = np.abs(low) + np.abs(high)
    return np.where(size > 0.0, (high - low) / np.where(size > 0.0, size, 1.0), size * 0.0)


_MARGINS: dict[str, Callable[..., Number]] = {
    "<": _room,
    "<=": _room,
    ">": lambda a, b: _room(b, a),
    ">=": lambda a, b: _room(b, a),
    "==": lambda a, b: -np.abs(_room(a, b)),
    "!=": lambda a, b: np.abs(_room(a, b)),
    "and": np.minimum,
    "or": np.fmax,
    "not": np.negative,
}
"""Operations that compute margins of conditions: above 0 where they hold, below 0 where not, 0 at the edge."""
