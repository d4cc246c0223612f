"""Write the HTML file of a report: self-contained, without any request to a network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template

from pipeline.documents.outputs import OPTION, check_output, write_text
from pipeline.errors import InputError, Problem, show
from pipeline.report.data.results import Results
from pipeline.report.data.runs import ComparedRuns
from pipeline.report.page.bundle import ArrayBundle
from pipeline.report.page.design_details import design_details
from pipeline.report.page.design_parts import is_compared, table_data
from pipeline.report.page.markup import script_json
from pipeline.report.page.part import PagePart
from pipeline.report.page.parts import parts
from pipeline.report.page.runs import side_by_side

SUFFIXES = (".html", ".htm")
STYLES = ("page.css", "parts.css", "print.css")
SCRIPTS = (
    *("base.js", "theme.js", "columns.js", "canvas.js", "parallel.js", "scatter.js", "listing.js", "designs.js"),
    *("scene.js", "bodies.js", "mechanism.js", "plots.js", "series.js", "workspace.js", "runs.js"),
    *("print.js", "start.js"),
)
"""Of `web/`, in the order in which they are read and run; all scripts in one function."""


def page(results: Results, runs: ComparedRuns | None = None) -> str:
    """Make the text of the HTML file, of a run, or of the best of several with all of them in front.

    Raises InputError where the plotting library is missing.
    """
    require_plotly()
    from plotly.offline import get_plotlyjs

    bundle = ArrayBundle()
    sections = [*([side_by_side(runs, bundle)] if runs else []), *parts(results, bundle)]
    data = {name: value for part in sections for name, value in part.data.items()}
    if is_compared(results):
        data["designs"] = table_data(results, bundle)
    data["details"] = design_details(results)
    data["figures"] = {name: figure for part in sections for name, figure in part.plain_figures().items()}
    data["bundle"] = bundle.text()
    title = results.question.title or str(results.dataset.attrs.get("title", "")) or "limbsweep results"
    if runs and len({run.results.question.title for run in runs.runs} | {""}) != 2:  # they share no question in words
        title = " against ".join(run.name for run in runs.runs)
    return Template(_file("page.html")).substitute(
        title=escape(title),
        nav="".join(f'<li><a href="#{part.identity}">{escape(part.short or part.title)}</a></li>' for part in sections),
        sections=_sections(sections),
        style="\n".join(_file(name) for name in STYLES),
        data=script_json(data),
        plotly=get_plotlyjs() if data["figures"] else "",
        script="(() => {\n" + "\n".join(_file(name) for name in SCRIPTS) + "})();",
    )


def check(path: Path, *, force: bool = False) -> None:
    """See that a report may be written there, before it is made. Raises InputError."""
    if path.suffix.lower() not in SUFFIXES:
        rule = f"a file name that ends in {' or '.join(SUFFIXES)}"
        raise InputError([Problem(OPTION, 0, 0, "", show(str(path)), rule, "The report is a page.")])
    check_output(path, force=force)


def write(results: Results, path: Path, *, force: bool = False) -> None:
    """Write the report as a file: whole, or not at all. Raises InputError where it may not or cannot be written."""
    write_text(path, page(results), force=force)


def write_runs(runs: ComparedRuns, path: Path, *, force: bool = False) -> None:
    """Write the report of several runs, as that of one. Raises InputError."""
    write_text(path, page(runs.runs[runs.best].results, runs), force=force)


def require_plotly() -> None:
    """Check that plotly, an extra, is installed. Raises InputError."""
    if find_spec("plotly") is None:
        hint = "Install it: pip install 'limbsweep[report]'."
        raise InputError([Problem("report", 0, 0, "", "no package plotly", "plotly, which draws the page", hint)])


def _sections(sections: Sequence[PagePart]) -> str:
    return "".join(
        f'<section id="{part.identity}" class="part" aria-labelledby="{part.identity}-title">'
        f'<h2 id="{part.identity}-title">{escape(part.title)}</h2>{part.body}</section>'
        for part in sections
    )


def _file(name: str) -> str:
    return files("pipeline.report").joinpath("web", name).read_text(encoding="utf-8")
