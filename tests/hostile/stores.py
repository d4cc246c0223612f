"""Stores as a stranger could hand them over, each made from a sound one.

`victim` is a folder beside the store that nothing may touch; what a store is called says what is wrong with it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
from numcodecs import GZip, blosc  # type: ignore[import-untyped]

from storage import manifest as manifests
from storage.encoding.checksums import checksum
from storage.ledger import _seal
from storage.manifest import MANIFEST

Change = Callable[[Path, Path], object]

SHARD = "peak_force/c.0.0.0.0"
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m‮drowssap"
PRECIOUS = "precious"
BOMB = 1 << 30


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a JSON file."""
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def reseal(store: Path, change: Callable[[dict[str, Any]], object] | None = None) -> None:
    """Change the manifest, and make its checksums match what is there."""
    data = json.loads((store / MANIFEST).read_text())
    del data["check"]
    for key in data["files"]:
        if (store / key).is_file() and not (store / key).is_symlink():
            data["files"][key] = checksum(key, (store / key).read_bytes())
    if change is not None:
        change(data)
    (store / MANIFEST).write_text(json.dumps({**data, "check": manifests._seal(data)}))


def both(store: Path, array: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the metadata of an array in both places, with checksums to match."""
    edit(store / f"{array}/zarr.json", change)
    edit(store / "zarr.json", lambda group: change(group["consolidated_metadata"]["metadata"][array]))
    reseal(store)


def attributes(**values: object) -> Change:
    """Attributes of the dataset in both places."""

    def change(store: Path, victim: Path) -> None:
        edit(store / "zarr.json", lambda group: group["attributes"].update(values))
        reseal(store, lambda data: data["attributes"].update(values))

    return change


def link(key: str) -> Change:
    def change(store: Path, victim: Path) -> None:
        place = store / key
        if place.is_dir() and not place.is_symlink():
            place.rename(victim.parent / f"moved-{place.name}")
            place.symlink_to(victim)
        else:
            place.unlink(missing_ok=True)
            place.parent.mkdir(exist_ok=True)
            place.symlink_to(victim / PRECIOUS)

    return change


def pipe(key: str) -> Change:
    def change(store: Path, victim: Path) -> None:
        (store / key).unlink(missing_ok=True)
        (store / key).parent.mkdir(exist_ok=True)
        os.mkfifo(store / key)

    return change


def folder(key: str) -> Change:
    def change(store: Path, victim: Path) -> None:
        (store / key).unlink(missing_ok=True)
        (store / key).mkdir()

    return change


def sparse(key: str) -> Change:
    """A terabyte that takes no room, without a single end of a line."""

    def change(store: Path, victim: Path) -> None:
        with (store / key).open("r+b") as file:
            file.truncate(1 << 40)

    return change


def content(key: str, data: bytes, *, sealed: bool = False) -> Change:
    def change(store: Path, victim: Path) -> None:
        (store / key).write_bytes(data)
        if sealed:
            reseal(store)

    return change


def manifest(**values: object) -> Change:
    return lambda store, victim: reseal(store, lambda data: data.update(values))


def metadata(array: str, change: Callable[[dict[str, Any]], object]) -> Change:
    return lambda store, victim: both(store, array, change)


def sealed_chunk(data: bytes) -> bytes:
    """A chunk with the checksum that follows it."""
    return data + google_crc32c.value(data).to_bytes(4, "little")


def zip_bomb(store: Path, victim: Path) -> None:
    """Eight kilobytes that become a gigabyte, by codecs that the metadata name."""
    gzip = [{"name": "gzip", "configuration": {"level": 9}}] * 2
    both(store, "upper_arm", lambda array: array.update(codecs=[array["codecs"][0], *gzip]))
    packer = GZip(9)
    (store / "upper_arm/c.0").write_bytes(packer.encode(packer.encode(bytes(BOMB >> 4))))
    reseal(store)


def blosc_bomb(store: Path, victim: Path) -> None:
    """A coordinate that says that it unpacks to 2 GB."""
    packed = bytearray(blosc.compress(np.zeros(10), b"lz4", 5, 1))
    packed[4:8] = (2**31 - 1).to_bytes(4, "little")
    content("upper_arm/c.0", sealed_chunk(bytes(packed)), sealed=True)(store, victim)


def texts(store: Path, victim: Path) -> None:
    """Names of actuators, two thousand million of them."""
    content("actuator/c.0", sealed_chunk((2**31 - 1).to_bytes(4, "little")), sealed=True)(store, victim)


def receipt(body: bytes) -> Change:
    """A line of the ledger with a checksum that matches."""
    return content("ledger.jsonl", body + _seal(body) + b"\n")


def million_designs(store: Path, victim: Path) -> None:
    """A thousand million designs in blocks of one."""
    reseal(store, lambda data: data["layout"].update(
        sizes={**data["layout"]["sizes"], "design": 10**9}, block={"design": 1, "friction": 1, "trajectory": 1}
    ))  # fmt: skip


def forged_variable(store: Path, victim: Path) -> None:
    """A metric of a user's own whose folder is somebody else's."""
    row = {"name": "../victim", "dims": ["design"], "units": "", "long_name": "", "frame": "", "kind": "metric"}
    reseal(store, lambda data: data["layout"].update(
        own=[{**row, "dtype": "float64"}], variables=[*data["layout"]["variables"], "../victim"]
    ))  # fmt: skip


def log(**what: object) -> Change:
    record = {"time": what.pop("time", 1.7e9), "pid": 1, "host": ESCAPES, "event": what.pop("event"), "what": what}
    return content("log.jsonl", json.dumps(record).encode() + b"\n")


def python_files(store: Path, victim: Path) -> None:
    """Modules with names that Python looks for."""
    for name in ("sitecustomize", "numpy", "storage", "zarr", "pipeline", "multiprocessing", "usercustomize"):
        for place in (store, store.parent):
            (place / f"{name}.py").write_text(f"open({str(victim / 'run')!r}, 'w').write('owned')\n")


def sources(name: str) -> Change:
    """A file that the sweep names, outside of the store."""
    return attributes(sources={name: "0" * 64})


def sweep_text(store: Path, victim: Path) -> None:
    """A sweep that names a file of the victim."""
    text = json.loads((store / MANIFEST).read_text())["sweep"]
    other = text.replace("turn: {kind: circle, phase: 1}", "turn: {kind: points, file: ../victim/precious}")
    assert other != text
    edit(store / "zarr.json", lambda group: group["attributes"].update(sweep=other))
    reseal(store, lambda data: data.update(sweep=other))


FILES = (MANIFEST, "zarr.json", "ledger.jsonl", "log.jsonl", "coordinator.lock", "cancel", "upper_arm/c.0", SHARD,
         "peak_force/zarr.json", ".append/limbsweep.json")  # fmt: skip
DEEP = b"[" * 10**5
BIG = b"9" * 10**5

STORES: dict[str, Change] = {
    **{f"link {key}": link(key) for key in (*FILES, "peak_force", "upper_arm", ".append", "sources")},
    **{f"pipe {key}": pipe(key) for key in FILES},
    **{f"folder {key}": folder(key) for key in (*FILES[:7], SHARD)},
    **{f"sparse {key}": sparse(key) for key in (MANIFEST, "zarr.json", "ledger.jsonl", "upper_arm/c.0", SHARD)},
    **{f"deep {key}": content(key, DEEP) for key in (MANIFEST, "log.jsonl", "coordinator.lock")},
    "deep group": content("zarr.json", DEEP, sealed=True),
    "deep receipt": receipt(b'{"block":' + DEEP),
    "big number": content(MANIFEST, b'{"format": ' + BIG + b"}"),
    "big number in a receipt": receipt(b'{"block":' + BIG + b',"bytes":1,"checksums":{}'),
    "receipt of texts": receipt(b'{"block":0,"bytes":1,"checksums":["x"]'),
    "receipt of a negative block": receipt(b'{"block":-1,"bytes":1,"checksums":{}'),
    "a long line": content("ledger.jsonl", b"x" * (64 << 20)),
    "zip bomb": zip_bomb,
    "blosc bomb": blosc_bomb,
    "texts without end": texts,
    "pickle": metadata("upper_arm", lambda array: array["codecs"].insert(0, {"name": "numcodecs.pickle"})),
    "pickle of results": metadata("peak_force", lambda array: array["codecs"][0]["configuration"]["codecs"].append(
        {"name": "numcodecs.pickle", "configuration": {}})),
    "transformers": metadata("upper_arm", lambda array: array.update(storage_transformers=[{"name": "x"}])),
    "chunk of a coordinate": metadata("upper_arm", lambda array: array["chunk_grid"]["configuration"].update(
        chunk_shape=[10**12])),
    "scale factor": metadata("peak_force", lambda array: array["attributes"].update(scale_factor=2.0)),
    "units": metadata("peak_force", lambda array: array["attributes"].update(units={"a": 1})),
    "flags": metadata("status", lambda array: array["attributes"].update(flag_meanings="one two", flag_values=[0])),
    "flags of texts": metadata("status", lambda array: array["attributes"].update(flag_values="abc")),
    "attributes of texts": metadata("peak_force", lambda array: array.update(attributes="none")),
    "another dim": metadata("upper_arm", lambda array: array.update(dimension_names=["nowhere"])),
    "a number for a sweep": attributes(sweep=7, robot=[1]),
    "texts for attributes": attributes(robot={"a": ESCAPES}, versions="none", created=-1, sources="x"),
    "escapes": attributes(title=ESCAPES, robot=ESCAPES),
    "markup": attributes(title="<script>alert(1)</script>", robot="[red]x[/red]"),
    "thousand million designs": million_designs,
    "few blocks of many designs": lambda store, victim: reseal(
        store, lambda data: data["layout"]["sizes"].update(design=10**15)),
    "sizes of texts": lambda store, victim: reseal(store, lambda data: data["layout"]["sizes"].update(design="6")),
    "sizes below one": lambda store, victim: reseal(store, lambda data: data["layout"]["sizes"].update(time=0)),
    "forged variable": forged_variable,
    "forged file": lambda store, victim: reseal(store, lambda data: data["files"].update({"../victim/precious": "0"})),
    "forged generation": manifest(generation=10**30),
    "negative generation": manifest(generation=-1),
    "not finished": manifest(state="running", ledger=""),
    "another format": manifest(format=[5]),
    "log of escapes": log(event="Stopped", reason=ESCAPES, cancelled=False),
    "log of other types": log(event="BlockRetried", block="x", step=1, reason=[ESCAPES]),
    "log of dates": log(time=1e300, event="Stopped", reason=""),
    "log of no numbers": log(time=float("nan"), event="Waiting", seconds=float("nan"), what=""),
    "lock of a path": content("coordinator.lock", json.dumps(
        {"pid": "../../../victim", "host": ESCAPES, "machine": "m", "started": "1", "since": "now"}).encode()),
    "sources that lead out": sources("../victim/precious"),
    "sources elsewhere": sources("/etc/passwd"),
    "sweep that names a file": sweep_text,
    "python files": python_files,
    "empty manifest": content(MANIFEST, b""),
    "manifest of a list": content(MANIFEST, b"[]"),
    "group of a list": content("zarr.json", b"[]", sealed=True),
}  # fmt: skip
