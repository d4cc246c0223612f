"""A scheduler and workers that are started by hand on this machine, each a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
QUIET = {"DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error", "PYTHONPATH": str(ROOT)}


@dataclass
class Cluster:
    """Processes of a cluster; `file` is a cluster file that names it."""

    folder: Path
    scheduler: subprocess.Popen[bytes]
    address: str
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def file(self) -> Path:
        path = self.folder / "cluster.yaml"
        path.write_text(f"limbsweep: {{cluster: {{kind: address, address: '{self.address}'}}}}\n")
        return path

    def add_worker(self, *options: str, threads: int = 2) -> subprocess.Popen[bytes]:
        words = [self.address, "--nthreads", str(threads), "--no-dashboard", "--host", "127.0.0.1", *options]
        self.workers.append(_start("dask_worker", self.folder, *words))
        return self.workers[-1]


@contextmanager
def by_hand(folder: Path, workers: int = 1) -> Iterator[Cluster]:
    """A scheduler with workers, which are gone afterwards."""
    about = folder / "scheduler.json"
    scheduler = _start(
        "dask_scheduler", folder, "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(about)
    )
    made = None
    try:
        made = Cluster(folder, scheduler, _address(about))
        for _ in range(workers):
            made.add_worker()
        yield made
    finally:
        # A scheduler that is asked to end waits for seconds; workers say goodbye to one that is there.
        workers_left = made.workers if made else []
        for process in workers_left:
            process.terminate()
        for process in workers_left:
            try:
                process.wait(3)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        scheduler.kill()
        scheduler.wait()


def _start(module: str, folder: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", f"distributed.cli.{module}", *words]
    with (folder / f"{module}.out").open("ab") as out:
        return subprocess.Popen(command, cwd=folder, env=os.environ | QUIET, stdout=out, stderr=out)


def _address(about: Path) -> str:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            found: dict[str, Any] = json.loads(about.read_text())
            return str(found["address"])
        except (OSError, ValueError):
            time.sleep(0.05)
    raise TimeoutError("the scheduler has not started")


def command(*words: str | Path, cwd: Path) -> subprocess.Popen[str]:
    """A command of limbsweep on its way."""
    code = "from applications.commands.cli import main; main()"
    line = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.Popen(
        line, cwd=cwd, env=os.environ | QUIET, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finished(*words: str | Path, cwd: Path, seconds: float = PATIENCE) -> tuple[int, str, str]:
    """Exit status, output and errors of a command of limbsweep."""
    with command(*words, cwd=cwd) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return process.returncode, out, err
