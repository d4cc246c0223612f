"""Run the tests that a change reaches, the nearest ones first, as many as fit into some processor seconds.

`python -m benchmarks.house.changed [--against main] [--seconds 80] [--list] [PYTEST ARGUMENTS]`. The change is all that
differs from the commit where the branch left `main`, with files that are not committed. Tests of the same name as a
changed module come first, then test files by the imports that lie between them and the change. `seconds.json` has the
time of each file, see `benchmarks.house.tests --record`. Lint, types and all other tests are for `make test`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from benchmarks.house.imports import PACKAGES, Graph, files, module_name
from benchmarks.house.tests import read_record

ROOT = Path(__file__).parent.parent.parent
FOLDERS = (*PACKAGES, "limbsweep", "packing", "benchmarks", "tests")
SECONDS = 80.0
"""Processor seconds of a minute on two cores, without the start of the two processes."""
UNKNOWN = 1.0
"""Seconds of a file of tests that the record does not have."""
IMPORT = re.compile(r"^ *(?:from ([\w.]+) import (\([^)]*\)|[^\n#]+)|import ([^\n#]+))", re.MULTILINE)
"""An import, found by its form: parsing all files would take longer than the tests of a small change."""


class Choice(NamedTuple):
    """Files of tests that a change reaches: files that are run, and files beyond the time limit."""

    run: tuple[str, ...]
    left: tuple[str, ...]


def changed_files(root: Path, against: str) -> list[str]:
    """Return paths below the checkout that differ from the merge base with another branch, and untracked files.

    Raises RuntimeError where git has no answer.
    """
    base = _git(root, "merge-base", "HEAD", against)
    names = _git(root, "diff", "--name-only", *base) + _git(root, "ls-files", "--others", "--exclude-standard")
    return sorted(set(names))


def _git(root: Path, *arguments: str) -> list[str]:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.split("\n")[:-1]


def graph_of(texts: Mapping[str, str]) -> Graph:
    """Return the modules of ours that each module imports, from the texts of all modules by name."""
    return {name: {module for use in _uses(text) if (module := _module(use, texts))} for name, text in texts.items()}


def _uses(text: str) -> Iterator[str]:
    for source, names, plain in IMPORT.findall(text):
        for name in (names or plain).strip("()").split(","):
            yield ".".join(filter(None, (source, *name.split()[:1])))


def _module(name: str, modules: Collection[str]) -> str:
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name


def distances(graph: Graph, modules: Iterable[str]) -> dict[str, int]:
    """Return the modules that reach some modules by imports, with the number of imports between; 0 for themselves."""
    importers: dict[str, set[str]] = {}
    for importer, imported in graph.items():
        for module in imported:
            importers.setdefault(module, set()).add(importer)
    result = dict.fromkeys(modules, 0)
    front = list(result)
    while front:
        near = {importer: result[module] + 1 for module in front for importer in importers.get(module, ())}
        front = [module for module in near if module not in result]
        result |= {module: near[module] for module in front}
    return result


def twin(module: str) -> str:
    """Return the tests that mirror a module: of the same folder below `tests`, with `test_` before the name."""
    package, _, name = module.rpartition(".")
    return f"tests.{package}.test_{name}"


def shared(test: str, modules: Iterable[str]) -> int:
    """Return how many folders tests and one of some modules have in common, counted from the package."""
    pairs = (zip(test.split(".")[1:-1], module.split(".")[:-1], strict=False) for module in modules)
    return max((sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], each)) for each in pairs), default=0)


def is_test(module: str) -> bool:
    """Return whether pytest collects a module."""
    return module.startswith("tests.") and module.rpartition(".")[2].startswith("test_")


def reached(texts: Mapping[str, str], changed: Sequence[str]) -> list[str]:
    """Return the modules of tests that changed files reach, the nearest first, from the texts of all modules by name.

    Of two with as many imports between, the one in the folder of the tests of the change comes first. A file that is no
    module reaches the tests that mention its name.
    """
    modules = [name for path in changed if path.endswith(".py") and (name := module_name(Path(path))) in texts]
    others = {Path(path).name for path in changed if not path.endswith(".py")}
    away = distances(graph_of(texts), modules)
    away |= {twin(module): 0 for module in modules if twin(module) in texts}
    away |= {module: 1 for module, text in texts.items() if any(name in text for name in others)}
    return sorted(filter(is_test, away), key=lambda test: (away[test], -shared(test, modules), test))


def chosen(tests: Sequence[str], record: Mapping[str, float], seconds: float) -> Choice:
    """Return the first tests that fit into the seconds together, at least one; paths below the checkout."""
    run: list[str] = []
    left: list[str] = []
    for test in (f"{module.replace('.', '/')}.py" for module in tests):
        cost = record.get(test, UNKNOWN)
        if run and cost > seconds:
            left.append(test)
        else:
            run.append(test)
            seconds -= cost
    return Choice(tuple(run), tuple(left))


def choice(root: Path, changed: Sequence[str], seconds: float) -> Choice:
    """Return the tests of a checkout for some changed files."""
    texts = {module_name(path.relative_to(root)): path.read_text(encoding="utf-8") for path in files(root, FOLDERS)}
    return chosen(reached(texts, changed), read_record(), seconds)


def lines(changed: Sequence[str], tests: Choice) -> Iterator[str]:
    """Yield the numbers of files that are reached and run, and the names of the latter."""
    yield f"{len(changed)} changed files reach {len(tests.run) + len(tests.left)} files of tests"
    yield f"{len(tests.run)} nearest are run, {len(tests.left)} are left to make test"
    yield from (f"  {test}" for test in tests.run)


def main(arguments: Sequence[str] | None = None) -> int:
    """Choose and run; the exit status is that of pytest, 0 where nothing has changed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.house.changed", description=__doc__)
    parser.add_argument("--against", default="main")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--list", action="store_true", help="print the tests and run none")
    options, others = parser.parse_known_args(arguments)
    changed = changed_files(ROOT, options.against)
    tests = choice(ROOT, changed, options.seconds)
    print("\n".join(lines(changed, tests)), flush=True)
    if options.list or not tests.run:
        return 0
    command = [sys.executable, "-m", "pytest", "-q", "--numprocesses", "2", "--dist", "worksteal", *others, *tests.run]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
