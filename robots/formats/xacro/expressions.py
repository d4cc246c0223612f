"""Expressions of macros such as `${2 * length + offsets['x']}`, computed by a walk over an allow-list of syntax.

Python parses the text, and nothing of it is run: values are numbers, texts, truth values, lists and mappings; names are
looked up in properties, functions in the tables below, attributes in mappings and those tables alone. Sizes of texts,
numbers and lists are bounded, and every node spends part of a budget. All other syntax is refused: comprehensions,
lambdas, formatting, slices with steps, attributes of objects.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from robots.formats.xacro.budget import Budget, Refusal

Value: TypeAlias = Any
"""A number, text, truth value or None; a list or mapping of these; or a namespace, which has `attribute`."""

MAX_LENGTH = 2000
"""Characters of an expression."""

MAX_TEXT = 20_000
"""Characters of a text that an expression makes."""

MAX_WEIGHT = 100_000
"""Entries of a list or mapping that an expression makes, with those inside, and characters of their texts."""

MAX_WHOLE = 1 << 63
MAX_POWER = 64
MAX_LEVELS = 40
"""Levels of a syntax tree."""

_OPERATORS: Mapping[type, tuple[str, Callable[[Value, Value], Value]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow),
}
_SIGNS: Mapping[type, Callable[[Value], Value]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
}
_COMPARISONS: Mapping[type, Callable[[Value, Value], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}

_MATH = (
    *("acos", "asin", "atan", "atan2", "ceil", "copysign", "cos", "cosh", "degrees", "exp", "fabs", "floor", "fmod"),
    *(
        "hypot",
        "isinf",
        "isnan",
        "log",
        "log10",
        "log2",
        "pow",
        "radians",
        "sin",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
        "trunc",
    ),
)
MATH: Mapping[str, Value] = {name: getattr(math, name) for name in _MATH} | {
    name: getattr(math, name) for name in ("pi", "e", "tau", "inf", "nan")
}


def _range(*limits: int) -> list[int]:
    numbers = range(*limits)
    if len(numbers) > MAX_WEIGHT // 10:
        raise Refusal(f"a range of {len(numbers)} numbers", f"at most {MAX_WEIGHT // 10}")
    return list(numbers)


def _sum(numbers: list[float], /) -> float:
    return sum(numbers)  # of numbers only: a sum of lists could become large


def _round(number: float, digits: int = 0, /) -> float:
    return round(number, max(-20, min(digits, 20))) if digits else round(number)


PYTHON: Mapping[str, Value] = {
    "abs": abs, "all": all, "any": any, "bool": bool, "dict": dict, "float": float, "int": int, "len": len,
    "list": list, "max": max, "min": min, "range": _range, "round": _round, "sorted": sorted, "str": str, "sum": _sum,
    "tuple": list,
}  # fmt: skip

_METHODS: Mapping[type, tuple[str, ...]] = {
    str: ("endswith", "lower", "lstrip", "rstrip", "split", "startswith", "strip", "upper"),
    list: ("count", "index", "pop"),
    dict: ("get", "items", "keys", "values"),
}
"""Methods that may be called; none of them makes more than there was."""


class Namespace:
    """Functions and constants behind a name and a dot: `math.pi`."""

    def __init__(self, name: str, members: Mapping[str, Value]) -> None:
        self.name, self.members = name, members

    def attribute(self, name: str) -> Value:
        """Return a member. Raises KeyError."""
        return self.members[name]


def evaluate(text: str, lookup: Callable[[str], Value], budget: Budget) -> Value:
    """Compute the value of an expression; `lookup` gives the value of a name, or raises KeyError. Raises Refusal."""
    if len(text) > MAX_LENGTH:
        raise Refusal(f"an expression of {len(text)} characters", f"at most {MAX_LENGTH}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Refusal(f"expression {text[:80]!a}", "arithmetic, comparisons, texts, lists and functions") from None
    walk = _Walk(text, lookup, budget)
    try:
        return walk.value(tree, 0)
    except Refusal:
        raise
    except (TypeError, ValueError, ArithmeticError, LookupError, re.error) as error:
        message = " ".join(f"{type(error).__name__}: {error}".split())[:120]
        raise Refusal(f"expression {text[:80]!a} ({message})", "one that has a value") from None


class _Walk:
    """Evaluation of the nodes of one expression."""

    def __init__(self, text: str, lookup: Callable[[str], Value], budget: Budget) -> None:
        self.text, self.lookup, self.budget = text, lookup, budget

    def value(self, node: ast.expr, level: int) -> Value:
        """Return the value of a node."""
        self.budget.spend()
        rule = _NODES.get(type(node))
        if rule is None or level > MAX_LEVELS:
            got = "too many levels" if rule is not None else type(node).__name__
            raise self.refusal(f"{got} in {self.text[:80]!a}")
        return self.bounded(rule(self, node, level + 1))

    def refusal(self, got: str) -> Refusal:
        hint = "Other syntax of Python is refused."
        return Refusal(got, "arithmetic, comparisons, texts, lists and functions", hint)

    def bounded(self, value: Value) -> Value:
        """Refuse values that are too large."""
        if isinstance(value, int) and not -MAX_WHOLE < value < MAX_WHOLE:
            raise Refusal(f"a number of {value.bit_length()} bits", "at most 63")
        if isinstance(value, str):
            self.budget.spend(0, len(value))
            if len(value) > MAX_TEXT:
                raise Refusal(f"a text of {len(value)} characters", f"at most {MAX_TEXT}")
        return value

    def made(self, value: Value) -> Value:
        """Refuse a list or mapping that is too large; spends its size."""
        weight, stack = 0, [value]
        while stack:
            entry = stack.pop()
            weight += 1 + (len(entry) if isinstance(entry, str) else 0)
            if weight > MAX_WEIGHT:
                raise Refusal("a list or mapping that is too large", f"at most {MAX_WEIGHT} entries and characters")
            if isinstance(entry, dict):
                stack += [*entry.keys(), *entry.values()]
            elif isinstance(entry, list | tuple):
                stack += entry
        self.budget.spend(weight // 16, weight)
        return value

    def constant(self, node: ast.Constant, level: int) -> Value:
        if not isinstance(node.value, str | int | float | bool | None):
            raise self.refusal(f"{node.value!a:.40}")
        return node.value

    def name(self, node: ast.Name, level: int) -> Value:
        try:
            return self.lookup(node.id)
        except KeyError:
            hint = "Define it with xacro:property or xacro:arg."
            raise Refusal(f"the name {node.id!a}", "a property, parameter or function", hint) from None

    def operation(self, node: ast.BinOp, level: int) -> Value:
        left, right = self.value(node.left, level), self.value(node.right, level)
        sign, function = _OPERATORS.get(type(node.op), ("", operator.add))
        numbers = all(isinstance(value, int | float) for value in (left, right))
        joined = sign == "+" and type(left) is type(right) and isinstance(left, str | list)
        if not sign or not (numbers or joined):
            kinds = f"{type(left).__name__} {sign} {type(right).__name__}"
            raise Refusal(f"{kinds} in {self.text[:80]!a}", "numbers, or texts or lists that are added")
        if sign == "**" and abs(right) > MAX_POWER:
            raise Refusal(f"the power {right}", f"at most {MAX_POWER}")
        result = function(left, right)
        if isinstance(result, complex):
            raise Refusal("a power that is no real number", "a real number")
        return self.made(result) if isinstance(result, list) else result

    def sign(self, node: ast.UnaryOp, level: int) -> Value:
        if type(node.op) not in _SIGNS:
            raise self.refusal(type(node.op).__name__)
        return _SIGNS[type(node.op)](self.value(node.operand, level))

    def logic(self, node: ast.BoolOp, level: int) -> Value:
        value: Value = None
        for part in node.values:
            value = self.value(part, level)
            if bool(value) is isinstance(node.op, ast.Or):
                break
        return value

    def choice(self, node: ast.IfExp, level: int) -> Value:
        return self.value(node.body if self.value(node.test, level) else node.orelse, level)

    def comparison(self, node: ast.Compare, level: int) -> Value:
        left = self.value(node.left, level)
        for sign, second in zip(node.ops, node.comparators, strict=True):
            if type(sign) not in _COMPARISONS:
                raise self.refusal(type(sign).__name__)
            right = self.value(second, level)
            for side in (left, right):
                if isinstance(side, list | dict):
                    self.budget.spend(len(side))
            if not _COMPARISONS[type(sign)](left, right):
                return False
            left = right
        return True

    def sequence(self, node: ast.List | ast.Tuple, level: int) -> Value:
        return self.made([self.value(entry, level) for entry in node.elts])

    def mapping(self, node: ast.Dict, level: int) -> Value:
        pairs = zip(node.keys, node.values, strict=True)
        if None in node.keys:
            raise self.refusal("** in a mapping")
        return self.made({self.value(key, level): self.value(entry, level) for key, entry in pairs if key})

    def entry(self, node: ast.Subscript, level: int) -> Value:
        whole = self.value(node.value, level)
        if not isinstance(whole, str | list | dict):
            raise Refusal(f"an entry of {type(whole).__name__}", "of a text, list or mapping")
        if not isinstance(node.slice, ast.Slice):
            return whole[self.value(node.slice, level)]
        if node.slice.step is not None:
            raise self.refusal("a slice with a step")
        ends: list[Value] = [at and self.value(at, level) for at in (node.slice.lower, node.slice.upper)]
        return self.made(whole[slice(*ends)])

    def attribute(self, node: ast.Attribute, level: int) -> Value:
        whole = self.value(node.value, level)
        if not node.attr.startswith("_") and isinstance(whole, dict):
            return whole[node.attr]
        member = getattr(type(whole), "attribute", None)
        if member is None or node.attr.startswith("_"):
            raise self.refusal(f"the attribute {node.attr!a}")
        return member(whole, node.attr)

    def call(self, node: ast.Call, level: int) -> Value:
        """Call a function of the tables, or a method of a text, list or mapping."""
        function = self.method(node.func, level) or self.value(node.func, level)
        if not callable(function) or any(isinstance(entry, ast.Starred) for entry in node.args):
            raise self.refusal(f"a call in {self.text[:80]!a}")
        named = {entry.arg or "": self.value(entry.value, level) for entry in node.keywords}
        if named and (function is not dict or "" in named):
            raise self.refusal(f"arguments by name in {self.text[:80]!a}")
        arguments = [self.value(entry, level) for entry in node.args]
        for value in arguments:
            if isinstance(value, list | dict):
                self.budget.spend(len(value))
        result = function(*arguments, **named)
        if type(result).__name__ in ("dict_keys", "dict_values", "dict_items"):
            result = [list(entry) if isinstance(entry, tuple) else entry for entry in result]
        return self.made(result) if isinstance(result, list | dict) else result

    def method(self, node: ast.expr, level: int) -> Callable[..., Value] | None:
        """Return a bound method, or None if the node is no method; entries of mappings go first, as in xacro."""
        if not isinstance(node, ast.Attribute):
            return None
        whole = self.value(node.value, level)
        for kind, names in _METHODS.items():
            if type(whole) is kind and node.attr in names:
                bound: Callable[..., Value] = getattr(whole, node.attr)
                return bound
        return None


_NODES: Mapping[type, Callable[..., Value]] = {
    ast.Constant: _Walk.constant,
    ast.Name: _Walk.name,
    ast.BinOp: _Walk.operation,
    ast.UnaryOp: _Walk.sign,
    ast.BoolOp: _Walk.logic,
    ast.IfExp: _Walk.choice,
    ast.Compare: _Walk.comparison,
    ast.List: _Walk.sequence,
    ast.Tuple: _Walk.sequence,
    ast.Dict: _Walk.mapping,
    ast.Subscript: _Walk.entry,
    ast.Attribute: _Walk.attribute,
    ast.Call: _Walk.call,
}
