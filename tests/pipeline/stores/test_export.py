"""An export writes files into its new folder and nowhere else, whatever a store calls the parts of its designs."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.cli import cli
from pipeline.stores.export import FORMATS
from storage.schema import Coordinate
from storage.store import create
from tests.storage.cases import ATTRIBUTES, FEW, fill


def store(path: Path, part: str) -> None:
    """A store with a part of this name among its designs."""
    create(path, FEW, [Coordinate("design_part", "design", ("train", "test", part))], ATTRIBUTES)
    fill(path)


def exported(form: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["export", "s.zarr", "--format", form, "--output", "here/x"])
    assert "Traceback" not in result.stderr
    return result.exit_code, result.stderr


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("part", ["../x", "/tmp/limbsweep_no_such_file", "a/b", "..", "", "x\n", "x\0", "p" * 81])
def test_a_part_that_is_no_name_of_a_file_is_refused(
    form: str, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store(tmp_path / "s.zarr", part)
    before = sorted(tmp_path.rglob("*"))
    code, said = exported(form)
    assert (code, sorted(tmp_path.rglob("*"))) == (2, before)
    assert "s.zarr: design_part is '" in said
    assert "expected at most 80 letters, digits, '_' and '-'" in said
    assert not Path(f"/tmp/limbsweep_no_such_file.{form}").exists()


def test_a_part_that_is_a_name_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store(tmp_path / "s.zarr", "hold-out_2")
    assert exported("csv") == (0, "")
    assert sorted(file.name for file in Path("here/x").iterdir()) == [
        "designs.csv",
        "friction.csv",
        "hold-out_2.csv",
        "test.csv",
        "train.csv",
        "trajectories.csv",
    ]


def test_names_in_a_store_are_no_formulas_in_its_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = ("=1+1", "@SUM(A1)", "-2+3", "circle")[: FEW.sizes["trajectory"]]
    numbers = tuple(-0.5 * k for k in range(FEW.sizes["design"]))
    coordinates = [
        Coordinate("trajectory", "trajectory", names),
        Coordinate("upper_arm", "design", numbers, units="m"),
        Coordinate("name", "design", tuple(f"=cmd|{k}" for k in range(FEW.sizes["design"]))),
    ]
    create(tmp_path / "s.zarr", FEW, coordinates, ATTRIBUTES)
    fill(tmp_path / "s.zarr")
    assert exported("csv") == (0, "")
    with Path("here/x/trajectories.csv").open(newline="", encoding="utf-8") as file:
        assert [row[1] for row in list(csv.reader(file))[1:]] == [f"'{name}" for name in names]
    with Path("here/x/designs.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert [row[rows[0].index("name")] for row in rows[1:]] == [f"'=cmd|{k}" for k in range(len(numbers))]
    assert [float(row[rows[0].index("upper_arm")]) for row in rows[1:]] == list(numbers)
