"""Counts of one module at a time: lines, functions, names and types of parameters."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from benchmarks.house.imperatives import VERBS
from benchmarks.house.imports import PACKAGES, files, module_name, parse

PLACEHOLDERS = frozenset({"each", "found", "given", "made", "told"})
MORE_PLACEHOLDERS = PLACEHOLDERS | {"kept", "beside", "own", "late", "rest", "thing"}

UNCLEAR = re.compile(
    r"(What|How|Whether|Those|Where|Which|All (that|of it|of them)|Of|So|Such|As|Into|Until|That|By how|Up to|Does)\b"
)
"""Beginnings of docstrings that name neither thing nor action; docs/project/plain_words.md has pairs."""

VAGUE = frozenset({
    "asked", "chosen", "given", "known", "left", "meant", "needed", "other", "others", "own", "rest", "said", "there",
    "thing", "things", "told", "wanted",
})  # fmt: skip
"""Vague names of variables and parameters: a participle or pronoun alone."""

THINGS = frozenset({"property", "cached_property", "computed_field", "setter", "contextmanager"})
"""Decorators of functions that stand for a thing."""

Kind = TypeVar("Kind", bound=ast.AST)
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """A module: its dotted name, its path below the checkout, its text."""

    name: str
    path: Path
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The module, parsed."""
        return parse(self.text)[0]

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Nodes of the module, in the order of `ast.walk`."""
        return parse(self.text)[1]

    @cached_property
    def _by_kind(self) -> dict[type[ast.AST], list[Any]]:
        kinds: dict[type[ast.AST], list[Any]] = {}
        for node in self.nodes:
            kinds.setdefault(type(node), []).append(node)
        return kinds

    def of(self, kind: type[Kind]) -> list[Kind]:
        """Return the nodes of a kind, in the order of `ast.walk`."""
        return self._by_kind.get(kind, [])

    @property
    def package(self) -> str:
        """The first part of its name."""
        return self.path.parts[0]

    @property
    def lines(self) -> int:
        """Number of lines, with blank ones."""
        return len(self.text.splitlines())

    @property
    def code_lines(self) -> int:
        """Number of lines without blank lines, comments and docstrings."""
        lines = (line.lstrip() for line in self.text.splitlines())
        code = {number for number, line in enumerate(lines, start=1) if line and not line.startswith("#")}
        texts = (node for node in [*self.of(ast.Constant), *self.of(ast.JoinedStr)] if node.end_lineno != node.lineno)
        code |= {line for text in texts for line in _span(text.lineno, text.end_lineno)}  # blank ones too
        return len(code - {line for text in self.docstrings() for line in _span(text.lineno, text.end_lineno)})

    def docstrings(self) -> Iterator[ast.Constant]:
        """Yield the texts that stand alone: of modules, classes and functions, and those below an attribute."""
        alone = (node.value for node in self.of(ast.Expr))
        return (value for value in alone if isinstance(value, ast.Constant) and isinstance(value.value, str))

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """Functions and methods, those inside others too."""
        return (*self.of(ast.FunctionDef), *self.of(ast.AsyncFunctionDef))

    def bound(self) -> Iterator[str]:
        """Return the names that are bound by assignments, loops, comprehensions and `with`."""
        return (name.id for name in self.of(ast.Name) if isinstance(name.ctx, ast.Store))

    def parameters(self) -> Iterator[ast.arg]:
        """Yield the parameters of functions, without `self` and `cls`."""
        for function in self.functions:
            known = function.args
            others = [star for star in (known.vararg, known.kwarg) if star is not None]
            for parameter in (*known.posonlyargs, *known.args, *known.kwonlyargs, *others):
                if parameter.arg not in ("self", "cls"):
                    yield parameter

    def inner_imports(self, packages: Iterable[str]) -> int:
        """Count the statements inside functions that import modules of these packages."""
        ours: list[ast.ImportFrom | ast.Import] = [*self.of(ast.ImportFrom), *self.of(ast.Import)]
        lines = {line for each in self.functions for line in _span(each.lineno, each.end_lineno)} if ours else set()
        statements = (node for node in ours if node.lineno in lines)
        return sum(_first_name(node) in packages for node in statements)


def _first_name(node: ast.ImportFrom | ast.Import) -> str:
    name = node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name
    return name.partition(".")[0]


def unclear_docstrings(sources: Iterable[Source]) -> float:
    """Compute the share of docstrings of modules, classes, functions and attributes with an UNCLEAR beginning."""
    texts = [str(text.value).strip() for source in sources for text in source.docstrings()]
    return sum(UNCLEAR.match(text) is not None for text in texts) / max(len(texts), 1)


def docstrings_without_verb(sources: Iterable[Source]) -> float:
    """Compute the share of docstrings of functions that begin with none of VERBS.

    Properties and context managers are left out: their docstrings name a thing.
    """
    texts = [
        text
        for source in sources
        for node in source.functions
        if (text := ast.get_docstring(node)) and not _names_a_thing(node)
    ]
    return sum(text.split()[0] not in VERBS for text in texts) / max(len(texts), 1)


def _names_a_thing(function: Function) -> bool:
    """Return whether a function is used like an attribute, or after `with`."""
    names = {ast.unparse(decorator).partition("(")[0].rpartition(".")[2] for decorator in function.decorator_list}
    return not names.isdisjoint(THINGS)


def _span(first: int, last: int | None) -> range:
    return range(first, (last or first) + 1)


def read(root: Path, folders: Iterable[str] = PACKAGES) -> list[Source]:
    """Read the modules in folders of a checkout."""
    paths = [file.relative_to(root) for file in files(root, folders)]
    return [Source(module_name(path), path, (root / path).read_text(encoding="utf-8")) for path in paths]


def modules_by_folder(sources: Iterable[Source]) -> Counter[str]:
    """Count the modules directly in each folder; `__init__` is not counted."""
    return Counter(source.path.parent.as_posix() for source in sources if source.path.name != "__init__.py")


def median_module(sources: Iterable[Source]) -> float:
    """Return the median of the lines of a module; `__init__` is not counted."""
    return median(source.lines for source in sources if source.path.name != "__init__.py")


def median_function(sources: Iterable[Source]) -> float:
    """Return the median of the lines of a function from `def` to its end, with its docstring."""
    return median(len(_span(node.lineno, node.end_lineno)) for source in sources for node in source.functions)


def parameter_counts(sources: Iterable[Source]) -> list[int]:
    """Count the parameters of each function, without `self` and `cls` and without `*` and `**`."""
    return [
        sum(
            parameter.arg not in ("self", "cls")
            for parameter in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        )
        for source in sources
        for node in source.functions
    ]


def function_lines(sources: Iterable[Source]) -> list[int]:
    """Count the lines of each function, from `def` to its end."""
    return [len(_span(node.lineno, node.end_lineno)) for source in sources for node in source.functions]


def classes_twice(sources: Iterable[Source]) -> dict[str, int]:
    """Return the names of classes that are defined twice or more in all packages, the most frequent first."""
    counts = Counter(node.name for source in sources for node in source.of(ast.ClassDef))
    return {name: count for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if count > 1}


def placeholders(sources: Iterable[Source], names: frozenset[str], *, parameters: bool) -> float:
    """Return the share of bindings that have one of these names; with `parameters`, those of functions count too."""
    bound = [name for source in sources for name in source.bound()]
    if parameters:
        bound += [parameter.arg for source in sources for parameter in source.parameters()]
    return sum(name in names for name in bound) / len(bound)


def any_share(sources: Sequence[Source]) -> float:
    """Return the share of parameters whose annotation is `Any`, an alias of it, or missing."""
    aliases = _aliases(sources)
    parameters = [(source.name, parameter) for source in sources for parameter in source.parameters()]
    return sum(_is_any(name, parameter.annotation, aliases) for name, parameter in parameters) / len(parameters)


def _is_any(module: str, annotation: ast.expr | None, aliases: set[tuple[str, str]]) -> bool:
    return annotation is None or (isinstance(annotation, ast.Name) and (module, annotation.id) in aliases)


def _aliases(sources: Iterable[Source]) -> set[tuple[str, str]]:
    """Return modules and their names that mean `Any`: `X = Any` at the top of a module, and imports of such an X."""
    equal = {(source.name, name): original for source in sources for name, original in _renamed(source)}
    aliases = {("typing", "Any")}
    while more := {name for name, original in equal.items() if original in aliases} - aliases:
        aliases |= more
    return aliases


def _renamed(source: Source) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the names that stand for another name, with the module and the name of that."""
    for node in source.of(ast.ImportFrom):
        yield from ((alias.asname or alias.name, (node.module or "", alias.name)) for alias in node.names)
    for statement in source.tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(statement.value, ast.Name):
            targets, value = (
                statement.targets if isinstance(statement, ast.Assign) else [statement.target],
                statement.value,
            )
            yield from ((name.id, (source.name, value.id)) for name in targets if isinstance(name, ast.Name))
