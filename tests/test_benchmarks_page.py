"""The tables of docs/benchmarks.md are those that the writer makes of figures; the cases that it explains are there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cases import CASES
from docs import make_benchmarks

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
MACHINE = {
    "cpu": "some",
    "vectors": "avx2",
    "cores": 2,
    "load": 0.5,
    "system": "Linux x86_64",
    "date": "2030-01-02",
    "python": "3.13.1",
}


def line(case: str, name: str, value: float | None, unit: str = "us", remark: str = "", load: float = 0.5) -> Any:
    """A figure as it is read back."""
    return {
        "case": case,
        "name": name,
        "value": value,
        "unit": unit,
        "remark": remark,
        "machine": MACHINE | {"load": load},
    }


def test_every_case_is_explained() -> None:
    explained = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8").partition(make_benchmarks.MARK)[0], re.M)
    assert sorted(explained) == sorted(CASES)


def test_the_page_has_tables_of_cases_that_there_are() -> None:
    written = PAGE.read_text(encoding="utf-8").partition(make_benchmarks.MARK)[2]
    shown = dict(re.findall(r"^### `(\w+)`: (.*)$", written, re.M))
    assert {"peers", "robots", "start", "kernel"} <= set(shown)
    for name, what in shown.items():
        assert CASES[name].what == what


def test_the_page_begins_with_a_figure_and_sentences_of_its_own_tables() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert make_benchmarks.with_summary(text) == text, "run docs/make_benchmarks.py"
    assert text.startswith(f"# Benchmarks\n\n{make_benchmarks.SUMMARY}![")
    found = make_benchmarks.times(text)
    assert list(found) == list(make_benchmarks.SHOWN)
    assert all(min(job, key=job.__getitem__) == make_benchmarks.OURS for job in found.values())
    assert make_benchmarks.PICTURE.stat().st_size < 60_000


def test_a_plain_table_has_every_figure_below_the_machine() -> None:
    lines = [
        line("kernel", "speed", 0.25, "us", "one thread"),
        line("kernel", "  of it", None, "", "needs x", load=1.5),
    ]
    made = make_benchmarks.page(lines, f"# Benchmarks\n\nText.\n\n{make_benchmarks.MARK}\nwhat was there before\n")
    assert made.startswith(f"# Benchmarks\n\nText.\n\n{make_benchmarks.MARK}")
    assert "what was there before" not in made
    assert "some, avx2, 2 cores, load 0.5 to 1.5, Linux x86_64, 2030-01-02\npython 3.13.1\n" in made
    assert "| speed | 0.25 | us | one thread |\n| &emsp;of it | - |  | needs x |\n" in made


def test_jobs_with_other_engines_are_rows_and_engines_columns() -> None:
    lines = [
        line("peers", "Drake, not measured", None, "", "needs pydrake; install limbsweep[peers]"),
        line("peers", "tree, dynamics: limbsweep", 0.5, remark="kernels"),
        line("peers", "tree, dynamics: Pinocchio", 2.0, remark="rnea; all at once; differs by 2e-16"),
        line("peers", "tree, dynamics: Pinocchio, over limbsweep", 4.0, "x"),
        line("peers", "tree, dynamics: Pinocchio, half of it", 1.0, remark="half; differs by 0e+00"),
        line("peers", "tree, dynamics: Pinocchio, half of it, over limbsweep", 2.0, "x"),
        line("peers", "leg, dynamics: limbsweep", 3.0, remark="kernels"),
        line("peers", "leg, dynamics: Pinocchio", 6.0, remark="rnea; all at once; differs by 3e-15"),
        line("peers", "leg, dynamics: Pinocchio, over limbsweep", 2.0, "x"),
    ]
    made = "\n".join(make_benchmarks.peers(lines))
    others = "  |" * (len(make_benchmarks.COLUMNS) - 2)
    assert f"| tree, dynamics | 0.5 | 2 (4) |{others}\n" in made
    assert f"| tree, dynamics, half of it |  | 1 (2) |{others}\n" in made
    assert f"| leg, dynamics | 3 | 6 (2) |{others}\n" in made
    assert "Drake, not measured: needs pydrake; install limbsweep[peers]." in made
    assert "| dynamics | Pinocchio | rnea; all at once | 3e-15 |\n| dynamics | limbsweep | kernels |  |\n" in made


def test_robots_are_rows() -> None:
    ends = {"": 0.5, ", operations": 1000.0, ", of the peak": 70.0, ", compile": 0.1, ", steps, mean": 5.0}
    lines = [line("robots", f"leg{end}", value) for end, value in ends.items()]
    lines += [line("robots", f"leg, with all reactions{end}", 2.0 * value) for end, value in ends.items()][:4]
    *_, alone, both = make_benchmarks.robots(lines)
    assert alone == "| leg | 0.5 | 1000 | 70 | 0.1 | 5 |  |"
    assert both == "| leg, with all reactions | 1 | 2000 | 140 | 0.2 |  |  |"


def test_figures_of_several_machines_are_refused() -> None:
    other = line("kernel", "speed", 0.25)
    other["machine"] = MACHINE | {"cpu": "another"}
    with pytest.raises(
        ValueError, match="lines: got figures of several machines, days or versions; expected those of one"
    ):
        make_benchmarks.page([line("kernel", "speed", 0.25), other], "")


def test_the_program_writes_the_page_from_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, lines = tmp_path / "page.md", tmp_path / "lines.jsonl"
    page.write_text("Text.\n", encoding="utf-8")
    lines.write_text(json.dumps(line("kernel", "speed", 0.25)) + "\n", encoding="utf-8")
    monkeypatch.setattr(make_benchmarks, "PAGE", page)
    make_benchmarks.main([str(lines)])
    first = page.read_text(encoding="utf-8")
    assert "| speed | 0.25 | us |  |" in first
    make_benchmarks.main([str(lines)])
    assert page.read_text(encoding="utf-8") == first
    with pytest.raises(SystemExit, match="expected files with the output of: limbsweep bench --json"):
        make_benchmarks.main([])
