"""Where the platform goes on the trajectories of a case, and numbers to colour these positions by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.report.results import Results

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Colour:
    """A number of every position, (trajectory, time), NaN where there is none."""

    label: str
    values: Array


def visited(results: Results) -> Array | None:
    """Positions of the platform (trajectory, time, 3) [m]; None of a chain, or where nobody knows them."""
    found = results.series("platform_position")
    return None if found is None else np.asarray(found.values, float)


def choices(results: Results) -> tuple[Colour, ...]:
    """What positions can be coloured by."""
    return tuple(_choices(results))


def _choices(results: Results) -> Iterator[Colour]:
    force = results.series("actuator_force")
    if force is not None and np.isfinite(force.values).any():
        kind, units = ("torque", "N m") if force.attrs.get("units") == "N m" else ("force", force.attrs["units"])
        yield Colour(f"largest {kind} of an actuator [{units}]", np.abs(force.values).max(axis=-1))
    if "status" in results.dataset and results.designs.count > 1:
        from pipeline.report.case import MOST_TRAJECTORIES

        status = results.dataset["status"].isel(
            trajectory=slice(MOST_TRAJECTORIES), time=slice(None, None, results.stride)
        )
        over = [dim for dim in status.dims if dim not in ("trajectory", "time")]
        share = 100.0 * (status == 0).mean(over).transpose("trajectory", "time")
        yield Colour("designs that reach it [%]", share.values)
