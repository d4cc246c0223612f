"""The parts of a page in their order: each is a title, text and controls, figures, and data; or nothing.

A part appears only where the store has what it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pipeline.report import case_parts, design_parts
from pipeline.report.part import Part
from pipeline.report.results import Results


def parts(results: Results) -> Iterator[Part]:
    """The parts that the results have data for."""
    for make in MAKERS:
        tuple[Callable[[Results], Part | None], ...] = (
            _swept,
            design_parts.designs,
            design_parts.front,
            design_parts.sensitivity,
            case_parts.mechanism,
            case_parts.series,
            case_parts.workspace,
            _trouble,
            _provenance,
        )
