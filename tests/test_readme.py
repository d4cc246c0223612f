"""The README shows what works: its sweep is valid, its links lead somewhere, its commands exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.cli import cli
from pipeline.sweep import Sweep

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_sweep_is_valid() -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    sweep = Sweep.from_text(text, name="README.md")
    assert (sweep.design.size, sweep.friction.axis.size, len(sweep.times)) == (33, 2, 501)


def test_the_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_commands_exist() -> None:
    commands = set(re.findall(r"limbsweep ([a-z]+)", README))
    assert {"check", "run", "info"} <= commands
    assert commands - set(cli.commands) == {"computes"}


@pytest.mark.parametrize("target", ["run", "test"])
def test_the_make_targets_exist(target: str) -> None:
    assert f"make {target} " in README
    assert re.search(rf"^{target}: ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_functions_without_a_sweep_run() -> None:
    (code,) = re.findall(r"```python\n(from robots.*?)```", README, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    assert (names["torques"].shape, names["reactions"].shape) == ((2, 3), (2, 3, 7, 6))
    np.testing.assert_allclose(names["moving"], 0.0, atol=1e-12)
