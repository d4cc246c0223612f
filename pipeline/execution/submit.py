"""Submit a run that outlives the client: the coordinator as a process of its own, beside the scheduler.

With a scheduler that runs already the process is started on the scheduler's machine, by the scheduler: it is lost only
together with the scheduler, whose loss no run survives. A cluster of the run's own is started by that process here. The
sweep goes through a pipe, so no file of it needs to be there; the store has to be on a file system that scheduler,
workers and client share. `python -m pipeline.execution.submit` is the process.
"""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cloudpickle

from pipeline.cluster.file import ClusterConfig
from pipeline.errors import RunStoppedError
from pipeline.execution.processes.child_process import import_path, module_command
from pipeline.execution.processes.queue import printed_file, private_folder, runs_at_once, turn
from pipeline.execution.run_request import RunRequest
from pipeline.monitor.log import last_run
from robots.data_classes import dataclass, replace
from storage.errors import StoreError
from storage.places.access import locate
from storage.places.location import LocationLike

if TYPE_CHECKING:
    from distributed.security import Security

    from pipeline.execution.graph import Granularity
    from pipeline.sweep.model import Sweep

START_SECONDS = 180.0
WAITS = "waits for its turn"
"""Beginning of the output of a run while it is queued."""

POLL_SECONDS = 0.3
_CHILDREN: dict[int, subprocess.Popen[bytes]] = {}
"""Processes that were started from this one, so that they can be asked how they ended."""


@dataclass(frozen=True)
class SubmittedRun:
    """A run in a process of its own: its process, host, output file, and whether it is queued."""

    pid: int
    host: str
    output: str
    waits: bool = False


def submit(
    sweep: Sweep, store: LocationLike, cluster: ClusterConfig | None = None, granularity: Granularity | None = None
) -> SubmittedRun:
    """Start a run that goes on without this process, and return once its first block is in work, or the run waits.

    Of the runs that a user submits on one machine only some compute at once (`pipeline.execution.processes.queue`).

    Raises InputError where no scheduler answers, StoreError for a store that the run refuses, RunStoppedError where the
    run ends at once for another reason.
    """
    from pipeline.cluster.connection import connect

    request = RunRequest(sweep, locate(store), cluster or ClusterConfig(), granularity)
    if not request.cluster.runs_already:
        here = request.cluster.kind.family in ("local", "process")
        return _wait(launch(cloudpickle.dumps(request), runs=runs_at_once(computes_here=here)), request, peek)
    with connect(request.cluster) as client:
        assert client is not None, "a cluster that runs elsewhere has a client"
        submitted = client.run_on_scheduler(launch_beside, cloudpickle.dumps(request))
        return _wait(submitted, request, lambda pid, output: client.run_on_scheduler(peek, pid, output))


def launch_beside(payload: bytes, dask_scheduler: Any) -> SubmittedRun:
    """Start the process from a scheduler, at whose address it finds the cluster."""
    request: RunRequest = pickle.loads(payload)
    request = at_address(request, dask_scheduler.address)
    return launch(cloudpickle.dumps(request), _tls(dask_scheduler.security), runs_at_once(computes_here=False))


def at_address(request: RunRequest, address: str) -> RunRequest:
    """Return the request for a scheduler at an address, with device, weight and settings as the file has them."""
    section = request.cluster.cluster.model_copy(update={"kind": "address", "address": address, "scheduler_file": None})
    return replace(request, cluster=replace(request.cluster, cluster=section))


def _tls(security: Security) -> dict[str, str]:
    """Return the environment that tells Dask the certificates of a scheduler."""
    client, scheduler = (security.get_tls_config_for_role(role) for role in ("client", "scheduler"))
    files = {
        "CA_FILE": client["ca_file"],
        "CLIENT__CERT": client["cert"] or scheduler["cert"],
        "CLIENT__KEY": client["key"] or scheduler["key"],
    }
    return {f"DASK_DISTRIBUTED__COMM__TLS__{name}": str(value) for name, value in files.items() if value}


def launch(payload: bytes, environment: Mapping[str, str] | None = None, runs: int = 1) -> SubmittedRun:
    """Start the process here, apart from this one: in a session of its own, with nothing of ours open.

    It waits until fewer than `runs` are before it.
    """
    descriptor, output = printed_file(private_folder())
    with os.fdopen(descriptor, "wb") as stream:
        process = subprocess.Popen(
            module_command("pipeline.execution.submit", str(runs)),
            env=os.environ | import_path() | dict(environment or {}),
            stdin=subprocess.PIPE,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    assert process.stdin is not None
    with process.stdin:
        process.stdin.write(payload)
    _CHILDREN[process.pid] = process
    return SubmittedRun(process.pid, socket.gethostname(), output)


def peek(pid: int, output: str) -> tuple[int | None, str]:
    """Return the exit status of a process started from here, None while it runs, and its output."""
    process = _CHILDREN.get(pid)
    code = process.poll() if process else None
    if code is not None:
        del _CHILDREN[pid]
    return code, Path(output).read_text(encoding="utf-8", errors="replace")


def _wait(
    submitted: SubmittedRun, request: RunRequest, look: Callable[[int, str], tuple[int | None, str]]
) -> SubmittedRun:
    """Wait until the process has begun or ended."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        code, text = look(submitted.pid, submitted.output)
        if code == 2:
            raise StoreError(text.strip())
        if code not in (None, 0):
            raise RunStoppedError(f"the run ended at once (status {code}): {text.strip()}")
        if code == 0 or any(record.pid == submitted.pid for record in last_run(request.store)):
            return submitted
        if text.startswith(WAITS):
            return replace(submitted, waits=True)
        time.sleep(POLL_SECONDS)
    raise RunStoppedError(
        f"the run has not begun within {START_SECONDS:g} s; {submitted.output} on {submitted.host} may say why"
    )


def main() -> int:
    """Run the request from standard input in this process; return the exit status of `limbsweep run`.

    The modules that compute are imported when the run's turn has come: a run that waits takes little memory.
    """
    payload = sys.stdin.buffer.read()

    def tell(before: int) -> None:
        print(f"{WAITS}, {before} submitted runs are before it", flush=True)

    with turn(private_folder(), int(sys.argv[1]), tell):
        from pipeline.execution.submitted_run import complete

        return complete(pickle.loads(payload))


if __name__ == "__main__":
    sys.exit(main())
