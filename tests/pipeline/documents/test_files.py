from __future__ import annotations

import gzip
import os
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.documents.files import decode
from pipeline.documents.points import parse_points
from pipeline.documents.yaml import MAX_BYTES, read_yaml
from pipeline.errors import InputError


def refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_yaml(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    return message


def test_a_missing_file_names_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text("a: 1")
    assert "Did you mean sweep.yaml?" in refused(tmp_path / "sweeep.yaml")
    assert "folder cannot be read" in refused(tmp_path / "gone" / "sweep.yaml")


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "got a directory" in refused(tmp_path)
    assert "a device, pipe or socket" in refused(tmp_path / "pipe")
    assert "a device, pipe or socket" in refused(Path("/dev/zero"))
    assert "got a link that leads to no file (Too many levels of symbolic links)" in refused(tmp_path / "loop")
    (tmp_path / "dangling").symlink_to(tmp_path / "gone.yaml")
    assert "got a link that leads to no file (No such file or directory)" in refused(tmp_path / "dangling")


def test_permission_denied_is_told_with_owner_and_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path := tmp_path / "a.yaml").write_text("a: 1")
    path.chmod(0o600)

    def denied(*_: object) -> int:
        raise PermissionError

    monkeypatch.setattr(os, "open", denied)
    assert f"no permission to read it; expected a readable file. Its owner is user {os.getuid()}" in refused(path)


@pytest.mark.parametrize(
    ("data", "fragments"),
    [
        (b"a: " + b"x" * MAX_BYTES, ["more than 1 MiB", "at most 1 MiB"]),
        (gzip.compress(b"a: 1", mtime=0), ["gzip", "Unpack"]),
        (b"PK\x03\x04....", ["zip"]),
        (b"a: \xff\xfe", ["a.yaml:1:4: got byte 0xff", "UTF-8"]),
        ("a: 1".encode("utf-16"), ["UTF-16", "save it as UTF-8"]),
        (b"a: 1\0", ["a.yaml:1:5: got a NUL byte"]),
    ],
    ids=["A07", "A08", "A08 zip", "A09", "A10", "A11"],
)
def test_bytes_that_are_no_text(tmp_path: Path, data: bytes, fragments: list[str]) -> None:
    (tmp_path / "a.yaml").write_bytes(data)
    message = refused(tmp_path / "a.yaml")
    for fragment in fragments:
        assert fragment in message


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_yaml(tmp_path / "a.yaml").data == {"a": 1}


@given(st.binary(max_size=40))
def test_any_bytes_are_decoded_or_refused(data: bytes) -> None:
    with suppress(InputError):
        assert decode(data, "f") == data.decode("utf-8-sig")


def test_points_are_read_with_rows_and_columns() -> None:
    points = parse_points("t, x,y,z\r\n0,1,2,3\r\n0.5,-1e-3,.5,0\r\n\r\n", "p.csv", "txyz")
    np.testing.assert_array_equal(points, [[0, 1, 2, 3], [0.5, -1e-3, 0.5, 0]])


@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        ("", ["p:1:1", "the header t,x,y,z"]),
        ("0,1,2,3\n1,1,2,3\n", ["p:1:1", "The first row names the columns"]),
        ("t;x;y;z\n0;1;2;3\n", ["Use commas, not semicolons"]),
        ("t,x,y,z\n0,1,2\n", ["p:2:1", "3 cells", "4 cells"]),
        ("t,x,y,z\n0,1,2,3,4\n", ["p:2:1", "5 cells"]),
        (
            "t,x,y,z\n0,,2,3\n1,nan,#N/A,1_0\n",
            ["p:2:2 x", "empty cell", "p:3:2 x", "'nan'", "p:3:3 y", "p:3:4 z", "'1_0'"],
        ),
        ("t,x,y,z\n0,1e999,0,0\n", ["p:2:2 x", "a finite number"]),
        ("t,x,y,z\n0,0,0,0\n1,0,0,0\n1,0,0,0\n0.5,0,0,0\n", ["p:4:1 t: got 1.0", "later than 1.0", "p:5:1 t: got 0.5"]),
        ("t,x,y,z\n0,0,0,0\n", ["1 points", "at least 2"]),
    ],
)
def test_bad_points_are_named_by_row_and_column(text: str, fragments: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        parse_points(text, "p", "txyz")
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_a_huge_bad_file_of_points_stops_at_the_limit() -> None:
    with pytest.raises(InputError) as caught:
        parse_points("t,x,y,z\n" + "x,x,x,x\n" * 10_000, "p", "txyz")
    assert len(caught.value.problems) == 50
