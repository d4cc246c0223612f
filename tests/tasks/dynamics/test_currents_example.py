"""The example of the direct problem: the arm comes to rest where the paper has it, and a figure is written."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "irb6_currents.py"


@pytest.mark.slow
def test_the_arm_comes_to_its_static_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE))["main"](tmp_path)
    assert capsys.readouterr().out.startswith("motors at rest: True, at [-130.0, -66.7, -51")
    assert (tmp_path / "irb6_currents.png").stat().st_size > 10_000
