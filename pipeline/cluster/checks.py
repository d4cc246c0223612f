"""Checks of a cluster file that need no network: kinds, counts, sizes, options, and Dask's own settings.

The section `limbsweep: cluster:` is a model with keys and types. Dask reads its settings when it needs them, if at all,
so unknown names are found here, and values by type and range. The rule of a value follows from its default: a time, a
size, a count, a switch; shares of memory are a table. Checks of safety are in `pipeline.cluster.safety`.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field, Strict

from pipeline.cluster.kinds import (
    CONNECT_OPTIONS,
    KINDS,
    SCHEDULER_OPTIONS,
    WORKER_OPTIONS,
    ClusterKind,
    ClusterKindName,
)
from pipeline.cluster.settings import FOREIGN, FREE, effective
from pipeline.documents.document import KeyPath, dotted
from pipeline.documents.files import read_text
from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.validation import Count, Integer, Section, Text
from pipeline.errors import InputError
from robots.parameter_errors import nearest

LONGEST = 1e9
"""Longest time [s]: thirty years."""

MOST = 10**12
"""The largest count."""

LEAST_WEIGHT, MOST_WEIGHT = 0.01, 100.0
"""Smallest and largest weight of a run that shares a cluster with others."""

OTHER_LIBRARIES = frozenset({
    "adaptive", "aws", "azure", "cloudprovider", "coiled", "cuda", "ec2", "fargate", "gateway", "gcp", "localcluster",
    "localcudacluster", "mpi", "ray", "saturn", "yarn",
})  # fmt: skip
"""Names of clusters of Dask that other libraries make."""

MEMORY: KeyPath = ("distributed", "worker", "memory")
THRESHOLDS = ("target", "spill", "pause", "terminate")
"""Shares of the memory limit at which a worker spills, pauses and ends; they have to ascend in this order."""

SHARES = (*THRESHOLDS, "transfer", "sender-min", "recipient-max", "sender-recipient-gap")
SWITCHABLE = (*THRESHOLDS, "transfer", "offload")
"""Settings that the value false switches off."""

NAMED = ("compression", "spill-compression", "max-spill")
"""Settings that are false, or the name of a method, or a size."""

NOTHING = ("worker-ttl", "log-length", "low-level-log-length")
"""Settings with a default that the value null switches off."""

TIMES = ("timeout", "ttl", "duration", "interval", "delay")
"""Ends of the names of settings without a default that are times."""


def value_rule(path: KeyPath, value: object, default: object) -> str:
    """Return the rule that the value of a setting breaks; empty if it breaks none, or if no rule is known."""
    name = str(path[-1]).replace("_", "-")
    if value is None:
        return "" if default is None or name in NOTHING else "a value, or no such key"
    if value is False and name in SWITCHABLE:
        return ""
    if name in SHARES:
        return "" if is_number(value) and 0.0 < float(value) <= 1.0 else "a share of memory, above 0 and at most 1"  # type: ignore[arg-type]
    if isinstance(default, bool):
        named = name in NAMED and isinstance(value, str)
        return "" if named or isinstance(value, bool) else "true or false"
    if isinstance(default, int | float):
        return _number_rule(value, whole=isinstance(default, int))
    if isinstance(default, list | tuple):
        return "" if isinstance(value, list | tuple | str) else "a list"
    if value is False and name in NAMED:
        return ""
    if isinstance(default, str):
        return next((rule(value) for applies, rule in _TEXTS if applies(default)), _text_rule(value))
    is_time = default is None and name.endswith(TIMES) and isinstance(value, str | int | float)
    return _time_rule(value) if is_time else ""


def check_thresholds(report: Report, settings: Mapping[str, Any], merged: Mapping[str, Any]) -> None:
    """Report shares of memory that are not in the order of the workers' actions; `merged`: the settings in force."""
    memory: Any = settings
    for key in MEMORY:
        memory = memory.get(key) if isinstance(memory, Mapping) else None
    if not isinstance(memory, Mapping) or not any(name in memory for name in THRESHOLDS):
        return
    force = merged["distributed"]["worker"]["memory"]
    shares = [(name, float(force[name])) for name in THRESHOLDS if is_number(force[name])]
    for (before, low), (name, high) in pairwise(shares):
        if low > high:
            at = name if name in memory else before
            rule = f"{', '.join(THRESHOLDS)} in this order, and {before} is {low:g}, {name} {high:g}"
            report((*MEMORY, at), memory[at], rule, "Raise the later ones too.")
            return


def seconds(text: object) -> float:
    """Return a time as Dask writes it, in seconds; 0 for a text that is no time, or an endless one."""
    from dask.utils import parse_timedelta

    try:
        time = float(parse_timedelta(text))  # type: ignore[call-overload]  # which raises for other types
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError):
        return 0.0
    return time if 0.0 < time <= LONGEST else 0.0


def is_number(value: object) -> bool:
    """Return whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _number_rule(value: object, *, whole: bool) -> str:
    if whole and isinstance(value, float):
        return "a whole number"
    if is_number(value) and 0 <= float(value) <= MOST:  # type: ignore[arg-type]
        return ""
    return f"a number from 0 to {MOST:g}"


def _time_rule(value: object) -> str:
    is_zero = is_number(value) and value == 0
    is_none = isinstance(value, str) and value.lstrip().startswith("0") and seconds(f"1{value.lstrip()}") > 0
    return "" if is_zero or is_none or seconds(value) else "a time, such as 30s, 5 minutes or 2h"


def _size_rule(value: object) -> str:
    from dask.utils import parse_bytes

    try:
        return "" if 0 <= float(parse_bytes(value)) <= MOST * 1000 else "a size, such as 64MiB"  # type: ignore[arg-type]
    except (AttributeError, IndexError, TypeError, ValueError, OverflowError):
        return "a size, such as 64MiB"


def _text_rule(value: object) -> str:
    return "" if isinstance(value, str) else "text"


def _is_time(default: str) -> bool:
    return default[:1].isdigit() and (seconds(default) > 0 or default == "0 seconds")


def _is_size(default: str) -> bool:
    return default[:1].isdigit() and not _size_rule(default)


_TEXTS: tuple[tuple[Callable[[str], bool], Callable[[object], str]], ...] = (
    (_is_time, _time_rule),
    (_is_size, _size_rule),
)
"""Tests and rules of options whose defaults are texts."""


def rule_at(path: KeyPath, value: object, default: object) -> tuple[str, str]:
    """Return the rule that a setting breaks, and advice; empty where it breaks none."""
    rule = value_rule(path, value, default)
    return rule, f"Dask's default for {dotted(path)} is {default!r}." if rule else ""


MAX_WORKERS = 10_000

Workers = Annotated[Count, Field(le=MAX_WORKERS)]


class Adapt(Section):
    """Bounds between which Dask follows the load."""

    minimum: Annotated[Integer, Field(ge=0, le=MAX_WORKERS)] = 0
    maximum: Workers


class SshOptions(Section):
    """Arguments of Dask's SSHCluster, in its spelling: the first host is for the scheduler, the others for workers."""

    hosts: Annotated[tuple[Text, ...], Field(min_length=2, max_length=MAX_WORKERS)]
    connect_options: dict[str, Any] = Field(default_factory=dict)
    scheduler_options: dict[str, Any] = Field(default_factory=dict)
    worker_options: dict[str, Any] = Field(default_factory=dict)
    remote_python: Text | None = None


Amounts = dict[Text, Text | int]


class Resources(Section):
    """Resources of a container: its requests and its limits."""

    requests: Amounts = Field(default_factory=dict)
    limits: Amounts = Field(default_factory=dict)


SCHEDULER = Resources(requests={"cpu": "1", "memory": "4Gi"}, limits={"memory": "4Gi"})
"""Default size of a scheduler: one thread, and the memory of some hundred workers."""

Entries = Annotated[tuple[dict[str, Any], ...], Field(max_length=100)]


class Pods(Section):
    """Resources of the scheduler's pod, and entries of all pods.

    KubeCluster itself would give the scheduler the resources of a worker. Entries are as in a PodSpec of Kubernetes and
    in its containers.
    """

    scheduler_resources: Resources = Field(default=SCHEDULER, alias="scheduler-resources")
    volumes: Entries = ()
    volume_mounts: Entries = Field(default=(), alias="volume-mounts")
    env_from: Entries = Field(default=(), alias="env-from")


class ClusterSection(Section):
    """Content of the section `cluster`. Defaults: one local worker process with a thread for every core."""

    kind: ClusterKindName = "local"
    n_workers: Workers | None = Field(default=None, alias="n-workers")
    adapt: Adapt | None = None
    threads_per_worker: Count | None = Field(default=None, alias="threads-per-worker")
    memory_limit: Text = Field(default="auto", alias="memory-limit")
    address: Text | None = None
    scheduler_file: Text | None = Field(default=None, alias="scheduler-file")
    options: SshOptions | None = None
    start_timeout: Text = Field(default="1h", alias="start-timeout")
    insecure: Annotated[bool, Strict()] = False
    device: Literal["cpu", "gpu"] = "cpu"
    weight: Annotated[float, Strict(), Field(ge=LEAST_WEIGHT, le=MOST_WEIGHT)] = 1.0
    pods: Pods = Field(default_factory=Pods)


SECTION: KeyPath = ("limbsweep", "cluster")

_MEMORY = re.compile(r"([0-9]+(\.[0-9]*)?) ?([kKMGT]i?B)|auto|([1-9][0-9]?|100) ?%")
_UNITS = {f"{k}{i}B": (1024 if i else 1000) ** " KMGT".index(k.upper()) for k in "kKMGT" for i in ("", "i")}
_SMALLEST = 1 << 26
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|[0-9A-Fa-f:]+")
_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_IMAGE = re.compile(r"[^\s@]+(:(?!latest$)[A-Za-z0-9_][\w.-]{0,127}|@sha256:[0-9a-f]{64})")


def check_kind(report: Report, limbsweep: object) -> bool:
    """Report an unknown kind, with the nearest name; such a section is not checked further."""
    section = limbsweep.get("cluster") if isinstance(limbsweep, dict) else None
    kind = section.get("kind", "local") if isinstance(section, dict) else "local"
    if isinstance(kind, str) and kind not in KINDS:
        report((*SECTION, "kind"), kind, f"one of {', '.join(KINDS)}", _kind_hint(kind))
        return False
    return True


def check_options(
    report: Report, cluster: ClusterSection, written: Mapping[str, Any], settings: Mapping[str, Any]
) -> None:
    """Report keys that the kind does not know, options that it lacks, and values that cannot be meant."""
    kind = KINDS[cluster.kind]
    for key in written.keys() - kind.keys - {"kind"}:
        owners = ", ".join(name for name, row in KINDS.items() if key in row.keys)
        report((*SECTION, key), written[key], f"no key {key!r} with kind: {cluster.kind}", f"It is for kind: {owners}.")
    for place, got, rule in _pod_faults(cluster.pods):
        report((*SECTION, "pods", *place), Got(got), rule, "Entries are spelled as in Kubernetes.")
    for key, needed in (("address", "address"), ("scheduler-file", "scheduler-file"), ("ssh", "options")):
        if cluster.kind == key and needed not in written:
            report(SECTION, Got(f"no key {needed!r}"), f"{needed!r}, which kind: {key} needs", "Add it.")
    _check_counts(report, cluster)
    if cluster.options is not None and kind.family == "ssh":
        _check_ssh(report, cluster.options)
    _check_section(report, kind, settings)


def _check_counts(report: Report, cluster: ClusterSection) -> None:
    if not is_memory(cluster.memory_limit):
        report((*SECTION, "memory-limit"), cluster.memory_limit, "a size", "For instance 4GiB, 500MB, 80 % or auto.")
    elif cluster.kind == "local" and _bytes(cluster.memory_limit) > (have := _memory_here()):
        got, rule = Got(f"{cluster.memory_limit!r}"), f"at most {have / 2**30:.3g} GiB, the memory of this machine"
        report((*SECTION, "memory-limit"), got, rule, "It is for each worker; auto divides the memory of the machine.")
    if cluster.threads_per_worker and cluster.threads_per_worker > (cores := os.cpu_count() or 1) * 4:
        report((*SECTION, "threads-per-worker"), cluster.threads_per_worker, f"at most {cores * 4}, four for each core")
    if cluster.adapt and cluster.adapt.minimum > cluster.adapt.maximum:
        rule = f"at most the maximum, {cluster.adapt.maximum}"
        report((*SECTION, "adapt", "minimum"), cluster.adapt.minimum, rule)
    if cluster.adapt and cluster.n_workers:
        report((*SECTION, "n-workers"), cluster.n_workers, "n-workers or adapt, not both", "Remove one.")
    if not seconds(cluster.start_timeout):
        report((*SECTION, "start-timeout"), cluster.start_timeout, "a time", "For instance 90s, 10 minutes or 2h.")


def _check_ssh(report: Report, options: SshOptions) -> None:
    path: KeyPath = (*SECTION, "options")
    for index, host in enumerate(options.hosts):
        if not _HOST.fullmatch(host):
            report((*path, "hosts", index), host, "a host name or address", "User and port go into connect_options.")
    for key, written, known in (
        ("connect_options", options.connect_options, CONNECT_OPTIONS),
        ("scheduler_options", options.scheduler_options, SCHEDULER_OPTIONS),
        ("worker_options", options.worker_options, WORKER_OPTIONS),
    ):
        for name in written.keys() - {*known}:
            report.unknown((*path, key, name), known, "option")
    if "known_hosts" in options.connect_options and not options.connect_options["known_hosts"]:
        hint = "Without it anybody can pose as the host; name a file, or leave the key away for ~/.ssh/known_hosts."
        report((*path, "connect_options", "known_hosts"), None, "the keys of the hosts", hint)


def _check_section(report: Report, kind: ClusterKind, settings: Mapping[str, Any]) -> None:
    """Check the options of a kind among Dask's settings: from the file, or from the user's own configuration."""
    import dask.config

    merged = effective(settings)

    def option(name: str) -> Any:
        return dask.config.get(".".join((*kind.section, name)), None, config=merged)

    for name in kind.required:
        if option(name) is None:
            section = dotted(kind.section)
            report(SECTION, Got(f"no {section}.{name}"), "it to be given", f"Add {name} under {section}.")
    rules = _RULES.get(kind.family, {})
    for name, (test, expected) in rules.items():
        if (value := option(name)) is not None and not test(value):
            report((*kind.section, name), value, expected)
    pattern, form = kind.walltime
    walltime = option("walltime") if pattern else None
    if walltime is not None and not (re.fullmatch(pattern, str(walltime)) and re.search("[1-9]", str(walltime))):
        report((*kind.section, "walltime"), walltime, f"a time as {form}, more than none", "Put it in quotes.")


def _pod_faults(pods: Pods) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """Yield places in the section, values and rules of entries that Kubernetes would refuse."""
    names = [str(volume.get("name", "")) for volume in pods.volumes]
    for number, volume in enumerate(pods.volumes):
        if "name" not in volume or len(volume) != 2:
            yield ("volumes", number), str(volume), "a name and one source, such as persistentVolumeClaim"
    for number, mount in enumerate(pods.volume_mounts):
        if mount.get("name") not in names:
            yield ("volume-mounts", number), str(mount), f"the name of a volume: {', '.join(names) or 'no volumes'}"
        elif not str(mount.get("mountPath", "")).startswith("/"):
            yield ("volume-mounts", number), str(mount), "mountPath, an absolute path"
    for number, source in enumerate(pods.env_from):
        references = [source[key] for key in ("secretRef", "configMapRef") if key in source]
        if len(references) != 1 or not isinstance(references[0], dict) or "name" not in references[0]:
            yield ("env-from", number), "another entry", "secretRef: {name: NAME} or configMapRef: {name: NAME}"


def _kind_hint(kind: str) -> str:
    """Return advice for an unknown kind: a name that is near, or the way to clusters of other libraries."""
    if kind.lower().replace("dask-", "") in OTHER_LIBRARIES:
        return "Make it in Python by its own library and give it to ls.run(..., client=cluster), or take kind: address."
    near = nearest(kind, KINDS)
    return sentence(near) if near.startswith("did") else ""


def _bytes(text: str) -> float:
    """Return a size in bytes; 0 for a share and for auto."""
    match = _MEMORY.fullmatch(text)
    return float(match[1]) * _UNITS[match[3]] if match and match[1] else 0.0


def _memory_here() -> float:
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def is_memory(text: object) -> bool:
    """Return whether a text is a size of at least 64 MiB, a share, or auto."""
    match = _MEMORY.fullmatch(text) if isinstance(text, str) else None
    return bool(match) and (match[1] is None or float(match[1]) * _UNITS[match[3]] >= _SMALLEST)  # type: ignore[index]


_COUNT = (lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 1, "a whole number above 0")
_RULES: Mapping[str, Mapping[str, Any]] = {
    "jobqueue": {
        "cores": _COUNT,
        "processes": _COUNT,
        "memory": (
            lambda value: is_memory(value) and value[0] in "0123456789" and "%" not in value,
            "a size: 8GB, 4GiB",
        ),
    },
    "kubernetes": {
        "image": (
            lambda value: isinstance(value, str) and bool(_IMAGE.fullmatch(value)),
            "an image with a tag other than latest, or a digest, so that all pods run the same",
        ),
        "namespace": (
            lambda value: isinstance(value, str) and bool(_NAMESPACE.fullmatch(value)),
            "lower-case letters, digits and '-', at most 63",
        ),
        "scheduler-service-type": (lambda value: value == "ClusterIP", "ClusterIP, which does not leave the cluster"),
        "custom-cluster-spec": (lambda value: False, "no specification of your own: limbsweep adds settings to it"),
    },
}
"""Tests by family and option, with the expected value."""


def scheduler_address(report: Report, path: str) -> str | None:
    """Return the address in the file that `dask scheduler --scheduler-file` writes; problems are reported."""
    place: KeyPath = (*SECTION, "scheduler-file")
    try:
        address = json.loads(read_text(path, 1 << 16)).get("address")
    except InputError as error:
        problem = error.problems[0]
        report(place, Got(f"{path}: {problem.got}"), problem.expected, "Start the scheduler first.")
    except (AttributeError, ValueError):
        report(place, path, "the JSON file of a Dask scheduler", "dask scheduler --scheduler-file writes it.")
    else:
        if isinstance(address, str) and address:
            return address
        report(place, path, "a file with an address", "dask scheduler --scheduler-file writes it.")
    return None


def check_dask(report: Report, settings: Mapping[str, Any]) -> None:
    """Report unknown settings, which Dask itself would accept and never read."""
    import dask.config

    if settings.keys() - {*FOREIGN}:
        import distributed.config  # noqa: F401 - adds its defaults to those of dask
    _learn({kind.maker[0] for kind in KINDS.values() if kind.section and kind.section[0] in settings})
    known: dict[str, Any] = {}
    for defaults in dask.config.defaults:
        dask.config.update(known, defaults, priority="new")
    foreign = [key for key in settings if key in FOREIGN and key not in known]
    ours, before = {key: value for key, value in settings.items() if key not in foreign}, len(report.problems)
    _compare(report, ours, known, ())
    if len(report.problems) == before:
        check_thresholds(report, ours, effective(settings))


def _learn(modules: Iterable[str]) -> None:
    """Import packages that add their settings to Dask's defaults, where they are installed."""
    for module in modules:
        if importlib.util.find_spec(module.partition(".")[0]):
            importlib.import_module(module)


def _compare(report: Report, settings: Mapping[str, Any], known: Mapping[str, Any], path: KeyPath) -> None:
    spelt = {key.replace("_", "-"): key for key in known}
    names = (*spelt, "limbsweep", *FOREIGN) if not path else tuple(spelt)
    for key, value in settings.items():
        here = (*path, key)
        if key.replace("_", "-") not in spelt:
            report.unknown(here, names, "setting of Dask")
            continue
        default = known[spelt[key.replace("_", "-")]]
        free = default == {} and isinstance(value, list)
        if isinstance(default, dict) and not isinstance(value, dict) and not free:
            report(here, value, f"a mapping with {', '.join(list(default)[:5])}")
        elif isinstance(default, dict) and default and key not in FREE:
            _compare(report, value, default, here)
        elif isinstance(value, dict) and not isinstance(default, dict) and default is not None:
            report(here, value, f"a single value, like {default!r}, for {dotted(here)}")
        elif not isinstance(value, dict) and key not in FREE:
            rule, hint = rule_at(here, value, default)
            if rule:
                report(here, value, rule, hint)
