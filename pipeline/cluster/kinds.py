"""Table of the kinds of clusters that a cluster file may name, and checks of their TLS files.

`pipeline.cluster.connection` makes a cluster of a kind. TLS files of Dask (`distributed.comm.tls`) are tried with a
handshake in memory, so that an expired certificate, a key of another one or a foreign authority is found before
anything starts. `pipeline.cluster.certificates` makes such files.
"""

from __future__ import annotations

import os
import ssl
import stat
from collections.abc import Mapping
from typing import Any, Literal

from robots.data_classes import dataclass, field

ClusterKindName = Literal[
    "local", "threads", "synchronous", "address", "scheduler-file",
    "ssh", "slurm", "pbs", "lsf", "sge", "oar", "htcondor", "kubernetes",
]  # fmt: skip
ClusterFamily = Literal["process", "running", "local", "ssh", "jobqueue", "kubernetes"]
"""Kinds of one family take the same arguments: in this process, a scheduler that runs, and four ways to start one."""

Role = Literal["client", "scheduler", "worker"]

COUNT = frozenset({"n-workers", "adapt", "start-timeout", "insecure"})
HMS = r"[0-9]{1,4}:[0-5][0-9]:[0-5][0-9]", "HH:MM:SS"
DAYS_HMS = rf"([0-9]+-)?{HMS[0]}", "HH:MM:SS"
HM = r"[0-9]{1,4}:[0-5][0-9]", "HH:MM"


@dataclass(frozen=True)
class ClusterKind:
    """A kind of cluster: description, required packages and programs, and the keys of our section that apply to it."""

    text: str
    family: ClusterFamily
    keys: frozenset[str] = frozenset()
    maker: tuple[str, str] = ("", "")
    """Module and class that starts it; the module belongs to the extra."""
    extra: str = ""
    command: str = ""
    """Program that must be on this machine."""
    section: tuple[str, ...] = ()
    """Path of its options in Dask's settings."""
    required: tuple[str, ...] = ()
    """Options in that section without which it cannot start."""
    walltime: tuple[str, str] = ("", "")
    """Pattern of the option `walltime`, and how a message says it."""
    here: tuple[Role, ...] = ()
    """Roles that run on this machine, whose TLS files can therefore be tried."""
    away: tuple[Role, ...] = field(default=())
    """Roles that may run on other machines."""


def _queue(
    text: str, name: str, maker: str, command: str, walltime: tuple[str, str] = ("", ""), *more: str
) -> ClusterKind:
    return ClusterKind(
        text,
        "jobqueue",
        COUNT,
        ("dask_jobqueue", maker),
        "jobqueue",
        command,
        ("jobqueue", name),
        ("cores", "memory", *more),
        walltime,
        ("client", "scheduler"),
        ("worker",),
    )


THREADS = frozenset({"threads-per-worker", "device"})

KINDS: Mapping[str, ClusterKind] = {
    "local": ClusterKind(
        "processes of this machine",
        "local",
        COUNT | {"threads-per-worker", "memory-limit", "device"},
        ("distributed", "LocalCluster"),
        here=("client", "scheduler", "worker"),
    ),
    "threads": ClusterKind("threads of this process", "process", THREADS),
    "synchronous": ClusterKind("one task after another in this process", "process", THREADS),
    "address": ClusterKind(
        "a running scheduler", "running", frozenset({"address", "insecure", "device", "weight"}), here=("client",)
    ),
    "scheduler-file": ClusterKind(
        "a running scheduler whose address is in a file",
        "running",
        frozenset({"scheduler-file", "insecure", "device", "weight"}),
        here=("client",),
    ),
    "ssh": ClusterKind(
        "hosts, by SSH",
        "ssh",
        frozenset({"options", "start-timeout", "insecure"}),
        ("distributed", "SSHCluster"),
        extra="ssh",
        here=("client",),
        away=("scheduler", "worker"),
    ),
    "slurm": _queue("jobs of SLURM", "slurm", "SLURMCluster", "sbatch", DAYS_HMS),
    "pbs": _queue("jobs of PBS", "pbs", "PBSCluster", "qsub", HMS),
    "lsf": _queue("jobs of LSF", "lsf", "LSFCluster", "bsub", HM),
    "sge": _queue("jobs of Grid Engine", "sge", "SGECluster", "qsub", HMS),
    "oar": _queue("jobs of OAR", "oar", "OARCluster", "oarsub", HMS),
    "htcondor": _queue("jobs of HTCondor", "htcondor", "HTCondorCluster", "condor_submit", ("", ""), "disk"),
    "kubernetes": ClusterKind(
        "pods of Kubernetes, by the operator of dask-kubernetes",
        "kubernetes",
        COUNT | {"pods"},
        ("dask_kubernetes.operator", "KubeCluster"),
        "kubernetes",
        section=("kubernetes",),
        required=("image",),
    ),
}

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "ssh": ("asyncssh",),
    "jobqueue": ("dask_jobqueue",),
    "kubernetes": ("dask_kubernetes",),
    "certificates": ("cryptography",),
}
"""Modules that an extra of the project brings."""

CONNECT_OPTIONS = (
    "port", "username", "known_hosts", "client_keys", "agent_path", "config", "tunnel", "family", "local_addr",
    "connect_timeout", "login_timeout", "keepalive_interval", "keepalive_count_max", "compression_algs",
    "server_host_key_algs", "kex_algs", "encryption_algs", "preferred_auth", "gss_host", "host_key_alias",
)  # fmt: skip
"""Allowed keys of `connect_options` of kind ssh: keywords of asyncssh that a file can hold."""

WORKER_OPTIONS = (
    "nthreads", "n_workers", "memory_limit", "local_directory", "name", "interface", "host", "port", "worker_port",
    "protocol", "death_timeout", "resources", "dashboard_address", "contact_address", "lifetime", "lifetime_stagger",
    "lifetime_restart",
)  # fmt: skip
"""Allowed keys of `worker_options` of kind ssh: keywords of Dask's nanny and worker."""

SCHEDULER_OPTIONS = (
    "port", "host", "interface", "protocol", "dashboard_address", "contact_address", "idle_timeout", "allowed_failures",
    "transition_counter_max",
)  # fmt: skip
"""Allowed keys of `scheduler_options` of kind ssh: keywords of Dask's scheduler."""


SECTION = ("distributed", "comm", "tls")


@dataclass(frozen=True)
class TlsFiles:
    """Paths of PEM files: the authority's certificate, and a role's certificate and key; None where none is named."""

    ca: str | None
    cert: str | None
    key: str | None


def named(config: Mapping[str, Any]) -> bool:
    """Return whether Dask's settings name TLS files at all."""
    return _get(config, "ca-file") is not None


def files(config: Mapping[str, Any], role: Role) -> TlsFiles:
    """Return the files of a role in Dask's settings."""
    return TlsFiles(_get(config, "ca-file"), _get(config, f"{role}.cert"), _get(config, f"{role}.key"))


def _get(config: Mapping[str, Any], key: str) -> str | None:
    import dask.config

    value: str | None = dask.config.get(".".join((*SECTION, key)), None, config=dict(config))
    return value


def file_rule(path: str, *, secret: bool) -> str:
    """Return the requirement that a file does not meet; empty if it meets all."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return "an existing file"
    if not stat.S_ISREG(mode):
        return "a regular file"
    if secret and mode & (stat.S_IRWXG | stat.S_IRWXO):
        return f"a key that only its owner may read (chmod 600), its mode is {stat.filemode(mode)}"
    return "" if os.access(path, os.R_OK) else "a readable file"


def failure(ca: str, cert: str, key: str, role: Role) -> str:
    """Return the reason why the files do not work for a role, in the words of the TLS library; empty if they work.

    A client shows its certificate as a client; schedulers and workers also as servers.
    """
    try:
        _handshake(ca, cert, key, server_checks=True)
        if role != "client":
            _handshake(ca, cert, key, server_checks=False)
    except ssl.SSLCertVerificationError as error:
        return error.verify_message
    except ssl.SSLError as error:
        reason = (error.reason or "no PEM data").replace("_", " ").lower()
        return "the key belongs to another certificate" if "key values mismatch" in reason else reason
    except OSError as error:
        return error.strerror or type(error).__name__
    return ""


def _handshake(ca: str, cert: str, key: str, *, server_checks: bool) -> None:
    """Make a handshake of the certificate with itself, in memory; one side checks the other as Dask would."""
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # Dask goes without names too: its certificates are for a cluster, not for a host.
    client.check_hostname = False
    checking, checked = (server, client) if server_checks else (client, server)
    checked.verify_mode = ssl.CERT_NONE
    checking.verify_mode = ssl.CERT_REQUIRED
    for context in (server, client):
        context.load_verify_locations(ca)
        context.load_cert_chain(cert, key)
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [
        client.wrap_bio(to_client, to_server, server_side=False),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for _ in range(6):
        sides = [side for side in sides if not _advance(side)]


def _advance(side: ssl.SSLObject) -> bool:
    """Make one step of a handshake; return whether it is finished."""
    try:
        side.do_handshake()
    except ssl.SSLWantReadError:
        return False
    return True
