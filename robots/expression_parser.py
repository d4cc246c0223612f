"""The parser of expressions: from text to a function of the values of its names, with the place of every mistake.

What expressions are and mean is said in `robots.expressions`.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Kind = Literal["number", "condition"]
Values = Mapping[str, Any]
Evaluate = Callable[[Values], Any]

MAX_DEPTH = 32
"""Levels of parentheses."""

MAX_POWER = 8

Functions = tuple[str, ...]
"""Names of the functions that a text may call."""

EXACT: Functions = ("abs", "min", "max", "sqrt")
"""Functions whose bits are the same on every machine."""

SMOOTH: Functions = ("abs", "sqrt", "sin", "cos", "tan")
"""Functions that symbols of a kernel have too; angles in radians."""
_SIGNS = "names, numbers, + - * / **, comparisons, and, or, not, parentheses"
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/()<>,]))"
)


class ExpressionError(ValueError):
    """An expression that cannot be read: `place` counts characters from 0; what was got, expected, and advice."""

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
class Part:
    """A subexpression: what it gives and how to compute it."""

    kind: Kind
    value: Evaluate


def alphabet(functions: Functions = EXACT) -> str:
    """What an expression may be made of, in words."""
    return ", ".join((_SIGNS, *functions))


def tokenize(text: str, functions: Functions = EXACT) -> list[Token]:
    """Numbers, names and signs of a text, and its end. Raises ExpressionError."""
    tokens: list[Token] = []
    place, end = 0, len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if not match or not match.lastgroup:
            place += len(text[place:]) - len(text[place:].lstrip())
            raise ExpressionError(place, ascii(text[place]), alphabet(functions), _foreign(text[place]))
        tokens.append(Token(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)))
        place = match.end()
    return [*tokens, Token("end", "the end", end)]


def _foreign(character: str) -> str:
    hints = {"=": "Write == for equality.", "^": "Write ** for powers.", "&": "Write and.", "|": "Write or."}
    return hints.get(character, "Expressions are no program: nothing else is understood.")


class Parser:
    """Precedence climbing over tokens; recursion is bounded by MAX_DEPTH."""

    def __init__(self, tokens: list[Token], functions: Functions = EXACT) -> None:
        self.tokens, self.next, self.depth, self.functions = tokens, 0, -1, functions

    @property
    def token(self) -> Token:
        """The token that comes next."""
        return self.tokens[self.next]

    def whole(self) -> Part:
        """choice, then the end."""
        part = self.choice()
        if self.token.kind != "end":
            raise self.unexpected("an operator, or the end")
        return part

    def unexpected(self, expected: str, hint: str = "") -> ExpressionError:
        """The error that something else was `expected` than comes next."""
        token = self.token
        return ExpressionError(token.place, token.text if token.kind == "end" else ascii(token.text), expected, hint)

    def accept(self, *texts: str) -> str:
        """The next token if it is one of `texts`, which is then passed; else nothing."""
        if self.token.kind != "number" and self.token.text in texts:
            self.next += 1
            return self.tokens[self.next - 1].text
        return ""

    def require(self, text: str) -> None:
        """Pass the token `text`; ExpressionError where it does not come next."""
        if not self.accept(text):
            raise self.unexpected(f"{text!r}")

    def apply(self, function: str, kind: Kind, wanted: Kind, place: int, *parts: Part) -> Part:
        """The function of some parts, all of which have to be of the `wanted` kind."""
        for part in parts:
            if part.kind != wanted:
                hint = (
                    "Compare it with something." if wanted == "condition" else "Conditions are joined by and, or, not."
                )
                raise ExpressionError(place, f"a {part.kind} for {function}", f"a {wanted}", hint)
        evaluate, values = _APPLY[function], [part.value for part in parts]
        return Part(kind, lambda names: evaluate(*(value(names) for value in values)))

    def choice(self) -> Part:
        """Conditions joined by or, of conditions joined by and; or a number."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.unexpected(f"at most {MAX_DEPTH} levels of parentheses")
        part = self.joined("or", lambda: self.joined("and", self.negation))
        self.depth -= 1
        return part

    def joined(self, word: str, operand: Callable[[], Part]) -> Part:
        """Operands with `word` between them."""
        part = operand()
        place = self.token.place
        while self.accept(word):
            part = self.apply(word, "condition", "condition", place, part, operand())
        return part

    def negation(self) -> Part:
        """A comparison after any number of not."""
        place, count = self.token.place, 0
        while self.accept("not"):
            count += 1
        part = self.comparison()
        for _ in range(2 - count % 2 if count else 0):
            part = self.apply("not", "condition", "condition", place, part)
        return part

    def comparison(self) -> Part:
        """A chain: a < b < c holds where a < b and b < c do."""
        left, result = self.sum(), None
        place = self.token.place
        while sign := self.accept(*_COMPARISONS):
            right = self.sum()
            link = self.apply(sign, "condition", "number", place, left, right)
            result = self.apply("and", "condition", "condition", place, result, link) if result else link
            left, place = right, self.token.place
        return result or left

    def sum(self) -> Part:
        """Products with plus or minus between them."""
        return self.left_to_right(("+", "-"), self.product)

    def product(self) -> Part:
        """Powers with times or divided between them."""
        return self.left_to_right(("*", "/"), self.signed)

    def left_to_right(self, signs: tuple[str, ...], operand: Callable[[], Part]) -> Part:
        """Operands with any of `signs` between them."""
        part = operand()
        place = self.token.place
        while sign := self.accept(*signs):
            part = self.apply(sign, "number", "number", place, part, operand())
            place = self.token.place
        return part

    def signed(self) -> Part:
        """A power after any number of signs."""
        place, minus, signs = self.token.place, False, 0
        while sign := self.accept("+", "-"):
            minus, signs = minus ^ (sign == "-"), signs + 1
        part = self.power()
        return self.apply("negative" if minus else "positive", "number", "number", place, part) if signs else part

    def power(self) -> Part:
        """A whole power, as repeated products: the bits of a general power depend on the machine."""
        base, place = self.atom(), self.token.place
        if not self.accept("**"):
            return base
        sign, token = -1 if self.accept("-") else 1, self.token
        if token.kind != "number" or not token.text.isdigit() or int(token.text) > MAX_POWER:
            raise self.unexpected(f"a whole power of at most {MAX_POWER}", "Write sqrt for roots.")
        self.next += 1
        exponent = sign * int(token.text)
        part = self.apply("positive", "number", "number", place, base)
        return Part("number", lambda names: _power(part.value(names), exponent))

    def atom(self) -> Part:
        """A number, a name, a function, or what stands in parentheses."""
        token = self.token
        if token.kind == "number":
            return self.number(token)
        if self.accept("("):
            part = self.choice()
            self.require(")")
            return part
        if token.kind == "name" and token.text not in words(self.functions):
            self.next += 1
            if self.token.text == "(":
                raise ExpressionError(token.place, f"the function {token.text!r}", alphabet(self.functions))
            return Part("number", lambda names: names[token.text])
        if token.kind == "name" and token.text in self.functions:
            return self.call(token)
        raise self.unexpected("a number, a name or '('")

    def number(self, token: Token) -> Part:
        """A finite number."""
        value = float(token.text)
        if not math.isfinite(value):
            raise self.unexpected("a finite number")
        self.next += 1
        return Part("number", lambda names: value)

    def call(self, token: Token) -> Part:
        """A function of its arguments."""
        self.next += 1
        self.require("(")
        arguments = [self.choice()]
        while self.accept(","):
            arguments.append(self.choice())
        self.require(")")
        least, most = ARGUMENTS.get(token.text, (1, 1))
        if not least <= len(arguments) <= most:
            rule = f"{least}" if least == most else f"{least} to {most}"
            raise ExpressionError(token.place, f"{len(arguments)} arguments of {token.text}", rule)
        return self.apply(token.text, "number", "number", token.place, *arguments)


def _power(base: Any, exponent: int) -> Any:
    if exponent == 0:
        return np.ones(np.shape(base))[()]
    result = functools.reduce(np.multiply, [base] * abs(exponent))
    return np.divide(1.0, result) if exponent < 0 else result


_COMPARISONS: dict[str, Callable[..., Any]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": lambda a, b: np.less(a, b) | np.greater(a, b),  # not np.not_equal, which holds for undefined numbers
}
ARGUMENTS: dict[str, tuple[int, int]] = {"min": (2, 8), "max": (2, 8)}
"""Least and most arguments of functions that do not take one."""


def words(functions: Functions) -> set[str]:
    """Names that are no parameters."""
    return {"and", "or", "not", *functions}


_APPLY: dict[str, Callable[..., Any]] = _COMPARISONS | {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "negative": np.negative,
    "positive": np.positive,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": lambda x: np.sin(x) / np.cos(x),  # symbols have no tangent
    "min": lambda *each: functools.reduce(np.minimum, each),
    "max": lambda *each: functools.reduce(np.maximum, each),
}
