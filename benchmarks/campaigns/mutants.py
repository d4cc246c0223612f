"""Change one thing in `storage` or in the validation of input at a time: the share of changes that a test notices.

A change turns a comparison round, puts `or` for `and`, adds one to a number or puts the other truth value; places are
chosen by `--seed` among all of the modules in `TESTS`, which also says what is run for each. Modules are changed in a
copy of the checkout, each in a process that has the libraries already:
`python -m benchmarks.campaigns.mutants [--mutants 40] [--seed N] [MODULE ...]`.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import io
import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
LIBRARIES = ("pytest", "numpy", "xarray", "zarr", "distributed", "pydantic", "click")
IMPORTED = "ignore::pytest.PytestAssertRewriteWarning"
SECONDS = 300
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
    "storage/layout": (
        "storage/test_layout",
        "storage/test_schema",
        "storage/test_manifest",
        "storage/test_store",
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
    "pipeline/sweep/time": (
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
    """Where something can be changed."""
    for node in ast.walk(tree):
        is_number = isinstance(node, ast.Constant) and type(node.value) in (int, bool)
        if is_number or isinstance(node, ast.Compare | ast.BoolOp):
            yield node


def change(node: ast.AST) -> str:
    """Change a place; what was done, in words."""
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


def is_noticed(root: Path, tests: tuple[str, ...]) -> bool:
    """Whether a test fails, or does not end, in a process of its own."""
    child = os.fork()
    if not child:
        status = 1
        try:
            os.setsid()  # what it starts ends with it
            signal.alarm(SECONDS)
            os.chdir(root)
            sys.path[:0] = [str(root)]
            os.environ["PYTHONPATH"] = str(root)
            for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
                del sys.modules[name]
            import pytest

            files = [f"tests/{name}.py" for name in tests]
            with open(os.devnull, "w", encoding="utf-8") as nowhere:
                os.dup2(nowhere.fileno(), 1)
                os.dup2(nowhere.fileno(), 2)
            with contextlib.redirect_stdout(io.StringIO()):
                status = int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "-W", IMPORTED, *files]))
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return ended != 0


def chosen(modules: list[str], mutants: int, chance: random.Random) -> list[tuple[str, int]]:
    """Modules and numbers of places in them, each place once."""
    every = [
        (module, number)
        for module in modules
        for number, _ in enumerate(places(ast.parse((ROOT / f"{module}.py").read_text(encoding="utf-8"))))
    ]
    return chance.sample(every, min(mutants, len(every)))


def main() -> int:
    """Print every change that nobody noticed, and the share of those that were."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaigns.mutants", description=__doc__)
    parser.add_argument("modules", nargs="*", default=sorted(TESTS))
    parser.add_argument("--mutants", type=int, default=40)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args()
    work, noticed = chosen(options.modules, options.mutants, random.Random(options.seed)), 0
    print(f"seed {options.seed}", flush=True)
    sys.dont_write_bytecode = True  # by its time alone a changed file looks like the one before it
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    for library in LIBRARIES:
        importlib.import_module(library)
    with tempfile.TemporaryDirectory(prefix="limbsweep-mutants-") as folder:
        root = Path(folder, "checkout")
        shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(".*", "__pycache__", "runs", "dist"))
        tests = tuple(dict.fromkeys(test for module, _ in work for test in TESTS[module]))
        if is_noticed(root, tests):
            print("FAILED: tests fail without any change", flush=True)
            return 1
        for number, (module, place) in enumerate(work, start=1):
            file = root / f"{module}.py"
            text = file.read_text(encoding="utf-8")
            tree = ast.parse(text)
            node = list(places(tree))[place]
            where = f"{file.relative_to(root)}:{getattr(node, 'lineno', 0)}: {change(node)}"
            file.write_text(ast.unparse(tree), encoding="utf-8")
            if is_noticed(root, TESTS[module]):
                noticed += 1
            else:
                print(f"not noticed: {where}", flush=True)
            file.write_text(text, encoding="utf-8")
            print(f"{noticed} of {number} noticed", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
