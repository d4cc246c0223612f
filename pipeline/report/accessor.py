"""`Dataset.limbsweep`, for notebooks: `import pipeline.report.accessor` gives every dataset these functions.

An accessor is how packages on xarray add what they know to a dataset (rioxarray, cf_xarray and others do), because
subclasses would be lost in the first selection.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import xarray

from pipeline.report import write_report
from pipeline.report.data.results import results_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@xarray.register_dataset_accessor("limbsweep")
class Limbsweep:
    """What limbsweep knows about a dataset that `storage.open_results` or `pipeline.run` gave."""

    def __init__(self, dataset: xarray.Dataset) -> None:
        self._dataset = dataset

    def plot(
        self,
        kind: str,
        *,
        design: int | None = None,
        friction: int | None = None,
        files: str | Path | None = None,
    ) -> Figure:
        """Draw a figure of `pipeline.report.figures.kinds.KINDS`; the options are those of a report.

        Raises InputError for an unknown kind, and where the dataset lacks what it shows.
        """
        from pipeline.report.figures import kinds

        return kinds.figure(results_of(self._dataset, design, friction, files), kind)

    def report(
        self,
        output: str | Path = "report.html",
        *,
        design: int | None = None,
        friction: int | None = None,
        files: str | Path | None = None,
    ) -> Path:
        """Write the report of the dataset; see `pipeline.report.write_report`."""
        return write_report(self._dataset, output, design=design, friction=friction, files=files)

    def designs(self) -> xarray.Dataset:
        """Parameters and worst metrics of every design, without time series: small, and in memory."""
        return results_of(self._dataset).table
