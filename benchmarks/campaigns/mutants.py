"""Change one thing of a module at a time: the share of changes that a test notices.

A change turns a comparison round, puts `or` for `and`, adds one to a number or puts the other truth value; places are
chosen by `--seed` among all of some modules. They are changed in a copy of the checkout, each in a process that has the
libraries already: `python -m benchmarks.campaigns.mutants [--mutants 40] [--seed N] [--everywhere] [MODULE ...]`.

Modules of `storage` and of the validation of input have the tests that `TESTS` names. Any other module, and with
`--everywhere` all of ours, has its nearest ones of 20 processor seconds, see `benchmarks.house.changed`; that they pass
without any change is for `make test` to show. A change that the gate does not notice is shown to the tests of the same
files that `tests/left_to_slow.py` leaves to `make test-slow`.

`--keep FILE` writes each change with the test that noticed it, a line of JSON each. `--again FILE` makes the changes of
such a file once more, those whose line is still there, and shows each first to the test that noticed it: whether a gate
that has changed notices as much takes minutes.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import importlib
import io
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, NoReturn

import pytest

from benchmarks.house.changed import choice
from benchmarks.house.imports import files
from tests.left_to_slow import LEFT

ROOT = Path(__file__).parent.parent.parent
NEAR = 20.0
"""Processor seconds of the tests that a module without a row is shown to."""
LIBRARIES = ("pytest", "numpy", "xarray", "zarr", "distributed", "pydantic", "click")
IMPORTED = "ignore::pytest.PytestAssertRewriteWarning"
SECONDS = 300
"""Processor seconds after which tests are taken not to end, as a loop does that a change has made endless."""
WAIT = 3600
"""Seconds after which they are taken not to end where they use no processor."""
EVIDENCE = ("storage/test_evidence",)
FILES = ("bad_inputs/test_bad_inputs",)
TESTS: dict[str, tuple[str, ...]] = {
    "storage/completion": (
        "storage/test_completion",
        "storage/test_ledger",
    ),
    "storage/coordinates": (
        "storage/test_coordinates",
        *EVIDENCE,
    ),
    "storage/encoding/checksums": (
        "storage/test_shards",
        "storage/test_signature",
        *EVIDENCE,
        "storage/test_manifest",
        "storage/test_store",
    ),
    "storage/encoding/shards": (
        "storage/test_shards",
        "storage/test_reading",
        *EVIDENCE,
    ),
    "storage/expected": (
        "storage/test_reading",
        *EVIDENCE,
        "storage/test_stateful",
    ),
    "storage/files": (
        "storage/test_store",
        "storage/test_coordinates",
    ),
    "storage/growth": (
        "storage/test_growth",
        "storage/test_stateful",
    ),
    "storage/integrity": (
        "storage/test_integrity",
        *EVIDENCE,
        "storage/test_stateful",
        "pipeline/stores/test_verify",
    ),
    **dict.fromkeys(
        ("storage/layout", "storage/variables"),
        ("storage/test_layout", "storage/test_schema", "storage/test_manifest", "storage/test_store"),
    ),
    "storage/ledger": (
        "storage/test_ledger",
        "storage/test_completion",
        "storage/test_protocol",
        *EVIDENCE,
    ),
    "storage/manifest": (
        "storage/test_manifest",
        *EVIDENCE,
    ),
    "storage/places/local": (
        "storage/places/test_location",
        "storage/places/test_regular",
        "storage/test_protocol",
    ),
    "storage/places/location": (
        "storage/places/test_location",
        "storage/places/test_regular",
        *EVIDENCE,
    ),
    "storage/places/lock": ("storage/places/test_lock",),
    "storage/places/objects": (
        "storage/places/test_location",
        "storage/places/test_lost_answers",
    ),
    "storage/places/regular": ("storage/places/test_regular",),
    "storage/reading": (
        "storage/test_reading",
        *EVIDENCE,
        "storage/test_stateful",
    ),
    "storage/schema": (
        "storage/test_schema",
        "storage/test_store",
    ),
    "storage/signature": ("storage/test_signature",),
    "storage/store": (
        "storage/test_store",
        "storage/test_coordinates",
        *EVIDENCE,
    ),
    "storage/writer": (
        "storage/test_store",
        "storage/test_integrity",
        "storage/test_protocol",
        *EVIDENCE,
    ),
    "pipeline/documents/files": (
        "pipeline/documents/test_files",
        *FILES,
        "pipeline/documents/test_units",
    ),
    "pipeline/documents/scalars": (
        "pipeline/documents/test_scalars",
        *FILES,
        "pipeline/documents/test_yaml",
    ),
    **dict.fromkeys(
        ("pipeline/documents/document", "pipeline/documents/number_lists"),
        ("pipeline/documents/test_number_lists", *FILES, "pipeline/documents/test_yaml"),
    ),
    "pipeline/documents/yaml": (
        "pipeline/documents/test_number_lists",
        *FILES,
        "pipeline/documents/test_yaml",
        "pipeline/documents/test_units",
    ),
    "pipeline/documents/outputs": (
        "pipeline/documents/test_outputs",
        *FILES,
    ),
    "pipeline/documents/points": (
        "pipeline/documents/test_files",
        *FILES,
    ),
    "pipeline/documents/validation": (
        "pipeline/documents/test_errors",
        "pipeline/sweep/test_reader",
        *FILES,
    ),
    "pipeline/sweep/limits": (
        "pipeline/sweep/test_limits",
        *FILES,
    ),
    "pipeline/sweep/reader": (
        "pipeline/sweep/test_reader",
        *FILES,
    ),
    "pipeline/sweep/sections": (
        "pipeline/sweep/test_reader",
        "pipeline/sweep/axes/test_conditions",
        "pipeline/sweep/axes/test_columns",
        *FILES,
    ),
    "robots/trajectories/time_grid": (
        "pipeline/sweep/test_reader",
        *FILES,
    ),
}
"""Tests that a change of a module is shown to, those first that are of it alone."""

OTHER: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def places(tree: ast.AST) -> Iterator[ast.AST]:
    """Return the places of a source that can be changed."""
    for node in ast.walk(tree):
        is_number = isinstance(node, ast.Constant) and type(node.value) in (int, bool)
        if is_number or isinstance(node, ast.Compare | ast.BoolOp):
            yield node


def change(node: ast.AST) -> str:
    """Change a place, and return the change in words."""
    if isinstance(node, ast.Compare):
        old = node.ops[0]
        node.ops[0] = OTHER[type(old)]()
        return f"{type(old).__name__} becomes {type(node.ops[0]).__name__}"
    if isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return f"becomes {type(node.op).__name__}"
    assert isinstance(node, ast.Constant)
    old_value = node.value
    node.value = not old_value if isinstance(old_value, bool) else int(str(old_value)) + 1
    return f"{old_value!r} becomes {node.value!r}"


def tests_of(module: str) -> tuple[str, ...]:
    """Return the files of tests that a change of a module is shown to."""
    if module in TESTS:
        return tuple(f"tests/{name}.py" for name in TESTS[module])
    return choice(ROOT, [f"{module}.py"], NEAR).run


def left_of(tests: Sequence[str]) -> tuple[str, ...]:
    """Return the tests of some files that the gate leaves to `make test-slow`, whole functions of cut names."""
    left = [name for name in LEFT if name.partition("::")[0] in tests]
    names = (name if name.endswith("]") else name.partition("[")[0] for name in left)
    return tuple(dict.fromkeys(name.removesuffix("::") for name in names))


class Failed:
    """Plugin of pytest that writes the name of each test that fails to a file."""

    def __init__(self, names: BinaryIO) -> None:
        """Write to a file without a buffer."""
        self.names = names

    def pytest_runtest_logreport(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        """Write a name."""
        if report.failed:
            self.names.write(f"{report.nodeid}\n".encode())

    pytest_collectreport = pytest_runtest_logreport


def noticing(root: Path, tests: tuple[str, ...], *options: str) -> str | None:
    """Return the test that fails in a process of its own, None where all pass. options: of pytest.

    It is a file where its tests cannot be collected, and empty where the tests did not end. Raises FileNotFoundError
    for a file of tests that is not there.
    """
    with tempfile.TemporaryFile(buffering=0) as names:
        child = os.fork()
        if not child:
            _show(root, tests, options, names)
        _, ended = os.waitpid(child, 0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        names.seek(0)
        name = names.read().decode().partition("\n")[0]
        if not name and os.waitstatus_to_exitcode(ended) == pytest.ExitCode.USAGE_ERROR:
            raise FileNotFoundError(f"tests: got {', '.join(tests)}; expected files below {root} that pytest knows")
        return name if ended else None


def _show(root: Path, tests: tuple[str, ...], options: tuple[str, ...], names: BinaryIO) -> NoReturn:
    """Run tests in this process, write the names of failed tests to a file, and end."""
    status = 1
    try:
        os.setsid()  # its child processes end with it
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        signal.alarm(WAIT)
        os.chdir(root)
        sys.path[:0] = [str(root)]
        os.environ["PYTHONPATH"] = str(root)
        for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
            del sys.modules[name]
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        gc.freeze()  # pytest collects five times at its end, and would look at all that the parent has
        with contextlib.redirect_stdout(io.StringIO()):
            arguments = ["-q", "-x", "-p", "no:cacheprovider", "-W", IMPORTED, *options, *tests]
            status = int(pytest.main(arguments, plugins=[Failed(names)]))
            status = 0 if status == pytest.ExitCode.NO_TESTS_COLLECTED else status
    finally:
        os._exit(status)


def copy(root: Path) -> None:
    """Copy the checkout to a folder, without what is made in it."""
    made = {str(ROOT / name) for name in ("runs", "dist", "build")}
    hidden = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__")

    def left(folder: str, names: list[str]) -> set[str]:
        return hidden(folder, names) | {name for name in names if str(Path(folder, name)) in made}

    shutil.copytree(ROOT, root, ignore=left)


def chosen(modules: list[str], mutants: int, chance: random.Random) -> list[tuple[str, int]]:
    """Return modules and numbers of places in them, each place once."""
    every = [
        (module, number)
        for module in modules
        for number, _ in enumerate(places(ast.parse((ROOT / f"{module}.py").read_text(encoding="utf-8"))))
    ]
    return chance.sample(every, min(mutants, len(every)))


Outcome = Literal["noticed", "noticed by make test-slow alone", "not noticed"]


class Mutant(NamedTuple):
    """Change of a place of a module: the text of its line, the change, and the test that noticed it."""

    module: str
    place: int
    line: str
    change: str
    outcome: Outcome
    test: str
    """Name of the test, empty where none is known."""


def described(text: str, place: int) -> tuple[str, str, str, int]:
    """Return the changed text of a module, the line of the place, the change in words, and the number of the line."""
    tree = ast.parse(text)
    node = list(places(tree))[place]
    number = getattr(node, "lineno", 0)
    words = change(node)
    return ast.unparse(tree), text.splitlines()[number - 1].strip(), words, number


class Witness:
    """A checkout whose tests are asked about changes; tests that fail without any change are left out.

    Some fail in a copy, because it lacks files that they read.
    """

    def __init__(self, root: Path) -> None:
        """Ask about nothing yet."""
        self.root = root
        self.sound: set[str] = set()
        self.failing: list[str] = []

    def outcome(self, module: str, place: int, tests: tuple[str, ...], first: str = "") -> tuple[Mutant, str]:
        """Change a place of a module, run tests on it, and restore it; also return the place and the change in words.

        first: a test that is likely to notice it, where it is still there.
        """
        file = self.root / f"{module}.py"
        text = file.read_text(encoding="utf-8")
        changed, line, words, number = described(text, place)
        left = left_of(tests)
        asked: list[tuple[Outcome, tuple[str, ...], tuple[str, ...]]] = [
            ("noticed", (first,) if self._has(first) else (), ()),
            ("noticed", tests, ()),
            ("noticed by make test-slow alone", left, ("-m", "slow")),
        ]
        seen: Outcome = "not noticed"
        test: str | None = None
        for answer, shown, options in asked:
            if shown and (test := self._noticing(file, (text, changed), shown, *options)) is not None:
                seen = answer
                break
        return Mutant(module, place, line, words, seen, test or ""), f"{module}.py:{number}: {words}"

    def _has(self, test: str) -> bool:
        """Return whether a test is still in its file."""
        name, _, within = test.partition("::")
        file, function = self.root / name, within.partition("[")[0]
        return bool(test) and file.exists() and f"def {function}(" in file.read_text(encoding="utf-8")

    def _noticing(self, file: Path, texts: tuple[str, str], tests: tuple[str, ...], *options: str) -> str | None:
        """Return the test that fails with the second text of a file and does not with the first, which stays."""
        while True:
            shown = tuple(name for name in tests if not {name, name.partition("::")[0]} & {*self.failing})
            without = [f"--deselect={name}" for name in self.failing]
            file.write_text(texts[1], encoding="utf-8")
            try:
                test = noticing(self.root, shown, *options, *without) if shown else None
            finally:
                file.write_text(texts[0], encoding="utf-8")
            if not test or test in self.sound:
                return test
            if noticing(self.root, (test,), *options) is None:
                self.sound.add(test)
                return test
            self.failing.append(test)


def same_places(kept: Path) -> Iterator[tuple[str, int, str]]:
    """Yield the modules and places of changes that were kept, as they are now, with the tests that noticed them.

    A change whose line is no longer there is left out.
    """
    for row in kept.read_text(encoding="utf-8").splitlines():
        was = Mutant(*json.loads(row))
        file = ROOT / f"{was.module}.py"
        if not file.exists():
            continue
        text = file.read_text(encoding="utf-8")
        number = sum(1 for _ in places(ast.parse(text)))
        nearest = sorted(range(number), key=lambda place, was=was: abs(place - was.place))  # type: ignore[misc]
        now = next((place for place in nearest if described(text, place)[1:3] == (was.line, was.change)), None)
        if now is not None:
            yield was.module, now, was.test


def main() -> int:
    """Print each change that no test of the gate noticed, and the share of noticed changes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaigns.mutants", description=__doc__)
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--everywhere", action="store_true")
    parser.add_argument("--mutants", type=int, default=40)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--keep", type=Path, metavar="FILE")
    parser.add_argument("--again", type=Path, metavar="FILE")
    options = parser.parse_args()
    every = [str(path.relative_to(ROOT).with_suffix("")) for path in files(ROOT)]
    modules = options.modules or (every if options.everywhere else sorted(TESTS))
    drawn = ((*each, "") for each in chosen(modules, options.mutants, random.Random(options.seed)))
    work = list(same_places(options.again) if options.again else drawn)
    tests = {module: tests_of(module) for module, _, _ in work}
    print(f"again {options.again}" if options.again else f"seed {options.seed}", flush=True)
    sys.dont_write_bytecode = True  # by its time alone a changed file looks like the one before it
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    for library in LIBRARIES:
        importlib.import_module(library)
    with tempfile.TemporaryDirectory(prefix="limbsweep-mutants-") as folder:
        root = Path(folder, "checkout")
        copy(root)
        without = not options.everywhere and not options.again
        if without and noticing(root, tuple(dict.fromkeys(sum(tests.values(), ())))) is not None:
            print("FAILED: tests fail without any change", flush=True)
            return 1
        show(root, work, tests, options.keep)
    return 0


def show(
    root: Path, work: Sequence[tuple[str, int, str]], tests: dict[str, tuple[str, ...]], keep: Path | None
) -> None:
    """Make changes in a copy of the checkout, one at a time, print unnoticed changes, and the shares.

    work: modules, places and tests that are shown first. tests: of each module. keep: file for a line of each change.
    """
    counts, witness = Counter[Outcome](), Witness(root)
    for number, (module, place, first) in enumerate(work, start=1):
        mutant, where = witness.outcome(module, place, tests[module], first)
        counts[mutant.outcome] += 1
        if keep:
            with keep.open("a", encoding="utf-8") as file:
                file.write(json.dumps(mutant) + "\n")
        if mutant.outcome != "noticed":
            print(f"{mutant.outcome}: {where}", flush=True)
        late = counts["noticed by make test-slow alone"]
        print(f"{counts['noticed']} of {number} noticed, {late} more by make test-slow alone", flush=True)


if __name__ == "__main__":
    sys.exit(main())
