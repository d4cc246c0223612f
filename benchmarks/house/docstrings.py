"""Program that draws docstrings of a checkout at random and prints them, to be read as a newcomer reads them.

`python -m benchmarks.house.docstrings --draw 60 --seed 1 [--root CHECKOUT]`: the same seed draws the same docstrings of
the same sources. The last line is the share of all docstrings with an unclear beginning.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.house.sources import Source, read, unclear_docstrings

ROOT = Path(__file__).parents[2]


class Docstring(NamedTuple):
    """Docstring of a module, class, function or attribute: file and line, name, text."""

    place: str
    name: str
    text: str


def docstrings(source: Source) -> Iterator[Docstring]:
    """Yield the docstrings of a module in the order of its lines."""
    found = list(_docstrings(source.tree, source.name, source))
    yield from sorted(found, key=lambda each: int(each.place.rpartition(":")[2]))


def _docstrings(node: ast.AST, name: str, source: Source) -> Iterator[Docstring]:
    """Yield the docstring of a node, those below its attributes, and those of its classes and functions."""
    body: list[ast.stmt] = getattr(node, "body", [])
    for before, statement in zip([None, *body], body, strict=False):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            if isinstance(statement.value.value, str):
                owner = name if before is None else _attribute(name, before)
                place = f"{source.path.as_posix()}:{statement.lineno}"
                yield Docstring(place, owner, inspect.cleandoc(statement.value.value))
        elif isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _docstrings(statement, f"{name}.{statement.name}", source)


def _attribute(owner: str, statement: ast.stmt) -> str:
    """Return the dotted name that a statement assigns; the owner alone for another statement."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    return f"{owner}.{ast.unparse(target)}" if target is not None else owner


def draw(sources: Iterable[Source], count: int, seed: int) -> list[Docstring]:
    """Draw docstrings without replacement, all where there are fewer; in the order of the files."""
    every = [each for source in sources for each in docstrings(source)]
    chosen = sorted(random.Random(seed).sample(range(len(every)), min(count, len(every))))
    return [every[index] for index in chosen]


def main(arguments: list[str] | None = None) -> None:
    """Draw docstrings and print them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.house.docstrings", description=__doc__)
    parser.add_argument("--draw", type=int, default=60, metavar="COUNT", help="number of docstrings")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers")
    parser.add_argument("--root", type=Path, default=ROOT, help="another checkout")
    options = parser.parse_args(arguments)
    sources = read(options.root.resolve())
    for each in draw(sources, options.draw, options.seed):
        print(f"{each.place} {each.name}\n    " + each.text.replace("\n", "\n    "))
    print(f"\nunclear beginnings: {100 * unclear_docstrings(sources):.2f} % of all docstrings")


if __name__ == "__main__":
    main()
