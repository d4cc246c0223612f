"""Machine code on the disk: used again, bound to what it was made from, and never from a place of somebody else."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np
import pytest

from robots import catalog
from tasks.kernels import llvm, stored
from tasks.kernels.interpreter import interpret
from tasks.kernels.kernel import Kernel
from tasks.kernels.program import Program
from tasks.stages.platform import platform_program
from tests.tasks.bits import assert_same_bits

SAMPLES = 16


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(stored.VARIABLE, str(tmp_path / "kernels"))
    return tmp_path / "kernels"


@pytest.fixture
def program() -> Program:
    return platform_program(catalog.family("five_bar"))


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Texts that LLVM is given to compile."""
    texts: list[str] = []
    parse = llvm.llvm.parse_assembly

    def watched(text: str) -> object:
        texts.extend([text] if text else [])
        return parse(text)

    monkeypatch.setattr(llvm.llvm, "parse_assembly", watched)
    return texts


def run(program: Program, **options: bool) -> None:
    """Run compiled and interpreted, and compare all bits."""
    family, rng = catalog.family("five_bar"), np.random.default_rng(1)
    inputs = {"parameters": np.array([[p.default for p in family.parameters]]), "gravity": np.array([[0, 0, -9.81]])}
    inputs["motion"] = rng.normal(size=(1, *program.sample["motion"], SAMPLES))
    assert_same_bits(Kernel(program, **options)(inputs, SAMPLES), interpret(program, inputs, SAMPLES))


def test_a_second_kernel_is_not_compiled_again(program: Program, folder: Path, compiled: list[str]) -> None:
    run(program)
    assert len(compiled) == 1
    run(program)
    assert len(compiled) == 1
    (file,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_nothing_is_kept_on_request(
    program: Program, folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(program, keep=False)
    run(program, keep=False)
    assert len(compiled) == 2
    assert not folder.exists()
    monkeypatch.setenv(stored.VARIABLE, stored.OFF)
    run(program)
    assert len(compiled) == 3


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "exchange"])
def test_damaged_code_is_compiled_anew_and_replaced(
    damage: str, program: Program, folder: Path, compiled: list[str]
) -> None:
    run(program)
    (file,) = folder.iterdir()
    sound = file.read_bytes()
    other = "0" * 64
    stored.write(other, b"other code")
    wrong = {
        "flip": sound[:100] + bytes([sound[100] ^ 1]) + sound[101:],
        "cut": sound[:-1],
        "empty": b"",
        "exchange": (folder / other).read_bytes(),
    }
    file.write_bytes(wrong[damage])
    run(program)
    assert len(compiled) == 2
    assert file.read_bytes() == sound


def test_the_name_depends_on_all_that_the_code_depends_on(
    program: Program, folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(program)
    monkeypatch.setattr(llvm.llvm, "llvm_version_info", (0, 0, 1))
    run(program)
    monkeypatch.setattr(llvm.llvmlite, "__version__", "another")
    run(program)
    assert len(compiled) == len(list(folder.iterdir())) == 3
    assert stored.key("ab", "c") != stored.key("a", "bc")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are those of POSIX")
@pytest.mark.parametrize("place", ["folder", "file"])
def test_what_others_may_write_is_not_run(place: str, program: Program, folder: Path, compiled: list[str]) -> None:
    run(program)
    (file,) = folder.iterdir()
    (folder if place == "folder" else file).chmod(0o777)
    run(program)
    assert len(compiled) == 2


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners are those of POSIX")
def test_what_belongs_to_others_is_not_run(
    program: Program, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(program)
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    run(program)
    assert len(compiled) == 2


@pytest.mark.skipif(not stored._NO_LINK, reason="links are followed here")
def test_links_are_not_followed(program: Program, folder: Path, tmp_path: Path, compiled: list[str]) -> None:
    run(program)
    (file,) = folder.iterdir()
    file.rename(tmp_path / "code")
    file.symlink_to(tmp_path / "code")
    run(program)
    assert len(compiled) == 2
    assert not file.is_symlink()
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert stored.folder() is None


def test_a_folder_that_cannot_be_made_is_done_without(
    program: Program, tmp_path: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(stored.VARIABLE, str(tmp_path / "file" / "kernels"))
    run(program)
    assert len(compiled) == 1


def test_a_failed_write_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    stored.write("a" * 64, b"code")
    assert list(folder.iterdir()) == []


def test_the_folder_stays_within_its_size(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "LARGEST", 5000)
    for number in range(4):
        stored.write(f"{number:064}", bytes(1500))
        os.utime(folder / f"{number:064}", (number, number))
    assert stored.read(f"{2:064}") == bytes(1500)
    stored.write(f"{9:064}", bytes(1500))
    assert sorted(int(path.name) for path in folder.iterdir()) == [2, 3, 9]
