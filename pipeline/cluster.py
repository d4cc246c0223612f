"""The door to clusters: makes them and their clients from a checked cluster file, and closes them. Nothing else does.

What the file may say is in `pipeline.cluster_file`. Dask is imported only when a connection is made.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pipeline.cluster_file import Cluster, ClusterConfig, unreachable

if TYPE_CHECKING:
    from distributed import Client
    from distributed.security import Security

__all__ = ["ClusterConfig", "connect"]

SETTINGS: Mapping[str, Any] = {
    # A burst of worker deaths must not shrink a local cluster to nothing: the nanny starts them again.
    "distributed.deploy.lost-worker-timeout": "1h",
    # Without workers a run would wait for ever.
    "distributed.scheduler.no-workers-timeout": "5 minutes",
    "distributed.scheduler.worker-ttl": "120s",
    "distributed.scheduler.allowed-failures": 3,
    # A receipt that lay on a worker that has died is computed again at once; each retry would wait for the dead first.
    "distributed.comm.retry.count": 0,
    "tokenize.ensure-deterministic": True,
    # What the scheduler remembers of past tasks, so that its memory does not grow with the sweep.
    "distributed.scheduler.dashboard.tasks.task-stream-length": 1000,
    "distributed.admin.low-level-log-length": 100,
    "distributed.admin.log-length": 1000,
}
"""Settings for runs that outlive trouble; those of the cluster file come after them."""

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""Environment of a worker: its threads are Dask's; libraries that start more would only get in each other's way."""

KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 28), "MALLOC_MMAP_THRESHOLD_": str(1 << 25)}
"""Environment of a worker: glibc keeps freed memory for the next block; Dask's default gives it back, and new pages
cost more time than what is computed into them."""

LOOPBACK = "127.0.0.1"
ANSWER_SECONDS = 10


@contextmanager
def connect(config: ClusterConfig | None = None) -> Iterator[Client | None]:
    """A client of the configured cluster while the block runs; a local cluster lives as long as that.

    Yields None for the kinds `synchronous` and `threads`, where Dask's own scheduler computes in this process. Settings
    are put back afterwards. Raises InputError where no scheduler answers at the address.
    """
    import dask
    import distributed  # noqa: F401  # its defaults must be there first, or leaving `set` would take them away

    config = config or ClusterConfig()
    with dask.config.set(SETTINGS), dask.config.set(_flat(config.settings)):
        if config.cluster.kind == "local":
            with _local(config.cluster) as client:
                yield client
        elif config.cluster.kind == "address":
            with _at_address(config) as client:
                yield client
        else:
            with dask.config.set(_in_process(config.cluster)):
                yield None


@contextmanager
def _local(cluster: Cluster) -> Iterator[Client]:
    """One worker process with a thread for every core, unless the file says otherwise.

    Kernels release the GIL, so threads share arrays for nothing; the process is another than this one and has a nanny,
    so that it can be killed and started again. All sockets listen on the loopback address.
    """
    import dask
    from distributed import Client, LocalCluster

    workers = cluster.n_workers or 1
    threads = cluster.threads_per_worker or max(1, _cores() // workers)
    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ": _pinned()}),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            processes=True,
            host=LOOPBACK,
            dashboard_address=f"{LOOPBACK}:0",
            worker_dashboard_address=f"{LOOPBACK}:0",
            memory_limit=_memory(cluster.memory_limit),
        ) as made,
        Client(made) as client,
    ):
        yield client


@contextmanager
def _at_address(config: ClusterConfig) -> Iterator[Client]:
    from distributed import Client

    try:
        client = Client(config.cluster.address, security=_security(config.cluster), timeout=ANSWER_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise unreachable(config, error) from error
    with client:
        yield client


def _security(cluster: Cluster) -> Security | None:
    from distributed.security import Security

    if cluster.tls is None:
        # Certificates may stand in Dask's own settings instead.
        return Security(require_encryption=True) if str(cluster.address).startswith("tls:") else None
    return Security(
        tls_ca_file=cluster.tls.ca_file,
        tls_client_cert=cluster.tls.cert,
        tls_client_key=cluster.tls.key,
        require_encryption=True,
    )


def _in_process(cluster: Cluster) -> dict[str, Any]:
    if cluster.kind == "synchronous":
        return {"scheduler": "synchronous"}
    return {"scheduler": "threads", "num_workers": cluster.threads_per_worker or _cores()}


def _pinned() -> dict[str, Any]:
    import dask

    return dict(dask.config.get("distributed.nanny.pre-spawn-environ", {}) or {}) | ONE_THREAD | KEEP_MEMORY


def _cores() -> int:
    """Cores that this process may use, which in a container can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory(limit: str) -> str | float:
    """A limit as Dask reads it: a share of the machine's memory is a fraction there."""
    return float(limit.rstrip("% ")) / 100 if limit.endswith("%") else limit


def _flat(node: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Nested settings as dotted ones, so that setting one key leaves its neighbours alone."""
    flat: dict[str, Any] = {}
    for key, value in node.items():
        here = f"{path}.{key}" if path else key
        # An empty mapping, a section with nothing in it, must not take the defaults of Dask away.
        flat |= _flat(value, here) if isinstance(value, dict) else {here: value}
    return flat
