"""The section `limbsweep: cluster:` of a cluster file as a model: keys and types only."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, Strict

from pipeline.cluster.kinds import ClusterKindName
from pipeline.documents.section import Count, Integer, Section, Text

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


class ClusterSection(Section):
    """What the `cluster` section may say. Defaults: one local worker process with a thread for every core."""

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
