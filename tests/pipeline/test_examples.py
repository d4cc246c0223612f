from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.plan import plan
from pipeline.sweep import Sweep
from robots import catalog

EXAMPLES = Path(__file__).parents[2] / "examples"
SWEEPS = sorted(EXAMPLES.glob("*.yaml"))
MOST = 200_000
"""Samples of an example: seconds of work for one core."""


@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.stem)
def test_an_example_is_valid_and_small(path: Path) -> None:
    assert 0 < plan(Sweep.from_yaml(path)).samples <= MOST


def test_every_robot_has_an_example() -> None:
    assert {Sweep.from_yaml(path).robot for path in SWEEPS} == set(catalog.FAMILIES)
