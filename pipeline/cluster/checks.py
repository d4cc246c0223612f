"""Checks of a cluster file that need no network: kinds, counts, sizes, options, and settings that Dask does not know.

What is about safety is in `pipeline.cluster.safety`.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pipeline.cluster.dask_values import check_thresholds, rule_at, seconds
from pipeline.cluster.kinds import CONNECT_OPTIONS, KINDS, SCHEDULER_OPTIONS, WORKER_OPTIONS, ClusterKind
from pipeline.cluster.settings import FOREIGN, FREE, effective
from pipeline.documents.files import read_text
from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.yaml import KeyPath, dotted
from pipeline.errors import InputError
from robots.parameters import nearest

if TYPE_CHECKING:
    from pipeline.cluster.section import ClusterSection, SshOptions

SECTION: KeyPath = ("limbsweep", "cluster")

_MEMORY = re.compile(r"([0-9]+(\.[0-9]*)?) ?([kMGT]i?B)|auto|([1-9][0-9]?|100) ?%")
_UNITS = {f"{letter}{i}B": (1024 if i else 1000) ** n for n, letter in enumerate("kMGT", 1) for i in ("", "i")}
_SMALLEST = 1 << 26
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|[0-9A-Fa-f:]+")
_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_IMAGE = re.compile(r"[^\s@]+(:(?!latest$)[A-Za-z0-9_][\w.-]{0,127}|@sha256:[0-9a-f]{64})")


def check_kind(report: Report, limbsweep: object) -> bool:
    """Reports a kind that there is not, with the nearest name; such a section is not looked at further."""
    section = limbsweep.get("cluster") if isinstance(limbsweep, dict) else None
    kind = section.get("kind", "local") if isinstance(section, dict) else "local"
    if isinstance(kind, str) and kind not in KINDS:
        report((*SECTION, "kind"), kind, f"one of {', '.join(KINDS)}", sentence(nearest(kind, KINDS)))
        return False
    return True


def check_options(
    report: Report, cluster: ClusterSection, written: Mapping[str, Any], settings: Mapping[str, Any]
) -> None:
    """Reports keys that mean nothing to the kind, options that it lacks, and values that cannot be meant."""
    kind = KINDS[cluster.kind]
    for key in written.keys() - kind.keys - {"kind"}:
        owners = ", ".join(name for name, row in KINDS.items() if key in row.keys)
        report((*SECTION, key), written[key], f"no key {key!r} with kind: {cluster.kind}", f"It is for kind: {owners}.")
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
        got, rule = Got(f"{cluster.memory_limit!r}"), f"at most {have / 2**30:.3g} GiB, what this machine has"
        report((*SECTION, "memory-limit"), got, rule, "It is for each worker; auto shares out what there is.")
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
    """The options of a kind among Dask's settings: of the file, or of the user's own configuration."""
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


def _bytes(text: str) -> float:
    """A size in bytes; 0 for a share and for auto."""
    match = _MEMORY.fullmatch(text)
    return float(match[1]) * _UNITS[match[3]] if match and match[1] else 0.0


def _memory_here() -> float:
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def is_memory(text: object) -> bool:
    """Whether a text is a size of at least 64 MiB, a share, or auto."""
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
"""By family and option: a test, and what is expected."""


def scheduler_address(report: Report, path: str) -> str | None:
    """The address in the file that `dask scheduler --scheduler-file` writes; problems are reported."""
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
    """Reports unknown settings, which Dask itself would accept and never read."""
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
