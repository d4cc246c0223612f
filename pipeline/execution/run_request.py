"""The input of the process of a submitted run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.cluster.file import ClusterConfig
from robots.data_classes import dataclass
from storage.places.location import Location

if TYPE_CHECKING:
    from pipeline.execution.graph import Granularity
    from pipeline.sweep.model import Sweep


@dataclass(frozen=True)
class RunRequest:
    """Input of the process of a submitted run: sweep, store, cluster and granularity."""

    sweep: Sweep
    store: Location
    cluster: ClusterConfig
    granularity: Granularity | None
