"""A cluster by SSH, for real: a server on the loopback address with keys that are made for the test."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pipeline.cluster.connection import connect
from pipeline.cluster.file import ClusterConfig, parse_cluster
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError
from tests.pipeline.sockets import listening, speaks_http, speaks_tls
from tests.waiting import PATIENCE, until

pytest.importorskip("asyncssh")
SSHD = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(SSHD is None, reason="no sshd here: Debian's package openssh-server has one"),
]


@dataclass(frozen=True)
class Server:
    """A running sshd: its port, the folder of its keys, and its process."""

    port: int
    folder: Path
    pid: int

    def config(
        self, more: str = "", known_hosts: str = "known_hosts", settings: str = "", worker: str = "{nthreads: 1}"
    ) -> ClusterConfig:
        text = f"""
limbsweep:
  cluster:
    kind: ssh
    start-timeout: 60s
    options:
      hosts: [127.0.0.1, 127.0.0.1, 127.0.0.1]
      connect_options:
        port: {self.port}
        username: {getpass.getuser()}
        client_keys: ['{self.folder}/user']
        known_hosts: '{self.folder}/{known_hosts}'
      worker_options: {worker}
      {more}
{settings}"""
        return parse_cluster(parse_yaml(text, "c.yaml"))


def _key(file: Path) -> str:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(file)], check=True)
    return file.with_suffix(".pub").read_text()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("ssh")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    host = " ".join(_key(folder / "host").split()[:2])
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {host}\n")
    (folder / "others").write_text(f"[127.0.0.1]:{port} " + " ".join(_key(folder / "other").split()[:2]) + "\n")
    (folder / "authorized").write_text(_key(folder / "user"))
    (folder / "config").write_text(f"""
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/authorized
PidFile {folder}/pid
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
""")
    if os.geteuid() == 0:
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)  # sshd of root asks for it
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([str(SSHD), "-D", "-e", "-f", str(folder / "config")], stderr=log)
    try:
        _wait(port, process, folder / "log")
        yield Server(port, folder, process.pid)
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


def _wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    def answers() -> bool:
        assert process.poll() is None, log.read_text()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    until(answers, "the SSH server")


def _facts() -> tuple[int, str | None, str | None, object, object]:
    import dask

    variables = os.environ.get("OPENBLAS_NUM_THREADS"), os.environ.get("MALLOC_TRIM_THRESHOLD_")
    keys = "distributed.scheduler.worker-ttl", "distributed.comm.require-encryption"
    return os.getpid(), *variables, *map(dask.config.get, keys)


def test_workers_by_ssh_have_settings_and_pins_and_stay_on_this_machine(server: Server) -> None:
    before = listening([server.pid])
    with connect(server.config(worker="{nthreads: 2}")) as client:
        assert client is not None
        client.wait_for_workers(2, timeout=PATIENCE)
        assert sorted(client.nthreads().values()) == [2, 2]
        facts = list(client.run(_facts).values())
        assert len({pid for pid, *_ in facts} | {os.getpid()}) == 3
        assert [rest for _, *rest in facts] == [["1", str(1 << 28), "120s", None]] * 2
        sockets = listening([server.pid]) - before
        assert len(sockets) >= 5  # a scheduler, two workers and their nannies
        assert {ip for ip, _ in sockets} == {"127.0.0.1"}
    _wait_until_nothing_listens(server, before)


def test_with_tls_whatever_listens_asks_for_a_certificate_but_dashboards(server: Server, certificates: Path) -> None:
    before = listening([server.pid])
    here = "{host: 127.0.0.1}"
    config = server.config(
        f"scheduler_options: {here}", worker=here, settings=(certificates / "section.yaml").read_text()
    )
    with connect(config) as client:
        assert client is not None
        client.wait_for_workers(2, timeout=PATIENCE)
        assert client.scheduler.address.startswith("tls://")
        assert client.submit(sum, [1, 2]).result(timeout=PATIENCE) == 3
        assert [fact[-1] for fact in client.run(_facts).values()] == [True, True]
        sockets = listening([server.pid]) - before
        dashboards = {(ip, port) for ip, port in sockets if speaks_http(port)}
        assert {ip for ip, _ in sockets} == {"127.0.0.1"}
        assert len(dashboards) == 3  # of the scheduler and both workers
        assert len(sockets - dashboards) >= 5
        assert all(speaks_tls(port) for _, port in sockets - dashboards)
    _wait_until_nothing_listens(server, before)


def _wait_until_nothing_listens(server: Server, before: set[tuple[str, int]]) -> None:
    until(lambda: listening([server.pid]) <= before, "the end of all that listens")


def test_a_host_with_another_key_is_refused(server: Server) -> None:
    words = r"c\.yaml limbsweep\.cluster\.kind: got 'ssh'; expected a cluster that starts.*[Hh]ost key"
    with pytest.raises(InputError, match=words), connect(server.config(known_hosts="others")):
        pass


def test_a_python_that_is_not_there_is_said(server: Server) -> None:
    with (
        pytest.raises(InputError, match=r"expected a cluster that starts"),
        connect(server.config(more="remote_python: /gone/python")),
    ):
        pass


def test_a_sweep_by_ssh_gives_the_bits_of_this_process(server: Server, tmp_path: Path) -> None:
    from pipeline.execution.run import run
    from tests.pipeline.runs import FEW, SYNCHRONOUS, content_hash, sweep

    found = run(sweep(FEW), store=tmp_path / "ssh.zarr", cluster=server.config(more=f"remote_python: {sys.executable}"))
    assert content_hash(found) == content_hash(run(sweep(FEW), cluster=SYNCHRONOUS))
