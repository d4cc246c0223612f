"""Optional packages that are missing: one sentence, with the extra that brings them, wherever one is needed."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import limbsweep as ls
from applications.commands.cli import cli
from pipeline.documents.tables.reader import open_columns, parse_table
from robots import catalog
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
@pytest.mark.parametrize(("ending", "extra"), [("parquet", "parquet"), ("h5", "hdf5"), ("mcap", "ros")])
def test_tables_say_it(tmp_path: Path, ending: str, extra: str) -> None:
    (tmp_path / f"a.{ending}").write_bytes(b"anything")
    with pytest.raises(MissingExtraError, match=rf"limbsweep\[{extra}\]"), open_columns(tmp_path / f"a.{ending}"):
        pass
    if extra != "ros":
        with pytest.raises(MissingExtraError, match=rf"limbsweep\[{extra}\]"):
            parse_table(b"anything", f"a.{ending}")


@pytest.mark.usefixtures("missing")
def test_functions_and_commands_say_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingExtraError, match=r'pip install "limbsweep\[casadi\]"'):
        ls.casadi_function(catalog.build("planar_3r"))
    monkeypatch.chdir(tmp_path)
    Path("s.yaml").write_text(
        "limbsweep: 1\nrobot: delta_3rr2rrr\ntrajectories: {turn: {kind: circle}}\n"
        "time: {stop: 0.1, step: 0.1}\nmetrics: [peak_force]\n"
    )
    assert CliRunner().invoke(cli, ["run", "s.yaml", "--store", "s.zarr"]).exit_code == 0
    for command, extra in (
        (["report", "s.zarr", "--output", "r.html"], "report"),
        (["export", "s.zarr", "--format", "parquet", "--output", "p"], "parquet"),
        (["export", "s.zarr", "--format", "netcdf", "--output", "n"], "netcdf"),
    ):
        done = CliRunner().invoke(cli, command)
        assert done.exit_code == 2, done.output
        assert f'Install it: pip install "limbsweep[{extra}]"' in done.output
        assert "Traceback" not in done.output


def test_the_sentence_stands_in_one_place() -> None:
    packages = ("applications", "pipeline", "tasks", "robots")
    sources = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    assert [path.name for path in sources if "pip install" in path.read_text()] == ["extras.py"]
