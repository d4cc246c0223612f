"""Reports of a store or a dataset: one self-contained HTML file, and static figures.

    question -> results -> designs (table), case (one design, computed again) -> parts -> page
                                                                              -> static figures

`data.results` knows what is asked and shown and computes it when asked; `page.parts` says what the page has, in which
order, `web/` draws it and follows the reader. `figures` draws the same with matplotlib. Nothing here is needed to run a
sweep.
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
