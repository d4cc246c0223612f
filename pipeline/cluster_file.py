"""The cluster file: a Dask configuration file with one key of ours, `limbsweep: cluster:`. Checked without connecting.

Making clusters and clients from it is `pipeline.cluster`.
"""

from __future__ import annotations

import ipaddress
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field

from pipeline.document import Document, Path, dotted
from pipeline.errors import InputError, Problem
from pipeline.files import read_yaml
from pipeline.validation import Count, Got, Report, Section, Text, sentence, validate_keys
from robots.parameters import nearest

Kind = Literal["local", "address", "synchronous", "threads"]
KINDS = ("local", "address", "synchronous", "threads")
LATER = ("scheduler-file", "ssh", "slurm", "pbs", "sge", "lsf", "htcondor", "oar", "kubernetes")
"""Kinds that the file format foresees and this version cannot start."""

FOREIGN = ("jobqueue", "kubernetes", "cloudprovider", "gateway", "logging")
"""Sections of other packages: their keys are known only where the package is installed, so they pass unread."""

FREE = ("environ", "pre-spawn-environ", "resources", "default-task-durations", "logging", "bokeh-application", "types")
"""Dask settings that hold names of the user's own."""

MAX_WORKERS = 10_000
_SECRET = re.compile(r"passw(or)?d|secret|token$|api[-_]?key|access[-_]?key", re.IGNORECASE)
_MEMORY = re.compile(r"([0-9]+(\.[0-9]*)?) ?([kMGT]i?B)|auto|([1-9][0-9]?|100) ?%")
_UNITS = {f"{letter}{i}B": (1024 if i else 1000) ** n for n, letter in enumerate("kMGT", 1) for i in ("", "i")}


class Tls(Section):
    """Files of a TLS connection, PEM: the authority's certificate, our certificate and its key."""

    ca_file: Text = Field(alias="ca-file")
    cert: Text
    key: Text


class Cluster(Section):
    """What the `cluster` section may say. Defaults: one local worker process with a thread for every core."""

    kind: Kind = "local"
    n_workers: Annotated[Count, Field(le=MAX_WORKERS)] | None = Field(default=None, alias="n-workers")
    threads_per_worker: Count | None = Field(default=None, alias="threads-per-worker")
    memory_limit: Text = Field(default="auto", alias="memory-limit")
    address: Text | None = None
    tls: Tls | None = None


class _Ours(Section):
    cluster: Cluster = Cluster()


@dataclass(frozen=True)
class ClusterConfig:
    """A checked cluster file: our section, the Dask settings of the others, and what the file is called in messages."""

    cluster: Cluster = field(default_factory=Cluster)
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: str = "the default cluster"

    @classmethod
    def from_yaml(cls, path: str | os.PathLike[str]) -> ClusterConfig:
        """The configuration in a file. Raises InputError with all problems."""
        return parse_cluster(read_yaml(path))

    @classmethod
    def of(cls, kind: Kind = "local", **options: Any) -> ClusterConfig:
        """A configuration without a file; `options` are the fields of Cluster by their Python names."""
        aliases = {info.alias or name: options[name] for name, info in Cluster.model_fields.items() if name in options}
        return cls(Cluster.model_validate({"kind": kind} | aliases))


def parse_cluster(document: Document) -> ClusterConfig:
    """The configuration in a document. Raises InputError with all problems."""
    report = Report(document)
    _check_secrets(report, document.data, ())
    _check_dask(report, {key: value for key, value in document.data.items() if key != "limbsweep"})
    ours = document.data.get("limbsweep", {"cluster": {}})
    cluster = Cluster()
    if _check_kind(report, ours):
        values, problems = validate_keys(_File, document)
        report.take(problem for problem in problems if problem.key.startswith("limbsweep"))
        cluster = values["limbsweep"].cluster if "limbsweep" in values else cluster
    settings = {key: value for key, value in document.data.items() if key != "limbsweep"}
    _check_cluster(report, cluster, settings)
    _check_dashboard(report, settings)
    report.raise_if_any()
    return ClusterConfig(cluster, settings, document.name)


class _File(Section):
    limbsweep: _Ours = _Ours()


def _check_kind(report: Report, ours: Any) -> bool:
    """Says of a kind that is known but not available that it is not; such a section is not looked at further."""
    section = ours.get("cluster") if isinstance(ours, dict) else None
    kind = section.get("kind", "local") if isinstance(section, dict) else "local"
    path: Path = ("limbsweep", "cluster", "kind")
    if kind in LATER:
        hint = "Start the scheduler and the workers yourself and give kind: address."
        report(path, kind, f"one of {', '.join(KINDS)}; this kind is not available yet", hint)
        return False
    if isinstance(kind, str) and kind not in KINDS:
        report(path, kind, f"one of {', '.join(KINDS)}", sentence(nearest(kind, (*KINDS, *LATER))))
        return False
    return True


def _check_cluster(report: Report, cluster: Cluster, settings: Mapping[str, Any]) -> None:
    path: Path = ("limbsweep", "cluster")
    if not _is_memory(cluster.memory_limit):
        report((*path, "memory-limit"), cluster.memory_limit, "a size", "For instance 4GiB, 500MB, 80 % or auto.")
    if cluster.threads_per_worker and cluster.threads_per_worker > (cores := os.cpu_count() or 1) * 4:
        report((*path, "threads-per-worker"), cluster.threads_per_worker, f"at most {cores * 4}, four for each core")
    if cluster.kind == "address":
        _check_address(report, cluster, settings, (*path, "address"))
    elif cluster.address:
        report(
            (*path, "address"),
            cluster.address,
            "no address",
            f"Kind {cluster.kind} makes its own; or give kind: address.",
        )
    if cluster.kind == "address" and (cluster.n_workers or cluster.threads_per_worker):
        report(
            path, Got("workers for a cluster that runs already"), "an address alone", "Set them where it is started."
        )
    if cluster.tls:
        for key, file in (("ca-file", cluster.tls.ca_file), ("cert", cluster.tls.cert), ("key", cluster.tls.key)):
            if rule := _file_rule(key, file):
                report((*path, "tls", key), file, rule)


def _check_address(report: Report, cluster: Cluster, settings: Mapping[str, Any], path: Path) -> None:
    if cluster.address is None:
        report(path[:-1], Got("no key 'address'"), "the address of a scheduler", "For instance tcp://127.0.0.1:8786.")
        return
    try:
        parts = urlsplit(cluster.address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if parts.scheme not in ("tcp", "tls") or not host or not port or parts.path or "@" in parts.netloc:
        hint = "For instance tcp://127.0.0.1:8786; ports are 1 to 65535."
        report(path, Got("an address in another form"), "tcp://HOST:PORT or tls://HOST:PORT", hint)
    elif parts.scheme == "tcp" and not is_loopback(host):
        hint = "Whoever reaches the port can run code: start it with TLS, give tls://HOST:PORT and a tls section."
        report(path, cluster.address, "TLS, or an address of this machine", hint)
    elif parts.scheme == "tls" and not cluster.tls and not _has_tls(settings):
        report(path, cluster.address, "a tls section with ca-file, cert and key", "Add it beside address.")


def is_loopback(host: str) -> bool:
    """Whether a host name or address can only be this machine; names other than localhost are not resolved."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _has_tls(settings: Mapping[str, Any]) -> bool:
    node: Any = settings
    for key in ("distributed", "comm", "tls", "ca-file"):
        node = node.get(key) if isinstance(node, dict) else None
    return node is not None


def _is_memory(text: str) -> bool:
    match = _MEMORY.fullmatch(text)
    return bool(match) and (match[1] is None or float(match[1]) * _UNITS[match[3]] >= 1 << 26)  # type: ignore[index]


def _file_rule(key: str, file: str) -> str:
    """What a TLS file should be and is not; empty where it is."""
    try:
        mode = os.stat(file).st_mode
    except (OSError, ValueError):
        return "an existing file"
    if key == "key" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        return f"a key that only its owner may read (chmod 600), its mode is {stat.filemode(mode)}"
    return "" if stat.S_ISREG(mode) else "a regular file"


def _check_secrets(report: Report, node: Any, path: Path) -> None:
    """Refuses passwords and tokens; what was found is never shown."""
    for key, value in node.items() if isinstance(node, dict) else ():
        if isinstance(value, str) and _SECRET.search(key):
            report((*path, key), Got("a value that is not shown"), "no secrets in a file", "Use key files or an agent.")
        _check_secrets(report, value, (*path, key))


def _check_dashboard(report: Report, settings: Mapping[str, Any]) -> None:
    """A dashboard that listens beyond this machine lets others run code."""
    for path, value in _leaves(settings, ()):
        if isinstance(value, str) and str(path[-1]).endswith("dashboard-address"):
            host = value.rsplit(":", 1)[0].strip("[]")
            if not is_loopback(host):
                report(path, value, "an address of this machine", "For instance 127.0.0.1:8787.")


def _check_dask(report: Report, settings: Mapping[str, Any]) -> None:
    """Unknown settings, which Dask itself would accept and never read."""
    import dask.config

    if settings.keys() - {*FOREIGN}:
        import distributed.config  # noqa: F401 - adds its defaults to those of dask
    known: dict[str, Any] = {}
    for defaults in dask.config.defaults:
        dask.config.update(known, defaults, priority="new")
    foreign = [key for key in settings if key in FOREIGN and key not in known]
    _compare(report, {key: value for key, value in settings.items() if key not in foreign}, known, ())


def _compare(report: Report, given: Mapping[str, Any], known: Mapping[str, Any], path: Path) -> None:
    spelt = {key.replace("_", "-"): key for key in known}
    names = (*spelt, "limbsweep", *FOREIGN) if not path else tuple(spelt)
    for key, value in given.items():
        here = (*path, key)
        if key.replace("_", "-") not in spelt:
            report.unknown(here, names, "setting of Dask")
            continue
        default = known[spelt[key.replace("_", "-")]]
        if isinstance(default, dict) and not isinstance(value, dict):
            report(here, value, f"a mapping with {', '.join(list(default)[:5])}")
        elif isinstance(default, dict) and default and key not in FREE:
            _compare(report, value, default, here)
        elif isinstance(value, dict) and not isinstance(default, dict) and default is not None:
            report(here, value, f"a single value, like {default!r}, for {dotted(here)}")


def _leaves(node: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _leaves(value, (*path, key))
    elif path:
        yield path, node


def unreachable(config: ClusterConfig, error: BaseException) -> InputError:
    """The error for a scheduler that does not answer."""
    reason = type(error).__name__
    hint = f"Check that it runs and that its TLS files fit ({reason})."
    return InputError(
        [
            Problem(
                config.source,
                0,
                0,
                "limbsweep.cluster.address",
                repr(config.cluster.address),
                "a scheduler that answers",
                hint,
            )
        ]
    )
