from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.campaigns.coverage import Outcomes, SeedOutcome


def test_a_table_that_was_stopped_goes_on(tmp_path: Path) -> None:
    path, first = tmp_path / "seeds.jsonl", SeedOutcome(0.5, 0.9, True)
    Outcomes(SeedOutcome, path).of("five_bar, white, other, 0", lambda: first)
    with path.open("a") as file:
        file.write('{"key": "five_bar, wh')
    again = Outcomes(SeedOutcome, path)
    assert again.of("five_bar, white, other, 0", lambda: pytest.fail("known already")) == first
    again.of("five_bar, white, other, 1", lambda: SeedOutcome(1.0, 1.0, False))
    assert Outcomes(SeedOutcome, path).known == again.known
    assert len(again.known) == 2
