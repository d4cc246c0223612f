"""Connect to a cluster: start or find the cluster of a checked cluster file, make its client, close both afterwards.

The only module that makes clusters and clients. The file is read in `pipeline.cluster.file`; arguments of the classes
of other projects are made in `pipeline.cluster.arguments`. Dask is imported only when a connection is made.

Adaptive scaling asks for the workers that a run could use now, from its remaining blocks and their speed. Dask's own
rule looks at the tasks that the scheduler holds. A run gives it few at a time, whatever remains, so that rule would
keep a sweep of days on one worker.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import shutil
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pipeline.cluster.arguments import (
    ARGUMENTS,
    SECURE,
    Connectable,
    UserCluster,
    cores,
    first_workers,
    in_task,
    patience,
    security_of_settings,
)
from pipeline.cluster.checks import Adapt, seconds
from pipeline.cluster.file import ClusterConfig
from pipeline.cluster.job_scripts import faults
from pipeline.cluster.kinds import EXTRAS
from pipeline.cluster.pods import cluster_name, complete
from pipeline.cluster.safety import steering
from pipeline.cluster.script_guard import require_guard
from pipeline.cluster.settings import SETTINGS, WEIGHT, flat, from_environment, nanny_variables, safe_children
from pipeline.cluster.worker_folders import KEY, own_folder
from pipeline.errors import InputError, size
from pipeline.monitor.log import BlockDone, BlockFailed, Event, Finished, Listener, Started, Stopped, Waiting
from robots.extras import how_to_install

if TYPE_CHECKING:
    from distributed import Client, SpecCluster
    from distributed.deploy.cluster import Cluster as DaskCluster


class Demand:
    """A listener that counts blocks, and the time that workers have had for them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.left = self.done = 0
        self._worker_seconds = 0.0
        self._looked: float | None = None

    def __call__(self, event: Event) -> None:
        """Update the counts of finished blocks from an event."""
        match event:
            case Started(total_blocks=total, done_blocks=done):
                self.left, self.done, self._worker_seconds, self._looked = total - done, 0, 0.0, None
            case BlockDone():
                self.left, self.done = self.left - 1, self.done + 1
            case BlockFailed():
                self.left -= 1
            case Finished() | Stopped():
                self.left = 0

    def workers(self, present: int, seconds: float) -> int:
        """Return the number of workers that would finish within some seconds, from the present number.

        At least one while blocks are left, and never so few that one has to stop at a block: a worker leaves when there
        are fewer blocks than workers. Until the first block is done their speed is unknown, and all stay.
        """
        now = self._clock()
        self._worker_seconds += present * (now - self._looked) if self._looked is not None else 0.0
        self._looked = now
        stay = min(present, self.left)
        if not self.done or not self._worker_seconds:
            return max(stay, min(1, self.left))
        return max(stay, math.ceil(self.left * self._worker_seconds / (self.done * seconds)))


__all__ = ["SETTINGS", "ClusterConfig", "connect", "preview", "scalers"]

_OF_WORKERS = "distributed."

ANSWER_SECONDS = 10
TOLD_SECONDS = 10.0
"""Seconds between two events while the first worker is waited for."""
PROBE_SECONDS = 0.8
"""Time for a connection to the port of a scheduler [s], before Dask's client makes one."""


@contextmanager
def connect(config: Connectable | None = None, notify: Listener = lambda event: None) -> Iterator[Client | None]:
    """Provide a client of the configured cluster while the block runs; a cluster that it starts lives as long as that.

    A client or cluster of the user's own stays as it is. Yields None for the kinds `synchronous` and `threads`, where
    Dask's own scheduler computes in this process. Settings are put back afterwards. `notify` gets the event of a long
    wait for the first worker. Raises InputError where a package or program is missing, where no scheduler answers, and
    where the cluster does not start or brings no worker in time.
    """
    config = config or ClusterConfig()
    if isinstance(config, UserCluster):
        with _of_the_user(config) as client:
            yield client
        return
    _require(config)
    with settings_in_force(config):
        if config.kind.family == "process":
            yield None
        elif config.kind.family == "running":
            with _running(config) as client:
                yield client
        else:
            with _started(config, notify) as client:
                yield client


def preview(config: ClusterConfig) -> str:
    """Preview a cluster without starting it: the script of a job, the resource of Kubernetes, or the arguments.

    Settings that run code, or set variables of workers, come first, as comments. Raises InputError where a package is
    missing.
    """
    _require(config, programs=False)
    return "".join(f"# {line}\n" for line in steering(config.settings)) + _started_by(config)


def _started_by(config: ClusterConfig) -> str:
    with settings_in_force(config):
        if config.kind.family == "running":
            return f"{config.kind.text}: {_found_there(config)}\n"
        if config.kind.family == "process":
            return f"{config.kind.text}{', blocks on graphics cards' if config.cluster.device == 'gpu' else ''}\n"
        arguments = ARGUMENTS[config.kind.family](config, security_of_settings())
        if config.kind.family == "jobqueue":
            return _job_script(config, arguments)
        if config.kind.family == "kubernetes":
            return json.dumps(_resource(config, arguments, "NAME"), indent=2) + "\n"
        arguments.pop("security", None)
        return json.dumps(arguments, indent=2) + "\n"


def _job_script(config: ClusterConfig, arguments: Mapping[str, Any]) -> str:
    """Return the script of a job. Raises InputError where its batch system would not understand a line."""
    others = {name: value for name, value in arguments.items() if name != "scheduler_options"}
    scheduler = f"{arguments.get('protocol', 'tcp://')}SCHEDULER"
    script = str(_maker(config).job_cls(scheduler, name="NAME", **others).job_script())
    for line, expected in faults(config.cluster.kind, script):
        hint = f"Change the option in the section {'.'.join(config.kind.section)} that it comes from."
        raise config.problem("kind", f"the line {line!r} in the script of a job", expected, hint)
    return script


def _found_there(config: ClusterConfig) -> str:
    """Return whether the scheduler of a configuration answers, and its workers, in words."""
    place = config.cluster.address or config.cluster.scheduler_file
    try:
        with _running(config) as client:
            connection = client.scheduler
            assert connection is not None
            workers = client.sync(connection.identity, n_workers=-1)["workers"].values()
            scheduler = connection.address
    except InputError as error:
        return f"nothing answers at {place}. {' '.join(problem.hint for problem in error.problems)}"
    threads, memory = (sum(worker[key] or 0 for worker in workers) for key in ("nthreads", "memory_limit"))
    return f"{scheduler} answers, with {len(workers)} workers, {threads} threads and {size(memory)} of memory"


def _require(config: ClusterConfig, *, programs: bool = True) -> None:
    """Check that the packages and programs of a kind are installed. Raises InputError with advice."""
    kind = config.kind
    for module in EXTRAS.get(kind.extra, ()):
        if importlib.util.find_spec(module) is None:
            hint = how_to_install(kind.extra)
            raise config.problem("kind", repr(config.cluster.kind), f"the package {module} to be installed", hint)
    if programs and kind.command and shutil.which(kind.command) is None:
        hint = "Run limbsweep where jobs can be submitted, such as the login node."
        raise config.problem("kind", repr(config.cluster.kind), f"the program {kind.command} on this machine", hint)


@contextmanager
def settings_in_force(config: ClusterConfig) -> Iterator[None]:
    """Settings of Dask for a cluster: ours, those of the file, and derived ones.

    The defaults of a package that has some must be there first, or leaving `set` would take them away.
    """
    import dask

    sections = [SETTINGS, patience(config), flat(config.settings), flat(from_environment())]
    if config.kind.family == "process":  # without workers, and so small that their modules would cost time
        sections = [{key: value for key, value in part.items() if not key.startswith(_OF_WORKERS)} for part in sections]
    else:
        importlib.import_module("distributed")
    if config.kind.maker[0]:
        importlib.import_module(config.kind.maker[0])
    with ExitStack() as stack:
        for settings in sections:
            stack.enter_context(dask.config.set(settings))
        stack.enter_context(dask.config.set(_following(config)))
        yield


def _following(config: ClusterConfig) -> dict[str, Any]:
    """Return the settings that follow from the settings in force."""
    import dask

    if config.kind.family == "process":
        return {"scheduler": config.cluster.kind, "num_workers": config.cluster.threads_per_worker or cores()}
    environ = dask.config.get("distributed.nanny.pre-spawn-environ", None) or {}
    pinned = {"distributed.nanny.pre-spawn-environ": dict(environ) | nanny_variables(config.settings)}
    secured = config.kind.family != "running" and security_of_settings() is not None
    return {**pinned, **(SECURE if secured else {}), WEIGHT: config.cluster.weight}


@contextmanager
def _of_the_user(cluster: UserCluster) -> Iterator[Client]:
    """Provide the client of a user. In a task, the thread leaves its pool, so that blocks take its place."""
    from distributed import Client, worker_client

    cluster.require_usable()
    with ExitStack() as stack:
        if in_task():
            client = stack.enter_context(worker_client())
        if isinstance(cluster.owner, Client):
            client = cluster.owner
        elif cluster.owner is not None:
            client = stack.enter_context(Client(cluster.owner, set_as_default=False))
        yield client


@contextmanager
def _running(config: ClusterConfig) -> Iterator[Client]:
    from distributed import Client
    from distributed.security import Security

    address = config.cluster.address
    _require_answer(config, str(address))
    security = Security(require_encryption=True) if str(address).startswith("tls:") else None
    try:
        client = Client(address, security=security, timeout=ANSWER_SECONDS, set_as_default=False)
    except (OSError, RuntimeError, TimeoutError, ValueError) as error:
        hint = f"Check that it runs and that its TLS files fit ({type(error).__name__})."
        raise config.problem(config.cluster.kind, repr(address), "a scheduler that answers", hint) from error
    with client:
        yield client


def _require_answer(config: ClusterConfig, address: str) -> None:
    """Check at once that a scheduler listens: a client would try again and again. Raises InputError."""
    parts = urlsplit(address)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=PROBE_SECONDS):
            return
    except OSError as error:
        hint = f"Check that it runs and that this machine reaches it ({error.strerror or type(error).__name__})."
        raise config.problem(config.cluster.kind, repr(address), "a scheduler that answers", hint) from None


@contextmanager
def _started(config: ClusterConfig, notify: Listener) -> Iterator[Client]:
    """Provide a cluster of its own, with as many workers as the file asks for, of which at least one is there."""
    from distributed import Client

    # processes that others start elsewhere find our packages by their own environment
    is_local = config.kind.family == "local"
    if is_local:
        require_guard()
    with (
        safe_children() if is_local else nullcontext(),
        _worker_folder() if is_local else nullcontext(),
        _make(config) as cluster,
    ):
        try:
            if config.kind.family == "jobqueue":  # which starts without jobs
                cluster.sync(_submit, cluster, first_workers(config))
            client = Client(cluster, set_as_default=False)  # of two at once, the last to go would stay the default
        except Exception as error:  # whatever a batch system says
            raise _not_started(config, error) from error
        with client:
            _await_worker(config, client, notify)
            if config.cluster.adapt:
                _adapt(cluster, config, config.cluster.adapt)
            yield client


@contextmanager
def _worker_folder() -> Iterator[None]:
    """Provide a private folder for workers of this machine; Dask's own may belong to another user."""
    import dask

    with own_folder(dask.config.get(KEY, None)) as folder, dask.config.set({KEY: folder}):
        yield


def _adapt(cluster: DaskCluster, config: ClusterConfig, bounds: Adapt) -> None:
    """Let the number of workers follow the remaining work; the operator of Kubernetes follows the scheduler alone."""
    if config.kind.family == "kubernetes":
        cluster.adapt(minimum=bounds.minimum, maximum=bounds.maximum)
        return
    from distributed import Adaptive

    class ByDemand(Adaptive):
        """Scaling of Dask by the tasks of the moment, and by the remaining work of the run."""

        demand = Demand()

        async def target(self) -> int:
            return max(self.demand.workers(len(self.observed), self.target_duration), await super().target())

    cluster.adapt(ByDemand, minimum=bounds.minimum, maximum=bounds.maximum)


def scalers(client: Client | None) -> tuple[Demand, ...]:
    """Return the listener that a cluster follows which this process scales; none where there is no such cluster."""
    demand = getattr(getattr(getattr(client, "cluster", None), "_adaptive", None), "demand", None)
    return () if demand is None else (demand,)


def _make(config: ClusterConfig) -> DaskCluster:
    arguments = ARGUMENTS[config.kind.family](config, security_of_settings())
    try:
        if config.kind.family == "kubernetes":
            importlib.import_module("kr8s").api()  # a KubeCluster that finds no credentials complains again at exit
            arguments = {"custom_cluster_spec": _resource(config, arguments, cluster_name()), "quiet": True}
        if config.kind.family == "jobqueue":
            _job_script(config, arguments)
        return _maker(config)(**arguments)
    except InputError:
        raise
    except Exception as error:
        raise _not_started(config, error) from error


def _maker(config: ClusterConfig) -> Any:
    module, name = config.kind.maker
    return getattr(importlib.import_module(module), name)


async def _submit(cluster: SpecCluster, workers: int) -> None:
    """Submit jobs as `scale` of dask-jobqueue does, but raise refusals of the batch system, which `scale` only logs."""
    from distributed.core import Status

    while len(cluster.worker_spec) * len(cluster.new_spec.get("group", "1")) < workers:
        cluster.worker_spec.update(cluster.new_worker_spec())
    try:
        await cluster
    except Exception:
        for job in cluster.workers.values():
            if job.job_id is None:
                job.status = Status.closed  # never submitted: closing the cluster must not wait for it
        raise


def _await_worker(config: ClusterConfig, client: Client, notify: Listener) -> None:
    """Wait for the first worker, and report the wait now and then: in a queue it may take an hour."""
    limit, waited = seconds(config.cluster.start_timeout), 0.0
    while waited < limit:
        step = min(TOLD_SECONDS, limit - waited)
        with suppress(TimeoutError):
            client.wait_for_workers(1, timeout=step)
            return
        waited += step
        notify(Waiting(waited, f"the first worker has not come, for which start-timeout has {limit:.0f} s"))
    hint = "Look at the queue and at the logs of the workers; their environment needs the same packages."
    raise config.problem("start-timeout", config.cluster.start_timeout, "a worker in that time", hint)


def _not_started(config: ClusterConfig, error: BaseException) -> Exception:
    """Return the error for a cluster that does not start, with the message of the other side, in one line."""
    said = " ".join(str(error).split())[-400:] or "nothing"
    hint = f"{type(error).__name__}: {said}"
    return config.problem("kind", repr(config.cluster.kind), "a cluster that starts", hint)


def _resource(config: ClusterConfig, arguments: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the DaskCluster resource that the operator is given, by the settings of Dask in force."""
    import dask.config
    from dask_kubernetes.operator import make_cluster_spec

    resource: dict[str, Any] = make_cluster_spec(
        name=name,
        image=dask.config.get("kubernetes.image"),
        resources=dask.config.get("kubernetes.resources", None),
        worker_command=dask.config.get("kubernetes.worker-command"),
        scheduler_service_type=dask.config.get("kubernetes.scheduler-service-type"),
        **arguments,
    )
    if (namespace := dask.config.get("kubernetes.namespace", None)) is not None:
        resource["metadata"]["namespace"] = namespace
    complete(resource, config.cluster.pods)
    return resource
