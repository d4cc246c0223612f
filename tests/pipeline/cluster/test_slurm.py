"""Jobs of SLURM, for real: its daemons on the loopback address, configured for the test alone."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pipeline.cluster.connection import connect
from pipeline.cluster.file import ClusterConfig, parse_cluster
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError
from tests.pipeline.sockets import listening, speaks_http, speaks_tls
from tests.waiting import PATIENCE

pytest.importorskip("dask_jobqueue")
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin"
PROGRAMS = {
    name: shutil.which(name, path=PATH) for name in ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo")
}
MISSING = [name for name, path in PROGRAMS.items() if path is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"no {', '.join(MISSING)} here: Debian's slurm-wlm and munge have them"),
    pytest.mark.skipif(not MISSING and os.geteuid() != 0, reason="slurmd starts jobs only where it is root"),
]

CONFIG = """
ClusterName=limbsweep
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.sock
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
ReturnToService=2
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=1500 State=UNKNOWN
PartitionName=debug Nodes=ALL Default=YES MaxTime=60 State=UP
"""


def _ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """SLURM with one node and two cores; SLURM_CONF says where it is."""
    folder = tmp_path_factory.mktemp("slurm")
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "slurm.conf").write_text(CONFIG.format(host=socket.gethostname(), folder=folder, ports=_ports(2)))
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o600)
    names = {"key-file": "munge.key", "socket": "munge.sock", "pid-file": "munged.pid", "seed-file": "seed"}
    munge = [f"--{option}={folder}/{name}" for option, name in names.items()]
    daemons = ["munged", "--force", "--foreground", *munge], ["slurmctld", "-D", "-i"], ["slurmd", "-D"]
    environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": PATH}
    started: list[subprocess.Popen[bytes]] = []
    with (folder / "log").open("w") as log, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
        try:
            for command in daemons:
                program = [str(PROGRAMS[command[0]]), *command[1:]]
                started.append(subprocess.Popen(program, env=environment, stdout=log, stderr=log))
                time.sleep(0.5)
            _wait_for("idle", ["sinfo", "-h", "-o", "%T"], folder / "log")
            yield
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait(timeout=PATIENCE)


def _wait_for(word: str, command: list[str], log: Path) -> None:
    said = ""
    for _ in range(500):
        said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE).stdout.strip()
        if said == word:
            return
        time.sleep(0.2)
    raise AssertionError((said, log.read_text()[-3000:]))


def config(certificates: Path, folder: Path, options: str = "", ours: str = "start-timeout: 90s") -> ClusterConfig:
    """One job on this machine, with TLS; its scheduler, workers and nannies listen on the loopback address."""
    text = f"""
limbsweep: {{cluster: {{kind: slurm, {ours}}}}}
jobqueue:
  slurm:
    cores: 1
    memory: 700MB
    walltime: '00:10:00'
    python: '{sys.executable}'
    log-directory: '{folder}'
    scheduler-options: {{host: 127.0.0.1}}
    worker-extra-args: [--host, 127.0.0.1]
    {options}
{(certificates / "section.yaml").read_text()}"""
    return parse_cluster(parse_yaml(text, "c.yaml"))


def _facts() -> dict[str, object]:
    import dask

    variables = ("OPENBLAS_NUM_THREADS", "MALLOC_TRIM_THRESHOLD_", "SLURM_JOB_ID")
    keys = ("distributed.scheduler.worker-ttl", "distributed.comm.require-encryption", "tokenize.ensure-deterministic")
    return {name: os.environ.get(name) for name in variables} | {key: dask.config.get(key) for key in keys}


def test_jobs_have_settings_and_pins_and_speak_tls(slurm: None, certificates: Path, tmp_path: Path) -> None:
    before = listening()
    with connect(config(certificates, tmp_path)) as client:
        assert client is not None
        (facts,) = client.run(_facts).values()
        assert facts.pop("SLURM_JOB_ID").isdigit()
        assert list(facts.values()) == ["1", str(1 << 28), "120s", True, True]
        sockets = listening(client.run(os.getppid).values()) - before  # of the nanny and its worker: jobs leave slurmd
        dashboards = {(ip, port) for ip, port in sockets if speaks_http(port)}
        assert {ip for ip, _ in sockets} == {"127.0.0.1"}
        assert len(dashboards) == 2  # of the scheduler and the worker
        assert len(sockets - dashboards) >= 3
        assert all(speaks_tls(port) for _, port in sockets - dashboards)
    _wait_for("", ["squeue", "-h"], tmp_path)


def test_adaptive_jobs_come_and_go(slurm: None, certificates: Path, tmp_path: Path) -> None:
    with connect(config(certificates, tmp_path, ours="start-timeout: 90s, adapt: {minimum: 0, maximum: 2}")) as client:
        assert client is not None
        assert client.submit(sum, [1, 2]).result(timeout=PATIENCE) == 3
    _wait_for("", ["squeue", "-h"], tmp_path)


def test_what_sbatch_says_is_in_the_message(slurm: None, certificates: Path, tmp_path: Path) -> None:
    words = r"c\.yaml limbsweep\.cluster\.kind: got 'slurm'; expected a cluster that starts\..*invalid partition"
    with (
        pytest.raises(InputError, match=words),
        connect(config(certificates, tmp_path, "queue: nowhere")),
    ):
        pass
    _wait_for("", ["squeue", "-h"], tmp_path)


def test_a_job_that_does_not_begin_is_said(slurm: None, certificates: Path, tmp_path: Path) -> None:
    made = config(certificates, tmp_path, "job-extra-directives: [--begin=now+1hour]", "start-timeout: 2s")
    with pytest.raises(InputError, match=r"start-timeout: got 2s; expected a worker in that time"), connect(made):
        pass
    _wait_for("", ["squeue", "-h"], tmp_path)


def test_a_sweep_in_jobs_gives_the_bits_of_this_process(slurm: None, certificates: Path, tmp_path: Path) -> None:
    from pipeline.execution.run import run
    from tests.pipeline.runs import FEW, SYNCHRONOUS, content_hash, sweep

    found = run(sweep(FEW), store=tmp_path / "jobs.zarr", cluster=config(certificates, tmp_path))
    assert content_hash(found) == content_hash(run(sweep(FEW), cluster=SYNCHRONOUS))
