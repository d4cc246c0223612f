"""The first part of a page: the question, the chosen design in words and key numbers, the mechanism beside it."""

from __future__ import annotations

from html import escape
from typing import Any

from pipeline.report.data.answer import answer_words, key_numbers, question_words, verdict
from pipeline.report.data.results import Results
from pipeline.report.page.case_parts import mechanism
from pipeline.report.page.design_parts import is_compared
from pipeline.report.page.markup import paragraph, select, table
from pipeline.report.page.part import PagePart


def answer(results: Results) -> PagePart:
    """The answer, with the view of the mechanism."""
    compared = bool(results.designs.objectives)
    words = _words(results) if compared else paragraph(results.heading(results.design), "which")
    view, data = mechanism(results)
    body = f'<div class="hero"><div class="words">{words}</div><div class="view">{view}</div></div>'
    return PagePart("answer", "The answer" if compared else "The mechanism", body, {}, data | _data(results), "Answer")


def _words(results: Results) -> str:
    good, words = verdict(results)
    tiles = "".join(
        f'<div class="tile" data-column="{escape(number.column.name)}"><dt>{escape(number.column.words)}</dt>'
        f'<dd class="value">{escape(number.column.text_at(results.place))}</dd>'
        f'<dd class="note">{escape(number.note(results, results.place))}</dd></div>'
        for number in key_numbers(results)
    )
    cases = [(str(case), results.case_words(case)) for case in range(results.designs.numbers.shape[1])]
    choice = select("case", "Shown case", cases, str(results.worst_case(results.place))) if len(cases) > 1 else ""
    field = '<label for="design-number">Show design <input type="number" id="design-number" min="0" step="1"></label>'
    every = table((), ("", "value", "meaning"), "design-row")
    chooser = (
        f'<div class="controls">{field}{choice}<button type="button" id="pin">Pin for comparison</button></div>'
        + paragraph("", "note", "design-note", live=True)
        + f"<details><summary>All numbers of this design</summary>{every}</details>"
    )
    return (
        paragraph(question_words(results), "question")
        + paragraph(answer_words(results), "which answer", "design-title", live=True)
        + paragraph(words, "verdict" if good else "warning", "verdict")
        + f'<dl class="tiles">{tiles}</dl>'
        + (chooser if is_compared(results) else "")
    )


def _data(results: Results) -> dict[str, Any]:
    numbers = [
        {
            "column": number.column.name,
            "bound": number.bound_of(results.place),
            "by": number.by.name if number.by is not None and number.by.varies else None,
            "least": number.least,
        }
        for number in key_numbers(results)
    ]
    return {"tiles": numbers, "cases": [results.case_words(k) for k in range(results.designs.numbers.shape[1])]}
