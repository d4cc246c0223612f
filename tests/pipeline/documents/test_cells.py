"""Texts in CSV files are no formulas, and numbers are numbers."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from pipeline.documents.outputs import CellWriter, cell

ROOT = Path(__file__).parent.parent.parent.parent
FORMULAS = (
    "=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1", "\r=1", "\n=1", " =1", "\uff1d1+1", "-", "+1-2", "-1;=1",
)  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_begins_like_a_formula_is_text(text: str) -> None:
    file = io.StringIO(newline="")
    CellWriter(file).writerows([[text, text]])
    assert next(csv.reader(io.StringIO(file.getvalue(), newline=""))) == ["'" + text] * 2


@pytest.mark.parametrize("text", ["-1", "+1.5", "-1e-9", "-.5", "-0.", "-inf", "nan", "circle", "", "a=b", "x [N m]"])
def test_numbers_and_other_texts_stay_as_they_are(text: str) -> None:
    assert cell(text) == text


def test_numbers_of_python_are_written_as_csv_writes_them() -> None:
    row = [-1.5, -3, float("-inf"), None, 1e-300, True]
    ours, plain = io.StringIO(), io.StringIO()
    CellWriter(ours).writerow(row)
    csv.writer(plain).writerow(row)
    assert ours.getvalue() == plain.getvalue()


@pytest.mark.repository
def test_nobody_writes_csv_otherwise() -> None:
    files = [file for folder in ("pipeline", "limbsweep", "storage", "tasks") for file in (ROOT / folder).rglob("*.py")]
    others = [file.name for file in files if "csv.writer(" in file.read_text(encoding="utf-8")]
    assert others == ["outputs.py"]
