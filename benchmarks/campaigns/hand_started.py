"""A scheduler and workers that are started by hand on this machine, over TLS, each a process of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from distributed import Client
from distributed.security import Security

from benchmarks.processes import environment
from pipeline.cluster.certificates import make_certificates
from pipeline.cluster.connection import SETTINGS
from pipeline.cluster.file import ClusterConfig
from pipeline.cluster.settings import worker_environment
from pipeline.errors import ClusterLostError

ROOT = Path(__file__).parents[2]
SECONDS = 60.0
"""Time until a scheduler listens, at most [s]."""


def free_port() -> int:
    """Return a free port of the loopback interface."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@dataclass
class HandStarted:
    """Processes of Dask's own commands, with certificates of their own; all end with the block."""

    folder: Path
    port: int = field(default_factory=free_port)
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __enter__(self) -> Self:
        file = self.folder / "cluster.yaml"
        address = f"limbsweep: {{cluster: {{kind: address, address: '{self.address}'}}}}\n"
        file.write_text(address + make_certificates(self.folder / "tls"), encoding="utf-8")
        file.chmod(0o600)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self.started:
            end(process)

    @property
    def address(self) -> str:
        """Address of the scheduler."""
        return f"tls://127.0.0.1:{self.port}"

    @property
    def config(self) -> ClusterConfig:
        """The cluster as its file names it."""
        return ClusterConfig.from_yaml(self.folder / "cluster.yaml")

    def client(self) -> Client:
        """Return a client of a user."""
        files = self.folder / "tls"
        security = Security(
            tls_ca_file=str(files / "ca.pem"),
            tls_client_cert=str(files / "cert.pem"),
            tls_client_key=str(files / "key.pem"),
            require_encryption=True,
        )
        return Client(self.address, security=security, set_as_default=False)

    def scheduler(self) -> subprocess.Popen[bytes]:
        """Start the scheduler, at the same port each time. Raises ClusterLostError where it ends at once."""
        process = self._start("dask_scheduler", "--host", self.address, "--protocol", "tls")
        deadline = time.monotonic() + SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return process
            time.sleep(0.05)
        raise ClusterLostError("the scheduler has ended before it listened")

    def worker(self, *options: str, source: Path = ROOT, threads: int = 1) -> subprocess.Popen[bytes]:
        """Start a worker with these options of `dask worker`; `source`: the folder that has its packages."""
        words = (self.address, "--host", "tls://127.0.0.1", "--nthreads", str(threads), *options)
        return self._start("dask_worker", *words, source=source)

    def _start(self, program: str, *words: str, source: Path = ROOT) -> subprocess.Popen[bytes]:
        files = self.folder / "tls"
        tls = [f"--tls-{name}={files / file}" for name, file in
               (("ca-file", "ca.pem"), ("cert", "cert.pem"), ("key", "key.pem"))]  # fmt: skip
        command = [sys.executable, "-m", f"distributed.cli.{program}", *words, "--no-dashboard", *tls]
        variables = environment(PYTHONPATH=str(source), **worker_environment({}, SETTINGS))
        with (self.folder / f"{program}.out").open("ab") as out:
            process = subprocess.Popen(
                command, env=variables, cwd=self.folder, stdout=out, stderr=out, start_new_session=True
            )
        self.started.append(process)
        return process
