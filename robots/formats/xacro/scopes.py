"""Properties, blocks and macros by name, each scope inside another; and texts with expressions in them.

A property is computed when it is first used, in the scope that has it, as xacro does. The scope of a macro's call
stands inside that of the caller.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from robots.data_classes import dataclass, field
from robots.formats.xacro.budget import Budget, Refusal
from robots.formats.xacro.expressions import MAX_TEXT, MAX_WHOLE, Value, evaluate
from robots.formats.xml_tree import Element

MAX_CHAIN = 20
"""Properties that need one another."""

_PART = re.compile(r"(?P<escaped>\$\$+[{(])|(?P<expression>\$\{[^}]*\})|(?P<extension>\$\([^)]*\))|(?P<text>[^$]+|\$)")
_TRUTH = {"true": True, "True": True, "false": False, "False": False}


@dataclass(frozen=True)
class Macro:
    """A macro: its element, the file that it stands in, names of its parameters and their defaults."""

    body: Element
    file: str
    parameters: tuple[str, ...]
    defaults: Mapping[str, tuple[bool, str | None]]
    """Defaults by parameter: whether the caller's property of that name goes first, and the text of the default."""


@dataclass(frozen=True)
class Lazy:
    """The text of a property that has not been used yet."""

    text: str


@dataclass(repr=False)
class Scope:
    """Names of a file, namespace or call of a macro, and the scope around it."""

    parent: Scope | None = None
    values: dict[str, Value | Lazy] = field(default_factory=dict)
    blocks: dict[str, Element] = field(default_factory=dict)
    macros: dict[str, Macro] = field(default_factory=dict)
    spaces: dict[str, Scope] = field(default_factory=dict)
    texts: Texts | None = None

    def chain(self) -> Iterator[Scope]:
        """Yield the scopes from this one outwards."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def child(self) -> Scope:
        """Return a new scope inside this one."""
        return Scope(self, texts=self.texts)

    def attribute(self, name: str) -> Value:
        """Return the value of a name, from the scopes outwards. Raises KeyError, Refusal."""
        for scope in self.chain():
            if name in scope.values:
                return scope.resolved(name)
            if name in scope.spaces:
                return scope.spaces[name]
        raise KeyError(name)

    def resolved(self, name: str) -> Value:
        """Return the value of a property of this scope, computed at its first use."""
        value = self.values[name]
        if isinstance(value, Lazy):
            assert self.texts is not None
            value = self.texts.used(name, value, self)
            self.values[name] = value
        return value

    def block(self, name: str) -> Element | None:
        """Return a block of a macro by its name, such as `*origin`."""
        return next((scope.blocks[name] for scope in self.chain() if name in scope.blocks), None)

    def macro(self, name: str) -> tuple[Macro, Scope] | None:
        """Return a macro, by a name with dots between namespaces, and the scope that it is called in."""
        for scope in self.chain():
            if name in scope.macros:
                return scope.macros[name], self
        space, _, inner = name.partition(".")
        for scope in self.chain():
            if inner and space in scope.spaces:
                return scope.spaces[space].macro(inner)
        return None


@dataclass
class Texts:
    """Evaluation of texts with `${...}` and `$(...)`; `functions` are names that all scopes have."""

    budget: Budget
    functions: Mapping[str, Value]
    extension: Callable[[str], str]
    """Function that returns the value of the words in `$(...)`."""

    waiting: list[tuple[int, str]] = field(default_factory=list)

    def value(self, text: str, scope: Scope) -> Value:
        """Return the value of a text: the value of its only expression, else the text with all expressions replaced."""
        if "$" not in text:
            return text
        if len(text) > MAX_TEXT:
            raise Refusal(f"a text of {len(text)} characters with expressions", f"at most {MAX_TEXT}")
        parts = [self._part(match, scope) for match in _PART.finditer(text)]
        if len(parts) == 1:
            return parts[0]
        joined = "".join(map(str, parts))
        self.budget.spend(1, len(joined))
        return joined

    def text(self, text: str, scope: Scope) -> str:
        """Return the value of a text, as text."""
        value = self.value(text, scope)
        result = value if isinstance(value, str) else str(value)
        self.budget.spend(1, len(result))
        return result

    def used(self, name: str, value: Lazy, scope: Scope) -> Value:
        """Compute a property at its first use. Raises Refusal, also where it needs itself."""
        key = (id(scope), name)
        if key in self.waiting or len(self.waiting) >= MAX_CHAIN:
            chain = " -> ".join(each for _, each in (*self.waiting, key))[:160]
            raise Refusal(f"properties that need one another ({chain})", f"at most {MAX_CHAIN}, none by itself")
        self.waiting.append(key)
        try:
            return literal(self.value(value.text, scope))
        finally:
            self.waiting.pop()

    def _part(self, match: re.Match[str], scope: Scope) -> Value:
        part = match[0]
        if match["escaped"]:
            return part[1:]
        if match["text"]:
            return part
        inner = self.text(part[2:-1], scope)
        if match["extension"]:
            return self.extension(inner)
        return evaluate(inner, lambda name: self.named(name, scope), self.budget)

    def named(self, name: str, scope: Scope) -> Value:
        """Return the value of a name of a scope or of the language. Raises KeyError."""
        try:
            return scope.attribute(name)
        except KeyError:
            return self.functions[name]


def literal(value: Value) -> Value:
    """Return the number, truth value or quoted text that a text spells; other texts unchanged."""
    if not isinstance(value, str):
        return value
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1]
    if "_" in value or len(value) > 64:
        return value
    for kind in (int, float):
        try:
            number = kind(value)
        except ValueError:
            continue
        return number if abs(number) < MAX_WHOLE or kind is float else value
    return _TRUTH.get(value, value)


def truth(value: Value, text: str) -> bool:
    """Return the truth of a condition, as xacro reads it. Raises Refusal."""
    if not isinstance(value, str):
        return bool(value)
    try:
        return _TRUTH[value] if value in _TRUTH else bool(int(value[:64]))
    except ValueError:
        raise Refusal(f"the condition {text[:60]!a}, which is {value[:60]!a}", "true, false or a number") from None
