"""Arguments of the cluster classes of Dask and its companions, one function for each family of kinds.

Read from Dask's settings while those of the cluster file are in force, so that the options of other projects keep their
spelling and their defaults. Everything listens on this machine or speaks TLS, dashboards on this machine only.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pipeline.cluster import tls
from pipeline.cluster.kinds import ClusterFamily
from pipeline.cluster.safety import is_loopback
from pipeline.cluster.settings import worker_environment

if TYPE_CHECKING:
    from distributed.security import Security

    from pipeline.cluster.file import ClusterConfig

LOOPBACK = "127.0.0.1"
DASHBOARD = f"{LOOPBACK}:0"
TLS = "tls://"
SECURE: Mapping[str, Any] = {"distributed.comm.require-encryption": True, "distributed.comm.default-scheme": "tls"}
"""Settings of every process of a cluster with TLS."""

IDLE_SECONDS = 3600
"""A scheduler on another machine ends itself after that, should this process have died without a word."""


def local(config: ClusterConfig, security: Security | None) -> dict[str, Any]:
    """One worker process with a thread for every core, unless the file says otherwise.

    Kernels release the GIL, so threads share arrays for nothing; the process is another than this one and has a nanny,
    so that it can be killed and started again.
    """
    cluster = config.cluster
    workers = first_workers(config)
    security = security or _of_this_run(config)
    most = cluster.adapt.maximum if cluster.adapt else workers
    return {
        "n_workers": workers,
        "threads_per_worker": cluster.threads_per_worker or max(1, cores() // most),
        "processes": True,
        "host": LOOPBACK,
        "dashboard_address": DASHBOARD,
        "worker_dashboard_address": DASHBOARD,
        "memory_limit": _memory(cluster.memory_limit),
        **({"protocol": TLS, "security": security} if security else {}),
    }


def ssh(config: ClusterConfig, security: Security | None) -> dict[str, Any]:
    """Arguments of SSHCluster. Its processes inherit the settings of Dask, and with them the pins of the nanny."""
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
    """Arguments of the cluster classes of dask-jobqueue: the options of its section, and what limbsweep adds to them.

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
    """Arguments of KubeCluster: the options of its section, and our settings as variables of its pods."""
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
        "quiet": True,
    }


ARGUMENTS: Mapping[ClusterFamily, Callable[[ClusterConfig, Security | None], dict[str, Any]]] = {
    "local": local,
    "ssh": ssh,
    "jobqueue": jobqueue,
    "kubernetes": kubernetes,
}


def first_workers(config: ClusterConfig) -> int:
    """Workers to start with: at least one, even where the load may later ask for none."""
    cluster = config.cluster
    return cluster.n_workers or (max(1, cluster.adapt.minimum) if cluster.adapt else 1)


def patience(config: ClusterConfig) -> dict[str, Any]:
    """Settings of clusters whose workers wait in a queue: tasks wait for them as long as the first worker may take."""
    if config.kind.family not in ("jobqueue", "kubernetes"):
        return {}
    return {"distributed.scheduler.no-workers-timeout": config.cluster.start_timeout}


def security_of_settings() -> Security | None:
    """The TLS files that Dask's settings name, for all roles; None where they name none."""
    import dask.config
    from distributed.security import Security

    return Security(require_encryption=True) if tls.named(dask.config.config) else None


def _of_this_run(config: ClusterConfig) -> Security | None:
    """Certificates that live as long as a run, in memory alone, so that other users of this machine stay outside.

    None where the file asks for none, and without the package that makes them.
    """
    from distributed.security import Security

    if config.cluster.insecure or importlib.util.find_spec("cryptography") is None:
        return None
    return Security.temporary()


def cores() -> int:
    """Cores that this process may use, which in a container can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory(limit: str) -> str | float:
    """A limit as Dask reads it: a share of the machine's memory is a fraction there."""
    return float(limit.rstrip("% ")) / 100 if limit.endswith("%") else limit
