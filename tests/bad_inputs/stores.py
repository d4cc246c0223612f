# ruff: noqa: E501 - a row of a table is a line
"""Section H: stores that are damaged, or put there by somebody else."""

from __future__ import annotations

import fcntl
import functools
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import google_crc32c
import pytest

from pipeline import run
from pipeline.cluster.connection import ClusterConfig
from pipeline.sweep.model import Sweep
from storage import manifest as manifests
from storage.ledger import Receipt, line
from storage.manifest import FORMAT, MANIFEST
from storage.places.lock import LOCK, Owner
from storage.store import StoreWriter
from tests.bad_inputs.rows import GOOD, SYNCHRONOUS, Row

SHARD = "actuator_force/c.0.0.0.0.0"
COMMANDS = {
    "info": ("info", "s.zarr"),
    "report": ("report", "s.zarr", "--output", "r.html"),
    "run": ("run", "sweep.yaml", "--store", "s.zarr", "--cluster", "c.yaml"),
    "export": ("export", "s.zarr", "--format", "npz", "--output", "x"),
    "verify": ("verify", "s.zarr"),
}


@functools.cache
def sound() -> dict[str, bytes]:
    """The files of the store of a good sweep, by their paths in it."""
    with tempfile.TemporaryDirectory() as folder:
        run(Sweep.from_text(GOOD), Path(folder, "s.zarr"), ClusterConfig.of("synchronous"))
        root = Path(folder, "s.zarr")
        return {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*") if file.is_file()}


Damage = Callable[[Path], None]


def damaged(name: str, damage: Damage, commands: str, *said: str, found: int = 1) -> list[Row]:
    """A damaged store, looked at by several commands; `verify` ends with `found`, the others with 2."""

    def prepare(patch: pytest.MonkeyPatch) -> None:
        for key, data in sound().items():
            Path("s.zarr", key).parent.mkdir(parents=True, exist_ok=True)
            Path("s.zarr", key).write_bytes(data)
        damage(Path("s.zarr"))

    return [
        Row(f"{name} {each}", said, GOOD, SYNCHRONOUS, COMMANDS[each], found if each == "verify" else 2, prepare)
        for each in commands.split()
    ]


def content(key: str, change: Callable[[bytes], bytes]) -> Damage:
    """Another content of a file."""

    def damage(store: Path) -> None:
        store.joinpath(key).write_bytes(change(store.joinpath(key).read_bytes()))

    return damage


def array(change: Callable[[dict[str, Any]], object]) -> Damage:
    """Other metadata of `actuator_force`, in both places."""

    def damage(store: Path) -> None:
        for key in ("zarr.json", "actuator_force/zarr.json"):
            data = json.loads(store.joinpath(key).read_text())
            change(data["consolidated_metadata"]["metadata"]["actuator_force"] if key == "zarr.json" else data)
            store.joinpath(key).write_text(json.dumps(data))

    return damage


def sealed(**changes: object) -> Damage:
    """A manifest that says something else, with a checksum to match."""

    def damage(store: Path) -> None:
        data = json.loads(store.joinpath(MANIFEST).read_text()) | changes
        del data["check"]
        store.joinpath(MANIFEST).write_text(json.dumps({**data, "check": manifests._seal(data)}))

    return damage


def _flipped(data: bytes) -> bytes:
    return data[:100] + bytes([data[100] ^ 1]) + data[101:]


def _large_chunk(data: bytes) -> bytes:
    """A chunk that says that it unpacks to 2 GB, with a checksum to match; there is one chunk, and the index."""
    index = data[-20:]
    chunk = data[:4] + (2**31 - 1).to_bytes(4, "little") + data[8 : len(data) - 24]
    return chunk + google_crc32c.value(chunk).to_bytes(4, "little") + index


def _nan(store: Path) -> None:
    """NaN under the status OK, with checksums and receipts to match."""
    writer = StoreWriter(store)
    arrays = writer.read(0)
    arrays["actuator_force"][0, 0, 0, 5, 1] = float("nan")
    (store / "ledger.jsonl").write_bytes(line(writer.write(0, arrays)) + b"\n")


def _version_2(store: Path) -> None:
    for file in sorted(store.rglob("*"), reverse=True):
        file.unlink() if file.is_file() else file.rmdir()
    (store / ".zgroup").write_text('{"zarr_format": 2}')
    (store / "force").mkdir()
    filters = [{"id": "pickle", "protocol": 5}]
    shape = {"shape": [1], "chunks": [1], "dtype": "|O", "fill_value": None, "order": "C", "compressor": None}
    (store / "force/.zarray").write_text(json.dumps({"zarr_format": 2, "filters": filters, **shape}))


def _other_sweep(store: Path) -> None:
    Path("sweep.yaml").write_text(GOOD.replace("2700", "2710"))


def _link(store: Path) -> None:
    (store / SHARD).unlink()
    (store / SHARD).symlink_to("/etc/passwd")


def _linked_folder(store: Path) -> None:
    os.rename(store / "actuator_force", "elsewhere")
    (store / "actuator_force").symlink_to(Path("elsewhere").absolute())


def _draft(store: Path) -> None:
    (store / "actuator_force/.c.0.0.0.0.0.5c3e.draft").write_bytes(b"half of it")


def receipts(change: Callable[[bytes], bytes]) -> Damage:
    """Another ledger."""
    return content("ledger.jsonl", change)


def _other(data: bytes) -> bytes:
    receipt = json.loads(data)
    return line(Receipt(0, receipt["checksums"] | {"peak_force": 1}, receipt["bytes"])) + b"\n"


class Held:
    """A lock of a run that goes on, as long as a test."""

    def __init__(self, file: Path) -> None:
        self.descriptor = os.open(file, os.O_RDWR | os.O_CREAT)
        fcntl.flock(self.descriptor, fcntl.LOCK_EX)
        os.write(self.descriptor, Owner.here().dump())

    def __del__(self) -> None:
        os.close(self.descriptor)


_HELD: list[Held] = []


def _running(store: Path) -> None:
    """A store that is not finished, and another run that writes to it."""
    sealed(state="running")(store)
    _HELD[:] = [Held(store / LOCK)]


_LAYOUT = {"sizes": {"design": 1, "friction": 1, "trajectory": 1}, "block": {}, "variables": ["../peak_force"]}
_ANYTHING = "info run"
_ALL = "info run export verify"
_READERS = "report export verify"

ROWS: tuple[Row, ...] = tuple(
    row
    for rows in (
        damaged("H02 empty manifest", content(MANIFEST, lambda data: b""), _ANYTHING, "s.zarr/limbsweep.json: damaged"),
        damaged("H02 cut manifest", content(MANIFEST, lambda data: data[:100]), _ANYTHING, "--repair makes it again"),
        damaged("H02 empty group", content("zarr.json", lambda data: b""), _ALL, "s.zarr/zarr.json: damaged"),
        damaged(
            "H02 empty array",
            content("actuator_force/zarr.json", lambda data: b""),
            "info verify",
            "s.zarr/actuator_force/zarr.json: damaged metadata",
        ),
        damaged("H03 shape", array(lambda data: data.update(shape=[-1, 3, 2, 11, 3])), "run", "(-1, 3,"),
        damaged("H03 shape", array(lambda data: data.update(shape=[-1, 3, 2, 11, 3])), _ALL, "s.zarr/zarr.json: "),
        damaged(
            "H04 chunk",
            array(lambda data: data["chunk_grid"]["configuration"].update(chunk_shape=[10**15, 3, 2, 11, 3])),
            "run",
            "(1000000000000000, 3, 2, 11, 3)",
        ),
        damaged("H04 shard", sealed(layout=_LAYOUT | {
            "sizes": dict.fromkeys(("design", "friction", "trajectory", "actuator"), 10**5),
            "block": {"design": 10**5},
            "variables": ["peak_force"],
        }), _ANYTHING, "a block of peak_force holds 80000000000 bytes; expected at most 1073741824"),
        damaged("H05 bomb", content(SHARD, _large_chunk), "verify", "unpacks to 2147483647 bytes; expected 9504"),
        damaged(
            "H06 pickle",
            array(lambda data: data.update(codecs=[{"name": "numcodecs.pickle", "configuration": {}}])),
            _ALL,
            "s.zarr/zarr.json: damaged",
        ),
        damaged(
            "H06 unknown",
            array(lambda data: data["codecs"][0]["configuration"]["codecs"][1].update(name="magic")),
            "run",
            "('bytes', 'magic', 'crc32c')",
            "expected",
        ),
        damaged("G06", _other_sweep, "run", "s.zarr: holds another sweep; choose another store"),
        damaged("G06 export", lambda store: Path("x").mkdir(), "export", "x: exists already; expected a new folder"),
        damaged("G07", _running, "run", "another run is writing to this store", '"pid"', '"host"', '"since"'),
        damaged("H07", _version_2, _ALL.removesuffix(" verify"), "s.zarr: not a store of limbsweep"),
        damaged("H08", lambda store: (store / SHARD).unlink(), _READERS, f"s.zarr/{SHARD}: missing (block 0 of actuator"),
        damaged("H09", content(SHARD, _flipped), _READERS, f"s.zarr/{SHARD}: damaged (block 0 of actuator_force: the"),
        damaged("H09 cut", content(SHARD, lambda data: data[:-9]), _READERS, f"s.zarr/{SHARD}: damaged (block 0"),
        damaged("H09 empty", content(SHARD, lambda data: b""), _READERS, f"s.zarr/{SHARD}: empty (block 0"),
        damaged("H10", receipts(_other), "verify", "block 0 of peak_force has content that no receipt of this store lists"),
        damaged(
            "H11 beyond", receipts(lambda data: data + line(Receipt(99, {}, 0)) + b"\n"), "info run verify",
            "receipt of block 99",
        ),
        damaged("H11 damaged", receipts(lambda data: b"x" + data), "info run verify", "ledger.jsonl:1: damaged line"),
        damaged("H11 twice", receipts(lambda data: data + _other(data)), "info verify", "another result of block 0 than"),
        damaged("H11 twice", receipts(lambda data: data + _other(data)), "run", "twice with different results"),
        damaged("H11 future", sealed(format=FORMAT + 1), _ANYTHING, f"format {FORMAT + 1}; expected {FORMAT}; open it with the version"),
        damaged("H12", _nan, "verify", "NaN where the status is OK (block 0)"),
        damaged("H13", _draft, "verify", "left by a writer that was killed"),
        damaged("H14", _other_sweep, "run",
            "s.zarr: holds another sweep", "-parameters: {density: 2700}", "+parameters: {density: 2710}"),
        damaged(
            "H15",
            content("zarr.json", lambda data: data.replace(b'"robot": "delta_3rr2rrr"', b'"robot": NaN')),
            _ALL,
            "s.zarr/zarr.json: damaged",
        ),
        damaged("H16 variable", sealed(layout=_LAYOUT), _ANYTHING, "there is no variable '../peak_force' to store"),
        damaged("H16 file", sealed(files={"../../x": 1}), _ANYTHING, "a file '../../x', which is not inside the store"),
        damaged("H17", _link, _READERS, f"s.zarr/{SHARD}: a link"),
        damaged("H17 folder", _linked_folder, _READERS, "s.zarr/actuator_force", "a link, where a store has", found=2),
        damaged("H18", receipts(lambda data: b""), "info verify", "ledger.jsonl: block 0 has no receipt"),
        damaged("H18", receipts(lambda data: b""), "run", "says that it is finished, but 1 of its 1 blocks have no"),
    )
    for row in rows
)  # fmt: skip
"""Manifests name no way to read them but our own: what is not in the layout is never opened."""
