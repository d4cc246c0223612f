"""Python files that lie in the current folder, beside a sweep from elsewhere, are run by no process of a run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline import run
from pipeline.cluster.connection import ClusterConfig, connect
from pipeline.execution.processes.child_process import ROOT, ChildProcess, import_path
from pipeline.monitor.status import status
from storage.manifest import MANIFEST
from storage.places.access import holder
from tests.pipeline.runs import FEW, SYNCHRONOUS, content_hash, sweep
from tests.waiting import until

NAMES = ("multiprocessing", "pipeline", "storage", "json", "numpy", "distributed", "sitecustomize")
FILE = "import pathlib\npathlib.Path({mark!r}).touch()\nraise ImportError('not meant')\n"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with a sweep and files that are named like modules; one that is run leaves a mark."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(FILE.format(mark=str(tmp_path / "mark")))
    (folder / "few.yaml").write_text(FEW)
    return folder


def program(folder: Path) -> list[str]:
    """The command as an installed one starts: a script in a folder of its own."""
    script = folder / "bin" / "limbsweep"
    script.parent.mkdir()
    script.write_text("from applications.commands.cli import main\nif __name__ == '__main__':\n    main()\n")
    return [sys.executable, str(script)]


def limbsweep(command: list[str], cwd: Path, path: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"} | {"PYTHONPATH": path}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr


def await_end(store: Path) -> None:
    """Wait for a run that may still wait for its turn behind another one."""
    until(lambda: (store / MANIFEST).exists() and holder(store) is None and status(store).state == "finished")


@pytest.fixture(scope="module")
def expected() -> str:
    return content_hash(run(sweep(FEW), cluster=SYNCHRONOUS))


def test_a_run_on_a_local_cluster(hostile: Path, tmp_path: Path, expected: str) -> None:
    limbsweep([*program(tmp_path), "run", "few.yaml", "--store", "few.zarr"], hostile, str(ROOT))
    assert not (tmp_path / "mark").exists()
    assert content_hash(hostile / "few.zarr") == expected


def test_a_submitted_run(hostile: Path, tmp_path: Path, expected: str) -> None:
    limbsweep([*program(tmp_path), "submit", "few.yaml", "--store", "few.zarr"], hostile, str(ROOT))
    await_end(hostile / "few.zarr")
    assert not (tmp_path / "mark").exists()
    assert content_hash(hostile / "few.zarr") == expected


@pytest.mark.repository
@pytest.mark.parametrize("command", ["run", "submit"])
def test_packages_that_are_found_through_the_current_folder_alone(command: str, tmp_path: Path, expected: str) -> None:
    (tmp_path / "few.yaml").write_text(FEW)
    store = tmp_path / "few.zarr"
    code = "from applications.commands.cli import main\nif __name__ == '__main__':\n    main()"
    limbsweep([sys.executable, "-c", code, command, str(tmp_path / "few.yaml"), "--store", str(store)], ROOT, "")
    await_end(store)
    assert content_hash(store) == expected


def test_a_child_process(hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hostile)
    with ChildProcess(abs, 1 << 20) as child:
        assert child.compute(-3, 60.0) == (True, 3)
    assert not (tmp_path / "mark").exists()


def test_a_child_finds_our_packages_where_its_parent_has_left_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    others = [folder for folder in sys.path if folder and Path(folder).resolve() != ROOT]
    monkeypatch.setattr(sys, "path", ["", *others])
    assert import_path()["PYTHONPATH"].split(os.pathsep) == [str(tmp_path), *dict.fromkeys(others), str(ROOT)]
    with ChildProcess(abs, 1 << 20) as child:
        assert child.compute(-3, 60.0) == (True, 3)


@pytest.mark.parametrize("before", [None, "", "1"])
def test_the_environment_is_put_back_after_a_run(before: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    if before is not None:
        monkeypatch.setenv("PYTHONSAFEPATH", before)
    with connect(ClusterConfig.of("local", n_workers=1)) as client:
        assert client is not None
        assert set(client.run(lambda: os.environ["PYTHONSAFEPATH"]).values()) == {"1"}
    assert os.environ.get("PYTHONSAFEPATH") == before
