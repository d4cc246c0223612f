"""Change one thing in `storage` at a time, and see whether its tests notice: the share of changes that they do.

A change turns a comparison round, puts `or` for `and`, adds one to a number or puts the other truth value; places are
chosen by `--seed`. Modules are changed in a copy of the checkout: `python -m benchmarks.campaigns.mutants [--mutants
40] [--seed N] [MODULE ...]`.
"""

from __future__ import annotations

import argparse
import ast
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
MODULES = ("reading", "expected", "ledger", "coordinates", "signature", "encoding/shards", "encoding/checksums")
TESTS = ("test_evidence", "test_shards", "test_coordinates", "test_ledger", "test_reading", "test_signature")
SECONDS = 300
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


def is_noticed(root: Path) -> bool:
    """Whether a test fails, or does not end."""
    tests = [f"tests/storage/{name}.py" for name in TESTS]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    try:
        return subprocess.run(command, cwd=root, capture_output=True, timeout=SECONDS, check=False).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def main() -> int:
    """Print every change that nobody noticed, and the share of those that were."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaigns.mutants", description=__doc__)
    parser.add_argument("modules", nargs="*", default=MODULES)
    parser.add_argument("--mutants", type=int, default=40)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args()
    chance, noticed = random.Random(options.seed), 0
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="limbsweep-mutants-") as folder:
        root = Path(folder, "checkout")
        shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(".*", "runs", "dist"))
        if is_noticed(root):
            print("FAILED: tests fail without any change", flush=True)
            return 1
        for number in range(1, options.mutants + 1):
            file = root / f"storage/{chance.choice(options.modules)}.py"
            text = file.read_text(encoding="utf-8")
            tree = ast.parse(text)
            node = chance.choice(list(places(tree)))
            where = f"{file.relative_to(root)}:{getattr(node, 'lineno', 0)}: {change(node)}"
            file.write_text(ast.unparse(tree), encoding="utf-8")
            if is_noticed(root):
                noticed += 1
            else:
                print(f"not noticed: {where}", flush=True)
            file.write_text(text, encoding="utf-8")
            print(f"{noticed} of {number} noticed", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
