"""The commands that read a store, what each may write, and a folder with a sound store for them."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

from pipeline import run
from pipeline.cluster.connection import ClusterConfig
from pipeline.sweep.model import Sweep
from tests.bad_inputs.rows import GOOD
from tests.hostile.stores import PRECIOUS

NAME = "s.zarr"
STORE = (NAME, f".{NAME}.")
COMMANDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "open": (("open", NAME), ()),
    "info": (("info", NAME), ()),
    "status": (("status", NAME), ()),
    "verify": (("verify", NAME), ()),
    "export": (("export", NAME, "--format", "csv", "--output", "x"), ("x", ".x.")),
    "report": (("report", NAME, "--output", "r.html"), ("r.html", ".r.")),
    "study": (("study", "rank", NAME, "--objective", "peak_force"), ()),
    "drop": (("append", NAME, "--drop"), STORE),
    "resume": (("run", NAME, "--cluster", "c.yaml"), STORE),
    "repair": (("verify", NAME, "--repair", "--cluster", "c.yaml"), STORE),
}
"""Arguments, and beginnings of names in the folder that may be written."""


@functools.cache
def sound() -> dict[str, bytes]:
    """The files of the store of a good sweep, by their paths in it."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, NAME)
        run(Sweep.from_text(GOOD), root, ClusterConfig.of("synchronous"))
        return {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*") if file.is_file()}


def prepared(folder: Path) -> Path:
    """A folder with a sound store, a victim beside it, and a cluster file; the store."""
    store = folder / NAME
    for key, data in sound().items():
        (store / key).parent.mkdir(parents=True, exist_ok=True)
        (store / key).write_bytes(data)
    victim = folder / "victim"
    (victim / "deep").mkdir(parents=True)
    (victim / PRECIOUS).write_text("of somebody")
    (victim / "deep/c.0.0.0.0").write_text("of somebody")
    (folder / "c.yaml").write_text("limbsweep: {cluster: {kind: synchronous}}\n")
    return store
