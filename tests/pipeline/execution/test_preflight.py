from __future__ import annotations

import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.cluster.connection import ClusterConfig
from pipeline.errors import InputError, RunStoppedError
from pipeline.execution.preparation import require_space
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep
from storage import open_results
from tests.pipeline.clusters import by_hand, finished
from tests.pipeline.runs import FEW


def _disk(**counts: int) -> Any:
    return SimpleNamespace(
        **({"f_blocks": 9, "f_bavail": 10, "f_frsize": 4096, "f_files": 9, "f_favail": 100} | counts)
    )


def test_space_is_looked_at_where_the_store_will_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_space(tmp_path / "a" / "s.zarr", 1 << 20, 100)
    monkeypatch.setattr(os, "statvfs", lambda path: _disk())
    require_space(tmp_path / "s.zarr", 2 * 40_960, 36)
    with pytest.raises(
        InputError, match=r"s\.zarr: got 40 KiB of free space; expected at least 50 KiB, half of the stored"
    ):
        require_space(tmp_path / "s.zarr", 100 << 10, 36)
    with pytest.raises(InputError, match=r"s\.zarr: got room for 100 files; expected at least 101, one for each file"):
        require_space(tmp_path / "s.zarr", 0, 37)
    monkeypatch.setattr(os, "statvfs", lambda path: _disk(f_blocks=0, f_files=0, f_bavail=0, f_favail=0))
    require_space(tmp_path / "s.zarr", 1 << 40, 1000)


PRELOAD = """
from importlib import metadata
honest = metadata.version

def version(name):
    if name == "llvmlite":
        raise metadata.PackageNotFoundError(name)
    return "9.9" if name == "scipy" else honest(name)

def dask_setup(worker):
    metadata.version = version
"""


@pytest.mark.slow
def test_a_worker_without_llvmlite_is_refused_with_a_table(tmp_path: Path) -> None:
    (tmp_path / "few.yaml").write_text(FEW)
    (tmp_path / "strange.py").write_text(PRELOAD)
    with by_hand(tmp_path, workers=0) as cluster:
        cluster.add_worker("--preload", str(tmp_path / "strange.py"))
        code, out, err = finished("run", "few.yaml", "--cluster", cluster.file, cwd=tmp_path)
    assert (code, out) == (2, "")
    assert "got llvmlite not installed; expected llvmlite" in err
    table = [line.split() for line in err.splitlines()]
    assert ["package", "here", "there", "workers"] in table
    assert any(row[:1] == ["scipy"] and row[2] == "9.9" for row in table)
    assert not (tmp_path / "few.zarr").exists()


LONG = """\
limbsweep: 1
robot: delta_3rr2rrr
trajectories: {c: {kind: circle, radius: 0.05}}
time: {stop: 1.0, samples: 50001}
outputs: [actuator_force, joint_reaction, mass_matrix]
"""


@pytest.mark.slow
def test_a_worker_of_the_memory_that_a_refusal_asks_for_ends_the_run(tmp_path: Path) -> None:
    """Outputs of a long trajectory, in a worker that compiles; one too small for that is ended, others are refused."""
    long = Sweep.from_text(LONG)
    with pytest.raises((InputError, RunStoppedError)) as refused:
        run(long, tmp_path / "s.zarr", ClusterConfig.of(n_workers=1, threads_per_worker=1, memory_limit="150 MiB"))
    asked = re.search(r"(?:expected|needs) at least ([\d.]+ [KMG]iB)", str(refused.value))
    assert asked is not None
    run(long, tmp_path / "s.zarr", ClusterConfig.of(n_workers=1, threads_per_worker=1, memory_limit=asked[1]))
    assert open_results(tmp_path / "s.zarr").sizes["time"] == 50001
