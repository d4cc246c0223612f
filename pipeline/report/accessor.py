"""`Dataset.limbsweep`, for notebooks: what limbsweep knows about any dataset that came from a store of its own.

An accessor is how packages on xarray add what they know to a dataset (rioxarray, cf_xarray and others do), because
subclasses would be lost in the first selection. xarray loads it by itself (`limbsweep.backend`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import xarray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pipeline.report.figures.animation import Animation
    from pipeline.report.notebook import InlineReport


@xarray.register_dataset_accessor("limbsweep")
class Limbsweep:
    """What limbsweep knows about a dataset that `limbsweep.open` or `limbsweep.run` gave."""

    def __init__(self, dataset: xarray.Dataset) -> None:
        self._dataset = dataset

    def grid(self) -> xarray.Dataset:
        """The dataset with a dim for each swept parameter in place of `design`.

        Parameters that follow from others stay coordinates. Raises InputError where the designs are no grid: samples,
        lists, or a grid from which conditions have left designs out.
        """
        from pipeline.study.axes import by_design, unstacked

        return unstacked(by_design(self._dataset))

    def best(
        self,
        *objectives: str,
        where: Sequence[str] = (),
        weights: Sequence[float] = (),
        count: int = 1,
        cases: Sequence[str] = (),
    ) -> xarray.Dataset:
        """The best designs, all of which feasible: without the dim `design` for a `count` of 1, else best first.

        objectives: columns or expressions as in `limbsweep study rank` (default: those of the section `study` of the
        sweep, else `peak_force`), with `weights` where there are several; where: conditions that a design has to meet;
        cases: swept parameters that are operating conditions (defaults of both as well). With cases the result has the
        dim `case`, and no series. All gains and initial states of simulations are designs. Raises InputError where too
        few designs do.
        """
        from pipeline.study.axes import by_design
        from pipeline.study.cases import by_cases
        from pipeline.study.columns import objective, refuse
        from pipeline.study.ranking import rank
        from pipeline.sweep.question.reader import stored_question

        if "design" not in self._dataset.dims:
            raise refuse("best", "no dim design", "a dataset of several designs", "Select none before.")
        question = stored_question(self._dataset.attrs).with_options(objectives, where, cases)
        dataset = by_cases(by_design(self._dataset), question.cases)
        wanted = [objective(text) for text in question.objectives or ("peak_force",)]
        order, _ = rank(dataset, wanted, weights, question.where)
        if len(order) < count or count < 1:
            got = f"{len(order)} feasible designs"
            raise refuse("best", got, f"at least {count}", "Loosen the conditions, or see status and failed_samples.")
        return dataset.isel(design=int(order[0]) if count == 1 else order[:count])

    @property
    def design(self) -> int:
        """The number of the design that reports look into, the best by the first of its metrics."""
        from pipeline.report.data.results import results_of

        return results_of(self._dataset).design

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
        from pipeline.report.data.results import results_of
        from pipeline.report.figures import kinds

        return kinds.figure(results_of(self._dataset, design, friction, files), kind)

    def animation(
        self,
        trajectory: int | str = 0,
        *,
        speed: float = 1.0,
        design: int | None = None,
        friction: int | None = None,
        files: str | Path | None = None,
    ) -> Animation:
        """Draw the mechanism in motion along a trajectory, by name or number, `speed` times as fast as it is.

        A notebook plays it; `save("motion.svg")` writes a file that any browser plays. The other options are those of a
        report. Raises InputError for an unknown trajectory, and where the dataset lacks what it shows.
        """
        from pipeline.report.data.results import results_of
        from pipeline.report.figures.animation import animation

        return animation(results_of(self._dataset, design, friction, files), trajectory, speed)

    def page(
        self, *, design: int | None = None, friction: int | None = None, files: str | Path | None = None
    ) -> InlineReport:
        """The report of the dataset inside a notebook, below the cell; the options are those of a report."""
        from pipeline.report.data.results import results_of
        from pipeline.report.notebook import InlineReport

        return InlineReport.of(results_of(self._dataset, design, friction, files))

    def report(
        self,
        output: str | Path = "report.html",
        *,
        design: int | None = None,
        friction: int | None = None,
        files: str | Path | None = None,
        objectives: Sequence[str] = (),
        where: Sequence[str] = (),
        cases: Sequence[str] = (),
    ) -> Path:
        """Write the report of the dataset; see `limbsweep.report`."""
        from pipeline.report import write_report

        return write_report(
            self._dataset,
            output,
            design=design,
            friction=friction,
            files=files,
            objectives=objectives,
            where=where,
            cases=cases,
        )

    def designs(self) -> xarray.Dataset:
        """Parameters and worst metrics of every design, without time series: small, and in memory.

        Designs are those of the dataset: what a study calls operating cases are parameters as all others here.
        """
        from pipeline.report.data.results import Results
        from pipeline.study.axes import by_design

        return Results(by_design(self._dataset)).table
