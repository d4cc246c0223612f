from __future__ import annotations

import importlib.util
import inspect
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipeline.cluster.arguments import ARGUMENTS
from pipeline.cluster.certificates import make_certificates
from pipeline.cluster.connection import connect, preview, settings_in_force
from pipeline.cluster.file import ClusterConfig, parse_cluster
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError
from pipeline.monitor.log import Event, Waiting
from tests.pipeline.sockets import listening, speaks_http, speaks_tls
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from distributed import Client

ROOT = Path(__file__).parents[3]


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
    text = section("kind: local") + "\ndistributed: {scheduler: {allowed_failures: 7}}"
    with settings_in_force(parse(text)):
        assert dask.config.get("distributed.scheduler.allowed-failures") == 7
        assert dask.config.get("distributed.scheduler.worker-ttl") == "120s"
        assert dask.config.get("distributed.scheduler.no-workers-timeout") == "5 minutes"
    assert dask.config.get("distributed.scheduler.worker-ttl") == before


def test_variables_of_the_environment_come_after_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    import dask
    import distributed  # noqa: F401 - its settings

    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "9")
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL", "7s")
    inherited = dask.config.serialize({"distributed": {"scheduler": {"locks": {"lease-timeout": "1s"}}}})
    monkeypatch.setenv("DASK_INTERNAL_INHERIT_CONFIG", inherited)
    text = section("kind: local") + "\ndistributed: {scheduler: {allowed-failures: 7, locks: {lease-timeout: 2s}}}"
    with settings_in_force(parse(text)):
        assert dask.config.get("distributed.scheduler.allowed-failures") == 9
        assert dask.config.get("distributed.scheduler.worker-ttl") == "7s"
        assert dask.config.get("distributed.scheduler.locks.lease-timeout") == "2s"


def test_an_empty_section_of_the_file_changes_nothing() -> None:
    import dask
    import distributed  # noqa: F401 - its settings

    before = dask.config.get("distributed.comm")
    with connect(parse(section("kind: synchronous") + "\ndistributed: {comm: {}}")):
        assert dask.config.get("distributed.comm") == before


def _environment() -> tuple[int, str | None]:
    return os.getpid(), os.environ.get("OPENBLAS_NUM_THREADS")


def test_a_local_cluster_listens_on_loopback_and_brings_back_a_killed_worker() -> None:
    with connect(ClusterConfig.of(threads_per_worker=2, memory_limit="80 %")) as client:
        assert client is not None
        first, threads = client.submit(_environment, pure=False).result(timeout=PATIENCE)
        assert first != os.getpid()
        assert threads == "1"
        assert list(client.nthreads().values()) == [2]
        assert {ip for ip, _ in listening()} == {"127.0.0.1"}
        os.kill(first, signal.SIGKILL)
        second, _ = client.submit(_environment, pure=False).result(timeout=PATIENCE)
        assert second not in (first, os.getpid())
        others = {port for _, port in listening() if not speaks_http(port)}
        assert len(others) == 3
        assert all(map(speaks_tls, others)), "other users of this machine stay outside"


@pytest.mark.parametrize("reason", ["insecure", "without cryptography"])
def test_a_local_cluster_without_tls(reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert json.loads(preview(ClusterConfig.of(threads_per_worker=1)))["protocol"] == "tls://"
    if reason == "without cryptography":
        find = importlib.util.find_spec
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "cryptography" else find(name))
    config = ClusterConfig.of(threads_per_worker=1, insecure=reason == "insecure")
    arguments = json.loads(preview(config))
    assert (arguments.get("protocol"), arguments["host"]) == (None, "127.0.0.1")


def test_what_the_file_says_to_the_nanny_comes_after_the_pins(monkeypatch: pytest.MonkeyPatch) -> None:
    # A nanny leaves the pins in this process, where they would come first.
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    text = section("threads-per-worker: 1") + "\ndistributed: {nanny: {pre-spawn-environ: {OPENBLAS_NUM_THREADS: 3}}}"
    with connect(parse(text)) as client:
        assert client is not None
        assert client.submit(_environment, pure=False).result(timeout=PATIENCE)[1] == "3"


def test_a_running_scheduler_is_found_by_its_address() -> None:
    with connect(ClusterConfig.of(threads_per_worker=1, insecure=True)) as owner:
        assert owner is not None
        address = owner.cluster.scheduler_address
        with connect(parse(section(f"kind: address, address: '{address}'"))) as client:
            assert client is not None
            assert client.submit(sum, [1, 2]).result(timeout=PATIENCE) == 3
        assert owner.submit(sum, [2, 2]).result(timeout=PATIENCE) == 4


def test_a_scheduler_that_does_not_answer_is_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.cluster.connection.ANSWER_SECONDS", 0.5)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound, not listening: connections are refused
        config = parse(section(f"kind: address, address: 'tcp://127.0.0.1:{unused.getsockname()[1]}'"))
        words = r"c\.yaml limbsweep\.cluster\.address: got 'tcp.*a scheduler that answers"
        with pytest.raises(InputError, match=words), connect(config):
            pass


def test_the_module_of_clusters_starts_without_dask() -> None:
    code = "import sys, pipeline.cluster.connection; print({'dask', 'distributed'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_local_cluster_follows_the_load_between_its_bounds() -> None:
    config = parse(section("adapt: {minimum: 1, maximum: 2}, threads-per-worker: 1"))
    with connect(config) as client:
        assert client is not None
        assert list(client.nthreads().values()) == [1]
        assert (client.cluster._adaptive.minimum, client.cluster._adaptive.maximum) == (1, 2)


@pytest.fixture(scope="module")
def secured(certificates: Path) -> Iterator[Client]:
    """A local cluster with TLS."""
    with connect(parse(section("threads-per-worker: 1") + "\n" + section_of(certificates))) as client:
        assert client is not None
        yield client


def section_of(certificates: Path) -> str:
    return (certificates / "section.yaml").read_text()


def test_with_tls_every_socket_asks_for_a_certificate_but_dashboards(secured: Client) -> None:
    assert secured.submit(sum, [1, 2]).result(timeout=PATIENCE) == 3
    sockets = listening()
    dashboards = {(ip, port) for ip, port in sockets if speaks_http(port)}
    assert {ip for ip, _ in sockets} == {"127.0.0.1"}
    assert len(dashboards) == 2  # of the scheduler and the worker
    assert len(sockets - dashboards) == 3  # scheduler, nanny and worker
    assert all(speaks_tls(port) for _, port in sockets - dashboards)


def test_a_client_with_certificates_of_the_set_gets_in(secured: Client, certificates: Path) -> None:
    address = secured.scheduler.address
    with connect(parse(section(f"kind: address, address: '{address}'") + "\n" + section_of(certificates))) as client:
        assert client is not None
        assert client.submit(sum, [2, 2]).result(timeout=PATIENCE) == 4


@pytest.mark.parametrize("kind", ["plain", "another authority"])
def test_other_clients_are_refused(kind: str, secured: Client, tmp_path: Path) -> None:
    address = secured.scheduler.address
    # In processes of their own, which know nothing of the certificates here.
    if kind == "plain":
        code = f"from distributed import Client; Client({address.replace('tls:', 'tcp:')!r}, timeout=2)"
    else:
        text = section(f"kind: address, address: '{address}'") + "\n" + make_certificates(tmp_path)
        (tmp_path / "c.yaml").write_text(text)
        code = f"""
import pipeline.cluster.connection as door
door.ANSWER_SECONDS = 2
with door.connect(door.ClusterConfig.from_yaml({str(tmp_path / "c.yaml")!r})):
    print("in")"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    refusal = (
        "Timed out|timed out|CommClosedError|OSError"
        if kind == "plain"
        else r"InputError: .*expected a scheduler that answers"
    )
    assert re.search(refusal, done.stderr), done.stderr
    assert secured.submit(sum, [1, 2], pure=False).result(timeout=PATIENCE) == 3


def test_a_plain_address_where_the_settings_ask_for_tls_is_refused(secured: Client) -> None:
    config = parse(section(f"kind: address, address: '{secured.scheduler.address.replace('tls:', 'tcp:')}'"))
    with pytest.raises(InputError, match=r"a scheduler that answers.*\(RuntimeError\)"), connect(config):
        pass


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    text = section("kind: slurm, insecure: true") + "\njobqueue: {slurm: {cores: 2, memory: 4GB}}"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    words = r"limbsweep\.cluster\.kind: got 'slurm'; expected the package dask_jobqueue.*limbsweep\[jobqueue\]"
    for use in (preview, lambda config: connect(config).__enter__()):
        with pytest.raises(InputError, match=words):
            use(parse(text))


def test_a_program_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("dask_jobqueue")
    config = parse(section("kind: lsf, insecure: true") + "\njobqueue: {lsf: {cores: 2, memory: 4GB}}")
    monkeypatch.setenv("PATH", str(tmp_path))
    words = r"got 'lsf'; expected the program bsub on this machine\. Run limbsweep where jobs can be submitted"
    with pytest.raises(InputError, match=words), connect(config):
        pass


def _last_words(text: str, folder: Path) -> tuple[str, str]:
    """The last line, and all, of what a process of its own says that connects by a cluster file."""
    (folder / "c.yaml").write_text(text)
    code = "from pipeline.cluster.connection import *\nwith connect(ClusterConfig.from_yaml('c.yaml')): pass"
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.stderr.strip().splitlines()[-1], done.stderr


def test_a_cluster_that_does_not_start_says_why(tmp_path: Path) -> None:
    pytest.importorskip("asyncssh")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound, not listening: connections are refused
        port = unused.getsockname()[1]
        options = f"options: {{hosts: [127.0.0.1, 127.0.0.1], connect_options: {{port: {port}}}}}"
        last, _ = _last_words(section(f"kind: ssh, {options}"), tmp_path)
    assert re.search(r"InputError: c\.yaml .*got 'ssh'; expected a cluster that starts\. .*Connect call failed", last)


def test_without_credentials_kubernetes_says_so_once(tmp_path: Path) -> None:
    pytest.importorskip("dask_kubernetes")
    text = section("kind: kubernetes, insecure: true") + "\nkubernetes: {image: 'site/limbsweep:1'}"
    last, everything = _last_words(text, tmp_path)
    assert re.search(r"InputError: c\.yaml .*got 'kubernetes'; expected a cluster that starts", last)
    assert "atexit" not in everything


def test_arguments_of_kubernetes_are_those_of_its_class() -> None:
    operator = pytest.importorskip("dask_kubernetes.operator")
    text = section("kind: kubernetes, insecure: true") + "\nkubernetes: {image: 'site/limbsweep:1'}"
    known = inspect.signature(operator.make_cluster_spec).parameters
    assert ARGUMENTS["kubernetes"](parse(text), None).keys() <= known.keys()
    assert {"custom_cluster_spec", "quiet"} <= inspect.signature(operator.KubeCluster.__init__).parameters.keys()


def test_a_worker_that_does_not_come_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(client: Client, workers: int, timeout: float) -> None:
        raise TimeoutError

    monkeypatch.setattr("distributed.Client.wait_for_workers", none)
    words = r"start-timeout: got 25s; expected a worker in that time\. Look at the queue"
    events: list[Event] = []
    with pytest.raises(InputError, match=words), connect(parse(section("start-timeout: 25s")), events.append):
        pass
    assert [event.seconds for event in events if isinstance(event, Waiting)] == [10.0, 20.0, 25.0]
