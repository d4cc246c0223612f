"""Recordings in lines of JSON and behind gzip: numbers by path, rows that are torn, and bounds."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from pipeline.documents.tables.columns import Bounds, ReadColumns
from pipeline.documents.tables.reader import is_recording_name, open_columns
from pipeline.errors import InputError

ROWS = np.round(np.random.default_rng(2).normal(size=(300, 3)), 6).tolist()
OBJECTS = "".join(
    json.dumps({"t": a, "arm": {"q": [b, c]}, "mode": "auto", "is_on": True, "note": None}) + "\n" for a, b, c in ROWS
)


def read(path: Path, content: str | bytes, *names: str, bounds: Bounds | None = None) -> ReadColumns:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with open_columns(path, bounds or Bounds()) as columns:
        return columns.read(names or columns.names)


def test_objects_are_columns_by_path(tmp_path: Path) -> None:
    found = read(tmp_path / "run.jsonl", OBJECTS)
    assert tuple(found.columns) == ("t", "arm.q[1]", "arm.q[2]")
    np.testing.assert_array_equal(np.stack(list(found.columns.values()), axis=1), ROWS)
    assert not found.notes


def test_lists_are_columns_by_number(tmp_path: Path) -> None:
    found = read(tmp_path / "run.ndjson", "\n".join(map(json.dumps, ROWS)), "3", "1")
    np.testing.assert_array_equal(found.columns["3"], np.array(ROWS)[:, 2])
    assert tuple(found.columns) == ("3", "1")


def test_torn_rows_are_missing_and_a_cut_one_is_dropped(tmp_path: Path) -> None:
    lines = OBJECTS.splitlines()
    lines[7] = lines[7][:20]
    found = read(tmp_path / "run.jsonl", "\n".join(lines)[:-9], "t", "arm.q[2]")
    assert len(found.columns["t"]) == len(ROWS) - 1
    assert np.isnan(found.columns["t"][7])
    assert np.isnan(found.columns["t"]).sum() == 1
    assert "1 of 300 rows are no rows of JSON, the first is row 8" in found.notes[0]
    assert found.notes[1] == "the last row is cut off; it is left out"


def test_keys_that_a_row_lacks_are_missing(tmp_path: Path) -> None:
    found = read(tmp_path / "run.jsonl", '{"t": 0}\n{"t": 1, "q": 2}\n{"t": 2, "q": NaN}\n')
    np.testing.assert_array_equal(found.columns["q"], [np.nan, 2.0, np.nan])


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_files_behind_gzip_are_those_without(tmp_path: Path, ending: str) -> None:
    plain = "t,q\n" + "".join(f"{a},{b}\n" for a, b, _ in ROWS) if ending == "csv" else OBJECTS
    expected = read(tmp_path / f"a.{ending}", plain)
    found = read(tmp_path / f"a.{ending}.gz", gzip.compress(plain.encode(), mtime=0))
    for name, values in expected.columns.items():
        np.testing.assert_array_equal(found.columns[name], values)
    assert is_recording_name(f"a.{ending}.GZ")
    assert not is_recording_name("store.zarr")


@pytest.mark.parametrize(
    ("name", "content", "bounds", "message"),
    [
        ("a.jsonl", "text\n", Bounds(), "got no row with a number"),
        ("a.jsonl", "[" * 5000 + "\n", Bounds(), "got no row with a number"),
        ("a.jsonl", OBJECTS, Bounds(line=20), "got a line longer than 20"),
        ("a.jsonl", OBJECTS, Bounds(text=900), "more than 900"),
        ("a.jsonl", OBJECTS, Bounds(columns=2), "got 3 columns"),
        ("a.jsonl", OBJECTS.replace('"t"', "t", 40), Bounds(), "40 of 300 rows are no rows of JSON"),
        ("a.csv.gz", gzip.compress(b"0,1\n" * 900, mtime=0), Bounds(text=1000), "more than 1000"),
        ("a.csv.gz", gzip.compress(b"0,1\n" * 900, mtime=0)[:-20], Bounds(), "got a damaged gzip file"),
        ("a.csv.gz", b"0,1\n", Bounds(), "got a damaged gzip file"),
        ("a.csv.gz", gzip.compress(b"", mtime=0), Bounds(), "got an empty file"),
        ("a.bag.gz", gzip.compress(b"1", mtime=0), Bounds(), "got a bag of ROS behind gzip"),
        ("a.gz", gzip.compress(b"1", mtime=0), Bounds(), "got the ending ''"),
    ],
)
def test_files_that_are_wrong_are_refused(
    tmp_path: Path, name: str, content: str | bytes, bounds: Bounds, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path / name, content, bounds=bounds)
