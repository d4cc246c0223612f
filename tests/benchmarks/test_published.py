"""The table of published problems: quick rows agree, and rows that do not are told as wrong or refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks.figures import QUICK, CheckError
from benchmarks.published import table
from benchmarks.published.__main__ import table as page_table
from benchmarks.published.rows import Compared, RefusedError, Row
from benchmarks.published.table import ROWS

PAGE = (Path(__file__).parents[2] / "docs" / "published.md").read_text("utf-8")


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.quick])
def test_quick_rows_agree(name: str) -> None:
    result = ROWS[name].result()
    assert result.verdict == "right", (result.refusal, result.worst)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*no body has the moments of b1")  # published ones, of which the axis feels one
@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if not row.quick])
def test_all_other_rows_agree(name: str) -> None:
    result = ROWS[name].result()
    assert result.verdict == "right", (result.refusal, result.worst)


def test_every_row_is_on_the_page() -> None:
    assert all(f"| `{name}` |" in PAGE for name in ROWS)
    assert "| wrong |" not in PAGE
    assert "| refused |" not in PAGE


def made_row(ours: float) -> Row:
    def compute() -> list[Compared]:
        if math.isnan(ours):
            raise RefusedError("motion: SINGULAR")
        return [Compared("height", [ours, 2.0], [1.0, 2.0]), Compared("same", 1.0, 1.0)]

    return Row("made", "a made row", "nowhere", 3.0, "made up", compute, quick=True)


@pytest.mark.parametrize(
    ("ours", "verdict", "digits"), [(1.001, "right", 3.3), (1.01, "wrong", 2.3), (math.inf, "wrong", 0)]
)
def test_digits_are_of_the_largest_published_number(ours: float, verdict: str, digits: float) -> None:
    result = made_row(ours).result()
    assert result.verdict == verdict
    worst = result.worst
    assert worst is not None
    assert worst.what == "height"
    if np.isfinite(ours):
        assert worst.digits == pytest.approx(digits, abs=0.01)


def test_what_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "ROWS", {"wrong": made_row(3.0), "refused": made_row(math.nan)})
    figures = table.figures(QUICK)
    assert "wrong: height" in next(figures).remark
    refused = next(figures)
    assert refused.value is None
    assert "motion: SINGULAR" in refused.remark
    assert next(figures).value == 2.0
    with pytest.raises(CheckError, match="made, made"):
        next(figures)
    lines = list(page_table([row.result() for row in table.ROWS.values()]))
    assert lines[0].startswith("0 of 2 rows")
