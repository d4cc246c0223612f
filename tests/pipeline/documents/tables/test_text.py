"""Recordings in text as loggers write them: every layout gives the same numbers, and what is torn is counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.documents.tables import text as text_module
from pipeline.documents.tables.columns import Bounds, ReadColumns
from pipeline.documents.tables.reader import open_columns
from pipeline.errors import InputError

ROWS = np.round(np.random.default_rng(1).normal(size=(400, 3)), 6)
NAMES = ("t", "motor current", "q_2")


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(path: Path, *names: str, bounds: Bounds | None = None) -> ReadColumns:
    with open_columns(path, bounds or Bounds()) as columns:
        return columns.read(names or columns.names)


def text(delimiter: str = ",", comma: bool = False, header: tuple[str, ...] = (), rows: np.ndarray = ROWS) -> str:
    lines = [delimiter.join(f"{x:.6f}".replace(".", "," if comma else ".") for x in row) for row in rows]
    return "\n".join([*header, *lines]) + "\n"


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (text(header=("t,motor current,q_2",)), NAMES),
        (text(), ("1", "2", "3")),
        (text(";", header=("t;motor current;q_2",)), NAMES),
        (text(";", comma=True, header=("t;motor current;q_2",)), NAMES),
        (text("\t", comma=True, header=("t\tmotor current\tq_2",)), NAMES),
        (text("\t", header=('"t"\t"motor current"\t"q_2"',)), NAMES),
        (text(" ", header=("t current q_2",)), ("t", "current", "q_2")),
        (text(header=("# logger 3", "# t,motor current,q_2")), NAMES),
        (text(header=("Device 7", "started at noon", "t,motor current,q_2", "s,A,rad")), NAMES),
        (text(header=("t,motor current,q_2",)).replace("\n", "\r\n"), NAMES),
        (text(header=("t,motor current,q_2",)).rstrip("\n"), NAMES),
        (text(header=("t,motor current,q_2",)).encode("utf-16"), NAMES),
        (text(header=("t,motor current,winkel °",)).encode("latin-1"), ("t", "motor current", "winkel °")),
        ("\ufeff" + text(header=("t,motor current,q_2",)), NAMES),
    ],
)
def test_every_layout_gives_the_same_numbers(tmp_path: Path, content: str | bytes, names: tuple[str, ...]) -> None:
    found = read(written(tmp_path / "run.csv", content))
    assert tuple(found.columns) == names
    assert not found.notes
    for k, values in enumerate(found.columns.values()):
        np.testing.assert_array_equal(values, ROWS[:, k])


def test_a_file_of_one_value_per_line(tmp_path: Path) -> None:
    content = "motor current\n" + "\n".join(map(str, ROWS[:, 0])) + "\n"
    found = read(written(tmp_path / "b.txt", content))
    np.testing.assert_array_equal(found.columns["motor current"], ROWS[:, 0])


def test_units_of_a_row_and_of_a_header(tmp_path: Path) -> None:
    with open_columns(written(tmp_path / "a.csv", text(header=("t,q[1],f [N mm]", "ms,deg,-")))) as columns:
        assert dict(columns.units) == {"t": "ms", "q[1]": "deg", "f [N mm]": "N mm"}


@pytest.mark.parametrize("piece", [64, 1000, 1 << 22])
def test_torn_rows_keep_their_place_and_a_cut_row_goes(
    tmp_path: Path, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_module, "PIECE", piece)
    lines = text(header=("t,motor current,q_2",)).splitlines()
    lines[101] = lines[101][:14]
    lines[201] += lines[202]
    lines[301] = "0.1,trailing garbage,0.3"
    lines.append(lines[-1][:9])
    found = read(written(tmp_path / "run.csv", "\n".join(lines)))
    values = np.stack(list(found.columns.values()), axis=1)
    torn = np.isnan(values).all(axis=1)
    assert np.flatnonzero(torn).tolist() == [100, 200, 300]
    np.testing.assert_array_equal(values[~torn], ROWS[~torn])
    assert found.notes == (
        "3 of 401 rows are no rows of 3 numbers, the first is row 101 below the header; they are taken as missing",
        "the last row is cut off; it is left out",
    )


def test_unused_columns_are_never_read(tmp_path: Path) -> None:
    lines = text(header=("t,motor current,q_2",)).splitlines()
    lines[1:] = [line.rsplit(",", 1)[0] + ",state OK" for line in lines[1:]]
    lines[3] = lines[3].rsplit(",", 1)[0] + ",7"
    lines[1] = lines[1].rsplit(",", 1)[0] + ",7"
    found = read(written(tmp_path / "run.csv", "\n".join(lines)), "t", "motor current")
    np.testing.assert_array_equal(found.columns["t"], ROWS[:, 0])


def test_empty_cells_are_missing_numbers(tmp_path: Path) -> None:
    lines = text(header=("t,motor current,q_2",)).splitlines()
    for number, cell in ((5, ""), (6, "N/A"), (7, "nan")):
        cells = lines[number].split(",")
        lines[number] = ",".join([cells[0], cell, cells[2]])
    found = read(written(tmp_path / "run.csv", "\n".join(lines)))
    assert np.flatnonzero(np.isnan(found.columns["motor current"])).tolist() == [4, 5, 6]
    assert not found.notes
    assert not np.isnan(found.columns["t"]).any()


@pytest.mark.parametrize(
    ("content", "bounds", "said"),
    [
        ("a,b\n" + "1,2\n" * 50 + "x\n" * 10, Bounds(), "10 of 60 rows are no rows of 2 numbers"),
        ("a,b\n" + "1,2\n" * 1000, Bounds(values=8000), "16 KiB|15.6 KiB of numbers with its rows"),
        ("1" * 3000, Bounds(line=1000), "a line longer than 1000 B"),
        ("1,2\n" * 1000, Bounds(text=1000), "more than 1000 B of text"),
        ("1," * 2000 + "\n", Bounds(columns=1000), "2001 columns; expected at most 1000"),
        ("t,a,a\n0,1,2\n", Bounds(), "two columns 'a'"),
        ("a,b\n\0\0\n", Bounds(), "no row of numbers"),
        ("a,b\n1,2\n" + "\0" * 5000, Bounds(line=100), "a NUL character"),
    ],
)
def test_texts_out_of_bounds_are_refused(tmp_path: Path, content: str, bounds: Bounds, said: str) -> None:
    path = written(tmp_path / "run.csv", content)
    with pytest.raises(InputError, match=said) as refusal:
        read(path, bounds=bounds)
    assert str(refusal.value).startswith(str(path))
