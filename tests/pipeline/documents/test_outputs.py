from __future__ import annotations

import os
from pathlib import Path

import pytest

from pipeline.documents.outputs import check_output, output, write_text
from pipeline.errors import InputError


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
