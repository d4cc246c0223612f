"""Safety checks of a cluster file: it must not hold secrets, or let others in.

Anyone who reaches a scheduler or worker of Dask can run code as its user. So each server that listens beyond this
machine speaks TLS, and dashboards listen on this machine only, unless the file has `insecure: true`.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pipeline.cluster import kinds
from pipeline.cluster.kinds import KINDS
from pipeline.cluster.settings import effective
from pipeline.documents.document import KeyPath, dotted
from pipeline.documents.report import Got, Report

if TYPE_CHECKING:
    from pipeline.cluster.checks import ClusterSection

SECTION: KeyPath = ("limbsweep", "cluster")

_NAME = r"passw(or)?d|passphrase|secret|credential|token\b|token$|api[-_]?key|access[-_]?key"
_SECRET = re.compile(_NAME, re.IGNORECASE)
_IN_TEXT = re.compile(
    rf"\w*({_NAME})\w*\s*[=:]\s*\S|\bAKIA[0-9A-Z]{{12,}}|[a-z]+://[^/\s:@]+:[^/\s@]+@|-----BEGIN .*PRIVATE KEY",
    re.IGNORECASE,
)
COMMANDS = (
    "job-script-prologue", "job-extra-directives", "header-skip", "python", "remote-python", "worker-command",
    "env-extra", "extra", "job-extra",
)  # fmt: skip
"""Keys whose values a shell reads."""

STEERING = ("preload", "preload-nanny", "preload-argv", "pre-spawn-environ", "environ", "routes", "policies")
"""Settings of Dask that name code to import, or set variables of processes."""

_FLAG = re.compile(r"--dashboard-address[= ]+(\S+)")


def check_secrets(report: Report, node: object, path: KeyPath = ()) -> None:
    """Report passwords, tokens and keys; their values are never shown."""
    children: Iterator[tuple[Any, Any]] = iter(())
    if isinstance(node, dict):
        children = iter(node.items())
        if isinstance(node.get("name"), str) and "value" in node and _SECRET.search(node["name"]):
            _secret(report, (*path, "value"))
    elif isinstance(node, list):
        children = iter(enumerate(node))
    elif isinstance(node, str) and _IN_TEXT.search(node):
        _secret(report, path)
    for key, value in children:
        is_one = isinstance(value, str | int | float) and not isinstance(value, bool)
        if isinstance(key, str) and _SECRET.search(key) and is_one:
            _secret(report, (*path, key))
        else:
            check_secrets(report, value, (*path, key))


def _secret(report: Report, path: KeyPath) -> None:
    report(path, Got("a value that is not shown"), "no secrets in a file", "Use key files, an agent or a secret store.")


def other_writers(path: str | os.PathLike[str]) -> str:
    """Return the others, besides this user and the administrator, who may write to a file; empty for no others."""
    status = os.stat(path)
    if status.st_uid not in (os.geteuid(), 0):
        return f"user {status.st_uid}, whose file it is"
    return "everybody" if status.st_mode & stat.S_IWOTH else ""


def check_commands(report: Report, node: object, writers: str, path: KeyPath = ()) -> None:
    """Report commands that others may have put there, and commands that hide behind a line break."""
    for key, value in node.items() if isinstance(node, dict) else ():
        here = (*path, key)
        if str(key).replace("_", "-") not in (*COMMANDS, *STEERING):
            check_commands(report, value, writers, here)
            if here[0] == "jobqueue":
                _check_lines(report, value, here)
            continue
        if writers:
            hint = "It is run as you, so make a file of your own; limbsweep cluster FILE shows what it would start."
            report(here, Got(f"a command that {writers} may write"), "commands in a file that only you may write", hint)
        _check_lines(report, value, here)


def _check_lines(report: Report, value: object, path: KeyPath) -> None:
    """Report a text, or an entry of a list, of several lines: the second may be a command or a directive."""
    for index, text in enumerate(value if isinstance(value, list) else [value]):
        if isinstance(text, str) and "\n" in text.strip("\n"):
            place = (*path, index) if isinstance(value, list) else path
            hint = "Make an entry of the list for each." if isinstance(value, list) else ""
            report(place, Got("several lines"), "one line", hint)


def steering(settings: Mapping[str, Any]) -> Iterator[str]:
    """Return lines with the code that settings make processes import, and the variables that they set."""
    rows = list(_steering(settings, ()))
    if rows:
        yield "settings of this file that run code in schedulers and workers, or set their variables:"
        for path, value in rows:
            yield f"  {dotted(path)}: {json.dumps(value, default=str)}"


def _steering(node: object, path: KeyPath) -> Iterator[tuple[KeyPath, object]]:
    for key, value in node.items() if isinstance(node, Mapping) else ():
        here = (*path, key)
        if str(key).replace("_", "-") in STEERING:
            yield here, value
        else:
            yield from _steering(value, here)


def check_reach(report: Report, cluster: ClusterSection, settings: Mapping[str, Any]) -> None:
    """Report connections from other machines without TLS, and dashboards open to other machines."""
    kind = KINDS[cluster.kind]
    if kind.family == "running" and cluster.address is not None:
        _check_address(report, cluster, cluster.address, settings)
    if cluster.insecure:
        return
    secured = kinds.named(effective(settings))
    if kind.family == "kubernetes":
        hint = "Its scheduler speaks no TLS: keep other pods out by a NetworkPolicy and write insecure: true."
        report((*SECTION, "kind"), cluster.kind, "insecure: true beside it", hint)
    elif kind.away and not secured and not _stays_here(cluster):
        hint = "Anyone who reaches a port can run code: make TLS files with `limbsweep certificates DIR`."
        report((*SECTION, "kind"), Got(f"{cluster.kind!r} without TLS files"), "TLS, or insecure: true", hint)
    for path, address in _dashboards(report.document.data, ()):
        if not is_loopback(address.rsplit(":", 1)[0].strip("[]'\"")):
            report(path, address, "an address of this machine", "For instance 127.0.0.1:8787; or write insecure: true.")


def _stays_here(cluster: ClusterSection) -> bool:
    """Return whether all parts of an SSH cluster listen on this machine only."""
    if (options := cluster.options) is None:
        return False
    listens = any({"host", "interface"} & role.keys() for role in (options.scheduler_options, options.worker_options))
    return all(map(is_loopback, options.hosts)) and not listens


def _check_address(report: Report, cluster: ClusterSection, address: str, settings: Mapping[str, Any]) -> None:
    path: KeyPath = (*SECTION, cluster.kind)
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if parts.scheme not in ("tcp", "tls") or not host or not port or parts.path or "@" in parts.netloc:
        hint = "For instance tcp://127.0.0.1:8786; ports are 1 to 65535."
        report(path, Got("an address in another form"), "tcp://HOST:PORT or tls://HOST:PORT", hint)
    elif parts.scheme == "tcp" and not is_loopback(host) and not cluster.insecure:
        hint = "Anyone who reaches the port can run code: start it with TLS, give tls://HOST:PORT; or insecure: true."
        report(path, address, "TLS, or an address of this machine", hint)
    elif parts.scheme == "tls" and not kinds.named(effective(settings)):
        report(path, address, "TLS files under distributed.comm.tls", "Add ca-file, and client with cert and key.")


def is_loopback(host: str) -> bool:
    """Return whether a host name or address can only be this machine; names other than localhost are not resolved."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_tls(report: Report, cluster: ClusterSection, settings: Mapping[str, Any]) -> None:
    """Report TLS files that are not named, missing, readable by others, or that do not work together."""
    config, kind = effective(settings), KINDS[cluster.kind]
    if not kinds.named(config):
        return
    for role in (*kind.here, *kind.away):
        files = kinds.files(config, role)
        paths = {("ca-file",): files.ca, (role, "cert"): files.cert, (role, "key"): files.key}
        missing = [path for path, file in paths.items() if not isinstance(file, str)]
        for path in missing:
            report((*kinds.SECTION, *path), Got("no file"), f"the TLS files of the {role}", "Add it.")
        if missing:
            continue
        if role in kind.away:
            _check_absolute(report, paths)
        elif not _check_files(report, paths):
            reason = kinds.failure(str(files.ca), str(files.cert), str(files.key), role)
            if reason:
                hint = "`limbsweep certificates DIR` makes a set that works."
                report(
                    (*kinds.SECTION, role),
                    Got(f"files that do not work ({reason})"),
                    "a certificate of the authority, and its key",
                    hint,
                )


def _check_absolute(report: Report, paths: Mapping[tuple[str, ...], str | None]) -> None:
    for path, file in paths.items():
        if not os.path.isabs(str(file)):
            report((*kinds.SECTION, *path), file, "an absolute path", "Workers start in folders of their own.")


def _check_files(report: Report, paths: Mapping[tuple[str, ...], str | None]) -> bool:
    """Report files that cannot be used; return whether there were any."""
    rules = {path: kinds.file_rule(str(file), secret=path[-1] == "key") for path, file in paths.items()}
    for path, rule in rules.items():
        if rule:
            report((*kinds.SECTION, *path), paths[path], rule)
    return any(rules.values())


def _dashboards(node: object, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    """Yield every address of a dashboard in settings: by its key, or as an argument of a worker."""
    if isinstance(node, dict):
        for key, value in node.items():
            if str(key).replace("_", "-").endswith("dashboard-address"):
                yield (*path, key), str(value)
            yield from _dashboards(value, (*path, key))
    elif isinstance(node, list) and path and str(path[-1]).replace("_", "-") == "worker-extra-args":
        for address in _FLAG.findall(" ".join(map(str, node))):
            yield path, address
