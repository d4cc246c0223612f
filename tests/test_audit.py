"""`make audit` says which versions are weak, which are not known, and when nobody answers, by its words and status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from packing.audit import main, summary

SOUND: dict[str, Any] = {"name": "numpy", "version": "2.0.0", "vulns": []}
WEAK: dict[str, Any] = {"name": "lib", "version": "1.2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.3", "2.0"]}]}
UNKNOWN: dict[str, Any] = {"name": "click", "skip_reason": "Dependency not found on PyPI and could not be audited"}


def test_versions_that_are_known_and_not_weak() -> None:
    assert summary([SOUND, SOUND]) == (["2 versions: 2 known, 0 of them with weaknesses"], 0)


def test_a_weak_version_is_told_with_what_mends_it() -> None:
    lines, status = summary([SOUND, WEAK, UNKNOWN])
    assert lines[:2] == ["lib 1.2: PYSEC-1, mended in 1.3, 2.0", "3 versions: 2 known, 1 of them with weaknesses"]
    assert status == 1


def test_a_version_that_the_database_does_not_know_is_neither_sound_nor_weak() -> None:
    lines, status = summary([SOUND, UNKNOWN, *({**UNKNOWN, "name": f"package-{k}"} for k in range(40))])
    assert lines[1] == "not known to the database, so nothing is said of 41:"
    assert " click" in lines[2]
    assert max(map(len, lines)) < 120
    assert status == 2


def test_no_answer_at_all_is_no_pass() -> None:
    assert summary([])[1] == 2


@pytest.mark.parametrize(
    ("stub", "words", "status"),
    [
        (f"print({json.dumps({'dependencies': [SOUND]})!r})", "1 versions: 1 known", 0),
        ("raise ConnectionError('no way to the network')", "the advisory database gave no answer: ConnectionError", 2),
        ("", "the advisory database gave no answer: pip-audit printed nothing", 2),
    ],
)
def test_the_command_reads_what_pip_audit_writes(
    stub: str,
    words: str,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "pip_audit.py").write_text(stub)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert main(["constraints.txt"]) == status
    assert words in capsys.readouterr().out
