"""Figures of a checkout by name, the figures that may not get worse, and the table of before and now."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.checkout import commit
from benchmarks.house import sources
from benchmarks.house.extensions import files_to_touch
from benchmarks.house.imports import PACKAGES, Tree, arrows_back, cycles, floors, part, rooms
from benchmarks.house.route import route
from benchmarks.house.sources import Source

RATCHET = {
    "parameters typed Any, %": 1.0,
    "placeholder names, %": 1.0,
    "placeholder names of the longer list, parameters too, %": 1.0,
    "vague names, parameters too, %": 1.0,
    "docstrings with an unclear beginning, %": 1.0,
    "docstrings of functions without a verb, %": 1.0,
    "docstrings of benchmarks, examples and documentation with an unclear beginning, %": 1.0,
    "class names used twice or more": 1.0,
    "floors of the whole": 1.0,
    **{f"floors of {package}": 1.0 for package in PACKAGES},
    "functions with more than 8 parameters": 1.0,
    "most parameters of a function": 1.0,
    "lines of the longest function": 1.0,
    "imports of our modules inside functions": 1.0,
    "code lines": 1.01,
    "all lines": 1.01,
}
"""Figures that may not get worse than the record, and how many times it they may be: room for a feature's lines."""

BESIDE = ("benchmarks", "examples", "docs")
"""Folders beside the packages whose docstrings are counted."""

Figures = dict[str, float]


class House(NamedTuple):
    """The figures of a checkout: its commit, numbers by name, and names of classes with how often each is defined."""

    commit: str
    figures: Figures
    classes_twice: dict[str, int]

    @classmethod
    def load(cls, file: Path) -> House:
        """Load the kept figures."""
        return cls(**json.loads(file.read_text(encoding="utf-8")))

    def dump(self) -> str:
        """Return the figures as JSON."""
        return json.dumps(self._asdict(), indent=1) + "\n"


def measure(root: Path, *, trace: bool = False) -> House:
    """Return the figures of a checkout; those of a run only with `trace`, because they take ten seconds."""
    modules = sources.read(root)
    twice = sources.classes_twice(modules)
    figures = {
        **_modules(modules),
        **_functions(modules),
        **_imports(Tree.read(root)),
        **_names(modules),
        **_beside(root),
        **_lines(modules),
        **{f"files to touch, {kind}": count for kind, count in files_to_touch(root, modules).items()},
    }
    figures["class names used twice or more"] = len(twice)
    if trace:
        way = route(root)
        figures["modules entered from a sweep file to its results"] = len(way.entered)
        figures |= {f"modules that meet {value}": len(modules) for value, modules in way.meeting.items()}
    return House(commit(root), figures, twice)


def _modules(modules: Sequence[Source]) -> Figures:
    folders = sources.modules_by_folder(modules)
    return {"modules": sum(folders.values())}


def _functions(modules: Sequence[Source]) -> Figures:
    parameters, lines = sources.parameter_counts(modules), sources.function_lines(modules)
    return {
        "functions with more than 8 parameters": sum(count > 8 for count in parameters),
        "most parameters of a function": max(parameters, default=0),
        "lines of the longest function": max(lines, default=0),
        "imports of our modules inside functions": sum(source.inner_imports(PACKAGES) for source in modules),
    }


def _imports(tree: Tree) -> Figures:
    graph = tree.graph()
    return {
        "import cycles": len(cycles(graph)),
        "imports that run back up between rooms": sum(arrows_back(part(graph, package)) for package in PACKAGES),
        "floors of the whole": floors(graph),
        **{f"floors of {package}": floors(part(graph, package)) for package in PACKAGES},
        "floors of pipeline, by rooms": floors(rooms(part(graph, "pipeline"))[0]),
    }


def _names(modules: Sequence[Source]) -> Figures:
    shares = {
        "parameters typed Any, %": sources.any_share(modules),
        "placeholder names, %": sources.placeholders(modules, sources.PLACEHOLDERS, parameters=False),
        "placeholder names of the longer list, parameters too, %": sources.placeholders(
            modules, sources.MORE_PLACEHOLDERS, parameters=True
        ),
        "vague names, parameters too, %": sources.placeholders(modules, sources.VAGUE, parameters=True),
        "docstrings with an unclear beginning, %": sources.unclear_docstrings(modules),
        "docstrings of functions without a verb, %": sources.docstrings_without_verb(modules),
    }
    return {name: round(100 * share, 2) for name, share in shares.items()}


def _beside(root: Path) -> Figures:
    share = sources.unclear_docstrings(sources.read(root, BESIDE))
    return {"docstrings of benchmarks, examples and documentation with an unclear beginning, %": round(100 * share, 2)}


def _lines(modules: Sequence[Source]) -> Figures:
    code = {
        f"code lines of {package}": sum(module.code_lines for module in modules if module.package == package)
        for package in PACKAGES
    }
    every = {
        f"all lines of {package}": sum(module.lines for module in modules if module.package == package)
        for package in PACKAGES
    }
    return {
        "code lines": sum(code.values()),
        **code,
        "all lines": sum(every.values()),
        **every,
        "median lines of a module": sources.median_module(modules),
        "median lines of a function": sources.median_function(modules),
    }


def table(before: House, now: House) -> Iterator[str]:
    """Yield the lines of a table in Markdown: every figure before and now, then the names of classes."""
    yield f"| figure | before ({before.commit}) | now |"
    yield "|---|---:|---:|"
    for name in now.figures:
        yield f"| {name} | {_number(before.figures, name)} | {_number(now.figures, name)} |"
    yield ""
    yield f"Class names used twice or more, before: {_listed(before.classes_twice)}."
    yield ""
    yield f"Now: {_listed(now.classes_twice)}."


def _number(figures: Mapping[str, float], name: str) -> str:
    return f"{figures[name]:g}" if name in figures else "-"


def _listed(names: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in names.items()) or "none"
