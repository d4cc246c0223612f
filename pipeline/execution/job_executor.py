"""Executor of jobs about a sweep: identifications and searches for motions, on any cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from pipeline.cluster.arguments import ClusterLike, as_cluster
from pipeline.cluster.connection import connect
from pipeline.execution.admission import admit
from pipeline.execution.executor import Executor
from pipeline.execution.executors import make_executor
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep


@contextmanager
def job_executor(cluster: ClusterLike, sweep: Sweep) -> Iterator[Executor]:
    """Provide an executor of jobs about a sweep on a cluster, whose workers are admitted as those of a run.

    Raises InputError where there is no cluster, or none of its workers can compute the sweep.
    """
    configuration, sweep_plan = as_cluster(cluster), plan(sweep)
    with connect(configuration) as client:
        members = admit(client, sweep_plan, configuration.source)
        with closing(make_executor(client, sweep_plan, "block", members=members)) as executor:
            yield executor
