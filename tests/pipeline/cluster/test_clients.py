"""Runs on clusters that a user has already: clients, cluster objects, addresses, tasks, event loops."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dask
import pytest
from dask.utils import key_split
from distributed import Client, LocalCluster
from distributed.comm import CommClosedError

from pipeline.cluster import arguments as clients
from pipeline.cluster.arguments import UserCluster, as_cluster, in_task
from pipeline.cluster.file import ClusterConfig
from pipeline.errors import InputError, RunCancelledError
from pipeline.execution.processes.garbage import COLLECTED
from pipeline.execution.processes.worker import WorkerSetup, is_told
from pipeline.execution.run import SMALL_SECONDS, near, run, submit
from pipeline.monitor.log import BlockDone, Event, Started
from pipeline.plan.plan import plan
from pipeline.stores.verify import verify
from tests.pipeline.clusters import by_hand
from tests.pipeline.runs import FEW, SYNCHRONOUS, content_hash, cut_finely, slowly, sweep, wrap_blocks
from tests.waiting import PATIENCE, until

ROOT = Path(__file__).parents[3]
LISTENING = {"processes": False, "dashboard_address": "127.0.0.1:0"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    # workers of this process make their client for tasks the default one, and leave that in the settings
    with dask.config.set(scheduler=None), LocalCluster(n_workers=2, threads_per_worker=1, **LISTENING) as made:
        yield made


@pytest.fixture(scope="module")
def client(cluster: LocalCluster) -> Iterator[Client]:
    with Client(cluster, set_as_default=False) as made:
        yield made


@pytest.fixture(scope="module")
def expected() -> str:
    return content_hash(run(sweep(FEW), cluster=SYNCHRONOUS))


def hashed() -> str:
    return content_hash(run(sweep(FEW)))


def test_a_client_and_a_cluster_object_stay_as_they_are(client: Client, cluster: LocalCluster, expected: str) -> None:
    assert content_hash(run(sweep(FEW), client=client)) == expected
    assert content_hash(run(sweep(FEW), cluster=cluster)) == expected
    assert (client.status, cluster.status.name, len(cluster.workers)) == ("running", "running", 2)
    assert client.submit(sum, [1, 2]).result() == 3


class GatewayLike:
    """A cluster object with the few attributes that one of dask-gateway has."""

    def __init__(self, cluster: LocalCluster) -> None:
        self.scheduler_address, self.scheduler_info = cluster.scheduler_address, cluster.scheduler_info
        self.name, self.status, self.loop = "gateway", "running", cluster.loop
        self.security, self.asynchronous = cluster.security, False


def test_a_cluster_object_with_little_more_than_an_address_is_used(cluster: LocalCluster, expected: str) -> None:
    gateway: Any = GatewayLike(cluster)
    assert content_hash(run(sweep(FEW), cluster=gateway)) == expected
    gateway.status = "closed"
    with pytest.raises(InputError, match=r"the GatewayLike.*one whose status is closed; expected one that is"):
        run(sweep(FEW), cluster=gateway)


def test_the_default_client_is_used_where_there_is_one(cluster: LocalCluster, expected: str) -> None:
    with Client(cluster) as default:
        chosen = as_cluster()
        assert isinstance(chosen, UserCluster)
        assert chosen.owner is default
        assert hashed() == expected
        assert default.status == "running"


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process without a default client: those that workers of this process made for tasks stay as the default."""

    def none() -> Client:
        raise ValueError("No clients found")

    monkeypatch.setattr("distributed.default_client", none)


@pytest.mark.usefixtures("alone")
def test_without_one_a_cluster_is_made_for_the_run() -> None:
    assert as_cluster() == ClusterConfig()


def test_tasks_run_sweeps_on_their_own_cluster_with_fewer_threads_than_tasks(client: Client, expected: str) -> None:
    futures = [client.submit(hashed, pure=False) for _ in range(3)]
    assert client.gather(futures) == [expected] * 3
    assert client.submit(in_task).result()
    assert not in_task()


def test_delayed_calls_run_sweeps(expected: str) -> None:
    assert dask.compute(dask.delayed(hashed)(), dask.delayed(hashed)(), scheduler="threads") == (expected,) * 2


@pytest.mark.usefixtures("alone")
def test_a_process_that_may_start_none_takes_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    class Daemon:
        daemon = True

    monkeypatch.setattr(clients.multiprocessing, "current_process", Daemon)
    chosen = as_cluster()
    assert isinstance(chosen, ClusterConfig)
    assert chosen.cluster.kind == "threads"


@pytest.mark.parametrize("text", ["tcp://127.0.0.1:8786", "127.0.0.1:8786"])
def test_addresses_are_no_files(text: str) -> None:
    chosen = as_cluster(text)
    assert isinstance(chosen, ClusterConfig)
    assert chosen.cluster.address == "tcp://127.0.0.1:8786"


def test_a_kind_without_keys_is_named_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for kind in ("threads", "synchronous", "local"):
        assert as_cluster(kind) == ClusterConfig.of(kind)
    with pytest.raises(InputError, match="slurm: got no such file"):
        as_cluster("slurm")
    Path("threads").write_text("limbsweep: {cluster: {kind: synchronous}}")
    chosen = as_cluster("threads")
    assert isinstance(chosen, ClusterConfig)
    assert chosen.cluster.kind == "synchronous"


def test_small_work_is_done_in_this_process() -> None:
    many = "{start: 0.22, stop: 0.31, num: 1000000}"
    small, large = plan(sweep(FEW)), plan(sweep(FEW, **{"{values: [0.22, 0.25, 0.28, 0.31]}": many}))
    assert small.work.seconds < SMALL_SECONDS < large.work.seconds
    assert (near(small).cluster.kind, near(large).cluster.kind) == ("threads", "local")


def test_what_cannot_be_used_is_told_in_a_line(cluster: LocalCluster, client: Client) -> None:
    with Client(cluster, set_as_default=False) as closed:
        pass
    refusals = {
        "the client: got one whose status is closed; expected one that is connected. "
        "Make a new one: Client(address).": {"client": closed},
        "client: got an object of type int; expected a client or cluster of Dask, the address of a scheduler, a "
        "cluster file, or a kind such as 'threads'. Start one with dask.distributed.Client, or leave it out.": {
            "client": 3
        },
        "client: got a client beside a cluster; expected one of them. Leave one out.": {
            "client": client,
            "cluster": cluster,
        },
    }
    for text, arguments in refusals.items():
        with pytest.raises(InputError) as refused:
            run(sweep(FEW), **arguments)  # type: ignore[arg-type]
        assert str(refused.value) == text


def test_an_asynchronous_client_is_awaited(tmp_path: Path, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with Client(asynchronous=True, n_workers=1, threads_per_worker=2, **LISTENING) as owner:
            awaited: Any = run(sweep(FEW), tmp_path / "s.zarr", client=owner)
            with pytest.raises(InputError, match="would block both; expected an await"):
                awaited.result()
            results = await awaited
            with dask.config.set(scheduler="synchronous"):  # Dask computes on no asynchronous client without await
                assert content_hash(results) == expected
            with pytest.raises(InputError, match="would block its own event loop; expected a call from another thread"):
                verify(tmp_path / "s.zarr", recompute=1.0, cluster=owner)
            assert not (await asyncio.to_thread(verify, tmp_path / "s.zarr", 1.0, cluster=owner)).findings
            monkeypatch.setattr(clients, "ANSWER_SECONDS", 0.3)
            with ThreadPoolExecutor(1) as pool:
                blocked = pool.submit(run, sweep(FEW), None, owner)
                with pytest.raises(InputError, match="an event loop that is blocked for"):
                    blocked.result(PATIENCE)
            assert owner.status == "running"

    with dask.config.set(scheduler=None):
        asyncio.run(main())


def test_a_handle_tells_how_far_it_is_and_can_be_cancelled(
    client: Client, tmp_path: Path, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_finely(monkeypatch)
    begun = threading.Event()

    def listen(event: Event) -> None:
        if isinstance(event, Started):
            begun.set()

    with monkeypatch.context() as slow:
        wrap_blocks(slow, slowly, 0.5)
        handle = submit(sweep(FEW), tmp_path / "s.zarr", client=client, listeners=[listen])
        assert begun.wait(PATIENCE)
        assert handle.cancel()
    status = handle.status()
    assert (status.state, status.blocks) == ("cancelled", 48)
    assert status.done < 48
    with pytest.raises(RunCancelledError, match="stored results are kept"):
        handle.result()
    again = submit(sweep(FEW), tmp_path / "s.zarr", client=client)
    assert content_hash(again.result(PATIENCE)) == expected
    assert again.status().state == "finished"
    assert again.status().done == 48
    assert not again.cancel()
    assert "finished: 48 of 48 blocks" in repr(again)
    assert "<progress value='48' max='48'>" in again._repr_html_()


def test_a_task_submits_nothing_that_outlives_it(client: Client) -> None:
    with pytest.raises(InputError, match="submit: got a call in a task of Dask; expected run"):
        client.submit(submit, sweep(FEW), pure=False).result()


BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("limbsweep", "pipeline", "applications", "tasks", "storage", "robots"):
            raise ModuleNotFoundError(f"No module named {name!r}")

sys.meta_path.insert(0, Blocked())
"""


def test_workers_without_the_package_are_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "blocked.py").write_text(BLOCKED)
    with by_hand(tmp_path, 0) as made:
        made.add_worker("--preload", str(tmp_path / "blocked.py"), "--no-nanny")
        with Client(made.address, set_as_default=False) as owner:
            owner.wait_for_workers(1, timeout=PATIENCE)
            with pytest.raises(InputError) as refused:
                run(sweep(FEW), client=owner)
            assert owner.status == "running"
    (line,) = str(refused.value).splitlines()
    assert line.startswith("the client worker tcp://127.0.0.1:")
    assert "No module named '" in line
    assert "expected limbsweep to be installed there. Install the same versions on all machines" in line


def test_workers_are_set_up_where_the_cluster_is_our_own(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr(Client, "register_plugin", lambda self, plugin: seen.append(plugin))
    run(sweep(FEW), client=client)
    assert seen == []
    run(sweep(FEW), cluster=ClusterConfig.of("local"))
    assert [type(plugin) for plugin in seen] == [WorkerSetup]


def test_a_worker_that_is_set_up_has_what_tasks_need_and_looks_for_garbage_rarely() -> None:
    program = (
        "import gc, sys; from pipeline.execution.processes.worker import WorkerSetup; WorkerSetup().setup(None);"
        "print(gc.get_threshold()[0], gc.get_freeze_count() > 0, 'pipeline.execution.work' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == [str(COLLECTED), "True", "True"]


def test_tasks_have_names_that_a_dashboard_groups_and_none_is_left(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_finely(monkeypatch)
    wrap_blocks(monkeypatch, slowly, 0.02)
    before, keys = {str(key) for key in client.who_has()}, set[str]()  # of other tests, perhaps on their way out

    def listen(event: Event) -> None:
        if isinstance(event, BlockDone):
            keys.update(str(key) for each in client.processing().values() for key in each)
            keys.update(str(key) for key in client.who_has())

    run(sweep(FEW), tmp_path / "s.zarr", client=client, listeners=[listen], granularity="limb")
    names = {key_split(key) for key in keys - before}
    assert names <= {"check", "trajectories", "limb1", "limb2", "limb3", "store"}
    assert {"limb1", "store"} <= names
    until(
        lambda: not {str(key) for key in client.who_has()} - before and not any(client.processing().values()),
        "the end of all tasks of a run that is over",
    )


def test_a_heartbeat_that_fails_is_not_told_by_workers(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("distributed.worker")
    logger.addFilter(is_told)
    try:
        for error in (CommClosedError("closed"), ValueError("other")):
            try:
                raise error
            except type(error):
                logger.exception("Failed to communicate with scheduler during heartbeat.")
        logger.warning("Compute Failed\nKey: a")
        logger.error("another line")
    finally:
        logger.removeFilter(is_told)
    told = [record for record in caplog.records if record.name == logger.name]
    assert [record.exc_info and record.exc_info[0] for record in told] == [ValueError, None]
