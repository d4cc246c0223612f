"""Write our packages again as parts of one package: `tasks.kernels` becomes `limbsweep._src.tasks.kernels`.

Of each Python file the names of our modules are changed, in place, so that lines keep their numbers: in import
statements, and in texts, where a dotted name is that of a module (tables of homes, `python -m`, docstrings). Attributes
of variables are left alone, whatever their names. `python -m packing.one_name FOLDER ...` does so with folders that use
the packages, such as the tests beside an installed wheel.
"""

from __future__ import annotations

import ast
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeGuard

FACE = "limbsweep"
INSIDE = f"{FACE}._src"
PACKAGES = ("robots", "tasks", "storage", "pipeline", "applications", "benchmarks")
CLUSTER = "cluster.yaml"
"""File beside the packages that `limbsweep new cluster` copies."""
LEFT_OUT = ("benchmarks/campaigns/mutants.py", "benchmarks/house")
"""Modules that read the repository, and are of no use without one."""

_NAMED = re.compile("|".join(PACKAGES))
_DOTTED = re.compile(rf"(?<![\w./\\-])(?:{'|'.join(PACKAGES)})((?:\.\w+)+|\.$)")
_STATEMENT = re.compile(rf"(?<=\bfrom )(?:{'|'.join(PACKAGES)})(?= import )")


class Edit(NamedTuple):
    """Replace a part of a line's bytes: line from 0, columns in bytes."""

    line: int
    start: int
    stop: int
    text: str


class OneNameError(Exception):
    """An import that cannot be written again."""


def modules(root: Path) -> frozenset[str]:
    """Return the dotted names of all modules of the packages below a folder."""
    files = (file.relative_to(root).with_suffix("") for name in PACKAGES for file in (root / name).rglob("*.py"))
    return frozenset(".".join(file.parts[:-1] if file.name == "__init__" else file.parts) for file in files)


def rewritten(text: str, known: frozenset[str]) -> str:
    """Return the text of a module with our modules under their new names. Raises OneNameError."""
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    for edit in sorted(set(_edits(ast.parse(text), lines, known)), reverse=True):
        line = lines[edit.line]
        lines[edit.line] = line[: edit.start] + edit.text.encode() + line[edit.stop :]
    return b"".join(lines).decode()


def _edits(tree: ast.Module, lines: list[bytes], known: frozenset[str]) -> Iterator[Edit]:
    nodes = list(ast.walk(tree))  # which takes most of the time
    in_f_strings = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.level == 0 and _is_ours(node.module):
            start = lines[node.lineno - 1].index((node.module or "").encode(), node.col_offset)
            yield Edit(node.lineno - 1, start, start, f"{INSIDE}.")
        elif isinstance(node, ast.Import) and any(_is_ours(alias.name) for alias in node.names):
            yield _import(node, lines)
        elif isinstance(node, ast.JoinedStr):
            yield from _in_text(node, lines, known, formatted=True)
        elif _is_text(node) and id(node) not in in_f_strings:
            yield from _in_text(node, lines, known, formatted=False)


def _is_text(node: ast.AST) -> TypeGuard[ast.Constant]:
    """Return whether a node is a text that may name a module of ours."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and _NAMED.search(node.value) is not None


def _is_ours(name: str | None) -> bool:
    return (name or "").partition(".")[0] in PACKAGES


def _import(node: ast.Import, lines: list[bytes]) -> Edit:
    """Import a module by its new name, and bind the name that the old statement binds."""
    if node.end_lineno != node.lineno or not all(_is_ours(alias.name) for alias in node.names):
        raise OneNameError(f"line {node.lineno}: got `{ast.unparse(node)}`; expected one module of ours in a statement")
    parts = []
    for alias in node.names:
        package = alias.name.partition(".")[0]
        if alias.asname:
            parts.append(f"import {INSIDE}.{alias.name} as {alias.asname}")
        else:
            dotted = [f"import {INSIDE}.{alias.name}"] if "." in alias.name else []
            parts += [*dotted, f"from {INSIDE} import {package}"]
    return Edit(node.lineno - 1, node.col_offset, node.end_col_offset or 0, "; ".join(dict.fromkeys(parts)))


def _in_text(
    node: ast.Constant | ast.JoinedStr, lines: list[bytes], known: frozenset[str], *, formatted: bool
) -> Iterator[Edit]:
    """Yield the edits of dotted module names in a text; code in braces of a formatted text stays."""
    depth = 0
    for number in range(node.lineno - 1, node.end_lineno or node.lineno):
        line = lines[number]
        start = node.col_offset if number == node.lineno - 1 else 0
        stop = node.end_col_offset if number == (node.end_lineno or 0) - 1 else len(line)
        offset = start
        for piece in re.split(r"([{}])", line[start:stop].decode()):
            if formatted and piece in ("{", "}"):
                depth += 1 if piece == "{" else -1
            elif not depth:
                dotted = (m for m in _DOTTED.finditer(piece) if (m[1] == "." and formatted) or _module(m[0], known))
                for match in (*dotted, *_STATEMENT.finditer(piece)):
                    place = offset + len(piece[: match.start()].encode())
                    yield Edit(number, place, place, f"{INSIDE}.")
            offset += len(piece.encode())


def _module(name: str, known: frozenset[str]) -> str | None:
    """Return the module that a dotted name lies in, other than a whole package."""
    while name.count(".") and name not in known:
        name = name.rpartition(".")[0]
    return name if name.count(".") else None


def write_package(root: Path, folder: Path) -> None:
    """Write the one package of a repository into a folder: the face, and behind it our packages."""
    known = modules(root)
    left_out = [root / path for path in LEFT_OUT]
    for package in (FACE, *PACKAGES):
        target = folder / FACE if package == FACE else folder / FACE / "_src" / package
        for file in sorted((root / package).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts and not any(map(file.is_relative_to, left_out)):
                _copy(file, target / file.relative_to(root / package), known)
    shutil.copyfile(root / CLUSTER, folder / FACE / "_src" / CLUSTER)
    (folder / FACE / "_src" / "__init__.py").write_text('"""The packages behind `limbsweep`."""\n', "utf-8")


def _copy(file: Path, target: Path, known: frozenset[str]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix in (".py", ".pyi"):
        try:
            target.write_text(rewritten(file.read_text("utf-8"), known), "utf-8", newline="\n")
        except OneNameError as error:
            raise OneNameError(f"{file}: {error}") from None
    else:
        shutil.copyfile(file, target)


def main(folders: list[str]) -> None:
    """Rewrite the Python files below folders, in place."""
    known = modules(Path(__file__).parents[1])
    for folder in folders:
        for file in Path(folder).rglob("*.py*"):
            if file.suffix in (".py", ".pyi"):
                _copy(file, file, known)


if __name__ == "__main__":
    main(sys.argv[1:])
