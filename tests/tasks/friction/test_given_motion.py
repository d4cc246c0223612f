"""Friction under loads that it causes, along motions: whether there is one, none or several, beside free bodies."""

from __future__ import annotations

from benchmarks.motion.given import NUMBER, counted


def test_statuses_tell_how_many_solutions_there_are() -> None:
    found = counted("delta_3rr2rrr", 0.3, 0.02, 8)
    assert {*found.status} == {*NUMBER}
    assert not found.wrong.any()
    assert [NUMBER[status] for status in found.status] == list(found.solutions)
