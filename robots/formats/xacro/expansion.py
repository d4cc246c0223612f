"""Expansion of macros: the elements of a robot file with macros become plain ones.

The part of xacro 2 that robot descriptions use is supported: properties, macros with parameters, defaults and blocks,
conditions, includes, arguments, namespaces, `load_yaml`. Files are read by the `MacroFiles` of the caller, which limits
the files that may be read. `$(env)`, `$(optenv)`, `$(eval)`, `$(cwd)` and includes by patterns are refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from robots.data_classes import dataclass, field
from robots.formats.xacro.budget import Budget, MacroError, Refusal
from robots.formats.xacro.expressions import MATH, PYTHON, Namespace, Value
from robots.formats.xacro.scopes import Lazy, Macro, Scope, Texts, literal, truth
from robots.formats.xml_tree import Element

PREFIX = "xacro:"
EXPAND = "Expand it first, which runs nothing: limbsweep import FILE --expand-macros."
MAX_LEVELS = 100
"""Elements and calls of macros, one inside the other."""

MAX_FILES = 100
"""Included files."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*|_[A-Za-z0-9][A-Za-z0-9_]*")
_PARAMETER = re.compile(
    r"\s*([^\s:=]+?)\s*:?=\s*(\^\|?)?(\$\{.*?\}|\$\(.*?\)|(?:'[^']*'|\"[^\"]*\"|[^\s'\"])+|)(?:\s+|$)", re.DOTALL
)


class MacroFiles(Protocol):
    """Files that macros may read; `near` is the file that names another. All raise Refusal."""

    def package(self, name: str, near: str) -> str:
        """Return the folder of a package."""

    def elements(self, path: str, near: str) -> tuple[str, Element]:
        """Return the name of an included file, and its root."""

    def mapping(self, path: str, near: str) -> Mapping[str, Value]:
        """Return the content of a YAML file."""


@dataclass(frozen=True)
class Expanded:
    """The root of an expanded file, its macros and arguments, and warnings about the file (line, text)."""

    root: Element
    macros: tuple[str, ...]
    arguments: tuple[str, ...]
    warnings: tuple[tuple[int, str], ...]


def has_macros(root: Element) -> bool:
    """Return whether there is a macro, or an expression in a file that says it has some."""
    stack, declared = [root], "xmlns:xacro" in root.attributes
    while stack:
        element = stack.pop()
        texts = (*element.attributes.values(), element.text)
        if element.tag.startswith(PREFIX) or (declared and any("${" in text or "$(" in text for text in texts)):
            return True
        stack += element.children
    return False


def expand(root: Element, file: str, files: MacroFiles, arguments: Mapping[str, str]) -> Expanded:
    """Expand the macros of a file whose root is given. Raises MacroError.

    Lines of the result are lines of `file`; elements from an included file have the line of its include or call.
    """
    expansion = _Expansion(file, files, dict(arguments))
    scope = Scope(texts=expansion.texts)
    try:
        result = expansion.element(root, scope)
    except RecursionError:
        raise MacroError(file, 0, "", "macros that are nested too deep", f"at most {MAX_LEVELS} levels") from None
    macros = tuple(name for name, macro in scope.macros.items() if macro.file == file)
    return Expanded(result, macros, tuple(dict.fromkeys(expansion.declared)), tuple(expansion.warnings))


@dataclass
class _Expansion:
    """An expansion in progress: its position, and the declared properties and macros."""

    main: str
    files: MacroFiles
    arguments: dict[str, str]
    declared: list[str] = field(default_factory=list)
    warnings: list[tuple[int, str]] = field(default_factory=list)
    budget: Budget = field(default_factory=Budget)
    levels: int = 0
    included: int = 0

    def __post_init__(self) -> None:
        self.file, self.line = self.main, 0
        functions: dict[str, Value] = {**MATH, **PYTHON, "True": True, "False": False}
        available_functions = {
            "load_yaml": lambda path: dict(self.files.mapping(path, self.file)),
            "arg": self.argument,
            "dotify": lambda value: value,
            "tokenize": _tokens,
            "message": lambda *words: "",
            "warning": self.warned,
            "error": self.warned,
            "fatal": _fatal,
            "print_location": lambda: "",
        }
        spaces = {"math": MATH, "python": PYTHON, "xacro": available_functions}
        functions |= {name: Namespace(name, members) for name, members in spaces.items()}
        functions |= {name: available_functions[name] for name in ("load_yaml", "dotify")}
        self.texts = Texts(self.budget, functions, self.extension)

    def warned(self, *words: Value) -> str:
        """Keep a warning that the file gives; it stands for an empty text."""
        if len(self.warnings) < MAX_FILES:
            self.warnings.append((self.line, " ".join(map(str, words))[:200]))
        return ""

    def argument(self, name: str) -> str:
        """Return an argument of the file."""
        self.declared.append(name)
        if name not in self.arguments:
            hint = f"Give it: --arg {name}:=VALUE."
            raise Refusal(f"the argument {name[:60]!a}", "one that is given or has a default", hint)
        return self.arguments[name]

    def extension(self, words: str) -> str:
        """Return the value of `$(words)`."""
        command, _, arguments = words.strip().partition(" ")
        match command, arguments.strip():
            case "arg", name:
                return self.argument(name)
            case "find", name:
                return self.files.package(name, self.file)
            case "dirname", "":
                return os.path.dirname(self.file) or "."
        hint = "The environment and the working folder are not read: make it an argument."
        raise Refusal(f"$({words[:60]})", "$(arg NAME), $(find PACKAGE) or $(dirname)", hint)

    @contextmanager
    def at(self, element: Element) -> Iterator[None]:
        """Give refusals inside the file and line of an element, and bound the depth."""
        before = self.line
        self.line = element.line if self.file == self.main else self.line
        self.levels += 1
        try:
            self.budget.spend()
            if self.levels > MAX_LEVELS:
                raise Refusal("macros or elements that are nested too deep", f"at most {MAX_LEVELS} levels")
            yield
        except Refusal as error:
            place = element.tag if self.file == self.main else f"{element.tag}, line {element.line}"
            raise MacroError(self.file, element.line, place, error.got, error.expected, error.hint) from None
        finally:
            self.levels -= 1
            self.line = before

    @contextmanager
    def within(self, file: str) -> Iterator[None]:
        """Stand in another file."""
        before, self.file = self.file, file
        try:
            yield
        finally:
            self.file = before

    def element(self, element: Element, scope: Scope) -> Element:
        """Return a plain element with its content expanded."""
        with self.at(element):
            attributes = {
                name: self.texts.text(text, scope)
                for name, text in element.attributes.items()
                if not name.startswith((PREFIX, "xmlns:xacro"))
            }
            result = Element(element.tag, self.line or element.line, element.column, attributes)
        self.content(element, scope, result)
        return result

    def content(self, element: Element, scope: Scope, into: Element) -> None:
        """Put the expanded content of an element into another one."""
        if element.text:
            with self.at(element):
                into.text += self.texts.text(element.text, scope)
        for child in element.children:
            if not child.tag.startswith(PREFIX):
                into.children.append(self.element(child, scope))
                continue
            with self.at(child):
                _RULES.get(child.tag.removeprefix(PREFIX), _Expansion.call)(self, child, scope, into)

    def property(self, element: Element, scope: Scope, into: Element) -> None:
        """Declare a property, or a block."""
        attribute = element.attributes.get
        name = self.name(self.texts.text(_required(element, "name"), scope))
        text, default = attribute("value"), attribute("default")
        if truth(self.texts.value(attribute("remove", "false"), scope), "remove"):
            for each in scope.chain():
                each.values.pop(name, None)
            return
        if default is not None and text is None:
            if any(name in each.values for each in scope.chain()):
                return
            text = default
        target, lazy = self.target(attribute("scope"), scope)
        if text is None:
            target.blocks[f"**{name}"] = element
            return
        lazy = lazy and truth(self.texts.value(attribute("lazy_eval", "true"), scope), "lazy_eval")
        value = literal(text if lazy else self.texts.value(text, scope))
        target.values[name] = Lazy(value) if lazy and isinstance(value, str) and "$" in value else value

    def target(self, where: str | None, scope: Scope) -> tuple[Scope, bool]:
        """Return the scope that a property is declared in, and whether it may be computed later."""
        if where == "global":
            return [*scope.chain()][-1], False
        if where == "parent":
            return scope.parent or scope, False
        return scope, True

    def name(self, name: str) -> str:
        """Return a name that a property may have."""
        if not _NAME.fullmatch(name) or len(name) > 200:
            raise Refusal(f"the name {name[:60]!a}", "letters, digits and _")
        return name

    def declare(self, element: Element, scope: Scope, into: Element) -> None:
        """Declare an argument of the file, with a default."""
        name = _required(element, "name")
        self.declared.append(name)
        default = element.attributes.get("default")
        if name not in self.arguments and default is not None:
            self.arguments[name] = self.texts.text(default, scope)

    def macro(self, element: Element, scope: Scope, into: Element) -> None:
        """Declare a macro."""
        name = _required(element, "name").removeprefix(PREFIX)
        if name == "call" or "." in name:
            raise Refusal(f"a macro called {name[:60]!a}", "a name without dots that is not 'call'")
        names, defaults = list[str](), dict[str, tuple[bool, str | None]]()
        parameters = element.attributes.get("params", "")
        while parameters.strip():
            if match := _PARAMETER.match(parameters):
                names.append(match[1])
                defaults[match[1]] = (match[2] is not None, match[3] or ("" if match[2] is None else None))
                parameters = parameters[match.end() :]
            else:
                word, _, parameters = parameters.lstrip().replace("\n", " ").replace("\t", " ").partition(" ")
                names.append(word)
        scope.macros[name] = Macro(element, self.file, tuple(names), defaults)

    def call(self, element: Element, scope: Scope, into: Element) -> None:
        """Expand a call of a macro."""
        attributes = dict(element.attributes)
        name = element.tag.removeprefix(PREFIX)
        if name == "call":
            name = self.texts.text(attributes.pop("macro", ""), scope)
        found = scope.macro(name)
        if found is None:
            raise Refusal(f"the macro {name[:60]!a}", "one that is defined before, here or in an included file")
        macro, outer = found
        inner = outer.child()
        if unknown := next((key for key in attributes if key not in macro.parameters), None):
            raise Refusal(f"the parameter {unknown[:60]!a} of {name}", f"one of {', '.join(macro.parameters)[:200]}")
        for key, text in attributes.items():
            inner.values[key] = literal(self.texts.value(text, scope))
        self.fill(name, macro, element, scope, inner)
        with self.within(macro.file):
            self.content(macro.body, inner, into)

    def fill(self, name: str, macro: Macro, element: Element, scope: Scope, inner: Scope) -> None:
        """Give a call its blocks and defaults."""
        blocks = Element("blocks", element.line, element.column, {})
        self.content(element, scope, blocks)
        remaining_blocks = iter(blocks.children)
        for key in macro.parameters:
            if key.startswith("*"):
                block = next(remaining_blocks, None)
                if block is None:
                    raise Refusal(f"no block for {key} of {name}", "an element inside the call")
                inner.blocks[key] = block
            elif key not in inner.values:
                inner.values[key] = literal(self.default(name, key, macro, scope))
        if (block := next(remaining_blocks, None)) is not None:
            raise Refusal(f"the block <{block.tag[:60]}> of {name}", "no more blocks than parameters with a star")

    def default(self, name: str, key: str, macro: Macro, scope: Scope) -> Value:
        """Return the value of a parameter: the default, or the value of the caller under the same name."""
        forwarded, text = macro.defaults.get(key, (False, None))
        if forwarded:
            try:
                return self.texts.named(key, scope)
            except KeyError:
                pass
        if text is None:
            raise Refusal(f"no {key[:60]} for {name}", "a value for each parameter without a default")
        return self.texts.value(text, scope)

    def when(self, element: Element, scope: Scope, into: Element) -> None:
        """Expand the content of a condition that holds."""
        text = _required(element, "value")
        if truth(self.texts.value(text, scope), text) is (element.tag == f"{PREFIX}if"):
            self.content(element, scope, into)

    def insert(self, element: Element, scope: Scope, into: Element) -> None:
        """Insert a block."""
        name = _required(element, "name")
        if (several := scope.block(f"**{name}")) is not None:
            self.content(several, scope, into)
        elif (block := scope.block(f"*{name}")) is not None:
            into.children.append(self.element(block, scope))
        else:
            raise Refusal(f"the block {name[:60]!a}", "a parameter with a star, or a property with content")

    def include(self, element: Element, scope: Scope, into: Element) -> None:
        """Include a file, in a namespace of its own if the element has the attribute `ns`."""
        path = self.texts.text(_required(element, "filename"), scope)
        self.included += 1
        if self.included > MAX_FILES:
            raise Refusal(f"more than {MAX_FILES} includes", "fewer files")
        if space := element.attributes.get("ns"):
            name = self.name(self.texts.text(space, scope))
            inner = scope.child()
            scope.spaces[name], scope = inner, inner
        file, root = self.files.elements(path, self.file)
        with self.within(file):
            self.content(root, scope, into)

    def make(self, element: Element, scope: Scope, into: Element) -> None:
        """Make an element whose name is computed."""
        tag = self.texts.text(_required(element, f"{PREFIX}name"), scope)
        attributes = {key: text for key, text in element.attributes.items() if key != f"{PREFIX}name"}
        if tag.startswith(PREFIX):
            raise Refusal(f"an element called {tag[:60]!a}", "a plain element")
        made = Element(tag, element.line, element.column, attributes, element.children, element.text)
        into.children.append(self.element(made, scope))

    def give(self, element: Element, scope: Scope, into: Element) -> None:
        """Give the element around an attribute."""
        into.attributes[self.texts.text(_required(element, "name"), scope)] = self.texts.text(
            _required(element, "value"), scope
        )


_RULES: Mapping[str, Callable[[_Expansion, Element, Scope, Element], None]] = {
    "property": _Expansion.property,
    "arg": _Expansion.declare,
    "macro": _Expansion.macro,
    "if": _Expansion.when,
    "unless": _Expansion.when,
    "insert_block": _Expansion.insert,
    "include": _Expansion.include,
    "element": _Expansion.make,
    "attribute": _Expansion.give,
}


def _required(element: Element, name: str) -> str:
    if name not in element.attributes:
        raise Refusal(f"no {name} in <{element.tag}>", "one, which is required")
    return element.attributes[name]


def _tokens(text: str, separators: str = ",; ", skip_empty: bool = True) -> list[str]:
    words = re.split(f"[{re.escape(separators)}]", text)
    return [word for word in words if word or not skip_empty]


def _fatal(*words: Value) -> str:
    raise Refusal(" ".join(map(str, words))[:200], "a file that does not refuse itself")
