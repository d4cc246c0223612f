"""Times of the trajectories of a dataset, some of which may end before others or have steps of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from storage.schema import SAMPLES, STEP

if TYPE_CHECKING:
    import xarray as xr


def with_times(dataset: xr.Dataset) -> xr.Dataset:
    """Return a dataset with whole numbers of samples, and where steps differ with times (trajectory, time) [s].

    Behind the end of a trajectory its times are NaN.
    """
    if SAMPLES not in dataset.coords:
        return dataset
    samples = dataset[SAMPLES].astype(np.int64).assign_attrs(dataset[SAMPLES].attrs)
    dataset = dataset.assign_coords({SAMPLES: samples})
    if STEP not in dataset.coords or "time" not in dataset.sizes:
        return dataset
    numbers, step = np.arange(dataset.sizes["time"]), dataset[STEP].values[:, None]
    times = np.where(numbers < samples.values[:, None], numbers * step, np.nan)
    return dataset.assign_coords(time=(("trajectory", "time"), times, {"units": "s", "long_name": "time"}))


def samples_of(dataset: xr.Dataset) -> NDArray[np.int64]:
    """Return the number of samples of each trajectory of a dataset (trajectory,), or of the selected trajectory."""
    if SAMPLES in dataset.coords:
        return np.atleast_1d(dataset[SAMPLES].values).astype(np.int64)
    return np.full(dataset.sizes.get("trajectory", 1), dataset.sizes.get("time", 1), dtype=np.int64)


def has_one_length(dataset: xr.Dataset) -> bool:
    """Return whether all trajectories of a dataset have the same times."""
    if SAMPLES not in dataset.coords or "time" not in dataset.sizes:
        return True
    whole = bool((samples_of(dataset) == dataset.sizes["time"]).all())
    return whole and (STEP not in dataset.coords or len(np.unique(dataset[STEP].values)) == 1)


def of_trajectory(dataset: xr.Dataset, trajectory: int) -> xr.Dataset:
    """Return the part of a dataset that belongs to a trajectory, by number, at its own samples; `time` has one dim."""
    samples = int(samples_of(dataset)[trajectory if "trajectory" in dataset.sizes else 0])
    part = dataset.isel(trajectory=trajectory) if "trajectory" in dataset.sizes else dataset
    return part.isel(time=slice(0, samples), missing_dims="ignore")


def times_of(dataset: xr.Dataset, trajectory: int) -> NDArray[np.float64]:
    """Return the times of a trajectory of a dataset, by number [s] (its samples,)."""
    return np.asarray(of_trajectory(dataset[["time"]], trajectory)["time"].values, dtype=float)
