"""Static figures of results with matplotlib, for papers and notebooks: the kinds are rows of a table.

Every kind is a function of `Results` that gives a figure; what it shows is what the page shows, with the same names,
units and colours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from pipeline.documents.outputs import output
from pipeline.documents.report import sentence
from pipeline.errors import InputError, Problem
from pipeline.report.data.results import Results
from pipeline.report.figures import case, designs
from pipeline.report.figures.paper import dress
from robots.parameters import nearest

FORMATS = (".png", ".svg", ".pdf")


class FigureKind(NamedTuple):
    """A kind of figure: what it shows, and what draws it."""

    text: str
    draw: Callable[[Results], Figure]


def figure(results: Results, kind: str) -> Figure:
    """Draw a figure of a kind. Raises InputError for an unknown kind, and where the results lack what it shows."""
    if kind not in KINDS:
        raise InputError([Problem("KIND", 0, 0, "", repr(kind), "a kind of figure", sentence(nearest(kind, KINDS)))])
    return dress(KINDS[kind].draw(results))


def check(kind: str, path: Path) -> None:
    """See that there is a kind of figure, and a format by the end of a name. Raises InputError."""
    if kind not in KINDS:
        raise InputError([Problem("KIND", 0, 0, "", repr(kind), "a kind of figure", sentence(nearest(kind, KINDS)))])
    if path.suffix.lower() not in FORMATS:
        rule = f"a file name that ends in {', '.join(FORMATS)}"
        raise InputError([Problem("--output", 0, 0, "", repr(str(path)), rule)])


def save(results: Results, kind: str, path: Path, *, force: bool = False) -> None:
    """Write a figure as PNG, SVG or PDF, by the end of its name.

    Raises InputError for another, for an unknown kind, and where the file may not or cannot be written.
    """
    check(kind, path)
    drawing = figure(results, kind)
    # Without dates and random names, equal results give equal files.
    from matplotlib import rc_context

    stamp: Mapping[str, Any] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    with rc_context({"svg.hashsalt": "limbsweep"}), output(path, force=force) as draft:
        drawing.savefig(draft, dpi=150, metadata=stamp[path.suffix.lower()])


KINDS: Mapping[str, FigureKind] = {
    "series": FigureKind("effort, position, velocity and power of the actuators over time", case.actuators),
    "friction": FigureKind("effort of the actuators, and what friction asks of them, over time", case.friction),
    "parallel": FigureKind("designs as lines over their parameters and metrics", designs.parallel),
    "front": FigureKind("designs by two metrics, with the front", designs.front),
    "sensitivity": FigureKind("which parameter explains how much of each metric", designs.sensitivity),
    "workspace": FigureKind("maps of a workspace, or where the platform goes, coloured by effort", case.places),
    "status": FigureKind("failed samples by trajectory and reason", designs.status),
    "mechanism": FigureKind("the mechanism at some times of its first trajectory", case.mechanism),
}
"""What `limbsweep figure` and `Dataset.limbsweep.plot` can draw."""
