"""Every bad input gets its message and exit status 2, without a traceback, and nothing is written.

The list has a row for each known bad input, `A01` to `H18`. `WAITING` names the rows that have no test here, and why.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from tests.bad_inputs import (
    clusters,
    commands,
    dask_settings,
    files,
    imports,
    loads,
    mechanisms,
    numbers,
    outputs,
    recordings,
    robots,
    searches,
    simulations,
    stores,
    sweeps,
    turns,
)
from tests.bad_inputs.rows import Row
from tests.bad_inputs.waiting import ELSEWHERE, WAITING

IN_FILES = (files, sweeps, turns, loads, clusters, robots, mechanisms, imports, simulations, searches)
SECTIONS = (*IN_FILES, commands, stores, numbers, dask_settings, outputs, recordings)
ROWS = tuple(row for section in SECTIONS for row in section.ROWS)
COUNTS = {"A": 17, "B": 25, "C": 46, "D": 36, "E": 14, "F": 25, "G": 20, "H": 18}
"""Rows of each section of the list."""

FORM = re.compile(r"[^ ]+?(:\d+:\d+)?( [^:]+)?: got .+; expected .+\.( .+)?")


@pytest.mark.parametrize("row", ROWS, ids=[row.name[:60] for row in ROWS])
def test_a_bad_input_gets_its_message(row: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in {"sweep.yaml": row.sweep, **row.files}.items():
        if content is not None:
            Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    if row.prepare:
        row.prepare(monkeypatch)
    before = _contents()
    result = CliRunner().invoke(cli, row.command)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    for fragment in row.said:
        assert fragment in (result.stdout if row.status == 1 else result.stderr)
    for jargon in ("Traceback", "pydantic", "Input should", "NoneType", "ruamel", *clusters.SECRETS):
        assert jargon not in result.stderr
    assert (result.exit_code, bool(result.stdout)) == (row.status, row.status != 2)
    after = _contents()
    assert set(row.made) <= after.keys()
    assert {name: each for name, each in after.items() if name not in row.made} == before
    if row.status == 2 and row.id[0] in "ABCDEFIJ":
        lines = result.stderr.splitlines()
        assert 1 <= len(lines) <= 50
        for line in lines:
            assert FORM.fullmatch(line), line


def _contents() -> dict[str, tuple[int, int]]:
    return {str(path): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in Path().rglob("*")}


def test_every_row_of_the_list_is_tested_or_waits_for_a_reason() -> None:
    known = {f"{section}{number:02}" for section, count in COUNTS.items() for number in range(1, count + 1)}
    tested = {row.id for row in ROWS} & known
    assert tested | set(WAITING) == known
    assert not tested & set(WAITING)
    assert all(len(reason) > 10 for reason in WAITING.values())


@pytest.mark.parametrize(("file", "test"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_is_tested_elsewhere_is_there(file: str, test: str) -> None:
    assert f"def {test}(" in (Path(__file__).parents[2] / file).read_text()
