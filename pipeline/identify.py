"""Identify the robots of a dataset: one Dask task for each design with a friction set, and a summary of all.

Parameters of bodies that the data cannot tell apart come as groupings, see `tasks.identification.base`.
"""

from __future__ import annotations

import csv
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pipeline.cluster import connect
from pipeline.coordinator import Cluster, flight, settings
from pipeline.errors import TaskError
from pipeline.execute import failure
from pipeline.graph import identify_graph
from pipeline.identify_job import Job, robot_of
from pipeline.plan import plan
from pipeline.recompute import stored_sweep
from pipeline.recordings import require
from robots.parameters import nearest
from storage.errors import StoreError
from storage.place import Location, locate
from storage.store import open_results
from tasks.identification.estimators import ESTIMATORS

if TYPE_CHECKING:
    from pipeline.execute import Flight
    from tasks.identification.fit import Fit

SECONDS = 1.0
COLUMNS = ("design", "friction", "parameter", "truth", "value", "deviation")


@dataclass(frozen=True)
class Identified:
    """Fits by design and friction set, and why others failed."""

    fits: dict[tuple[int, int], Fit]
    failed: dict[tuple[int, int], str]

    def rows(self) -> Iterator[tuple[str, str]]:
        """What `limbsweep identify` prints."""
        yield "identified", f"{len(self.fits)} of {len(self.fits) + len(self.failed)} robots with their friction"
        for case, reason in list(self.failed.items())[:5]:
            yield "failed", f"design {case[0]}, friction set {case[1]}: {reason}"
        if not self.fits:
            return
        fits = list(self.fits.values())
        scores = np.abs(np.concatenate([each.scores for each in fits]))
        yield "base parameters", f"{len(fits[0].names)} each"
        yield "condition", f"{np.median([each.condition for each in fits]):.4g} (median)"
        yield "residuals", f"{np.median([each.noise for each in fits]):.4g} N m or N (median)"
        yield "within 2 deviations", f"{np.mean(scores < 2.0):.1%} of the parameters"
        yield "within 3 deviations", f"{np.mean(scores < 3.0):.1%} of the parameters"
        validation = [each.validation for each in fits]
        if np.isfinite(validation).any():
            yield "unused trajectories", f"{np.nanmedian(validation):.3%} of the forces are not explained (median)"

    def save(self, path: Path) -> None:
        """Write one line for each parameter of each case."""
        with path.open("x", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(COLUMNS)
            for case, each in sorted(self.fits.items()):
                numbers = zip(each.truth.tolist(), each.values.tolist(), each.deviations.tolist(), strict=True)
                table.writerows((*case, name, *row) for name, row in zip(each.names, numbers, strict=True))


def identify(
    store: Location,
    method: str = "weighted",
    *,
    clean: bool = False,
    designs: Sequence[int] | None = None,
    cluster: Cluster = None,
) -> Identified:
    """Base parameters of the robots in a finished store from their measured signals, or `clean` ones.

    Trajectories for training are used, the others for validation. Raises StoreError for a store without the signals,
    and for a method or designs that there are not; ClusterLostError.
    """
    if method not in ESTIMATORS:
        raise StoreError(f"method: got {method!r}; expected an estimator; {nearest(method, ESTIMATORS)}")
    place, sweep = locate(store), stored_sweep(store, plain=True)
    require(open_results(place), robot_of(sweep, 0), clean, str(place))
    count = sweep.design.size
    chosen = range(count) if designs is None else designs
    if wrong := [each for each in chosen if not 0 <= each < count]:
        raise StoreError(f"designs: got {wrong[0]}; expected a number from 0 to {count - 1}")
    jobs = [Job(str(place), sweep.text, d, f, method, clean) for d in chosen for f in range(sweep.friction.size)]
    with connect(settings(cluster)) as client, closing(flight(client, plan(sweep), "block")) as flying:
        return _collected(jobs, flying)


def _collected(jobs: Sequence[Job], flying: Flight) -> Identified:
    run, waiting = uuid.uuid4().hex[:8], list(reversed(jobs))
    found = Identified({}, {})
    under_way = 0
    while waiting or under_way:
        while waiting and flying.room:
            flying.submit(identify_graph(waiting.pop(), run))
            under_way += 1
        result = flying.next(SECONDS)
        if result is None:
            continue
        under_way -= 1
        case = (int(result.key[1]), int(result.key[2]))
        if isinstance(result.value, BaseException):
            found.failed[case] = _reason(result.value)
        else:
            found.fits[case] = result.value
    return found


def _reason(error: BaseException) -> str:
    return str(error) if isinstance(error, TaskError) else failure(error).reason
