"""Figures carry all that it takes to read them, and a wrong result stops a benchmark."""

from __future__ import annotations

import json
import time

import pytest

from benchmarks.figures import CheckError, Figure, best, heading, json_line, require, surroundings, table


def test_surroundings_name_machine_and_versions() -> None:
    around = surroundings()
    assert around["cpu"]
    assert around["cores"] >= 1
    assert {"vectors", "load", "system", "python", "numpy", "llvmlite", "zarr", "distributed"} <= set(around)
    assert f"{around['cores']} cores" in heading(around)
    assert f"numpy {around['numpy']}" in heading(around)


def test_a_json_line_can_be_read_alone() -> None:
    line = json.loads(json_line("kernel", Figure("speed", 0.25, "us", "one thread"), {"cpu": "some"}))
    assert line == {
        "case": "kernel",
        "name": "speed",
        "value": 0.25,
        "unit": "us",
        "remark": "one thread",
        "machine": {"cpu": "some"},
    }


def test_table_aligns_and_shows_what_is_missing() -> None:
    figures = [Figure("a", 1.0 / 3.0, "us", "first"), Figure("longer", None, "", "needs x"), Figure("b", 123456.7, "m")]
    assert list(table(figures)) == [
        "  a       0.3333 us  first",
        "  longer       -     needs x",
        "  b       123457 m",
    ]


def test_best_is_the_shortest_of_all_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((0.0, 0.5, 1.0, 1.25, 2.0, 2.5))
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    assert best(lambda: None, 3) == 0.25
    assert next(clock, None) is None


def test_wrong_results_stop_a_benchmark() -> None:
    require(True, "not shown")
    with pytest.raises(CheckError, match="off by 1"):
        require(False, "off by 1")
