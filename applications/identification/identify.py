"""Identify the robots of a dataset: one Dask task for each design with a friction set, and a summary of all.

Parameters of bodies that the data cannot tell apart come as groupings, see
`applications.identification.estimation.base`.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from applications.identification.estimation.methods import METHODS
from applications.identification.identify_job import IdentifyJob, robot_of
from applications.identification.recordings import SOURCES, MotionSource, refuse_unmodelled, require
from pipeline.cluster.arguments import ClusterLike
from pipeline.documents.outputs import CellWriter, checked_suffix, output
from pipeline.execution.executor import reason, results
from pipeline.execution.graph import job_graph
from pipeline.execution.job_executor import job_executor
from pipeline.sweep.stored import stored_sweep
from robots.arguments import check_arguments
from robots.data_classes import dataclass
from robots.parameter_errors import nearest
from storage.errors import StoreError
from storage.places.access import locate
from storage.places.location import LocationLike
from storage.store import open_results

if TYPE_CHECKING:
    from applications.identification.estimation.fit import Fit

COLUMNS = ("design", "friction", "parameter", "truth", "value", "deviation", "condition", "noise", "validation")


COVERED = 0.9
"""Share of the parameters within three deviations of the truth below which deviations are said to be too small."""

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

    fits: dict[tuple[int, int], Fit]
    failed: dict[tuple[int, int], str]
    left_out: int = 0
    measured: bool = False

    def rows(self) -> Iterator[tuple[str, str]]:
        """Summarise the fits, as `limbsweep identify` prints them."""
        yield "identified", f"{len(self.fits)} of {len(self.fits) + len(self.failed)} robots with their friction"
        for case, why in list(self.failed.items())[:5]:
            yield "failed", f"design {case[0]}, friction set {case[1]}: {why}"
        if self.left_out:
            yield "left out", f"{self.left_out} simulated cases that came to an end"
        if not self.fits:
            return
        fits = list(self.fits.values())
        scores = np.abs(np.concatenate([result.scores for result in fits]))
        yield "base parameters", f"{len(fits[0].names)} each"
        yield "condition", f"{np.median([result.condition for result in fits]):.4g} (median)"
        yield "residuals", f"{np.median([result.noise for result in fits]):.4g} N m or N (median)"
        yield "within 2 deviations", f"{np.mean(scores < 2.0):.1%} of the parameters"
        yield "within 3 deviations", f"{np.mean(scores < 3.0):.1%} of the parameters"
        if self.measured and np.mean(scores < 3.0) < COVERED:
            yield "deviations too small", FORCES_ALONE
        validation = [result.validation for result in fits]
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
        for case, result in sorted(self.fits.items()):
            numbers = zip(result.truth.tolist(), result.values.tolist(), result.deviations.tolist(), strict=True)
            whole = (result.condition, result.noise, result.validation)
            table.writerows((*case, name, *row, *whole) for name, row in zip(result.names, numbers, strict=True))

    def _write_json(self, file: IO[str]) -> None:
        cases = [{"design": d, "friction": f, **_described(result)} for (d, f), result in sorted(self.fits.items())]
        failed = [{"design": d, "friction": f, "reason": text} for (d, f), text in sorted(self.failed.items())]
        json.dump({"cases": cases, "failed": failed}, file, indent=1, allow_nan=False)


FORMATS: Mapping[str, Callable[[Identified, IO[str]], None]] = {
    ".csv": Identified._write_csv,
    ".json": Identified._write_json,
}
"""Writer of the identified parameters, by the ending of the file name."""


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
    require(open_results(place), robot_of(sweep, 0), clean, source, str(place))
    refuse_unmodelled(sweep, str(place))
    count = sweep.design.size
    selection = range(count) if designs is None else designs
    if wrong := [design for design in selection if not 0 <= design < count]:
        raise StoreError(f"designs: got {wrong[0]}; expected a number from 0 to {count - 1}")
    run = uuid.uuid4().hex[:8]
    options = (method, clean, source, run)
    cases = ((d, f) for f in range(sweep.friction.size) for d in selection)  # designs of a chunk one after another
    jobs = (IdentifyJob(str(place), sweep.text, d, f, *options) for d, f in cases)
    ended = 0 if sweep.simulation is None else open_results(place)["failed_samples"].isel(design=list(selection)) > 0
    identified = Identified({}, {}, int(np.sum(ended)), source == "measured")
    with job_executor(cluster, sweep) as executor:
        for result in results((job_graph(job, f"identify-{run}", *job.case) for job in jobs), executor):
            case = (int(result.key[1]), int(result.key[2]))
            if isinstance(result.value, BaseException):
                identified.failed[case] = reason(result.value)
            else:
                identified.fits[case] = result.value
    return identified
