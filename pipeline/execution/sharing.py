"""Shares of runs that use one cluster at the same time, by their weights.

Dask gives workers the tasks that came first. Each run keeps a window of blocks in flight, so its part of the threads
follows from its window and the time of its blocks. A run tells its weight in the metadata of the scheduler, again and
again; each run multiplies its window by its share. A run that has nothing more to submit gives its share to the others,
and a run that has not reported for some seconds is left out.

The weight is the annotation `weight` of Dask, or `weight` of the cluster file; the default is 1.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import dask.config
from dask.base import get_annotations

from pipeline.cluster.checks import LEAST_WEIGHT, MOST_WEIGHT, is_number
from pipeline.cluster.settings import WEIGHT
from pipeline.errors import refused

if TYPE_CHECKING:
    from distributed import Client

RUNS = "limbsweep-runs"
"""Key of the metadata of a scheduler that has a row for each run."""

GONE_SECONDS = 15.0
"""Seconds without news of another run after which it is left out."""


def weight() -> float:
    """Return the weight of a run that begins here. Raises InputError."""
    value = get_annotations().get("weight", dask.config.get(WEIGHT, 1.0))
    if is_number(value) and LEAST_WEIGHT <= float(value) <= MOST_WEIGHT:
        return float(value)
    hint = "Twice the weight gives twice the share of a cluster that several runs use."
    rule = f"a number from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}"
    raise refused("dask.annotate(weight=...)", repr(value), rule, hint)


class Share:
    """Share of one run in a cluster, from 0 to 1. `seconds`: computing time of one of its blocks."""

    def __init__(
        self,
        client: Client,
        weight: float,
        seconds: float,
        has_more: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set up the share. `has_more`: whether the run has blocks that it has not submitted."""
        self.client, self._has_more, self._clock = client, has_more, clock
        self._row = {"weight": weight, "seconds": max(seconds, 1e-6)}
        self._name, self._beat = uuid.uuid4().hex[:8], 0
        self._seen: dict[str, tuple[int, float]] = {}
        """The last beat of each other run, and the time at which it was new."""

    def __call__(self) -> float:
        """Tell the weight, look for other runs, and return the share: 1 where this run is alone."""
        self._beat += 1
        row = {**self._row, "beat": self._beat} if self._has_more() else None
        self.client.set_metadata([RUNS, self._name], row)
        rows: Mapping[str, Any] = self.client.get_metadata([RUNS], default={})
        rivals = [self._weight(row) for name, row in rows.items() if name != self._name and self._is_alive(name, row)]
        mine = self._weight(self._row)
        return mine / (mine + sum(rivals))

    def close(self) -> None:
        """Leave the cluster to the others."""
        with suppress(Exception):  # of a scheduler that has gone
            self.client.set_metadata([RUNS, self._name], None)

    @staticmethod
    def _weight(row: Mapping[str, Any]) -> float:
        """Return blocks in flight relative to other runs: blocks that take longer are fewer."""
        return float(row["weight"]) / float(row["seconds"])

    def _is_alive(self, name: str, row: Mapping[str, Any] | None) -> bool:
        """Return whether another run has reported lately."""
        if row is None:
            self._seen.pop(name, None)
            return False
        beat, since = self._seen.get(name, (0, 0.0))
        if beat != row["beat"]:
            since = self._clock()
            self._seen[name] = int(row["beat"]), since
        return self._clock() - since < GONE_SECONDS
