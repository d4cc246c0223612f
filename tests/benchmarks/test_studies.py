"""Studies made from nothing: their script knows nothing of the package, and finds the same numbers."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import limbsweep as ls
from applications.studies.axes import by_design
from benchmarks.studies import mechanisms, newcomer, recomputed
from benchmarks.studies.__main__ import ALLOWED, EXACT, DesignQuestion, sweep_file


@pytest.mark.parametrize("module", [mechanisms, newcomer, recomputed])
def test_the_script_does_not_import_the_package(module: object) -> None:
    tree = ast.parse(Path(str(getattr(module, "__file__"))).read_text("utf-8"))  # noqa: B009
    names = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    ours = {name for name in names if name and name.split(".")[0] in ("limbsweep", "robots", "tasks", "pipeline")}
    assert not ours


@pytest.mark.slow
@pytest.mark.parametrize("name", recomputed.STUDIES)
def test_both_find_the_same_numbers(name: str) -> None:
    file = sweep_file(name)
    sweep = ls.Sweep.from_yaml(file)
    number = sweep.design.size // 2
    part = f"subsets: {{one: {{design: {{start: {number}, stop: {number + 1}}}}}}}\nsubset: one\n"
    found = by_design(ls.compute(ls.Sweep.from_text(f"{sweep.text}\n{part}", folder=file.parent)))
    question = DesignQuestion.of(name, sweep, found)
    for metric, value in question.by_script(question.design(0)).items():
        computed = abs(float(ls.study.value_of(found, metric)[0]))
        np.testing.assert_allclose(computed, value, rtol=ALLOWED.get(metric, EXACT))


def test_a_falling_rod_needs_its_weight() -> None:
    bar = mechanisms.tube(1000.0, 0.02, 0.0, 0.5)
    robot = mechanisms.Robot([bar], lambda x: [(np.array([0.0, 0.0, x[0]]), np.eye(3))], lambda x: 2.0 * x)
    rising = mechanisms.forces(robot, lambda t: np.array([0.5 * t * t]), 0.1)
    assert rising[0] == pytest.approx(0.5 * bar.mass * (9.81 + 1.0), rel=1e-6)
