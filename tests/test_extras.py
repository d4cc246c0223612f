"""Optional packages that are missing: one sentence, with the extra that brings them, wherever one is needed."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pipeline.documents.tables.reader import open_columns, parse_table
from robots.extras import EXTRAS, MissingExtraError, require_extra

ROOT = Path(__file__).parents[1]


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No optional package is installed."""
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *rest: None if name in EXTRAS else find(name, *rest))


@pytest.mark.usefixtures("missing")
@pytest.mark.parametrize("package", EXTRAS)
def test_the_sentence_names_the_extra_that_brings_the_package(package: str) -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert any(re.match(rf"{package}\b", requirement) for requirement in declared[EXTRAS[package]])
    advice = rf'Install it: pip install "limbsweep\[{EXTRAS[package]}\]"'
    expected = f"{package}: got no such package; expected it to be installed. {advice}"
    with pytest.raises(MissingExtraError, match=expected):
        require_extra(package)


@pytest.mark.usefixtures("missing")
@pytest.mark.parametrize(
    ("ending", "extra"), [("parquet", "parquet"), ("h5", "hdf5"), ("xlsx", "excel"), ("mcap", "ros")]
)
def test_tables_say_it(tmp_path: Path, ending: str, extra: str) -> None:
    (tmp_path / f"a.{ending}").write_bytes(b"anything")
    with pytest.raises(MissingExtraError, match=rf"limbsweep\[{extra}\]"), open_columns(tmp_path / f"a.{ending}"):
        pass
    if extra != "ros":
        with pytest.raises(MissingExtraError, match=rf"limbsweep\[{extra}\]"):
            parse_table(b"anything", f"a.{ending}")


SCRIPT = """
import sys

from robots.extras import EXTRAS

sys.modules.update(dict.fromkeys(EXTRAS))  # no import finds them
from click.testing import CliRunner

import limbsweep as ls
from applications.commands.cli import cli

text = "limbsweep: 1\\nrobot: delta_3rr2rrr\\ntrajectories: {turn: {kind: circle}}\\n"
text += "time: {stop: 0.1, step: 0.1}\\nmetrics: [peak_force]\\n"
ls.run(ls.Sweep.from_text(text), "s.zarr", progress=False)
for command in (
    ["report", "s.zarr", "--output", "r.html"],
    ["export", "s.zarr", "--format", "parquet", "--output", "p"],
    ["export", "s.zarr", "--format", "netcdf", "--output", "n"],
):
    done = CliRunner().invoke(cli, command)
    print(done.exit_code, done.output.strip())
for function in (
    lambda: ls.report("s.zarr", "r.html"),
    lambda: ls.open("s.zarr").limbsweep.page(),
    lambda: ls.casadi_function(ls.robots.build("planar_3r")),
):
    try:
        function()
    except ImportError as error:
        print("error", error)
"""


def test_functions_and_commands_say_it_where_the_packages_are_not_there(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    told = [re.fullmatch(r'(\w+) .*Install it: pip install "limbsweep\[(\w+)\]"', line) for line in lines]
    assert [match and match.groups() for match in told] == [
        ("2", "report"),
        ("2", "parquet"),
        ("2", "netcdf"),
        ("error", "report"),
        ("error", "report"),
        ("error", "casadi"),
    ]


def test_the_sentence_stands_in_one_place() -> None:
    packages = ("applications", "pipeline", "tasks", "robots")
    sources = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    assert [path.name for path in sources if "pip install" in path.read_text()] == ["extras.py"]
