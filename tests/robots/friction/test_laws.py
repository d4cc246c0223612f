"""Friction laws as data."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from robots.friction.laws import CURVES, LAWS
from robots.parameters import complete
from tests.reference.published_friction import IRB_2400

ROOT = Path(__file__).parents[3]
PACKAGES = ("robots", "tasks", "storage", "pipeline", "applications")


def test_inputs_are_parameters_and_the_options_that_are_given() -> None:
    law = LAWS["stribeck"]
    assert law.inputs(()) == law.parameters
    names = [p.name for p in law.inputs(["temperature", "coulomb", "shape"])]
    assert names == ["coulomb", "static", "viscous", "stribeck_velocity", "shape", "temperature"]


def test_curves_are_the_laws_without_a_state() -> None:
    assert set(LAWS) - set(CURVES) == {"stiction", "lugre"}
    assert all(LAWS[name].state == 1 for name in ("stiction", "lugre"))


@pytest.mark.repository
def test_laws_are_named_in_two_tables_and_nowhere_else() -> None:
    """Everything else asks a row: a name in a comparison would be a fact that a new law does not get."""
    names = set(LAWS) - {"none", "viscous"}  # words that are more than laws
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    texts = {path: path.read_text("utf-8") for path in files}
    naming = {
        path.relative_to(ROOT).as_posix()
        for path, text in texts.items()
        if any(name in text for name in names)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and node.value in names
    }
    # columns of a regressor that are named as laws are
    columns = {
        f"applications/identification/estimation/machines/{name}.py"
        for name in ("choices", "friction_laws", "machine_model")
    }
    assert naming == {"robots/friction/laws.py", "tasks/features/friction/laws.py"} | columns


@pytest.mark.parametrize("joint", IRB_2400)
def test_published_friction_is_complete_for_its_law(joint: dict[str, float]) -> None:
    assert complete(LAWS["stribeck"].parameters, joint, owner="IRB 2400") == joint
