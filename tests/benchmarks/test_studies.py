"""Studies made from nothing: their script knows nothing of the package, and finds the same numbers."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import limbsweep as ls
from benchmarks.studies import mechanisms, recomputed
from benchmarks.studies.__main__ import ALLOWED, EXACT, FOLDER


@pytest.mark.parametrize("module", [mechanisms, recomputed])
def test_the_script_does_not_import_the_package(module: object) -> None:
    tree = ast.parse(Path(str(getattr(module, "__file__"))).read_text("utf-8"))  # noqa: B009
    names = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    ours = {name for name in names if name and name.split(".")[0] in ("limbsweep", "robots", "tasks", "pipeline")}
    assert not ours


@pytest.mark.slow
@pytest.mark.parametrize("name", recomputed.STUDIES)
def test_both_find_the_same_numbers(name: str) -> None:
    sweep = ls.Sweep.from_yaml(FOLDER / f"{name}_from_nothing.yaml")
    number = sweep.design.size // 2
    values = {key: float(x[0]) for key, x in sweep.design.values(number, number + 1).items() if key != "motor"}
    part = f"subsets: {{one: {{design: {{start: {number}, stop: {number + 1}}}}}}}\nsubset: one\n"
    found = ls.compute(ls.Sweep.from_text(f"{sweep.text}\n{part}", folder=FOLDER))
    for metric, value in recomputed.STUDIES[name](values).items():
        np.testing.assert_allclose(float(np.abs(found[metric]).max()), value, rtol=ALLOWED.get(metric, EXACT))


def test_a_falling_rod_needs_its_weight() -> None:
    bar = mechanisms.tube(1000.0, 0.02, 0.0, 0.5)
    robot = mechanisms.Robot([bar], lambda x: [(np.array([0.0, 0.0, x[0]]), np.eye(3))], lambda x: 2.0 * x)
    rising = mechanisms.forces(robot, lambda t: np.array([0.5 * t * t]), 0.1)
    assert rising[0] == pytest.approx(0.5 * bar.mass * (9.81 + 1.0), rel=1e-6)
