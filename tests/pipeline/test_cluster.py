from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.cluster import connect
from pipeline.cluster_file import ClusterConfig, parse_cluster
from pipeline.document import parse_yaml
from pipeline.errors import InputError

ROOT = Path(__file__).parents[2]


def parse(text: str) -> ClusterConfig:
    return parse_cluster(parse_yaml(text, "c.yaml"))


def section(text: str) -> str:
    return f"limbsweep: {{cluster: {{{text}}}}}"


@pytest.mark.parametrize("kind", ["synchronous", "threads"])
def test_kinds_without_a_cluster_compute_in_this_process(kind: str) -> None:
    import dask

    with connect(ClusterConfig.of(kind, threads_per_worker=1)) as client:  # type: ignore[arg-type]
        assert client is None
        assert dask.config.get("scheduler") == kind
        assert dask.delayed(os.getpid)().compute() == os.getpid()
    assert dask.config.get("scheduler", None) is None


def test_settings_of_the_file_come_after_ours_and_leave_with_the_cluster() -> None:
    import dask
    import distributed  # noqa: F401 - its settings

    before = dask.config.get("distributed.scheduler.worker-ttl")
    text = section("kind: synchronous") + "\ndistributed: {scheduler: {allowed_failures: 7}}"
    with connect(parse(text)):
        assert dask.config.get("distributed.scheduler.allowed-failures") == 7
        assert dask.config.get("distributed.scheduler.worker-ttl") == "120s"
        assert dask.config.get("distributed.scheduler.no-workers-timeout") == "5 minutes"
    assert dask.config.get("distributed.scheduler.worker-ttl") == before


def test_an_empty_section_of_the_file_changes_nothing() -> None:
    import dask
    import distributed  # noqa: F401 - its settings

    before = dask.config.get("distributed.comm")
    with connect(parse(section("kind: synchronous") + "\ndistributed: {comm: {}}")):
        assert dask.config.get("distributed.comm") == before


def _environment() -> tuple[int, str | None]:
    return os.getpid(), os.environ.get("OPENBLAS_NUM_THREADS")


def _listening() -> set[str]:
    import psutil

    own = psutil.Process()
    processes = [own, *own.children(recursive=True)]
    sockets = [each for process in processes for each in process.net_connections(kind="inet")]
    return {each.laddr.ip for each in sockets if each.status == psutil.CONN_LISTEN}


def test_a_local_cluster_listens_on_loopback_and_brings_back_a_killed_worker() -> None:
    with connect(ClusterConfig.of(threads_per_worker=2, memory_limit="80 %")) as client:
        assert client is not None
        first, threads = client.submit(_environment, pure=False).result(timeout=60)
        assert first != os.getpid()
        assert threads == "1"
        assert list(client.nthreads().values()) == [2]
        assert _listening() == {"127.0.0.1"}
        os.kill(first, signal.SIGKILL)
        second, _ = client.submit(_environment, pure=False).result(timeout=60)
        assert second not in (first, os.getpid())


def test_a_running_scheduler_is_found_by_its_address() -> None:
    with connect(ClusterConfig.of(threads_per_worker=1)) as owner:
        assert owner is not None
        address = owner.cluster.scheduler_address
        with connect(parse(section(f"kind: address, address: '{address}'"))) as client:
            assert client is not None
            assert client.submit(sum, [1, 2]).result(timeout=60) == 3
        assert owner.submit(sum, [2, 2]).result(timeout=60) == 4


def test_a_scheduler_that_does_not_answer_is_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.cluster.ANSWER_SECONDS", 0.5)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound, not listening: connections are refused
        config = parse(section(f"kind: address, address: 'tcp://127.0.0.1:{unused.getsockname()[1]}'"))
        words = r"c\.yaml limbsweep\.cluster\.address: got 'tcp.*a scheduler that answers"
        with pytest.raises(InputError, match=words), connect(config):
            pass


def test_the_module_of_clusters_starts_without_dask() -> None:
    code = "import sys, pipeline.cluster; print({'dask', 'distributed'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
