"""SECURITY.md names tests that there are, and one for each promise that it makes."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
ADVICE = ("| | read command lines |",)
"""Rows that promise nothing."""


def test_tests_that_are_named_are_there() -> None:
    names = re.findall(r"`(test_\w+)`", PAGE)
    defined = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert names
    assert set(names) <= defined
    files = re.findall(r"`(tests/[\w./]+)`", PAGE)
    assert files
    assert [file for file in files if not (ROOT / file).exists()] == []


def test_every_promise_names_its_test() -> None:
    rows = [
        line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith(("| who | could", *ADVICE))
    ]
    assert len(rows) > 10
    assert [row for row in rows if "`test" not in row] == []
