"""A store holds the files that its sweep names, so that it is repeated from the store alone, to the same bits."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from applications.report.data.recomputed import results_of
from pipeline import run, verify
from pipeline.errors import InputError
from pipeline.sweep.model import Sweep
from pipeline.sweep.side_files import Folder, stored_files
from pipeline.sweep.stored import stored_sweep
from storage.sources import digest
from tests.pipeline.runs import SYNCHRONOUS, content_hash

POINTS = "t,x,y,z\n0,0,0,0\n0.4,0.05,-0.05,0.02\n0.8,0,0,0\n"
TEXT = """\
limbsweep: 1
robot: delta_3rr2rrr
design: {grid: {upper_arm: {values: [0.22, 0.25]}}}
trajectories:
  along: {kind: waypoints, file: points/p.csv}
  again: {kind: waypoints, file: points/../points/p.csv}
time: {stop: 0.8, step: 0.1}
outputs: [actuator_force]
metrics: [peak_force]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose sweep file and points are gone."""
    folder, there = tmp_path_factory.mktemp("made"), tmp_path_factory.mktemp("there")
    (there / "points").mkdir()
    (there / "points" / "p.csv").write_text(POINTS)
    (there / "s.yaml").write_text(TEXT)
    run(Sweep.from_yaml(there / "s.yaml"), folder / "s.zarr", SYNCHRONOUS)
    shutil.rmtree(there)
    return folder / "s.zarr"


@pytest.fixture
def store(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("c.yaml").write_text("limbsweep: {cluster: {kind: synchronous}}\n")
    return Path(shutil.copytree(made, tmp_path / "s.zarr"))


def kept(store: Path) -> Path:
    return store / "sources" / digest(POINTS.encode())


def test_a_store_is_repeated_from_itself_to_the_same_bits(store: Path) -> None:
    assert kept(store).read_text() == POINTS
    done = CliRunner().invoke(cli, ["run", "s.zarr", "--store", "again.zarr", "--cluster", "c.yaml"])
    assert done.exit_code == 0, done.stderr
    assert content_hash(Path("again.zarr")) == content_hash(store)
    assert kept(Path("again.zarr")).read_text() == POINTS
    assert verify(store, recompute=1.0, cluster=SYNCHRONOUS).is_sound
    assert results_of(store).case is not None


def test_more_designs_are_appended_and_the_points_stay(store: Path, tmp_path: Path) -> None:
    (tmp_path / "points").mkdir()
    (tmp_path / "points" / "p.csv").write_text(POINTS)
    Path("s.yaml").write_text(TEXT.replace("0.25]", "0.25, 0.28]"))
    done = CliRunner().invoke(cli, ["append", "s.zarr", "s.yaml", "--cluster", "c.yaml"])
    assert done.exit_code == 0, done.stderr
    shutil.rmtree(tmp_path / "points")
    assert stored_sweep(store).design.size == 3
    assert verify(store).is_sound


@pytest.mark.parametrize("damage", [lambda file: file.unlink(), lambda file: file.write_text(POINTS + "9,0,0,0\n")])
def test_a_lost_file_is_named_and_taken_from_the_folder_where_it_is_the_same(store: Path, damage: object) -> None:
    damage(kept(store))  # type: ignore[operator]
    with pytest.raises(InputError, match=r"sources/[0-9a-f]{64}: got a file that is missing or damaged; expected the"):
        stored_sweep(store)
    Path("points").mkdir()
    Path("points", "p.csv").write_text(POINTS + "2,0,0,0\n")
    with pytest.raises(
        InputError, match=r"expected the file points/p.csv that the store was made from\. Put that file"
    ):
        stored_sweep(store)
    Path("points", "p.csv").write_text(POINTS)
    assert stored_sweep(store).sources["points/p.csv"] == POINTS.encode()


def test_what_a_store_does_not_have_is_looked_for_in_the_folder(store: Path) -> None:
    source = stored_files(store, "elsewhere")
    assert source.root == Path("elsewhere")
    assert source.holds("points/p.csv")
    assert source.holds("other.csv")
    assert not source.holds("../other.csv")
    with pytest.raises(InputError, match=r"elsewhere/other\.csv: got no such file"):
        source.read("other.csv", 100)
    assert not Folder(Path()).holds("a\0b")
