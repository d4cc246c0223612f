"""Rows of `limbsweep check` about a cluster: the workers that may compute a sweep, and who writes its results.

A scheduler that runs is asked: each of its workers computes one case, as at the beginning of a run, and looks for the
store. For a cluster that a run would start, the rows list the needs of its workers. The check stores nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.cluster.arguments import worker_memory
from pipeline.cluster.connection import connect
from pipeline.cluster.file import ClusterConfig
from pipeline.cluster.kinds import ClusterFamily
from pipeline.errors import size
from pipeline.execution.admission import MEMORY_ADVICE, Membership, admit, named, needed_limit, require_memory
from pipeline.monitor.log import Event, ResultsSent, WorkerRefused
from pipeline.monitor.progress import counted, note
from pipeline.plan.model import Plan
from storage.places.access import locate
from storage.places.location import Location, LocationLike
from storage.places.reach import marked

Row = tuple[str, str]

CLUSTER, RESULTS = "cluster", "results"
"""Names of the rows."""

NEAR: Mapping[ClusterFamily, str] = {
    "process": "this process writes them to {place}",
    "local": "workers of this machine write them to {place}",
}
"""Writers of results where all computing is done on this machine."""


def cluster_rows(plan: Plan, config: ClusterConfig, store: LocationLike) -> list[Row]:
    """Return the rows of a plan on a cluster. Raises InputError where none of the workers may compute it."""
    place = locate(store)
    require_memory(config, plan)
    if config.runs_already:
        return _asked(plan, config, store)
    return [*_too_small(plan, config), *_started(plan, config, place)]


def _too_small(plan: Plan, config: ClusterConfig) -> list[Row]:
    """Return a row about workers that a run would start with less memory than a case is expected to need."""
    limit, need = worker_memory(config), needed_limit(plan)
    if limit is None or limit >= need:
        return []
    expected = f"workers of {size(limit)} are expected to need {size(need)}; a run measures that, and refuses them"
    return [(CLUSTER, f"{expected} if so. {MEMORY_ADVICE}")]


def _started(plan: Plan, config: ClusterConfig, place: Location) -> list[Row]:
    """Return the rows of a cluster that a run would start."""
    if (text := NEAR.get(config.kind.family)) is not None:
        return [(CLUSTER, config.kind.text), (RESULTS, text.format(place=place))]
    if place.folder() is None:
        return [(CLUSTER, config.kind.text), (RESULTS, f"workers write them to {place}, and need its credentials")]
    has_no_disk = config.kind.family == "kubernetes" and not config.cluster.pods.volumes
    unseen = "pods have no volumes and" if has_no_disk else "workers that do not see that folder"
    writers = "" if has_no_disk else f"workers write them to {place}; "
    return [(CLUSTER, config.kind.text), (RESULTS, f"{writers}{unseen} send them to the run, {_most(plan)}")]


def _asked(plan: Plan, config: ClusterConfig, store: LocationLike) -> list[Row]:
    """Return the rows about the workers of a scheduler that runs already."""
    events: list[Event] = []
    place = locate(store)
    with connect(config) as client, marked(place) as mark:
        members = admit(client, plan, config.source, events.append, mark)
        assert members is not None, "a scheduler has a client"
        events += members.news()
        rows = [(CLUSTER, _admitted(members))]
    rows += [(CLUSTER, str(note(event))) for event in events if isinstance(event, WorkerRefused)]
    sent = [event for event in events if isinstance(event, ResultsSent)]
    rows += [(RESULTS, f"{note(event)}; {_most(plan)}") for event in sent]
    if sum(event.workers for event in sent) < len(members.addresses()):
        rows.append((RESULTS, f"{'the other ' if sent else ''}workers write them to {place}"))
    return rows


def _admitted(members: Membership) -> str:
    addresses = members.addresses()
    if not addresses:
        return "the scheduler answers; no worker has come yet"
    return f"{counted(len(addresses), 'worker')} with {members.threads} threads may compute: {named(addresses)}"


def _most(plan: Plan) -> str:
    """Return the bytes that may come over the network, in words."""
    return f"at most {size(plan.stored)} before compression"
