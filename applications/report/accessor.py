"""`Dataset.limbsweep`, for notebooks: accessor for any dataset that came from a store of limbsweep.

Packages on xarray add an accessor (rioxarray, cf_xarray and others do), because subclasses would be lost in the first
selection. xarray loads it by itself (`limbsweep.backend`). Notebooks show of a robot its picture at the reference pose
and its parameters, and a report below a cell.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import xarray

from applications import report as reports
from applications.report.data.recomputed import ComputedResults, results_of
from applications.report.data.results import Results
from applications.report.data.sketch import draw
from applications.studies.axes import by_design, unstacked
from applications.studies.cases import by_cases
from applications.studies.columns import objective, refuse
from applications.studies.ranking import rank
from pipeline.documents.writing import table
from pipeline.sweep.question.reader import stored_question
from robots.data_classes import dataclass
from robots.model import Robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from applications.report.figures.animation import Animation


WIDTH = 320
"""Width of the picture [px]."""


def robot_html(robot: Robot) -> str:
    """Return a robot as HTML, with its picture inside."""
    picture = BytesIO()
    draw(robot).savefig(picture, dpi=100, format="png")
    data = b64encode(picture.getvalue()).decode()
    rows = [(p.name, f"{robot.values[p.name]:g}", p.unit, p.text) for p in robot.family.parameters]
    mechanism = robot.mechanism
    title = f"{robot.name}: {len(mechanism.freedoms)} freedoms, {len(mechanism.actuators)} actuators"
    image = f'<img alt="{robot.name} at its reference pose" width="{WIDTH}" src="data:image/png;base64,{data}">'
    parameters = table(title, rows, ("parameter", "value", "unit", ""))
    beside = f'<div style="flex:1 1 24em">{parameters}</div>'  # below the picture where there is no room beside it
    return f'<div style="display:flex;flex-wrap:wrap;gap:16px;align-items:flex-start">{image}{beside}</div>'


HEIGHT = 720
"""Height of a report below a cell [px]."""


@dataclass(frozen=True)
class InlineReport:
    """A report as a frame of a notebook, which keeps its scripts and styles to itself."""

    html: str

    @classmethod
    def of(cls, results: Results) -> InlineReport:
        """Return the report of some results. Raises InputError where there is nothing to report."""
        with TemporaryDirectory(prefix="limbsweep-") as folder:
            path = Path(folder) / "report.html"
            reports.write_page(results, path)
            return cls(path.read_text("utf-8"))

    def __repr__(self) -> str:
        """Return the size of the report as text."""
        return f"<report of {len(self.html) / 1e6:.1f} MB>"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.html)}" width="100%" height="{HEIGHT}" style="border:0"></iframe>'


class Limbsweep:
    """Accessor of limbsweep for a dataset that `limbsweep.open` or `limbsweep.run` returned."""

    def __init__(self, dataset: xarray.Dataset) -> None:
        self._dataset = dataset

    def grid(self) -> xarray.Dataset:
        """Return the dataset with a dim for each swept parameter in place of `design`.

        Parameters that follow from others stay coordinates. Raises InputError where the designs are no grid: samples,
        lists, or a grid from which conditions have left designs out.
        """
        return unstacked(by_design(self._dataset))

    def best(
        self,
        *objectives: str,
        where: Sequence[str] = (),
        weights: Sequence[float] = (),
        count: int = 1,
        cases: Sequence[str] = (),
    ) -> xarray.Dataset:
        """Return the best designs, all of which feasible: without the dim `design` for a `count` of 1, else best first.

        objectives: columns or expressions as in `limbsweep study rank` (default: those of the section `study` of the
        sweep, else `peak_force`), with `weights` where there are several; where: conditions that a design has to meet;
        cases: swept parameters that are operating conditions (defaults of both as well). With cases the result has the
        dim `case`, and no series. All gains and initial states of simulations are designs. Raises InputError where too
        few designs do.
        """
        if "design" not in self._dataset.dims:
            raise refuse("best", "no dim design", "a dataset of several designs", "Select none before.")
        question = stored_question(self._dataset.attrs, self._dataset.coords).with_options(objectives, where, cases)
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
        return results_of(self._dataset).design

    def plot(
        self,
        kind: str,
        *,
        design: int | None = None,
        friction: int | None = None,
        files: str | Path | None = None,
    ) -> Figure:
        """Draw a figure of `applications.report.figures.case.KINDS`; the options are those of a report.

        Raises InputError for an unknown kind, and where the dataset lacks its data.
        """
        figure: Figure = reports.figure(results_of(self._dataset, design, friction, files), kind)
        return figure

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
        report. Raises InputError for an unknown trajectory, and where the dataset lacks the needed data.
        """
        results = results_of(self._dataset, design, friction, files)
        animation: Animation = reports.animation(results, trajectory, speed)
        return animation

    def page(
        self, *, design: int | None = None, friction: int | None = None, files: str | Path | None = None
    ) -> InlineReport:
        """Return the report of the dataset inside a notebook, below the cell; the options are those of a report."""
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
        path: Path = reports.write_report(
            self._dataset,
            output,
            design=design,
            friction=friction,
            files=files,
            objectives=objectives,
            where=where,
            cases=cases,
        )
        return path

    def designs(self) -> xarray.Dataset:
        """Return the parameters and worst metrics of every design, without time series: small, and in memory.

        Designs are the designs of the dataset: operating cases of a study count as parameters here.
        """
        return ComputedResults(by_design(self._dataset), thins=False).table
