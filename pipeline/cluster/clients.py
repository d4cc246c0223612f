"""Clusters that a user has already: a Dask client, a cluster object, an address, or what is there where none is named.

None of them is ever shut down by a run. What starts a cluster is in `pipeline.cluster.connection`.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import re
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

from pipeline.cluster.file import ClusterConfig
from pipeline.errors import InputError, Problem

if TYPE_CHECKING:
    from distributed import Client
    from distributed.deploy.cluster import Cluster as DaskCluster

ANSWER_SECONDS = 10.0
"""How long an event loop may take to answer before it counts as blocked."""

_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss|inproc)://\S+|[\w.-]+:\d{1,5}")

_USABLE = ("running", "connecting")


@dataclass(frozen=True, eq=False)
class UserCluster:
    """A cluster of the user's own: its client or cluster object, or None for that of the task that calls."""

    owner: Client | DaskCluster | None
    source: str
    """What messages call it."""
    runs_already: bool = True

    @property
    def asynchronous(self) -> bool:
        """Whether its event loop is the one that runs in this thread, so that waiting here would stop it."""
        return self.owner is not None and _loop_of(self.owner) is _running_loop()

    def problem(self, got: str, expected: str, hint: str = "") -> InputError:
        """What makes it unusable, as an error of one line."""
        return InputError([Problem(self.source, 0, 0, "", got, expected, hint)])

    def require_usable(self) -> None:
        """See that calls of this thread can be answered. Raises InputError."""
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
    """The event loop of a client or cluster."""
    return getattr(getattr(owner, "loop", None), "asyncio_loop", None)


def _running_loop() -> object:
    """The event loop of this thread; an object that is no loop where none runs."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return object()


Connectable = ClusterConfig | UserCluster
"""What `pipeline.cluster.connection.connect` makes a client of."""

ClusterLike = Union[str, os.PathLike[str], ClusterConfig, UserCluster, "Client", "DaskCluster", None]
"""What names a cluster: its file or what that says, an address, a client, a cluster object, or nothing."""


def as_cluster(cluster: ClusterLike = None) -> Connectable:
    """What a cluster is to be connected by, however it is named.

    Without a name: in a task of Dask the cluster that runs it, else that of the default client, else one of our own on
    this machine; threads in a process that may start none. Raises InputError with all problems of a cluster file, and
    for what names no cluster.
    """
    if cluster is None:
        return _here()
    if isinstance(cluster, ClusterConfig | UserCluster):
        return cluster
    if isinstance(cluster, str) and _ADDRESS.fullmatch(cluster):
        return ClusterConfig.of("address", address=cluster if "://" in cluster else f"tcp://{cluster}")
    if isinstance(cluster, str | os.PathLike):
        return ClusterConfig.from_yaml(cluster)
    if _is_client(cluster):
        return UserCluster(cluster, "the client")
    if hasattr(cluster, "scheduler_address") and hasattr(cluster, "scheduler_info"):
        return UserCluster(cluster, f"the {type(cluster).__name__}")
    hint = "Start one with dask.distributed.Client, or leave it out."
    rule = "a client or cluster of Dask, the address of a scheduler, or a cluster file"
    raise InputError([Problem("client", 0, 0, "", f"an object of type {type(cluster).__name__}", rule, hint)])


def one_of(cluster: ClusterLike, client: ClusterLike) -> ClusterLike:
    """The one of two names of a cluster that was given. Raises InputError where both were."""
    if cluster is not None and client is not None:
        raise InputError([Problem("client", 0, 0, "", "a client beside a cluster", "one of them", "Leave one out.")])
    return client if cluster is None else cluster


def _is_client(candidate: object) -> bool:
    """Whether an object is a client; there can be none before its module is loaded."""
    module = sys.modules.get("distributed.client")
    return module is not None and isinstance(candidate, module.Client)


def _here() -> Connectable:
    """The cluster of who names none."""
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
    """Whether this thread runs a task on a worker of Dask."""
    if "distributed.worker" not in sys.modules:
        return False
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True
