"""The README shows what works; what runs in it and where its links lead: `tests/test_pages.py`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline.sweep.model import Sweep
from tests.pages import blocks

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_sweep_is_what_the_text_says() -> None:
    (text,) = (block.text for block in blocks(README) if block.note == ("file", "sweep.yaml"))
    sweep = Sweep.from_text(text, name="README.md")
    assert (sweep.design.size, sweep.friction.axis.size, len(sweep.times)) == (33, 2, 501)


@pytest.mark.parametrize("target", ["run", "test"])
def test_the_make_targets_exist(target: str) -> None:
    assert f"make {target} " in README
    assert re.search(rf"^{target}: ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
