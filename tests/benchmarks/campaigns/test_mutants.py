"""Noticed mutants of the campaign: a test fails or does not end; a test that only waits notices nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.campaigns import mutants


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "noticed"), [("assert False", True), ("while True: pass", True), ("time.sleep(8.0)", False)]
)
def test_time_of_the_processor_counts(
    line: str, noticed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "test_one.py").write_text(f"import time\n\ndef test_one():\n    {line}\n")
    monkeypatch.setattr(mutants, "SECONDS", 5)
    assert (mutants.noticing(tmp_path, ("test_one.py",)) is not None) is noticed


def test_the_test_that_notices_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_right():\n    pass\n\ndef test_wrong():\n    assert False\n")
    assert mutants.noticing(tmp_path, ("test_one.py",)) == "test_one.py::test_wrong"
    assert mutants.noticing(tmp_path, ("test_one.py::test_right",)) is None
    with pytest.raises(FileNotFoundError, match=r"got test_none\.py; expected files"):
        mutants.noticing(tmp_path, ("test_none.py",))


def test_the_copy_leaves_out_what_is_made_and_no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "ROOT", tmp_path / "all")
    for name in ("runs/a", "tests/runs/test_a.py", ".venv/b", "tests/__pycache__/c"):
        (tmp_path / "all" / name).parent.mkdir(parents=True)
        (tmp_path / "all" / name).touch()
    mutants.copy(tmp_path / "copy")
    found = {str(path.relative_to(tmp_path / "copy")) for path in (tmp_path / "copy").rglob("*") if path.is_file()}
    assert found == {"tests/runs/test_a.py"}


def test_changes_are_made_again_where_their_lines_are_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    kept = [
        mutants.Mutant("module", 1, "return a == b", "Eq becomes NotEq", "noticed", "a test"),
        mutants.Mutant("module", 0, "return 1", "1 becomes 2", "not noticed", ""),
        mutants.Mutant("gone", 0, "x = 1", "1 becomes 2", "noticed", ""),
    ]
    (tmp_path / "kept").write_text("".join(json.dumps(each) + "\n" for each in kept))
    (tmp_path / "module.py").write_text("FEW = 3\nMANY = 5\n\ndef same(a, b):\n    return a == b\n")
    assert list(mutants.same_places(tmp_path / "kept")) == [("module", 2, "a test")]


def test_a_test_that_fails_without_a_change_notices_none(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("MANY = 5\n")
    (tmp_path / "test_one.py").write_text(
        "from module import MANY\n\n\ndef test_absent():\n    open('absent')\n\n\n"
        "def test_some():\n    assert MANY\n\n\ndef test_many():\n    assert MANY == 5\n"
    )
    witness = mutants.Witness(tmp_path)
    seen, where = witness.outcome("module", 0, ("test_one.py",))
    assert (seen.outcome, seen.test, where) == ("noticed", "test_one.py::test_many", "module.py:1: 5 becomes 6")
    assert witness.failing == ["test_one.py::test_absent"]
    assert (tmp_path / "module.py").read_text() == "MANY = 5\n"
    (tmp_path / "test_one.py").write_text("from module import MANY\n\n\ndef test_some():\n    assert MANY\n")
    (tmp_path / "test_two.py").write_text("open('absent')\n")
    both = ("test_two.py", "test_one.py")
    assert witness.outcome("module", 0, both, "test_one.py::test_some")[0].outcome == "not noticed"
    assert witness.outcome("module", 0, both, "test_one.py::test_many")[0].outcome == "not noticed"
    assert witness.failing[1:] == ["test_two.py"]
    again = mutants.Witness(tmp_path)
    assert again.outcome("module", 0, ("test_two.py::test_none", "test_one.py"))[0].outcome == "not noticed"
