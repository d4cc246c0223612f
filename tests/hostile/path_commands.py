"""Places of a command line where a file, folder or store is named, and what may stand there, by mistake or on purpose.

Each command has FILE at one such place, beside sound files for all others.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

from tests.bad_inputs.rows import GOOD
from tests.hostile import commands

XML = "FILE"
"""Name of the file in all commands."""
SWEEP, CLUSTER, STORE = "sweep.yaml", "c.yaml", commands.NAME
POSES = """limbsweep: 1
robot: delta_3rr2rrr
poses: [{files: [FILE]}]
actuators: {columns: [1, 2, 3]}
position: {columns: [4, 5, 6]}
"""
COLUMNS = "time: {rate: 100}\nposition: {columns: [1, 2, 3]}\nforce: {columns: [4, 5, 6]}\n"
MACHINE = f"limbsweep: 1\nrobot: planar_3r\nrecordings: [{{files: [FILE]}}]\n{COLUMNS}"
LINES = """
append s.zarr FILE
append s.zarr sweep.yaml --cluster FILE
append FILE sweep.yaml --cluster c.yaml
attach FILE
calibrate FILE
calibrate poses.yaml
calibrate poses.yaml --folder FILE
cancel FILE
check FILE
cluster FILE
code FILE
dataset FILE --store x.zarr
dataset sweep.yaml --store x.zarr --cluster FILE
excite FILE --output x.yaml
excite sweep.yaml --spheres FILE --output x.yaml
excite sweep.yaml --cluster FILE --output x.yaml
export FILE --format csv --output x
figure FILE series --output x.png
identify FILE
identify machine.yaml
identify FILE --columns columns.yaml --robot x.yaml
identify s.zarr --columns FILE
import FILE --output x.yaml
import FILE --expand-macros --output x.yaml
import robot.urdf --loops FILE --output x.yaml
import robot.urdf --expand-macros --package p=FILE --output x.yaml
info FILE
new FILE --output x.yaml
report FILE --output x.html
report s.zarr FILE --output x.html
robots FILE
run FILE --store x.zarr
run sweep.yaml --store x.zarr --cluster FILE
run sweep.yaml --store FILE/x.zarr --cluster c.yaml
show FILE --output x.png
sign FILE --key key.pem
sign s.zarr --key FILE
status FILE
study interaction FILE --of peak_force --between upper_arm rod_length
study morris FILE --of peak_force
study one-at-a-time FILE --of peak_force
study optimise FILE --objective peak_force
study pareto FILE --objective peak_force
study rank FILE --objective peak_force
study search FILE --store x.zarr --objective peak_force
study search sweep.yaml --store x.zarr --objective peak_force --cluster FILE
study sensitivity FILE --of peak_force
study sobol FILE --of peak_force
submit FILE --store x.zarr
submit sweep.yaml --store x.zarr --cluster FILE
verify FILE
verify s.zarr --signed-by FILE
verify FILE --repair --cluster c.yaml
"""
COMMANDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    line: (tuple(line.split()), ("x", ".x", ".FILE", "FILE", "absent", ".s.zarr", "s.zarr"))
    for line in LINES.strip().splitlines()
}
"""Arguments, and beginnings of names in the folder that may be written."""
FOLDERS = ("run sweep.yaml --store FILE/x.zarr --cluster c.yaml",)
"""Commands for which a folder at FILE is right, or none."""


def prepared(folder: Path) -> Path:
    """Make a folder with all that commands name, but FILE; return the path of FILE."""
    store = commands.prepared(folder)
    here = store.parent
    (here / SWEEP).write_text(GOOD)
    (here / "poses.yaml").write_text(POSES)
    (here / "machine.yaml").write_text(MACHINE)
    (here / "columns.yaml").write_text(COLUMNS)
    (here / "key.pem").write_text("no key\n")
    (here / "robot.urdf").write_text('<robot name="r"><link name="a"/></robot>')
    return here / XML


def _socket(path: Path) -> None:
    place = os.getcwd()
    os.chdir(path.parent)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path.name)
    os.chdir(place)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def _bytes(data: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data)


FILES: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: None,
    "a pipe": lambda path: os.mkfifo(path),
    "an empty folder": lambda path: path.mkdir(),
    "a folder in a folder": lambda path: (path / XML).mkdir(parents=True),
    "a link to itself": lambda path: path.symlink_to(XML),
    "a link to nothing": lambda path: path.symlink_to("absent"),
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a socket": _socket,
    "a terabyte of nothing": _sparse,
    "an empty file": _bytes(b""),
    "a mark of order": _bytes(b"\xef\xbb\xbf"),
    "Latin-1": _bytes("limbsweep: 1\nrobot: größe\n".encode("latin-1")),
    "UTF-16": _bytes("limbsweep: 1\nrobot: delta_3rr2rrr\n".encode("utf-16")),
    "zeros": _bytes(bytes(4096)),
    "noise": _bytes(bytes((k * k * 7 + k) % 251 for k in range(5000))),
    "deep": _bytes(b"[" * 100_000),
    "deep braces": _bytes(b'{"a":' * 100_000),
    "a long line": _bytes(b"a" * (20 << 20)),
    "a big number": _bytes(b"limbsweep: " + b"9" * 100_000),
    "NaN": _bytes(b"limbsweep: .nan\nrobot: .inf\n"),
    "a list": _bytes(b"- 1\n- 2\n"),
    "a text": _bytes(b"robot\n"),
    "wrong types": _bytes(b"limbsweep: {a: 1}\nrobot: [1]\ntime: x\ntrajectories: 3\nlinks: 5\nplatform: []\n"),
    "a zip file": _bytes(b"PK\x03\x04" + bytes(100)),
    "an image": _bytes(b"\x89PNG\r\n\x1a\n" + bytes(100)),
    "escapes": _bytes(b"limbsweep: 1\nrobot: \"\\e]0;owned\\a\"\n\"\\u202e\": 1\n"),
}  # fmt: skip
"""Things at FILE, by their kind."""
