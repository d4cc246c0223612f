"""Two checkouts by turns: processes start, compute the same states, and give a ratio."""

from __future__ import annotations

import sys

import pytest

from benchmarks import turns


@pytest.mark.parametrize("more", [[], ["--reactions"]])
def test_a_checkout_beside_itself(
    more: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["turns", "--root", str(turns.ROOT), "--samples", "64", "--turns", "1", *more, "five_bar"]
    monkeypatch.setattr(sys, "argv", words)
    assert turns.main() == 0
    head, row = capsys.readouterr().out.splitlines()
    assert "64 states" in head
    name, least, median, share = row.split()
    assert (name, share) == ("five_bar", "1.0000")
    assert float(least) > 0.0
    assert float(median) > 0.0
