from __future__ import annotations

import math
import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.cluster.connection import ClusterConfig, connect
from pipeline.errors import ClusterLostError, InputError
from pipeline.execution import preparation as checks
from pipeline.execution.policy import FULL, Worker, worker_table
from pipeline.execution.preparation import canaries, preflight, require_memory, require_same_bits, require_space
from pipeline.execution.run import run
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from storage import open_results
from tests.pipeline.clusters import by_hand, finished
from tests.pipeline.runs import FEW, sweep

GIB = 1 << 30


def test_a_case_has_to_fit_into_every_worker() -> None:
    require_memory("c.yaml", {}, {})
    least = math.ceil(GIB / FULL)
    need = {"a": GIB, "b": GIB}
    require_memory("c.yaml", {"a": Worker(1), "b": Worker(1, least)}, need)
    with pytest.raises(
        InputError, match=r"c\.yaml worker b: got a memory limit of 1 GiB; expected at least 1\.36 GiB"
    ) as e:
        require_memory("c.yaml", {"a": Worker(1, 2 * GIB), "b": Worker(1, GIB)}, need)
    assert "Give workers more memory" in str(e.value)


@pytest.mark.parametrize(
    ("hosts", "chosen"),
    [
        ({}, []),
        ({"a:1": "a"}, ["a:1"]),
        ({"a:1": "a", "a:2": "a", "a:3": "a"}, ["a:1", "a:2"]),
        ({"a:1": "a", "a:2": "a", "b:1": "b"}, ["a:1", "b:1"]),
    ],
)
def test_canaries_sit_on_different_hosts_where_there_are_several(hosts: dict[str, str], chosen: list[str]) -> None:
    assert canaries(hosts) == chosen


def test_workers_that_disagree_are_named_with_the_variables() -> None:
    require_same_bits("c.yaml", {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 2}})
    with pytest.raises(InputError, match=r"c\.yaml worker b: got other results than a in y; expected the same bits"):
        require_same_bits("c.yaml", {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}})
    with pytest.raises(InputError, match=r"worker b: got other results than a \(OSError: no cc\); expected the same"):
        require_same_bits("c.yaml", {"a": {"x": 1}, "b": "OSError: no cc"})
    require_same_bits("c.yaml", {"a": "ValueError: x", "b": "ValueError: x"})


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


def test_two_workers_that_agree_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    made = plan(sweep(FEW))
    seen: list[Any] = []
    honest = checks.require_same_bits
    monkeypatch.setattr(checks, "require_same_bits", lambda *given: (seen.append(given[1]), honest(*given)))
    with connect(ClusterConfig.of(n_workers=2, threads_per_worker=1)) as client:
        assert client is not None
        preflight(client, made, "c.yaml")
        (results,) = seen
        first, second = results.values()
        assert set(first) == set(made.layout.owned(0))
        assert first == second
        told = client.scheduler_info(n_workers=-1)
        small = {address: {**worker, "memory_limit": 1 << 20} for address, worker in told["workers"].items()}
        monkeypatch.setattr(client, "scheduler_info", lambda **kwargs: {"workers": small})
        with pytest.raises(InputError, match=r"got a memory limit of 1 MiB; expected at least \d+ MiB, with which one"):
            preflight(client, made, "c.yaml")


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


def test_a_worker_that_ends_at_its_canary_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else may compute what was meant for it; the others are not blamed."""

    class Waiting:
        status = "pending"

        def result(self, timeout: float) -> None:
            raise TimeoutError

        def release(self) -> None:
            pass

    class Done(Waiting):
        status = "finished"

        def result(self, timeout: float) -> dict[str, int]:  # type: ignore[override]  # checksums
            return {"peak_force": 1}

    given: dict[str, Any] = {"a": Waiting(), "b": Done()}
    client: Any = SimpleNamespace(
        get=lambda graph, key, workers, **options: given[workers[0]],
        scheduler_info=lambda **options: {"workers": {"b": {}}},
    )
    assert list(checks._canary_results(client, plan(sweep(FEW)), given)) == [("b", {"peak_force": 1})]
    monkeypatch.setattr(checks, "CANARY_SECONDS", 0.0)
    assert dict(checks._canary_results(client, plan(sweep(FEW)), given))["a"] == "TimeoutError: "


def test_a_scheduler_that_goes_at_the_beginning_is_named() -> None:
    """A client without it knows no workers."""

    class LostError(RuntimeError):
        """An error whose name says that the scheduler has gone."""

    LostError.__name__ = "FutureCancelledError"
    waiting: Any = SimpleNamespace(status="cancelled", result=lambda timeout: (_ for _ in ()).throw(LostError()))
    client: Any = SimpleNamespace(scheduler_info=lambda **options: {"type": "Scheduler"})
    for call in (lambda: worker_table(client), lambda: checks._canary_result(client, "a", waiting)):
        with pytest.raises(ClusterLostError, match="the scheduler has gone"):
            call()


LONG = """\
limbsweep: 1
robot: delta_3rr2rrr
trajectories: {c: {kind: circle, radius: 0.05}}
time: {stop: 1.0, samples: 50001}
outputs: [actuator_force, joint_reaction, mass_matrix]
"""


@pytest.mark.slow
def test_a_worker_of_the_memory_that_a_refusal_asks_for_ends_the_run(tmp_path: Path) -> None:
    """Outputs of a long trajectory, in a worker that compiles."""
    long = Sweep.from_text(LONG)
    with pytest.raises(InputError) as refused:
        run(long, tmp_path / "s.zarr", ClusterConfig.of(n_workers=1, threads_per_worker=1, memory_limit="150 MiB"))
    asked = re.search(r"expected at least ([\d.]+ [KMG]iB)", str(refused.value))
    assert asked is not None
    run(long, tmp_path / "s.zarr", ClusterConfig.of(n_workers=1, threads_per_worker=1, memory_limit=asked[1]))
    assert open_results(tmp_path / "s.zarr").sizes["time"] == 50001
