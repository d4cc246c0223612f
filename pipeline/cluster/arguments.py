"""Arguments of the cluster classes of Dask and its companions, one function for each family of kinds.

Read from Dask's settings while those of the cluster file are in force, so that the options of other projects keep their
spelling and their defaults. Everything listens on this machine or speaks TLS, dashboards on this machine only.

Also here: existing clusters of a user (a Dask client, a cluster object, an address, or the cluster found without a
name), which a run never shuts down; and the walltime of a job of a batch system with its check against the blocks of a
plan. `pipeline.cluster.connection` starts clusters.
"""

from __future__ import annotations

import asyncio
import importlib.util
import multiprocessing
import os
import re
import shlex
import sys
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Union

from pipeline.cluster import kinds
from pipeline.cluster.file import ClusterConfig
from pipeline.cluster.kinds import ClusterFamily
from pipeline.cluster.safety import is_loopback
from pipeline.cluster.settings import RESOURCE, effective, worker_environment
from pipeline.errors import InputError, refused
from pipeline.plan.cost import duration
from robots.data_classes import dataclass

if TYPE_CHECKING:
    from distributed import Client
    from distributed.deploy.cluster import Cluster as DaskCluster
    from distributed.security import Security

    from pipeline.cluster.file import ClusterConfig
    from pipeline.plan.model import Plan


LOOPBACK = "127.0.0.1"
DASHBOARD = f"{LOOPBACK}:0"
TLS = "tls://"
SECURE: Mapping[str, Any] = {"distributed.comm.require-encryption": True, "distributed.comm.default-scheme": "tls"}
"""Settings of every process of a cluster with TLS."""

IDLE_SECONDS = 3600
"""Idle time after which a scheduler on another machine ends itself, in case this process has died."""


def local(config: ClusterConfig, security: Security | None) -> dict[str, Any]:
    """Return arguments for one worker process with a thread for every core, unless the file says otherwise.

    Kernels release the GIL, so threads share arrays for nothing; the process is another than this one and has a nanny,
    so that it can be killed and started again.
    """
    cluster = config.cluster
    workers = first_workers(config)
    security = security or _of_this_run(config)
    most = cluster.adapt.maximum if cluster.adapt else workers
    threads = cluster.threads_per_worker or max(1, cores() // most)
    return {
        "n_workers": workers,
        "threads_per_worker": threads,
        **({"resources": {RESOURCE: threads}} if cluster.device == "gpu" else {}),
        "processes": True,
        "host": LOOPBACK,
        "dashboard_address": DASHBOARD,
        "worker_dashboard_address": DASHBOARD,
        "memory_limit": _memory(cluster.memory_limit),
        **({"protocol": TLS, "security": security} if security else {}),
    }


def ssh(config: ClusterConfig, security: Security | None) -> dict[str, Any]:
    """Return the arguments of SSHCluster. Its processes inherit Dask's settings, and thereby the nanny's pins."""
    options = config.cluster.options
    assert options is not None, "check_options has seen to that"
    listen: dict[str, Any] = {"dashboard_address": DASHBOARD}
    if security:
        listen["protocol"] = TLS
    elif all(map(is_loopback, options.hosts)):
        listen["host"] = LOOPBACK
    return {
        "hosts": list(options.hosts),
        "connect_options": dict(options.connect_options),
        "scheduler_options": listen | {"idle_timeout": IDLE_SECONDS} | options.scheduler_options,
        "worker_options": listen | options.worker_options,
        **({"remote_python": options.remote_python} if options.remote_python else {}),
        **({"security": security} if security else {}),
    }


def jobqueue(config: ClusterConfig, security: Security | None) -> dict[str, Any]:
    """Return the arguments of the dask-jobqueue cluster classes: options of their section, and those of limbsweep.

    A job is one process with a thread for every core, where the file does not say otherwise.
    """
    import dask.config

    def option(name: str) -> Any:
        return dask.config.get(".".join((*config.kind.section, name)), None)

    variables = worker_environment(config.settings, patience(config), SECURE if security else {})
    exports = [f"export {name}={shlex.quote(value)}" for name, value in sorted(variables.items())]
    return {
        "processes": option("processes") or 1,
        "job_script_prologue": [*exports, *(option("job-script-prologue") or ())],
        "worker_extra_args": ["--dashboard-address", DASHBOARD, *(option("worker-extra-args") or ())],
        "scheduler_options": {"dashboard_address": DASHBOARD}
        | {name.replace("-", "_"): value for name, value in (option("scheduler-options") or {}).items()},
        **({"protocol": TLS, "security": security} if security else {}),
    }


def kubernetes(config: ClusterConfig, security: Security | None) -> dict[str, Any]:
    """Return the arguments of the dask-kubernetes resource: limbsweep's settings are variables of its pods."""
    import dask.config

    environment = dask.config.get("kubernetes.env", None) or {}
    variables = worker_environment(config.settings, patience(config))
    env = (
        variables | environment
        if isinstance(environment, dict)
        else [{"name": n, "value": v} for n, v in variables.items()] + environment
    )
    return {
        "n_workers": first_workers(config),
        "env": env,
        "idle_timeout": dask.config.get("kubernetes.idle-timeout", None) or IDLE_SECONDS,
    }


ARGUMENTS: Mapping[ClusterFamily, Callable[[ClusterConfig, Security | None], dict[str, Any]]] = {
    "local": local,
    "ssh": ssh,
    "jobqueue": jobqueue,
    "kubernetes": kubernetes,
}


def first_workers(config: ClusterConfig) -> int:
    """Return the number of workers to start with: at least one, even if the load may later ask for none."""
    cluster = config.cluster
    return cluster.n_workers or (max(1, cluster.adapt.minimum) if cluster.adapt else 1)


def patience(config: ClusterConfig) -> dict[str, Any]:
    """Return the settings of clusters with queued workers: tasks wait as long as the first worker may take."""
    if config.kind.family not in ("jobqueue", "kubernetes"):
        return {}
    return {"distributed.scheduler.no-workers-timeout": config.cluster.start_timeout}


def security_of_settings() -> Security | None:
    """Return the TLS files that Dask's settings name, for all roles; None where they name none."""
    import dask.config
    from distributed.security import Security

    return Security(require_encryption=True) if kinds.named(dask.config.config) else None


def _of_this_run(config: ClusterConfig) -> Security | None:
    """Return certificates in memory, made for one run, so that other users of this machine cannot connect.

    None where the file asks for none, and without the package that makes them.
    """
    from distributed.security import Security

    if config.cluster.insecure or importlib.util.find_spec("cryptography") is None:
        return None
    return Security.temporary()


def cores() -> int:
    """Return the number of cores that this process may use; in a container possibly fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory(limit: str) -> str | float:
    """Return a limit as Dask reads it: a share of the machine's memory is a fraction there."""
    return float(limit.rstrip("% ")) / 100 if limit.endswith("%") else limit


ANSWER_SECONDS = 10.0
"""Time in which an event loop has to answer before it counts as blocked [s]."""

_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss|inproc)://\S+|[\w.-]+:\d{1,5}")

_USABLE = ("running", "connecting")


@dataclass(frozen=True, eq=False)
class UserCluster:
    """A cluster of the user's own: its client or cluster object, or None for that of the task that calls."""

    owner: Client | DaskCluster | None
    source: str
    """Name of the cluster in messages."""
    runs_already: bool = True

    @property
    def asynchronous(self) -> bool:
        """Return whether the cluster's event loop runs in this thread, so that waiting here would stop the loop."""
        return self.owner is not None and _loop_of(self.owner) is running_loop()

    def problem(self, got: str, expected: str, hint: str = "") -> InputError:
        """Return an error of one line that says why the cluster is unusable."""
        return refused(self.source, got, expected, hint)

    def require_usable(self) -> None:
        """Check that the cluster can answer calls of this thread. Raises InputError."""
        if self.owner is None:
            return
        status = getattr(self.owner.status, "name", self.owner.status)
        if status not in _USABLE:
            hint = "Await it first." if status in ("newly-created", "created") else "Make a new one: Client(address)."
            raise self.problem(f"one whose status is {status}", "one that is connected", hint)
        if self.asynchronous:
            hint = "Await the call in a thread: await asyncio.to_thread(function, ...)."
            raise self.problem("a call that would block its own event loop", "a call from another thread", hint)
        loop, answered = _loop_of(self.owner), threading.Event()
        hint = "Do not wait for a run in the thread of the loop: await run(...), or use a Client that is synchronous."
        try:
            if loop is not None:
                loop.call_soon_threadsafe(answered.set)
        except RuntimeError:
            raise self.problem("one whose event loop has ended", "one whose event loop runs", hint) from None
        if loop is not None and not answered.wait(ANSWER_SECONDS):
            raise self.problem(f"an event loop that is blocked for {ANSWER_SECONDS:g} s", "one that answers", hint)


def _loop_of(owner: Client | DaskCluster) -> asyncio.AbstractEventLoop | None:
    """Return the event loop of a client or cluster."""
    return getattr(getattr(owner, "loop", None), "asyncio_loop", None)


def running_loop() -> object:
    """Return the event loop of this thread; an object that is no loop where none runs."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return object()


Connectable = ClusterConfig | UserCluster
"""Inputs of `pipeline.cluster.connection.connect`, which makes a client of them."""

ClusterLike = Union[str, os.PathLike[str], ClusterConfig, UserCluster, "Client", "DaskCluster", None]
"""Argument that names a cluster: its file or the content of that, a kind that needs no keys, an address, a client, a
cluster object, or None."""


ON_THIS_MACHINE: tuple[Literal["local", "threads", "synchronous"], ...] = ("local", "threads", "synchronous")
"""Kinds of clusters that need no further key, so that their name is enough."""


def as_cluster(cluster: ClusterLike = None) -> Connectable:
    """Return the configuration or the cluster to connect to, however the cluster is named.

    Without a name: in a task of Dask the cluster that runs it, else that of the default client, else one of our own
    on this machine; threads in a process that may start none. Raises InputError with all problems of a cluster
    file, and for an argument that names no cluster.
    """
    if cluster is None:
        return _here()
    if isinstance(cluster, ClusterConfig | UserCluster):
        return cluster
    if isinstance(cluster, str) and (_ADDRESS.fullmatch(cluster) or "://" in cluster):
        return ClusterConfig.of("address", address=cluster if "://" in cluster else f"tcp://{cluster}")
    for kind in ON_THIS_MACHINE:
        if isinstance(cluster, str) and cluster == kind and not os.path.exists(kind):
            return ClusterConfig.of(kind)
    if isinstance(cluster, str | os.PathLike):
        return ClusterConfig.from_yaml(cluster)
    if _is_client(cluster):
        return UserCluster(cluster, "the client")
    if hasattr(cluster, "scheduler_address") and hasattr(cluster, "scheduler_info"):
        return UserCluster(cluster, f"the {type(cluster).__name__}")
    hint = "Start one with dask.distributed.Client, or leave it out."
    rule = "a client or cluster of Dask, the address of a scheduler, a cluster file, or a kind such as 'threads'"
    raise refused("client", f"an object of type {type(cluster).__name__}", rule, hint)


def one_of(cluster: ClusterLike, client: ClusterLike) -> ClusterLike:
    """Return the given one of two arguments for a cluster. Raises InputError where both were given."""
    if cluster is not None and client is not None:
        raise refused("client", "a client beside a cluster", "one of them", "Leave one out.")
    return client if cluster is None else cluster


def _is_client(candidate: object) -> bool:
    """Return whether an object is a Dask client. There can be none before its module is loaded."""
    module = sys.modules.get("distributed.client")
    return module is not None and isinstance(candidate, module.Client)


def _here() -> Connectable:
    """Return the cluster for a call that names none."""
    if "distributed" in sys.modules:
        from distributed import default_client

        if in_task():
            return UserCluster(None, "the cluster of this task")
        try:
            return UserCluster(default_client(), "the default client")
        except ValueError:
            pass
    if multiprocessing.current_process().daemon:  # which may not have children
        return ClusterConfig.of("threads")
    return ClusterConfig()


def in_task() -> bool:
    """Return whether this thread runs a task on a Dask worker."""
    if "distributed.worker" not in sys.modules:
        return False
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True


BLOCKS = 2
"""Number of blocks for which a job should have time: the last one is lost when the job ends."""


def walltime(config: ClusterConfig) -> float | None:
    """Return the lifetime of a cluster's job [s], as its batch system reads it; None if it is unlimited."""
    import dask.config

    if not config.kind.walltime[0]:
        return None
    text = dask.config.get(".".join((*config.kind.section, "walltime")), None, config=effective(config.settings))
    return None if text is None else seconds(str(text), config.kind.walltime[1])


def worker_memory(config: ClusterConfig) -> int | None:
    """Return the bytes that a cluster file gives each of its workers; None for a share, or where the file gives none.

    Jobs have their memory divided between their processes.
    """
    import dask.config
    from dask.utils import parse_bytes

    text, parts = config.cluster.memory_limit, 1
    if config.kind.family == "jobqueue":
        options = dask.config.get(".".join(config.kind.section), {}, config=effective(config.settings))
        text, parts = str(options.get("memory") or "auto"), int(options.get("processes") or 1)
    elif config.kind.family != "local":
        return None
    return None if text == "auto" or "%" in text else parse_bytes(text) // parts


def seconds(text: str, form: str) -> float:
    """Return a time of a checked form, HH:MM:SS with days before a dash, or HH:MM."""
    days, _, rest = text.rpartition("-")
    parts = [int(part) for part in rest.split(":")]
    hours, minutes = parts[0], parts[1]
    return float(86400 * int(days or 0) + 3600 * hours + 60 * minutes + (parts[2] if form.endswith("SS") else 0))


def require_walltime(config: ClusterConfig, plan: Plan) -> None:
    """Check that a job lasts long enough for a few blocks. Raises InputError before anything is started."""
    lives, need = walltime(config), BLOCKS * plan.work.seconds / plan.blocks
    if lives is not None and lives < need:
        got, rule = f"a walltime of {duration(lives)}", f"at least {duration(need)}, for {BLOCKS} blocks on one core"
        raise config.problem("kind", got, rule, f"Raise walltime in the section {'.'.join(config.kind.section)}.")
