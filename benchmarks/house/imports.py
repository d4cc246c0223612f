"""Graph of the imports of modules, read from the sources, under `TYPE_CHECKING` and inside functions as well.

On such a graph: cycles, the longest chain, and arrows that run back up between rooms. A room is a sub-package of a
package, or a module beside the sub-packages.
"""

from __future__ import annotations

import ast
import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGES = ("robots", "tasks", "storage", "pipeline", "applications")

Import = ast.Import | ast.ImportFrom
Graph = Mapping[str, set[str]]
"""The modules that each module imports."""


@dataclass(frozen=True)
class Use:
    """A dotted name that a module uses; `typing` where for annotations alone."""

    name: str
    line: int
    typing: bool


@dataclass(frozen=True)
class Tree:
    """The modules below a folder, by name, with their imports."""

    uses: dict[str, tuple[Use, ...]]

    @classmethod
    def read(cls, root: Path) -> Tree:
        """Return the tree of a checkout."""
        return cls({module_name(file.relative_to(root)): tuple(_uses(file)) for file in files(root)})

    def module(self, name: str) -> str | None:
        """Return the module of ours that a dotted name lies in."""
        while name and name not in self.uses:
            name = name.rpartition(".")[0]
        return name or None

    def graph(self, *, typing: bool = True) -> Graph:
        """Return the limbsweep modules that each module imports; with `typing` also those for annotations alone."""
        return {module: self._imports(module, typing) for module in self.uses}

    def _imports(self, module: str, typing: bool) -> set[str]:
        used = {self.module(use.name) for use in self.uses[module] if typing or not use.typing}
        return {name for name in used if name is not None} - {module}


def files(root: Path, folders: Iterable[str] = PACKAGES) -> list[Path]:
    """Return the files of the modules in folders of a checkout, by default of our packages."""
    return [file for folder in folders for file in sorted((root / folder).rglob("*.py"))]


def module_name(path: Path) -> str:
    """Return the dotted name of the module in a file, from its path below the checkout."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def parse(text: str) -> tuple[ast.Module, tuple[ast.AST, ...]]:
    """Parse the text of a module, and list all of its nodes: walking takes most of the time of a count.

    All nodes are kept, in case other counts ask for them; garbage collection would look at them again and again.
    """
    tree = ast.parse(text)
    nodes: list[ast.AST] = [tree]
    for node in nodes:  # which grows: the order is that of `ast.walk`, in a third of its time
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                nodes.extend(each for each in value if isinstance(each, ast.AST))
            elif isinstance(value, ast.AST):
                nodes.append(value)
    gc.freeze()
    return tree, tuple(nodes)


def _uses(file: Path) -> Iterator[Use]:
    """Yield every imported name, and every attribute that is reached through an imported module."""
    _, nodes = parse(file.read_text(encoding="utf-8"))
    typing = _inside(nodes, _is_type_checking)
    bound: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, Import):
            for name, binding in _imported(node):
                bound |= binding
                yield Use(name, node.lineno, id(node) in typing)
    for node in nodes:
        if isinstance(node, ast.Attribute) and (name := _dotted(node)).partition(".")[0] in bound:
            first, _, rest = name.partition(".")
            yield Use(f"{bound[first]}.{rest}", node.lineno, id(node) in typing)


def _inside(nodes: Iterable[ast.AST], block: Callable[[ast.AST], bool]) -> set[int]:
    """Return the identities of all nodes in blocks of a kind."""
    return {id(node) for outer in nodes if block(outer) for node in ast.walk(outer)}


def _imported(node: Import) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each imported name, with the name that it binds and its meaning."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            first = alias.name.partition(".")[0]
            yield alias.name, {alias.asname: alias.name} if alias.asname else {first: first}
    else:
        assert not node.level, "imports are absolute, so that they can be read and searched"
        for alias in node.names:
            yield f"{node.module}.{alias.name}", {alias.asname or alias.name: f"{node.module}.{alias.name}"}


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def part(graph: Graph, package: str) -> Graph:
    """Return the graph of one package alone."""
    inside = {module for module in graph if module.partition(".")[0] == package}
    return {module: graph[module] & inside for module in inside}


def reachable(graph: Graph, module: str) -> set[str]:
    """Return the modules that a module imports, directly or through others."""
    reached: set[str] = set()
    front = graph[module]
    while front:
        reached |= front
        front = {name for module in front for name in graph[module]} - reached
    return reached


def cycles(graph: Graph) -> list[list[str]]:
    """Return modules that import each other, also indirectly: strongly connected components of two or more."""
    below = {module: reachable(graph, module) for module in graph}
    components = {frozenset(other for other in below[module] if module in below[other]) for module in graph}
    return sorted(sorted(component) for component in components if component)


def floors(graph: Graph) -> int:
    """Return the number of modules on the longest chain of imports; a cycle is one floor."""
    component = {module: {module} for module in graph}
    component |= {module: set(cycle) for cycle in cycles(graph) for module in cycle}

    @cache
    def floor(module: str) -> int:
        together = component[module]
        return 1 + max((floor(name) for inside in together for name in graph[inside] - together), default=0)

    return max((floor(module) for module in graph), default=0)


def rooms(graph: Graph) -> tuple[Graph, Counter[tuple[str, str]]]:
    """Return the graph between rooms, and how many imports stand behind each of its arrows."""
    room = {module: ".".join(module.split(".")[:2]) for module in graph}
    arrows = Counter((room[module], room[name]) for module in graph for name in graph[module])
    between = {name: {other for start, other in arrows if start == name} - {name} for name in set(room.values())}
    return between, arrows


def arrows_back(graph: Graph) -> int:
    """Return the fewest imports back up between rooms, over all possible orders of the rooms; 0 if one fits."""
    between, arrows = rooms(graph)

    @cache
    def fewest(below: frozenset[str]) -> int:
        return min(
            (fewest(below - {top}) + sum(arrows[lower, top] for lower in below - {top}) for top in below), default=0
        )

    return sum(fewest(frozenset(cycle)) for cycle in cycles(between))
