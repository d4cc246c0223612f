"""Sections A and B: the file itself, and traps of YAML."""

from __future__ import annotations

import gzip
import os
import socket
from pathlib import Path

import pytest

from pipeline.documents.yaml import MAX_BYTES
from tests.bad_inputs.rows import GOOD, Row, added, called, changed

_open = os.open


def _denied(patch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, *rest: int) -> int:
        if name == "sweep.yaml":
            raise PermissionError
        return _open(name, *rest)

    patch.setattr(os, "open", refuse)


def _socket(patch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")


ROWS = (
    called("A01", "check sweeep.yaml", "sweeep.yaml: got no such file", "Did you mean sweep.yaml?"),
    called("A02", "check .", ".: got a directory; expected a regular file"),
    called("A03", "check pipe", "pipe: got a device, pipe or socket", prepare=lambda _: os.mkfifo("pipe")),
    called("A03 device", "check /dev/zero", "/dev/zero: got a device, pipe or socket"),
    called("A03 socket", "check socket", "socket: got", prepare=_socket),
    called("A04", "check sweep.yaml", "got no permission to read it", "Its owner is user", prepare=_denied),
    Row("A05", ("sweep.yaml: got an empty file",), ""),
    Row("A06", ("sweep.yaml: got an empty file",), "# nothing\n\n# but comments\n"),
    Row("A07", ("got more than 1 MiB; expected a file of at most 1 MiB",), GOOD + "#" * MAX_BYTES),
    Row("A08", ("binary data that look like gzip", "Unpack"), gzip.compress(GOOD.encode())),
    Row("A08 zip", ("look like zip",), b"PK\x03\x04" + bytes(40)),
    Row("A09", ("sweep.yaml:1:4: got byte 0xff, in Latin-1 the letter ÿ; expected UTF-8 text",), b"a: \xff\xfe"),
    Row("A10", ("It looks like UTF-16: save it as UTF-8.",), GOOD.encode("utf-16")),
    Row("A11", ("sweep.yaml:2:1: got a NUL byte",), b"a: 1\n\0"),
    Row("A12", (), GOOD.encode("utf-8-sig"), status=0),
    changed("A13", "  grid:", "\tgrid:", "sweep.yaml:6:1", "Indent with spaces, not tabs."),
    added("A14", "x: 'abc\n", "sweep.yaml:21:1", "not YAML", "began in line 20, column 4"),
    added("A14 bracket", "x: [1, 2\n", "not YAML", "began in line 20, column 4"),
    added("A15", "---\na: 1\n", "sweep.yaml:20:1", "a second document; expected one document in a file"),
    Row("A16", ("sweep.yaml:1:1: got [1, 2]; expected a mapping",), "- 1\n- 2\n"),
    Row("A16 scalar", ("got 'hello'; expected a mapping",), "hello\n"),
    called(
        "A17", "check loop", "loop: got a link that leads to no file", prepare=lambda _: Path("loop").symlink_to("loop")
    ),
    added("B01", "title: again\n", "sweep.yaml:20:1 title: got the key again, first in line 2", "every key once"),
    added(
        "B02", "a: &a [x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n", "20:4 a: got anchor 'a'; expected no anchors", "alias 'b'"
    ),
    added("B03", "a: &a {k: 1}\nb: {<<: [*a, *a]}\n", "merge key '<<'; expected no merge keys"),
    added("B04", "a: &a [*a]\n", "anchor 'a'", "alias 'a'"),
    added("B05", "a: *zz\n", "alias 'zz'", "Write the value out."),
    added("B06", "a: " + "[" * 1000, "sweep.yaml:20:35", "at most 32 levels of nesting"),
    added("B07", "a: !!python/object/apply:os.system [ls]\n", "sweep.yaml:20:4 a: got tag", "expected no tags"),
    added("B08", "a: !foo 1\n", "tag '!foo'; expected no tags"),
    changed("B09", "num: 3", "num: " + "9" * 4301, "a number of at most 64 characters", "This one has 4301."),
    changed("B10", "num: 3", "num: 0x" + "f" * 60_000, "a number of at most 64 characters"),
    changed("B11", "density: 2700", "density: 1e3", status=0),
    changed(
        "B12", "density: 2700", "density: 1.0e+400", "4:23 parameters.density: got 1.0e+400; expected a finite number"
    ),
    *(
        changed(f"B13 {text}", "density: 2700", f"density: {text}", f"got {text}; expected a finite number")
        for text in (".nan", ".inf", "nan", "NaN", "-.INF")
    ),
    changed("B14", "num: 3", "num: 010", "got 010; expected a number without leading zeros", "write 10 or 0o10"),
    changed("B15", "period: 10", "period: 1:30", "got 1:30", "Sexagesimal numbers are not supported"),
    changed("B16", "num: 3", "num: yes", "num: got 'yes'; expected an integer"),
    changed("B17", "turn:", "no:", status=0),
    changed("B18", "title: A test", "title: 2026-01-01", status=0),
    added("B19", "? : 1\n", "got an empty key; expected keys that are text"),
    added("B20", "1: x\n[a]: y\n", "got key 1; expected keys that are text", "sweep.yaml:21:1"),
    changed("B21", "density: 2700", 'density: "1,5"', "got '1,5'", "Use a decimal point, not a comma."),
    changed("B22", "density: 2700", "density: 5 kg", "got '5 kg'; expected a number", "Write the number alone"),
    changed("B22 glued", "phase: 1", "phase: 30deg", "got '30deg'; expected a number", "Write the number alone"),
    changed("B23", "num: 3", "num: 1_000", "got 1_000; expected a number without underscores"),
    changed("B24", "title: A test", 'title: "A\\u202Etest"', "character U+202E; expected visible characters only"),
    changed("B24 key", "turn:", "tu\u200brn:", "character U+200B"),
    added("B25", "\u00e9: 1\ne\u0301: 2\n", "sweep.yaml:21:1", "the key again, first in line 20"),
)
