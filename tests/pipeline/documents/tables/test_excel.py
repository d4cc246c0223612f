"""Workbooks of Excel, written by openpyxl: as a text of the same cells, and refused where they are none."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from datetime import datetime, time, timedelta
from pathlib import Path

import numpy as np
import pytest

from pipeline.documents.tables.columns import Bounds
from pipeline.documents.tables.reader import open_columns, parse_table
from pipeline.errors import InputError

openpyxl = pytest.importorskip("openpyxl")
Q = np.random.default_rng(1).normal(size=(30, 2)).round(6)  # cells are saved with 16 digits
T = (0.01 * np.arange(30)).round(2)


def workbook(path: Path, **sheets: Sequence[Sequence[object]]) -> Path:
    """Write a workbook with the rows of each sheet."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    book.save(path)
    return path


def rows(*above: Sequence[object]) -> list[Sequence[object]]:
    return [*above, *np.column_stack([T, Q]).tolist()]


def test_headings_units_and_notes_are_those_of_a_text(tmp_path: Path) -> None:
    table = rows(["Messung 7, Halle 2"], [], ["Zeit", "Gelenk 1", "Gelenk 2"], ["s", "°", "%"])
    table[9] = [T[5], None, Q[5, 1]]
    with open_columns(workbook(tmp_path / "a.xlsx", Info=[["Kunde", "ACME"]], Daten=table)) as columns:
        assert columns.names == ("Zeit", "Gelenk 1", "Gelenk 2")
        assert columns.units["Gelenk 2"] == "%"
        found = columns.read(columns.names).columns
    np.testing.assert_array_equal(found["Zeit"], T)
    np.testing.assert_array_equal(found["Gelenk 2"], Q[:, 1])
    assert np.flatnonzero(np.isnan(found["Gelenk 1"])).tolist() == [5]


def test_sheets_that_are_tables_have_their_names_before_those_of_columns(tmp_path: Path) -> None:
    sheets = {"left": rows(["t", "a", "b"]), "right": rows(["t", "a", "b [mm]"]), "empty": []}
    with open_columns(workbook(tmp_path / "a.xlsx", **sheets)) as columns:
        found = columns.read(["right/t", "left/b"]).columns
        assert "right/b [mm]" in columns.names
    np.testing.assert_array_equal(found["right/t"], T)
    np.testing.assert_array_equal(found["left/b"], Q[:, 1])


def test_times_dates_and_decimal_commas(tmp_path: Path) -> None:
    start = datetime(2026, 1, 1, 12)
    table = [["at", "way", "day", "comma", "on"]] + [
        [start + timedelta(milliseconds=10 * k), timedelta(seconds=k), time(0, 0, k), f"{k},5", k > 3]
        for k in range(10)
    ]
    with open_columns(workbook(tmp_path / "a.xlsx", s=table)) as columns:
        found = columns.read(columns.names).columns
    np.testing.assert_allclose(np.diff(found["at"]), 0.01, atol=1e-3)
    for name, expected in (("way", np.arange(10.0)), ("day", np.arange(10.0)), ("comma", np.arange(10) + 0.5)):
        np.testing.assert_allclose(found[name], expected, atol=1e-9)
    np.testing.assert_array_equal(found["on"], np.arange(10) > 3)


def test_a_table_beside_a_sweep(tmp_path: Path) -> None:
    data = workbook(tmp_path / "a.xlsx", s=[["arm [mm]", "base"], [1, 2.5], [3, 4.5]]).read_bytes()
    found = parse_table(data, "a.xlsx")
    np.testing.assert_array_equal(found.columns["base"], [2.5, 4.5])
    assert found.units == {"arm": "mm"}


def without_sheet(data: bytes) -> bytes:
    """Return a workbook one of whose sheets is missing."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w") as new:
        for part in old.namelist():
            if "worksheets" not in part:
                new.writestr(part, old.read(part))
    return stream.getvalue()


def test_workbooks_that_are_none_are_refused_in_a_sentence(tmp_path: Path) -> None:
    data = workbook(tmp_path / "a.xlsx", s=rows(["t", "a", "b"])).read_bytes()
    middle = bytearray(data)
    middle[len(data) // 3] ^= 255
    for content, expected in (
        (b"t,a\n1,2\n", "no workbook"),
        (b"\xd0\xcf\x11\xe0" + bytes(100), "a password, or of Excel before 2007"),
        (data[: len(data) // 2], "no workbook"),
        (without_sheet(data), "no workbook|without cells"),
    ):
        path = tmp_path / "b.xlsx"
        path.write_bytes(content)
        with pytest.raises(InputError, match=expected), open_columns(path):
            pass
    for sheets, expected in (({"s": [["words", "alone"]]}, "no row of numbers"), ({"s": []}, "without cells")):
        with pytest.raises(InputError, match=expected), open_columns(workbook(tmp_path / "c.xlsx", **sheets)):
            pass


def test_bounds_hold_before_memory_is_taken(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in range(1, 40):
        book.active.cell(row, 16384, 1.0)
    book.active.cell(1048576, 1, 1.0)
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(InputError, match="the sheet Sheet"), open_columns(tmp_path / "a.xlsx", Bounds(values=1 << 20)):
        pass
    with pytest.raises(InputError, match="unpacked"), open_columns(tmp_path / "a.xlsx", Bounds(text=1000)):
        pass
