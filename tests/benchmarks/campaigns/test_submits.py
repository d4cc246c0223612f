"""Runs that are submitted at once take turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.campaigns.submits import campaign


@pytest.mark.slow
def test_three_runs_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("LIMBSWEEP_RUNS", "1")
    *_, last = campaign(tmp_path, runs=3, at_once=1)
    assert "with one hash; at most 1 at once" in last
