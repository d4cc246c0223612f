"""What a report is made from: a dataset, its table of designs, the design that is looked into, and its case.

Everything is computed when it is first asked for, so that a figure of one kind costs what that kind costs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import InputError, Problem
from pipeline.report.designs import Designs, designs
from pipeline.side_files import Source, stored_files

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

    from pipeline.report.case import Case


@dataclass(frozen=True, eq=False)
class Results:
    """The dataset of a store, and what a user chose: a design, a friction set, a folder of files that the sweep names.

    Raises InputError for a design or a friction set that the dataset does not have.
    """

    dataset: Dataset
    chosen_design: int | None = None
    chosen_friction: int | None = None
    files: Path | None = None
    stored: Source | None = None
    """The files in the store, where the dataset is that of one."""

    def __post_init__(self) -> None:
        for option, chosen in (("design", self.chosen_design), ("friction", self.chosen_friction)):
            size = self.dataset.sizes.get(option, 1)
            if chosen is not None and not 0 <= chosen < size:
                rule = f"the number of one of the {size}, from 0 to {size - 1}"
                raise InputError([Problem(f"--{option}", 0, 0, "", str(chosen), rule)])

    @cached_property
    def designs(self) -> Designs:
        """The table of all designs."""
        return designs(self.dataset)

    @property
    def table(self) -> Dataset:
        """The table of all designs as a dataset: small, and in memory; `good` marks designs without a failed sample."""
        from xarray import Dataset

        found = self.designs
        columns = {
            each.name: ("design", each.values, {"units": each.units, "long_name": each.text, "reduced": each.how})
            for each in found.columns
        }
        return Dataset({**columns, "good": ("design", found.good)})

    @cached_property
    def shown(self) -> NDArray[np.int64]:
        """Numbers of the designs that plots of all designs show."""
        return self.designs.shown(always=(self.design,))

    @property
    def design(self) -> int:
        """The design that is looked into: the chosen one, or the best."""
        return self.designs.best if self.chosen_design is None else self.chosen_design

    @cached_property
    def friction(self) -> int:
        """The friction set that is looked into: the chosen one, or that in which actuators need most."""
        peak = self.dataset.get("peak_force")
        if self.chosen_friction is not None or peak is None:
            return self.chosen_friction or 0
        others = [dim for dim in peak.dims if dim not in ("design", "friction")]
        values = peak.isel(design=self.design).max(others).values
        return int(np.nanargmax(values)) if np.isfinite(values).any() else 0

    @cached_property
    def _case(self) -> tuple[Case | None, str]:
        from pipeline.report.case import compute, read_sweep

        try:
            case = compute(read_sweep(self.dataset.attrs, self.stored or self.files), self.design, self.friction)
        except InputError as error:
            if self.files is not None:
                raise
            return None, str(error)
        # Where the store has a series too, it is that of the store which is shown.
        stored = {name: self._stored(str(name), case.stride) for name in case.results if name in self.dataset}
        return replace(case, results=case.results.assign(stored)), ""

    @property
    def case(self) -> Case | None:
        """The shown design under the shown friction set; None where the sweep in the store cannot be read again."""
        return self._case[0]

    @property
    def why_no_case(self) -> str:
        """Why there is no case; empty where there is one."""
        return self._case[1]

    def series(self, name: str) -> DataArray | None:
        """A time series (trajectory, time, ...) of the case: of the store where it has it, else computed again."""
        if self.case is not None:
            return self.case.results.get(name)
        return self._stored(name, self.stride) if name in self.dataset else None

    def _stored(self, name: str, stride: int) -> DataArray:
        """What the store has of the case, at every `stride`-th time."""
        from pipeline.report.case import MOST_TRAJECTORIES

        place = {"design": self.design, "friction": self.friction}
        found = self.dataset[name].isel(trajectory=slice(MOST_TRAJECTORIES))
        found = found.isel({dim: index for dim, index in place.items() if dim in found.dims}, drop=True)
        if "time" in found.dims:
            found = found.isel(time=slice(None, None, stride))
        return found.transpose("trajectory", ...).compute()

    @property
    def stride(self) -> int:
        """How many times of the store lie between two that are shown."""
        from pipeline.report.case import MOST_TIMES

        if self.case is not None:
            return self.case.stride
        return max(1, -(-(self.dataset.sizes.get("time", 1) - 1) // (MOST_TIMES - 1)))


def results_of(
    store: str | Path | Dataset,
    design: int | None = None,
    friction: int | None = None,
    files: str | Path | None = None,
) -> Results:
    """The results in a store, finished or not, or in a dataset. Raises StoreError, InputError."""
    from xarray import Dataset

    from storage import open_results

    if isinstance(store, Dataset):
        return Results(store, design, friction, None if files is None else Path(files))
    dataset, folder = open_results(store, unfinished=True), None if files is None else Path(files)
    return Results(dataset, design, friction, folder, stored_files(store, folder or "."))
