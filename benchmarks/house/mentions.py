"""Names in backquotes in docstrings: each name of ours with a dot has to exist.

A name with dots counts as a mention where its beginning is a package, a module or a class of ours, or nothing known:
names of other libraries, of files and of keys are told by the tables below.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.house.sources import Source

ROOT = Path(__file__).parents[2]

MENTION = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?:\([^`]*\))?`")

CLASS = re.compile(r"^ *class (\w+)", re.MULTILINE)

FOREIGN = frozenset({
    "Dataset", "IPython", "cmeel", "distributed", "limbsweep", "ls", "np", "numpy", "pinocchio", "xarray",
})  # fmt: skip
"""First parts of names that others define, or that users write: their libraries and `limbsweep` itself."""

ENDINGS = frozenset({"cpp", "csv", "hpp", "json", "pem", "py", "toml", "txt", "urdf", "xml", "yaml"})
"""Last parts of names of files."""

EXAMPLES = frozenset({
    "ds.sel", "effort.NAME", "k.a", "k.b", "k.joint", "limb.body", "limb.joint", "limb1.arm", "position.NAME", "run.q",
    "velocity.NAME",
})  # fmt: skip
"""Keys of files and expressions of users, as examples."""


class Mention(NamedTuple):
    """A name in a docstring, with the module and the line of the docstring."""

    module: str
    line: int
    name: str


def unknown(sources: Iterable[Source]) -> list[Mention]:
    """Return the mentions in docstrings that name no module, and no name of a module or class of `sources`."""
    sources = list(sources)
    names = Names(sources)
    return [
        Mention(source.name, text.lineno, match[1])
        for source in sources
        if MENTION.search(source.text)  # most modules have none, and need not be parsed
        for text in source.docstrings()
        for match in MENTION.finditer(str(text.value))
        if not _is_foreign(match[1].split(".")) and match[1] not in names
    ]


def _is_foreign(parts: list[str]) -> bool:
    return (
        parts[0] in FOREIGN
        or parts[0] in sys.stdlib_module_names
        or parts[-1] in ENDINGS
        or ".".join(parts[:2]) in EXAMPLES
    )


class Names:
    """Names of some modules: of modules and packages by any of their ends, and of classes. Parsed on demand."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._modules: dict[str, list[Source]] = {}
        self._members: dict[str, set[str]] = {}
        self._classes: dict[str, list[Source]] = {}
        for source in sources:
            parts = source.name.removesuffix(".__init__").split(".")
            for end in range(1, len(parts) + 1):
                for start in range(end):
                    members = self._members.setdefault(".".join(parts[start:end]), set())
                    members.update(parts[end : end + 1])
            for start in range(len(parts)):
                self._modules.setdefault(".".join(parts[start:]), []).append(source)
            for name in CLASS.findall(source.text):
                self._classes.setdefault(name, []).append(source)

    def __contains__(self, name: str) -> bool:
        """Return whether a name with dots is a module, a name in one, or an attribute of a class."""
        head, _, last = name.rpartition(".")
        owner = head.rpartition(".")[2]
        return (
            name in self._members
            or last in self._members.get(head, ())
            or any(last in _offered(source) for source in self._modules.get(head, ()))
            or any(last in _attributes(source, owner) for source in self._classes.get(owner, ()))
        )


def _offered(source: Source) -> Iterator[str]:
    """Yield the names that a module binds, and those in its stub."""
    yield from _bound(source.tree.body)
    if (stub := (ROOT / source.path).with_suffix(".pyi")).exists():
        yield from _bound(ast.parse(stub.read_text("utf-8")).body)


def _attributes(source: Source, name: str) -> Iterator[str]:
    """Yield the names in the bodies of the classes of a module that have this name."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef) and node.name == name:
            yield from _bound(node.body)


def _bound(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield the names that statements of a module or class bind, those under conditions too."""
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.Import() | ast.ImportFrom():
                yield from ((alias.asname or alias.name.partition(".")[0]) for alias in node.names)
            case ast.Assign() | ast.AnnAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                yield from (name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))
            case ast.If() | ast.Try():
                yield from _bound([*node.body, *node.orelse])
