"""Friction laws and presets as data."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from robots.friction.laws import CURVES, LAWS, PRESETS
from robots.parameters import complete

ROOT = Path(__file__).parents[3]
PACKAGES = ("robots", "tasks", "storage", "pipeline")


def test_inputs_are_parameters_and_the_options_that_are_given() -> None:
    law = LAWS["stribeck"]
    assert law.inputs(()) == law.parameters
    names = [p.name for p in law.inputs(["temperature", "coulomb", "shape"])]
    assert names == ["coulomb", "static", "viscous", "stribeck_velocity", "shape", "temperature"]


def test_curves_are_the_laws_without_a_state() -> None:
    assert set(LAWS) - set(CURVES) == {"stiction", "lugre"}
    assert all(LAWS[name].state == 1 for name in ("stiction", "lugre"))


def test_laws_are_named_in_two_tables_and_nowhere_else() -> None:
    """Everything else asks a row: a name in a comparison would be a fact that a new law does not get."""
    names = set(LAWS) - {"none", "viscous"}  # words that are more than laws
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    naming = {
        path.relative_to(ROOT).as_posix()
        for path in files
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in names
    }
    assert naming == {"robots/friction/laws.py", "tasks/friction/laws.py"}


@pytest.mark.parametrize("name", PRESETS)
def test_presets_fit_their_law(name: str) -> None:
    preset = PRESETS[name]
    for joint in preset.joints:
        assert complete(LAWS[preset.law].parameters, joint, owner=name) == joint
        assert joint["static"] > joint["coulomb"]
    assert preset.source


def test_the_six_joints_of_the_irb2400() -> None:
    table = [tuple(joint.values()) for joint in PRESETS["abb_irb2400"].joints]
    assert len(table) == 6
    assert table[0] == (24.2, 36.3, 11.85, 0.0085)
    assert table[5] == (8.8, 17.5, 2.323, 0.0162)
