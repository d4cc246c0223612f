"""Benchmark of imports: verdicts and sums, with other engines left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.imports import sources
from benchmarks.imports.comparison import Errors, closes_elsewhere
from benchmarks.imports.sources import Source
from benchmarks.imports.table import Import, has_fault, imported, is_closed, sums, table
from tests.pipeline.robot_files.test_frame_pairs import ENDS, PAIRS
from tests.robots.formats.test_urdf_loops import TREE
from tests.robots.formats.urdfs import tree

PLACE = Path("robots/a.urdf")


def row(error: float | None = None, **rest: object) -> Import:
    errors = None if error is None else Errors(error, 0.0, "pinocchio")
    return Import(PLACE, "p", errors=errors, **rest)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("entry", "verdict"),
    [
        (row(), "accepted"),
        (row(1e-15), "accepted"),
        (row(1e-6), "wrong"),
        (row(float("nan")), "wrong"),
        (row(refused="no joint that moves"), "refused"),
        (row(refused="a joint of type 'x'", moves=True), "refused wrongly"),
    ],
)
def test_a_file_has_a_verdict(entry: Import, verdict: str) -> None:
    assert entry.verdict == verdict
    assert f"| {verdict} |" in entry.row


def test_loops_that_another_engine_does_not_close_either_are_refused_rightly(tmp_path: Path) -> None:
    """Check a rocker whose end is 2 m too far away for any positions of joints."""
    pytest.importorskip("pinocchio")
    path = tmp_path / "robot.urdf"
    (tmp_path / "robot.yaml").write_text(PAIRS)
    path.write_text(f'<robot name="bar">{TREE}{ENDS}</robot>')
    assert closes_elsewhere(Source(path))
    path.write_text(path.read_text().replace("0 0 0.3", "0 0 2.3"))
    assert not closes_elsewhere(Source(path))
    assert imported(path).verdict == "refused"


def test_rows_of_closed_robots_or_of_faults_are_shown_alone() -> None:
    """Sums are of all files whatever is shown."""
    entries = [row(1e-15), row(1e-14, loops=2), row(refused="a joint of type 'x'", moves=True), row(refused="no joint")]
    for shown, count in ((has_fault, 1), (is_closed, 1)):
        lines = [*table(entries, shown)]
        assert sum(line.startswith("| robots/a.urdf") for line in lines) == count
        assert any(line.startswith("| all |  | 4 | 2 | 0 | 1 | 1 |") for line in lines)
    assert "2 loops" in next(line for line in table(entries, is_closed) if "1.0e-14" in line)


def test_files_below_folders_are_counted_by_folder(tmp_path: Path) -> None:
    for name in ("one/a.urdf", "two/deep/b.urdf"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(tree(1, 2))
    (tmp_path / "two" / "empty.urdf").write_text("<robot name='r'/>")
    folders = [tmp_path / "one", tmp_path / "two"]
    found = [imported(source, compare=False) for folder in folders for source in sources.below(folder, {})]
    assert [(entry.package, entry.verdict) for entry in found] == [
        ("one", "accepted"),
        ("two", "accepted"),
        ("two", "refused"),
    ]
    heads, _, one, two, every = (line.split(" | ") for line in sums(found))
    assert heads[2:5] == ["files", "accepted", "wrong"]
    assert [line[2:6] for line in (one, two, every)] == [list("1100"), list("2101"), list("3201")]
