from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

import limbsweep as ls
from applications.commands.cli import cli
from pipeline.documents.outputs import check_output, output, write_text
from pipeline.errors import InputError
from storage.inside import MANIFEST


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_new_file_is_written_and_no_draft_stays() -> None:
    write_text(Path("a.yaml"), "x\n")
    assert Path("a.yaml").read_text() == "x\n"
    assert os.listdir() == ["a.yaml"]


def test_a_file_of_the_same_kind_is_replaced() -> None:
    for content in ("<!DOCTYPE html> first", "<!doctype HTML> second"):
        write_text(Path("a.html"), content)
    assert Path("a.html").read_text() == "<!doctype HTML> second"


def test_another_file_is_replaced_by_force_alone() -> None:
    Path("a.html").write_text("years of work")
    with pytest.raises(InputError, match=r"--output: got 'a.html', which exists already and is not an HTML page"):
        write_text(Path("a.html"), "<!doctype html>")
    assert Path("a.html").read_text() == "years of work"
    write_text(Path("a.html"), "<!doctype html>", force=True)
    assert Path("a.html").read_text() == "<!doctype html>"


def test_a_link_is_not_followed_and_not_replaced() -> None:
    Path("thesis.html").write_text("<!doctype html> years of work")
    Path("a.html").symlink_to("thesis.html")
    for force in (False, True):
        with pytest.raises(InputError, match=r"a link; expected a new file, or a regular one"):
            write_text(Path("a.html"), "<!doctype html>", force=force)
    assert Path("thesis.html").read_text().endswith("years of work")


def test_an_error_while_writing_leaves_what_was_there() -> None:
    write_text(Path("a.html"), "<!doctype html> first")

    def write(path: Path) -> None:
        with output(path) as draft:
            draft.write_text("<!doc")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write(Path("a.html"))
    assert Path("a.html").read_text() == "<!doctype html> first"
    assert os.listdir() == ["a.html"]


def test_a_disk_that_is_full_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"which cannot be written \(No space left on device\)"):
        write_text(Path("a.yaml"), "x")
    assert os.listdir() == []


def test_a_folder_that_is_not_there_is_told_before_the_content_is_computed() -> None:
    check_output(Path("a.html"))
    with pytest.raises(InputError, match=r"missing/a.html', which cannot be written \(No such file or directory\)"):
        check_output(Path("missing/a.html"))


def test_what_appears_meanwhile_is_not_destroyed() -> None:
    def write(path: Path) -> None:
        with output(path) as draft:
            draft.write_text("ours")
            path.write_text("theirs")

    with pytest.raises(InputError, match="which exists already"):
        write(Path("a.yaml"))
    assert (os.listdir(), Path("a.yaml").read_text()) == (["a.yaml"], "theirs")


@pytest.mark.parametrize("name", ["", ".", "..", "/", "x" * 201, "/".join(["x"] * 3000), "a\nb"])
def test_what_names_no_file_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"--csv: got .*; expected"):
        check_output(Path(name), option="--csv")


@pytest.mark.parametrize("name", ["s.zarr/a.yaml", "s.zarr/force/a.html", "link/a.csv", "s.zarr/absent/a.csv"])
def test_nothing_is_written_into_a_store(name: str) -> None:
    Path("s.zarr/force").mkdir(parents=True)
    Path("s.zarr", MANIFEST).write_text("{}")
    Path("link").symlink_to("s.zarr/force")
    with pytest.raises(InputError, match=r"inside the store '.*s\.zarr'; expected a place outside of stores"):
        write_text(Path(name), "x", force=True)
    assert sorted(os.listdir("s.zarr")) == ["force", MANIFEST]


FILES = (
    "report nothing.zarr --output s.zarr/a.html",
    "figure nothing.zarr series --output s.zarr/a.png",
    "show five_bar --output s.zarr/a.png",
    "code planar_3r --output s.zarr/a.c",
    "new five_bar --output s.zarr/a.yaml",
    "robots five_bar --export s.zarr/a.yaml",
    "import absent.urdf --output s.zarr/a.yaml",
    "schema sweep --output s.zarr/a.json",
    "study rank nothing.zarr --objective peak_force --csv s.zarr/a.csv",
    "study rank nothing.zarr --objective peak_force --refine s.zarr/a.yaml",
    "excite five_bar --output s.zarr/a.yaml",
    "identify nothing.zarr --output s.zarr/a.csv",
    "identify a.yaml --robot s.zarr/a.yaml",
    "identify a.yaml --report s.zarr/a.html",
    "identify a.yaml --dataset s.zarr/a.nc",
    "calibrate a.yaml --output s.zarr/a.csv",
    "certificates s.zarr/a",
)


@pytest.mark.parametrize("words", FILES)
def test_no_command_writes_a_file_into_a_store(words: str) -> None:
    Path("s.zarr").mkdir()
    Path("s.zarr", MANIFEST).write_text("{}")
    done = CliRunner().invoke(cli, words.split())
    assert done.exit_code == 2
    assert "the store" in done.output
    assert "expected a place outside of stores" in done.output or "expected a folder outside of stores" in done.output
    assert os.listdir("s.zarr") == [MANIFEST]


def test_no_function_writes_a_file_into_a_store() -> None:
    Path("s.zarr").mkdir()
    Path("s.zarr", MANIFEST).write_text("{}")
    arm, circle = ls.robots.build("planar_3r"), {"c": {"kind": "circle", "radius": 0.05, "normal": [0, 1, 0]}}
    sweep = ls.sweep("five_bar", time=(1.0, 0.5), trajectories=circle, metrics="peak_force")
    calls = (
        lambda: ls.robots.write(arm, "s.zarr/a.yaml"),
        lambda: ls.fmu(arm, "s.zarr/a.fmu", compiler=None),
        lambda: ls.report("nothing.zarr", "s.zarr/a.html"),
        lambda: ls.figure("nothing.zarr", "series", "s.zarr/a.png"),
        lambda: sweep.to_yaml("s.zarr/a.yaml"),
    )
    for call in calls:
        with pytest.raises(ls.InputError, match=r"inside the store .* outside of stores"):
            call()
    assert os.listdir("s.zarr") == [MANIFEST]


def test_an_fmu_is_replaced_by_an_fmu() -> None:
    for content in (b"PK\x03\x04 first", b"PK\x03\x04 second"):
        with output(Path("a.fmu")) as draft:
            draft.write_bytes(content)
    Path("b.fmu").write_text("words")
    with pytest.raises(InputError, match="exists already and is not an FMU"):
        check_output(Path("b.fmu"))
