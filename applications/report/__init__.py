"""Reports of a store or a dataset: one self-contained HTML file, and static figures.

    question -> results -> designs (table), case (one design, computed again) -> parts -> page
                                                                              -> static figures

`data.results` has the question and the data of a report and computes them on demand; `page.parts` lists the parts of
the page in order; `web/` draws them in the browser. `figures` draws the same with matplotlib. A run of a sweep needs no
module of this package.
"""

from robots.loading import on_first_use

_HOMES = {
    "animation": "applications.report.figures.animation",
    "figure": "applications.report.figures.case",
    "save_figure": "applications.report.writing",
    "write_page": "applications.report.page.page:write",
    "write_report": "applications.report.writing",
}

__all__: list[str] = []
__all__ += _HOMES

__getattr__, __dir__ = on_first_use(__name__, _HOMES)
