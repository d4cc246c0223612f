# ruff: noqa: E501 - a row of a table is a line
"""Section K: names of stores and files, and files that a command must not destroy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.bad_inputs.rows import Prepare, Row, called

NEW = "new delta_3rr2rrr --output"
SHOW = "show delta_3rr2rrr --output"
EXPORT = "robots five_bar --export"
LONG = "x" * 300
DEEP = "/".join(["x" * 100] * 50)


def _words(name: str, words: tuple[str, ...], *said: str, prepare: Prepare | None = None) -> Row:
    """A command whose arguments have spaces, or nothing in them."""
    return Row(name, said, command=words, prepare=prepare)


def _file(name: str, content: bytes = b"years of work") -> Prepare:
    def prepare(_: pytest.MonkeyPatch) -> None:
        Path(name).write_bytes(content)

    return prepare


def _folder(name: str) -> Prepare:
    return lambda _: Path(name).mkdir()


def _fifo(name: str) -> Prepare:
    return lambda _: os.mkfifo(name)


def _link(name: str, target: str = "sweep.yaml") -> Prepare:
    return lambda _: Path(name).symlink_to(target)


def _denied(patch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *rest: object, **options: object) -> None:
        raise PermissionError(13, os.strerror(13), str(path))

    patch.setattr(Path, "write_text", refuse)


def _full(patch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(28, os.strerror(28))

    patch.setattr("os.fsync", refuse)


STORES = ("run sweep.yaml --store", "submit sweep.yaml --store", "dataset sweep.yaml --store")
READERS = ("info", "status", "attach", "cancel", "verify", "report", "study pareto --objective peak_force")
WRITERS = ((NEW, "yaml"), (SHOW, "png"), (EXPORT, "yaml"))

ROWS = (
    *(
        _words(f"K {command} {text[:20]!r}", (*command.split(), text), "--store: got", "expected")
        for command in STORES
        for text in ("", " ", DEEP, f"a/{LONG}/b.zarr", "memory://x/y", "MEMORY://x", "-x", "out.", "a\x07b", "\u202ex")
    ),
    *(
        _words(f"K {command} {text[:20]!r}", (*command.split(), text), "STORE: got", "expected")
        for command in READERS
        for text in ("", "  ", DEEP, LONG)
    ),
    *(_words(f"K run {text[:20]!r}", ("run", text), "SWEEP: got", "expected") for text in ("", DEEP, LONG)),
    *(
        _words(f"K {command} {text[:20]!r}", (*command.split(), text), f"{command.split()[-1]}: got", "expected")
        for command, end in WRITERS
        for text in ("", ".", "..", "/", LONG, f"{LONG}.{end}", f"{DEEP}.{end}", f"nowhere/x.{end}", f"a\x07b.{end}", f"/dev/null/x.{end}")
        if not (command == SHOW and not text.endswith("png"))
    ),
    *(
        row
        for command, end in WRITERS
        for option in (command.split()[-1],)
        for row in (
            called(f"K {command} exists", f"{command} taken.{end}", f"{option}: got 'taken.{end}', which exists already", prepare=_file(f"taken.{end}")),
            called(f"K {command} folder", f"{command} taken.{end}", f"{option}: got 'taken.{end}', a folder", prepare=_folder(f"taken.{end}")),
            called(f"K {command} pipe", f"{command} taken.{end}", "a device, pipe or socket; expected a new file", prepare=_fifo(f"taken.{end}")),
            called(f"K {command} link", f"{command} taken.{end}", f"{option}: got 'taken.{end}', a link", prepare=_link(f"taken.{end}")),
            called(f"K {command} dangling", f"{command} taken.{end}", "a link; expected a new file", prepare=_link(f"taken.{end}", "gone")),
            called(f"K {command} folder by force", f"{command} taken.{end} --force", "a folder; expected", prepare=_folder(f"taken.{end}")),
            called(f"K {command} link by force", f"{command} taken.{end} --force", "a link; expected", prepare=_link(f"taken.{end}")),
            called(f"K {command} pipe by force", f"{command} taken.{end} --force", "a device, pipe", prepare=_fifo(f"taken.{end}")),
            called(f"K {command} disk full", f"{command} new.{end}", f"{option}: got 'new.{end}', which cannot be written (No space", prepare=_full),
        )
    ),
    called("K new no permission", f"{NEW} new.yaml", "'new.yaml', which cannot be written (Permission denied)", prepare=_denied),
    called("K new device", f"{NEW} /dev/null", "--output: got '/dev/null', a device"),
    called("K new device by force", f"{NEW} /dev/null --force", "--output: got '/dev/null', a device"),
    called("K new terminal", f"{NEW} /dev/stdout", "--output: got '/dev/stdout', a"),
    called("K report sweep", "report x.zarr --output sweep.yaml", "--output: got 'sweep.yaml', which exists already; expected a new file"),
    called("K report other", "report x.zarr --output other.yaml", "--output: got 'other.yaml'; expected a file name that"),
    called("K report nothing", "report x.zarr --output other.html", "x.zarr: there is no store"),
    called("K report folder", "report x.zarr --output .", "--output: got '.'; expected the name of a file"),
    called("K report long", f"report x.zarr --output {LONG}", "--output: got", "expected a name of at most 200 bytes"),
    called("K report device", "report x.zarr --output /dev/null", "--output: got '/dev/null', a device"),
    called("K report no page", "report x.zarr --output taken.html", "taken.html', which exists already and is not an HTML page", prepare=_file("taken.html")),
    called("K figure no picture", "figure x.zarr front --output taken.png", "is not a PNG picture", prepare=_file("taken.png")),
    called("K figure no drawing", "figure x.zarr front --output taken.svg", "is not an SVG picture", prepare=_file("taken.svg")),
    called("K figure no document", "figure x.zarr front --output taken.pdf", "is not a PDF document", prepare=_file("taken.pdf", b"")),
    called("K identify", "identify x.zarr --output sweep.yaml", "--output: got 'sweep.yaml', which exists already"),
    called("K identify a store", "identify x.zarr --robot found.yaml --report found.html", "--robot, --report: got a store of simulated results; this option is for recordings"),
    called("K excite", "excite sweep.yaml --output sweep.yaml", "--output: got 'sweep.yaml', which exists already", "by --overwrite."),
    called("K import", "import sweep.yaml --output sweep.yaml", "--output: got 'sweep.yaml', which exists already"),
    called("K csv", "study pareto x.zarr --objective peak_force --csv sweep.yaml", "--csv: got 'sweep.yaml', which exists already"),
    called("K refine", "study rank x.zarr --objective peak_force --refine sweep.yaml", "--refine: got 'sweep.yaml', which exists"),
)  # fmt: skip
