"""Identify the robots of a dataset: a Dask task for some designs with a friction set, and a summary of all.

Parameters of bodies that the data cannot tell apart come as groupings, see
`applications.identification.estimation.base`.
"""

from __future__ import annotations

import itertools
import json
import textwrap
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from applications.identification.estimation.base import TOLERANCE
from applications.identification.estimation.methods import METHODS
from applications.identification.estimation.table import Case, Fits, FoundFits
from applications.identification.identify_job import IdentifyJob, robot_of
from applications.identification.recordings import SOURCES, MotionSource, needed, refuse_unmodelled, require
from pipeline.cluster.arguments import ClusterLike
from pipeline.documents.outputs import CellWriter, checked_suffix, output
from pipeline.execution.executor import Result, reason, results
from pipeline.execution.graph import job_graph
from pipeline.execution.job_executor import job_executor
from pipeline.monitor.progress import counted
from pipeline.sweep.stored import stored_sweep
from robots.arguments import check_arguments
from robots.data_classes import dataclass
from robots.parameter_errors import nearest
from storage.errors import StoreError
from storage.lazy import designs_in_chunk
from storage.places.access import locate
from storage.places.location import LocationLike
from storage.store import open_results

if TYPE_CHECKING:
    from applications.identification.estimation.fitted import Fit

COLUMNS = ("design", "friction", "parameter", "truth", "value", "deviation", "condition", "noise", "validation")


GROUP, TASKS = 64, 3
"""Designs of a task, at most; and tasks for each place in an executor, at least, of designs that are many enough."""
COVERED = 0.9
"""Share of the parameters within three deviations of the truth below which deviations are said to be too small."""

UNTOLD = 1.0 / TOLERANCE
"""Condition above which data do not tell base parameters apart: a column of which so small a part is new counts as a
combination of others, and rounding of the motion changes values by this many times as much."""

FORCES_ALONE = (
    "they count noise of forces, not errors of the motion, which count where parameters hardly show; excite these "
    "more (limbsweep excite), lower the cutoff, or compare with --motion commanded"
)


@dataclass(frozen=True)
class Identified:
    """Fits by (design, friction set), and the reasons of failed fits.

    `left_out`: simulated cases of these that came to an end, and so are no recordings; `measured`: motions are those of
    encoders.
    """

    fits: Fits
    failed: dict[Case, str]
    left_out: int = 0
    measured: bool = False

    def rows(self) -> Iterator[tuple[str, str]]:
        """Summarise the fits, as `limbsweep identify` prints them."""
        tables = self.fits.tables
        condition = np.concatenate([np.zeros(0), *(table.condition for table in tables)])
        untold = int(np.sum(~(condition <= UNTOLD)))
        count = len(self.fits) + len(self.failed)
        yield "identified", f"{len(self.fits) - untold} of {count} robots with their friction"
        if untold:
            yield (
                "not told apart",
                f"parameters of {counted(untold, 'robot')}: the data move them together, with a condition above "
                f"{UNTOLD:.0e}, and their values say nothing; give trajectories that excite them (limbsweep excite)",
            )
        for case, why in list(self.failed.items())[:5]:
            yield "failed", f"design {case[0]}, friction set {case[1]}: {why}"
        if self.left_out:
            yield "left out", f"{self.left_out} simulated cases that came to an end"
        if not self.fits:
            return
        scores = np.abs(np.concatenate([table.scores.ravel() for table in tables]))
        noise, validation = (
            np.concatenate([getattr(table, name) for table in tables]) for name in ("noise", "validation")
        )
        yield "base parameters", f"{tables[0].values.shape[1]} each"
        yield "condition", f"{np.median(condition):.4g} (median)"
        yield "residuals", f"{np.median(noise):.4g} N m or N (median)"
        yield "within 2 deviations", f"{np.mean(scores < 2.0):.1%} of the parameters"
        yield "within 3 deviations", f"{np.mean(scores < 3.0):.1%} of the parameters"
        if self.measured and np.mean(scores < 3.0) < COVERED:
            yield "deviations too small", FORCES_ALONE
        if np.isfinite(validation).any():
            yield "unused trajectories", f"{np.nanmedian(validation):.3%} of the forces are not explained (median)"

    def save(self, path: Path, *, force: bool = False) -> None:
        """Write a file: CSV with a line for each parameter, or JSON with an object for each case.

        Raises StoreError for another kind of file, InputError for one that exists, unless by `force`, or cannot be
        written.
        """
        writer = FORMATS[checked_suffix(path, FORMATS)]
        with output(path, force=force) as draft, draft.open("x", newline="", encoding="utf-8") as file:
            writer(self, file)

    def _write_csv(self, file: IO[str]) -> None:
        table = CellWriter(file)
        table.writerow(COLUMNS)
        for case in sorted(self.fits):
            result = self.fits[case]
            numbers = zip(result.truth.tolist(), result.values.tolist(), result.deviations.tolist(), strict=True)
            whole = (result.condition, result.noise, result.validation)
            table.writerows((*case, name, *row, *whole) for name, row in zip(result.names, numbers, strict=True))

    def _write_json(self, file: IO[str]) -> None:
        cases = ({"design": d, "friction": f, **_described(self.fits[d, f])} for d, f in sorted(self.fits))
        failed = ({"design": d, "friction": f, "reason": text} for (d, f), text in sorted(self.failed.items()))
        file.write('{\n "cases": ')
        _write_list(cases, file)
        file.write(',\n "failed": ')
        _write_list(failed, file)
        file.write("\n}")


FORMATS: Mapping[str, Callable[[Identified, IO[str]], None]] = {
    ".csv": Identified._write_csv,
    ".json": Identified._write_json,
}
"""Writer of the identified parameters, by the ending of the file name."""


def _write_list(entries: Iterable[Mapping[str, object]], file: IO[str]) -> None:
    """Write a list as `json.dump` with an indent of one writes it, one entry in memory at a time."""
    between = "["
    for entry in entries:
        text = textwrap.indent(json.dumps(entry, indent=1, allow_nan=False), "  ")
        file.write(f"{between}\n{text}")
        between = ","
    file.write("[]" if between == "[" else "\n ]")


def _described(fit: Fit) -> dict[str, Any]:
    """Convert a fit to types of JSON; numbers that are not finite become null."""
    columns = zip(fit.names, fit.truth.tolist(), fit.values.tolist(), fit.deviations.tolist(), strict=True)
    parameters = [dict(zip(COLUMNS[2:6], row, strict=True)) for row in columns]
    numbers = {"condition": fit.condition, "noise": fit.noise, "validation": fit.validation}
    return {**{name: x if np.isfinite(x) else None for name, x in numbers.items()}, "parameters": parameters}


@check_arguments
def identify(
    store: LocationLike,
    method: str = "weighted",
    *,
    clean: bool = False,
    motion: MotionSource | None = None,
    designs: Sequence[int] | None = None,
    cluster: ClusterLike = None,
) -> Identified:
    """Estimate base parameters of the robots in a finished store from measured signals, or `clean` ones.

    motion: where motions come from, `measured` by the encoders or `commanded`; absent: measured, but commanded for
    clean signals. Trajectories for training are used, the others for validation. Raises StoreError for a store without
    the signals, and for an unknown method or design; ClusterLostError.

        >>> motion = {"kind": "random_fourier", "count": 3, "seed": 2, "period": 2.0, "position": 1.0}
        >>> sweep = ls.sweep(
        ...     "planar_3r", time=(2.0, 0.01), trajectories={"excite": motion}, seed=1,
        ...     friction={"law": "coulomb_viscous", "parameters": {"viscous": 0.2}},
        ...     outputs=["actuator_position", "actuator_force", "measured_position", "measured_force"],
        ...     measurement={"force_noise": 0.05, "cutoff": 20.0})
        >>> results = ls.run(sweep, "data.zarr", progress=False)
        >>> found = ls.identify("data.zarr", cluster=ls.ClusterConfig.of("synchronous"))
        >>> len(found.fits[0, 0].names), len(found.failed)
        (15, 0)
    """
    if method not in METHODS:
        raise StoreError(f"method: got {method!r}; expected an estimator; {nearest(method, METHODS)}")
    source: MotionSource = motion or ("commanded" if clean else "measured")
    if source not in SOURCES or (clean and source == "measured"):
        expected = "commanded for clean signals" if clean else f"one of {', '.join(SOURCES)}"
        raise StoreError(f"motion: got {motion!r}; expected {expected}")
    place, sweep = locate(store), stored_sweep(store, plain=True)
    if sweep.simulation is not None and (clean or source == "commanded"):
        got = "--clean" if clean else "the commanded motion"
        raise StoreError(
            f"{place}: got {got} of simulations, which do not move as they are commanded; expected measured signals; "
            "a section measurement: {} has no errors but those of differences"
        )
    data = open_results(place)
    require(data, robot_of(sweep, 0), clean, source, str(place))
    refuse_unmodelled(sweep, str(place))
    count = sweep.design.size
    selection = range(count) if designs is None else designs
    if wrong := [design for design in selection if not 0 <= design < count]:
        raise StoreError(f"designs: got {wrong[0]}; expected a number from 0 to {count - 1}")
    run = uuid.uuid4().hex[:8]
    options = (method, clean, source, run)
    ended = 0 if sweep.simulation is None else data["failed_samples"].isel(design=list(selection)) > 0
    fits, failed = Fits(), dict[Case, str]()
    with job_executor(cluster, sweep) as executor:
        groups = grouped(selection, designs_in_chunk(data[list(needed(clean, source))]), max(1, executor.room))
        cases = ((group, f) for f in range(sweep.friction.size) for group in groups)  # chunks one after another
        jobs = (IdentifyJob(str(place), sweep.text, group, f, *options) for group, f in cases)
        graphs = (job_graph(job, f"identify-{run}", job.designs[0], job.friction) for job in jobs)
        of_first = {group[0]: group for group in groups}
        for result in results(graphs, executor):
            _enter(result, of_first[int(result.key[1])], fits, failed)
    return Identified(fits, failed, int(np.sum(ended)), source == "measured")


def grouped(designs: Iterable[int], chunk: int, room: int) -> list[tuple[int, ...]]:
    """Return designs in groups, a task each: of one chunk each, and several tasks for each place in an executor.

    >>> grouped(range(5), 3, 1)
    [(0, 1), (2,), (3, 4)]
    """
    numbers = sorted(set(designs))
    most = min(GROUP, -(-len(numbers) // (TASKS * room)))
    chunks = (list(part) for _, part in itertools.groupby(numbers, lambda design: design // chunk))
    return [tuple(part[k : k + most]) for part in chunks for k in range(0, len(part), most)]


def _enter(result: Result, designs: Sequence[int], fits: Fits, failed: dict[Case, str]) -> None:
    """Enter what a task has found, or the reason why none of its designs has a fit."""
    friction = int(result.key[2])
    if isinstance(result.value, BaseException):
        failed |= {(design, friction): reason(result.value) for design in designs}
        return
    answer: FoundFits = result.value
    for table in answer.tables:
        fits.add(table)
    failed |= {(design, friction): reason(error) for design, error in answer.failed.items()}
