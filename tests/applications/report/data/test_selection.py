"""Tables of more designs than memory should hold: what a report says of them is what it says of whole tables."""

from __future__ import annotations

import numpy as np
import pytest

from applications.report.data import overview, selection, trouble
from applications.report.data.answer import key_numbers, verdict
from applications.report.data.failures import broken_conditions, failure_map
from applications.report.data.recomputed import ComputedResults
from applications.report.page.decides import decides
from applications.report.page.design_parts import designs
from pipeline.sweep.question.question import StudyQuestion
from tests.applications.report.large import large

QUESTION = StudyQuestion("", ("min energy", "min peak_force"), ("condition < 1.5", "peak_force < 40"), ())
MOST = 800
NAMES = ("upper_arm", "rod_length", "base_radius", "platform_mass")
SWEEP = f"""\
limbsweep: 1
robot: delta_3rr2rrr
design: {{sample: {{parameters: {{{", ".join(f"{name}: {{}}" for name in NAMES)}}}}}}}
"""


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> tuple[ComputedResults, ComputedResults]:
    """The results of the same designs with a whole table, and with one of some rows."""
    monkeypatch.setattr(selection, "MOST_ROWS", MOST)
    monkeypatch.setattr(selection, "PART_NUMBERS", 12 * 700)
    dataset = large(6000).assign_attrs(sweep=SWEEP)
    whole = ComputedResults(dataset, question=QUESTION, thins=False)
    return whole, ComputedResults(dataset, question=QUESTION)


def test_counts_best_and_ranks_are_those_of_all_designs(pair: tuple[ComputedResults, ComputedResults]) -> None:
    whole, part = pair
    assert part.designs.count < 2000 < whole.designs.count
    assert part.designs.totals == whole.designs.totals
    assert part.design == whole.design
    assert verdict(part) == verdict(whole)
    assert part.heading(part.design) == whole.heading(whole.design)
    assert part.ranks(part.place) == whole.ranks(whole.place)
    assert [n.note(part, part.place) for n in key_numbers(part)] == [
        n.note(whole, whole.place) for n in key_numbers(whole)
    ]
    assert broken_conditions(part) == broken_conditions(whole)


def test_fronts_and_ends_are_those_of_all_designs(pair: tuple[ComputedResults, ComputedResults]) -> None:
    whole, part = pair
    for names, line in whole.designs.fronts.items():
        np.testing.assert_array_equal(part.designs.numbers[part.designs.fronts[names], 0], line)
    for column in whole.designs.columns:
        kept = part.designs.column(column.name).values
        assert (np.nanmin(kept), np.nanmax(kept)) == (np.nanmin(column.values), np.nanmax(column.values))


def test_what_is_drawn_stands_for_all_designs(pair: tuple[ComputedResults, ComputedResults]) -> None:
    whole, part = pair
    assert int(part.designs.fair.sum()) == MOST
    arms = whole.dataset["upper_arm"].values[part.designs.numbers[part.designs.fair, 0]]
    assert abs(arms.mean() - whole.dataset["upper_arm"].values.mean()) < 0.04
    few, every = failure_map(part), failure_map(whole)
    assert few is not None
    assert every is not None
    assert {few.across.name, few.up.name} == {every.across.name, every.up.name}
    body = decides(part)
    assert body is not None
    assert f"{MOST // 2} designs drawn at random under 2 friction sets each" in body.body
    page = designs(part)
    assert page is not None
    assert "of 6,000 designs are in this page" in page.body
    assert f"of {MOST} designs drawn at random" in page.body


def test_a_chosen_design_is_kept(pair: tuple[ComputedResults, ComputedResults]) -> None:
    dataset = pair[0].dataset
    drawn = set(pair[1].designs.numbers[:, 0].tolist())
    number = next(n for n in range(6000) if n not in drawn)
    chosen = ComputedResults(dataset, number, question=QUESTION)
    assert (chosen.design, int(chosen.designs.numbers[chosen.place, 0])) == (number, number)


def test_statuses_are_counted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = large(1000)
    whole = trouble.troubles(dataset)
    monkeypatch.setattr(trouble, "PART_NUMBERS", 60 * 100)
    parts = trouble.troubles(dataset)
    assert whole is not None
    assert parts is not None
    assert parts.total == whole.total
    for one, other in zip(parts.statuses, whole.statuses, strict=True):
        assert (one.name, one.counts.tolist(), one.designs, one.first) == (
            *(other.name, other.counts.tolist(), other.designs, other.first),
        )


def test_ranges_of_coordinates_are_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = large(1000)
    (whole,) = (text for name, text in overview.swept(dataset, {}) if name == "designs")
    assert "(1,000 values)" in whole
    monkeypatch.setattr(overview, "PART", 300)
    (parts,) = (text for name, text in overview.swept(dataset, {}) if name == "designs")
    assert parts == whole.replace("(1,000 values)", "(more than 300 values)")
