"""Noticed mutants of the campaign: a test fails or does not end; a test that only waits notices nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.campaigns import mutants


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "noticed"), [("assert False", True), ("while True: pass", True), ("time.sleep(8.0)", False)]
)
def test_time_of_the_processor_counts(
    line: str, noticed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "test_one.py").write_text(f"import time\n\ndef test_one():\n    {line}\n")
    monkeypatch.setattr(mutants, "SECONDS", 5)
    assert mutants.is_noticed(tmp_path, ("test_one.py",)) is noticed
