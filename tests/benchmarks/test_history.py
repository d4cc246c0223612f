"""The record of a machine and the comparison of two commits tell changes from noise."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from benchmarks import against, cases, history
from benchmarks.against import Pair, pairs, table, write
from benchmarks.figures import Figure
from benchmarks.history import Names
from robots.parameter_errors import ParameterError

STEADY = [1.0, 1.01, 0.99, 1.0, 1.3, 1.0]
"""One run beside other work among five that agree."""


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (1.01, "s", ""),
        (1.2, "us/step", "worse"),
        (0.8, "MiB", "better"),
        (1.2, "MB/s", "better"),
        (1.2, "%", "changed"),
    ],
)
def test_what_stands_out(value: float, unit: str, words: str) -> None:
    text = history.stands_out(value, STEADY, unit)
    assert text.startswith(words)
    assert bool(text) == bool(words)


def test_a_short_record_tells_nothing() -> None:
    assert history.stands_out(9.0, STEADY[: history.ENOUGH - 1], "s") == ""


def test_a_noisy_record_allows_more() -> None:
    assert history.stands_out(1.2, [0.8, 1.2, 0.9, 1.1, 1.0], "s") == ""


def test_a_record_of_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    values = iter([*STEADY, 2.0])
    case = cases.Case("start", "nothing", "start:start")
    monkeypatch.setattr(case.__class__, "figures", lambda *_: [Figure("time", next(values), "s")])
    monkeypatch.setattr(cases, "CASES", {"start": case})
    for _ in range(7):
        cases.main(record=True, names=["start"])
    (file,) = tmp_path.rglob("*.jsonl")
    assert "start: time 2 s: worse: 2 of the median of 6 runs" in capsys.readouterr().err
    with file.open("a") as stream:
        stream.write('{"case": "sta')  # the power failed here
    assert history.earlier(file) == {("start", "time"): [*STEADY, 2.0]}
    assert json.loads(file.read_text().splitlines()[0])["machine"]["cores"] >= 1


def test_commits_are_told_apart_only_where_no_turns_overlap() -> None:
    assert Pair("run", "time", "s", (1.0, 1.1, 1.2), (1.3, 1.4, 1.5)).verdict == "worse"
    assert Pair("run", "rate", "MB/s", (1.0, 1.1, 1.2), (1.3, 1.4, 1.5)).verdict == "better"
    assert Pair("run", "time", "s", (1.0, 1.1, 1.4), (1.3, 1.4, 1.5)).verdict == ""
    assert Pair("run", "time", "s", (1.0, 1.0, 1.0), (1.01, 1.01, 1.01)).verdict == ""


def test_commits_by_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[bool] = []

    def run(root: Path, names: Sequence[str], *, quick: bool) -> Iterator[tuple[Names, float, str]]:
        ours = root == against.ROOT
        order.append(ours)
        yield ("run", "time"), 2.0 if ours else 1.0, "s"
        if ours:
            yield ("run", "figure of today"), 5.0, "s"

    monkeypatch.setattr(against, "write", lambda *_: None)
    monkeypatch.setattr(against, "run", run)
    (pair,) = pairs("v1", ["run"], turns=3)
    assert order == [False, True, True, False, False, True]
    assert (pair.before, pair.now, pair.verdict) == ((1.0,) * 3, (2.0,) * 3, "worse")
    assert list(table("v1", [pair])) == ["figure     v1  now    ratio", "run: time   1    2 s  2.000  worse"]


@pytest.mark.skipif(shutil.which("git") is None, reason="needs the program git")
def test_another_commit_is_written_and_a_wrong_one_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, folder = tmp_path / "repository", tmp_path / "other"
    root.mkdir()
    monkeypatch.setattr(against, "ROOT", root)
    with pytest.raises(ParameterError, match="expected a checkout of the repository"):
        write("HEAD", folder)
    (root / "page").write_text("old")
    identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    for command in (["init", "-q"], ["add", "page"], [*identity, "commit", "-qm", "first"]):
        subprocess.run(["git", "-C", str(root), *command], check=True)
    (root / "page").write_text("new")
    write("HEAD", folder)
    assert (folder / "page").read_text() == "old"
    for wrong in ("v9", "--output=page"):
        with pytest.raises(ParameterError, match=f"got '{wrong}'; expected a commit"):
            write(wrong, folder)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--record", "--quick"], "--quick as well"),
        (["--against", "HEAD", "--json"], "--json or --record as well"),
        (["--against", "HEAD", "nonsense"], "there is no benchmark 'nonsense'"),
    ],
)
def test_options_that_contradict(options: list[str], message: str) -> None:
    result = CliRunner().invoke(cli, ["bench", *options])
    assert result.exit_code == 2
    assert message in result.output
