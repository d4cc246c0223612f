from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.cluster import SETTINGS, connect
from pipeline.cluster_file import ClusterConfig, is_loopback, parse_cluster
from pipeline.document import parse_yaml
from pipeline.errors import InputError

ROOT = Path(__file__).parents[2]


def parse(text: str) -> ClusterConfig:
    return parse_cluster(parse_yaml(text, "c.yaml"))


def section(text: str) -> str:
    return f"limbsweep: {{cluster: {{{text}}}}}"


def refused(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse(text)
    return str(caught.value)


BAD = [
    ("F01", section("kind: locale"), ["c.yaml:1:29 limbsweep.cluster.kind: got 'locale'", "Did you mean 'local'?"]),
    ("F01 later", section("kind: slrum"), ["Did you mean 'slurm'?"]),
    ("ssh", section("kind: ssh, hosts: [a]"), ["got 'ssh'", "not available yet", "kind: address"]),
    ("kind type", section("kind: 3"), ["limbsweep.cluster.kind: got 3"]),
    ("key", section("n-worker: 3"), ["limbsweep.cluster.n-worker: got an unknown key", "Did you mean 'n-workers'?"]),
    ("F02 zero", section("n-workers: 0"), ["n-workers: got 0", "at least 1"]),
    ("F02 fraction", section("n-workers: 1.5"), ["n-workers: got 1.5", "an integer"]),
    ("F02 text", section("n-workers: four"), ["n-workers: got 'four'", "an integer"]),
    ("F02 many", section("n-workers: 1000000"), ["n-workers: got 1000000", "at most 10000"]),
    ("F03", section("threads-per-worker: 0"), ["threads-per-worker: got 0", "at least 1"]),
    ("F03 many", section("threads-per-worker: 99999"), ["threads-per-worker: got 99999", "four for each core"]),
    ("F04 bare", section("memory-limit: 4"), ["memory-limit: got 4", "text"]),
    ("F04 unit", section("memory-limit: 4 GBs"), ["memory-limit: got '4 GBs'", "4GiB"]),
    ("F04 negative", section("memory-limit: -1GB"), ["'-1GB'", "a size"]),
    ("F04 small", section("memory-limit: 0GB"), ["'0GB'", "a size"]),
    ("F04 share", section("memory-limit: 110%"), ["'110%'", "a size"]),
    ("F07", "limbsweep: 5", ["limbsweep: got 5", "a mapping"]),
    ("F08", section("kind: local, password: hunter2"), ["password: got a value that is not shown", "no secrets"]),
    ("F20", "jobqueue: {slurm: {api-token: AKIA123}}", ["api-token: got a value that is not shown"]),
    ("F09", section("kind: address, address: 'tcp://10.0.0.5:8786'"), ["got 'tcp://10.0.0.5:8786'", "TLS", "run code"]),
    ("F09 name", section("kind: address, address: 'tcp://head:8786'"), ["TLS"]),
    ("F09 tls", section("kind: address, address: 'tls://head:8786'"), ["a tls section"]),
    ("F10", section("kind: address, address: 'tls://h:1', tls: {ca-file: /gone/ca, cert: c, key: k}"),
     ["tls.ca-file: got '/gone/ca'", "an existing file", "tls.cert", "tls.key"]),
    ("F10 part", section("tls: {cert: c, key: k}"), ["no key 'ca-file'"]),
    ("F11", section("kind: address, address: 'tcp://127.0.0.1:70000'"), ["address", "1 to 65535"]),
    ("F11 zero", section("kind: address, address: 'tcp://127.0.0.1:0'"), ["1 to 65535"]),
    ("form", section("kind: address, address: 'inproc://x'"), ["tcp://HOST:PORT or tls://HOST:PORT"]),
    ("user", section("kind: address, address: 'tls://u:geheim@h:1'"), ["an address in another form"]),
    ("no address", section("kind: address"), ["limbsweep.cluster: got no key 'address'"]),
    ("address", section("address: 'tcp://127.0.0.1:1'"), ["address: got 'tcp://127.0.0.1:1'; expected no address"]),
    ("workers", section("kind: address, address: 'tcp://127.0.0.1:1', n-workers: 2"), ["workers for a cluster"]),
    ("F12", "jobqueue: {local: {scheduler-options: {dashboard-address: '0.0.0.0:8787'}}}", ["got '0.0.0.0:8787'"]),
    ("F12 port", "jobqueue: {local: {scheduler-options: {dashboard-address: ':8787'}}}", ["dashboard-address"]),
    ("F21", "distributed: {scheduler: {allowed-failurez: 3}}",
     ["c.yaml:1:27 distributed.scheduler.allowed-failurez: got an unknown setting of Dask", "'allowed-failures'"]),
    ("F21 top", "distributd: {}", ["distributd", "Did you mean 'distributed'?"]),
    ("F21 ours", "limbsweeep: {}", ["Did you mean 'limbsweep'?"]),
    ("F21 shape", "distributed: {scheduler: 3}", ["distributed.scheduler: got 3", "a mapping with allowed-failures"]),
    ("F21 value", "distributed: {scheduler: {allowed-failures: {a: 1}}}", ["a single value, like 3"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "fragments"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_a_bad_cluster_file_is_refused(text: str, fragments: list[str]) -> None:
    message = refused(text)
    for fragment in fragments:
        assert fragment in message
    for secret in ("hunter2", "AKIA123", "geheim"):
        assert secret not in message


def test_keys_of_dask_and_of_other_packages_pass() -> None:
    text = (
        "distributed: {scheduler: {allowed_failures: 5}, nanny: {pre-spawn-environ: {MY_OWN: 1}},"
        " worker: {resources: {GPU: 1}}}\n"
        "jobqueue: {slurm: {cores: 4}}\ntemporary-directory: /tmp\n"
    )
    config = parse(text)
    assert config.settings["jobqueue"] == {"slurm": {"cores": 4}}
    assert config.cluster.kind == "local"


def test_tls_files_are_looked_at(tmp_path: Path) -> None:
    for name in ("ca", "cert", "key"):
        (tmp_path / name).write_text("x")
        (tmp_path / name).chmod(0o600)
    files = ", ".join(
        f"{key}: {tmp_path}/{name}" for key, name in (("ca-file", "ca"), ("cert", "cert"), ("key", "key"))
    )
    text = section(f"kind: address, address: 'tls://head:8786', tls: {{{files}}}")
    assert parse(text).cluster.tls is not None
    (tmp_path / "key").chmod(0o644)
    assert "only its owner may read (chmod 600), its mode is -rw-r--r--" in refused(text)
    (tmp_path / "cert").unlink()
    (tmp_path / "cert").mkdir()
    assert "tls.cert" in refused(text)
    assert "a regular file" in refused(text)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("head", False)],
)
def test_only_addresses_of_this_machine_are_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_the_file_of_the_project_states_the_defaults() -> None:
    config = ClusterConfig.from_yaml(ROOT / "cluster.yaml")
    assert config.cluster.model_copy(update={"n_workers": None}) == ClusterConfig().cluster
    for path, value in SETTINGS.items():
        node: object = config.settings
        for key in path.split("."):
            node = node.get(key, {}) if isinstance(node, dict) else node
        assert node in (value, {}), path


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
