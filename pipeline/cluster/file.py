"""The cluster file: a Dask configuration file with one key of ours, `limbsweep: cluster:`. Checked without connecting.

`pipeline.cluster.kinds` has the kinds, `pipeline.cluster.checks` and `pipeline.cluster.safety` the checks;
`pipeline.cluster.connection` makes clusters and clients from a checked file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from pipeline.cluster.checks import ClusterSection, check_dask, check_kind, check_options, scheduler_address
from pipeline.cluster.kinds import KINDS, ClusterKind, ClusterKindName
from pipeline.cluster.safety import check_commands, check_reach, check_secrets, check_tls, other_writers
from pipeline.cluster.worker_folders import check_worker_folders
from pipeline.documents.document import Document
from pipeline.documents.report import Got, Report
from pipeline.documents.validation import Section, validate_keys
from pipeline.documents.yaml import parse_yaml, read_yaml
from pipeline.errors import InputError, Problem, refused
from robots.data_classes import dataclass, field
from robots.devices import CPU, Device


class _LimbsweepKey(Section):
    cluster: ClusterSection = ClusterSection()


class ClusterFile(Section):
    """Our part of a cluster file."""

    limbsweep: _LimbsweepKey = _LimbsweepKey()


@dataclass(frozen=True)
class ClusterConfig:
    """A checked cluster file: the section of limbsweep, the settings of Dask, and the name of the file in messages.

    >>> here = ls.ClusterConfig.of("local", n_workers=2, threads_per_worker=1)
    >>> remote = ls.ClusterConfig.of("address", address="tcp://127.0.0.1:8786")
    """

    cluster: ClusterSection = field(default_factory=ClusterSection)
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)  # not for logs
    source: str = "the default cluster"

    @property
    def kind(self) -> ClusterKind:
        """The row of its kind."""
        return KINDS[self.cluster.kind]

    @property
    def runs_already(self) -> bool:
        """Return whether the cluster exists before a run and outlives it, so that no run starts it again."""
        return self.kind.family == "running"

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """Warnings about settings that are allowed but probably not intended."""
        if self.kind.family in ("process", "running", "local") or os.geteuid() != 0:
            return ()
        got, rule = "root as the user who runs it", "a user without rights over the machine"
        hint = "Anyone who reaches a port of a cluster has the rights of its user."
        return (Problem(self.source, 0, 0, "limbsweep.cluster.kind", got, rule, hint),)

    @classmethod
    def from_yaml(cls, path: str | os.PathLike[str]) -> ClusterConfig:
        """Return the configuration in a file. Raises InputError with all problems."""
        document = read_yaml(path)
        return parse_cluster(document, writers=other_writers(path))

    @classmethod
    def of(cls, kind: ClusterKindName = "local", **options: Any) -> ClusterConfig:
        """Return a configuration without a file; `options` are the fields of ClusterSection by their Python names.

        Checked like a file. Raises InputError with all problems.
        """
        names = {name: info.alias or name for name, info in ClusterSection.model_fields.items()}
        section = {"kind": kind} | {names.get(name, name): value for name, value in options.items()}
        text = json.dumps({"limbsweep": {"cluster": section}}, default=str)  # which is YAML too
        return parse_cluster(parse_yaml(text, "the given cluster"))

    def problem(self, key: str, got: str, expected: str, hint: str = "") -> InputError:
        """Return an error about this file for a problem that is found only when the cluster is to be used."""
        return refused(self.source, got, expected, hint, key=f"limbsweep.cluster.{key}")


def parse_cluster(document: Document, writers: str = "") -> ClusterConfig:
    """Return the configuration in a document; `writers` says who else may write to its file. Raises InputError."""
    report = Report(document)
    settings = {key: value for key, value in document.data.items() if key != "limbsweep"}
    if settings.keys() & {"robot", "robots"}:
        report((), Got("a sweep file"), "a cluster file", "A sweep goes before --cluster, or to limbsweep check.")
        report.raise_if_any()
    check_secrets(report, document.data)
    check_commands(report, document.data, writers)
    check_dask(report, settings)
    cluster = _parse_section(report)
    if cluster is not None:
        check_options(report, cluster, _written(document), settings)
        if cluster.scheduler_file and cluster.kind == "scheduler-file":
            cluster = cluster.model_copy(update={"address": scheduler_address(report, cluster.scheduler_file)})
        check_worker_folders(report, cluster, settings)
        check_reach(report, cluster, settings)
        check_tls(report, cluster, settings)
    report.problems = list(dict.fromkeys(report.problems))  # roles share files
    report.raise_if_any()
    return ClusterConfig(cluster or ClusterSection(), settings, document.name)


def _written(document: Document) -> Mapping[str, Any]:
    """Return the keys of our section as they are written."""
    ours = document.data.get("limbsweep")
    section = ours.get("cluster") if isinstance(ours, dict) else None
    return section if isinstance(section, dict) else {}


def _parse_section(report: Report) -> ClusterSection | None:
    """Parse limbsweep's section; None if something in it is wrong, which is then reported."""
    document = report.document
    if "limbsweep" not in document.data:
        return ClusterSection()
    if not check_kind(report, document.data["limbsweep"]):
        return None
    file, problems = validate_keys(ClusterFile, document)
    report.take(problem for problem in problems if problem.key.startswith("limbsweep"))
    return file.limbsweep.cluster if "limbsweep" in file.model_fields_set else None


def device_of(cluster: object) -> Device:
    """Return the device that a cluster file names; a cluster object has none, and computes on processors."""
    return cluster.cluster.device if isinstance(cluster, ClusterConfig) else CPU
