"""The manifest of a store: which sweep it belongs to, how it is laid out, whether it is finished.

It is a small JSON file beside the arrays. Reading it needs no Zarr, so status and planning stay quick.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from storage.errors import StoreError
from storage.layout import Layout

FORMAT = 1
"""Version of the store format; another one is refused."""

MANIFEST = "limbsweep.json"
State = Literal["running", "finished"]


@dataclass(frozen=True)
class Manifest:
    """Identity, layout and state of a store. `sweep` is the text, `fingerprint` the hash of its meaning."""

    fingerprint: str
    sweep: str
    layout: Layout
    state: State = "running"

    def save(self, path: Path) -> None:
        """Writes the manifest of the store at `path`, whole or not at all. Raises StoreError where that fails."""
        data = {"format": FORMAT, "blocks": self.layout.blocks, **asdict(self), "layout": self.layout.as_dict()}
        with refusals(path):
            replace_file(path / MANIFEST, json.dumps(data, indent=1, allow_nan=False) + "\n")

    @classmethod
    def load(cls, path: Path) -> Manifest:
        """The manifest of the store at `path`. Raises StoreError for a store that is missing, foreign or damaged."""
        file = path / MANIFEST
        if not path.is_dir():
            raise StoreError(f"{path}: there is no store; check the path, or run the sweep first")
        if not file.is_file():
            raise StoreError(f"{path}: not a store of limbsweep; expected a file {MANIFEST} in it")
        with refusals(path):
            text = file.read_bytes()
        try:
            return cls._parse(file, json.loads(text))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(f"{file}: damaged ({error!r}); restore it from a copy, or run the sweep again") from error

    @classmethod
    def _parse(cls, file: Path, data: dict[str, object]) -> Manifest:
        """The manifest in parsed JSON."""
        if data["format"] != FORMAT:
            raise StoreError(
                f"{file}: format {data['format']!r}; expected {FORMAT}; "
                "open it with the version of limbsweep that wrote it"
            )
        fingerprint, sweep, state = data["fingerprint"], data["sweep"], data["state"]
        if not isinstance(fingerprint, str) or not isinstance(sweep, str):
            raise TypeError("fingerprint and sweep are texts")
        if state != "running" and state != "finished":
            raise ValueError(f"state {state!r}")
        return cls(fingerprint, sweep, Layout.from_dict(data["layout"]), state)  # type: ignore[arg-type]


def finish(path: Path) -> None:
    """Marks the store as finished: the last step of a run, once every block has its receipt."""
    replace(Manifest.load(path), state="finished").save(path)


def require_same(path: Path, *, fingerprint: str, sweep: str, layout: Layout) -> Manifest:
    """The manifest of a store that belongs to this sweep and layout. Raises StoreError that shows what differs.

    A changed comment changes `sweep` but not `fingerprint`, and passes.
    """
    manifest = Manifest.load(path)
    if manifest.fingerprint != fingerprint:
        changes = _difference(manifest.sweep, sweep) or (
            f"the same text, but fingerprint {fingerprint} instead of {manifest.fingerprint}:"
            " a file that it names, or the version of limbsweep, has changed"
        )
        raise StoreError(f"{path}: holds another sweep; choose another store, or take back these changes:\n{changes}")
    if manifest.layout != layout:
        stored, wanted = (json.dumps(each.as_dict(), indent=1) for each in (manifest.layout, layout))
        raise StoreError(
            f"{path}: is laid out in other blocks; choose another store, or the same options as before:\n"
            + _difference(stored, wanted)
        )
    return manifest


def _difference(stored: str, given: str) -> str:
    """The lines that differ, those of the store marked with minus."""
    return "\n".join(difflib.unified_diff(stored.splitlines(), given.splitlines(), "store", "given", lineterm="", n=0))


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Turns an error of the operating system into a StoreError that names the file and the reason."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{error.filename or path}: {error.strerror or error}; "
            "check free space and permissions, or choose another store"
        ) from error


def replace_file(file: Path, text: str) -> None:
    """Writes a file so that a reader, also after a crash, finds the old text or the new one."""
    draft = file.with_name(f"{file.name}.{os.getpid()}.draft")
    try:
        with draft.open("w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
    sync_directory(file.parent)


def sync_directory(path: Path) -> None:
    """Makes new names in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
