"""Rows of `limbsweep check --cluster`: the workers that may compute, and who writes the results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import LocalCluster

from pipeline.cluster.checks import ClusterSection
from pipeline.cluster.file import ClusterConfig
from pipeline.errors import InputError
from pipeline.execution.admission import needed_limit
from pipeline.execution.cluster_check import cluster_rows
from pipeline.plan.plan import plan
from storage.places.reach import Mark
from tests.pipeline.runs import FEW, sweep

PLAN = plan(sweep(FEW))


@pytest.fixture(scope="module")
def running() -> Iterator[ClusterConfig]:
    listening: Any = {"processes": False, "dashboard_address": "127.0.0.1:0", "protocol": "tcp", "host": "127.0.0.1"}
    with LocalCluster(n_workers=1, threads_per_worker=2, **listening) as cluster:
        yield ClusterConfig.of("address", address=cluster.scheduler_address)


def test_workers_of_a_scheduler_are_asked_and_nothing_is_stored(running: ClusterConfig, tmp_path: Path) -> None:
    rows = cluster_rows(PLAN, running, tmp_path / "a.zarr")
    (admitted, writers) = (text for _, text in rows)
    assert admitted.startswith("1 worker with 2 threads may compute: tcp://127.0.0.1:")
    assert writers == f"workers write them to {tmp_path / 'a.zarr'}"
    assert list(tmp_path.iterdir()) == []


def test_results_that_come_over_the_network_are_told_with_their_bytes(
    running: ClusterConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Mark, "fault", lambda mark: "another machine")
    (_, (name, sent)) = cluster_rows(PLAN, running, tmp_path / "a.zarr")
    assert name == "results"
    assert sent.startswith(
        "the run writes the results of 1 worker, which come over the network (another machine): tcp:"
    )
    assert sent.endswith("before compression")
    with pytest.raises(InputError, match="got another machine; expected a store that it reaches"):
        cluster_rows(PLAN, running, "memory://bucket/a.zarr")


@pytest.mark.parametrize(
    ("options", "store", "words"),
    [
        ({"kind": "threads"}, "a.zarr", "this process writes them to a.zarr"),
        ({"kind": "local"}, "a.zarr", "workers of this machine write them to a.zarr"),
        (
            {"kind": "slurm", "insecure": True},
            "a.zarr",
            "workers write them to a.zarr; workers that do not see that folder send them to the run, at most",
        ),
        ({"kind": "slurm", "insecure": True}, "memory://b/a.zarr", "workers write them to memory://b/a.zarr, and need"),
        ({"kind": "kubernetes", "insecure": True}, "a.zarr", "pods have no volumes and send them to the run, at most"),
    ],
)
def test_of_a_cluster_that_a_run_starts_it_is_told_what_workers_need(
    options: dict[str, Any], store: str, words: str
) -> None:
    config = ClusterConfig(ClusterSection.model_validate(options))
    assert cluster_rows(PLAN, config, store)[-1][1].startswith(words)


def test_workers_that_are_expected_to_be_too_small_are_told(tmp_path: Path) -> None:
    small = ClusterConfig.of(n_workers=1, memory_limit="150 MB")
    (_, told), *others = cluster_rows(PLAN, small, tmp_path / "a.zarr")
    assert told.startswith("workers of 143 MiB are expected to need 2")
    enough = ClusterConfig.of(n_workers=1, memory_limit=f"{(needed_limit(PLAN) >> 20) + 1} MiB")
    assert cluster_rows(PLAN, enough, tmp_path / "a.zarr") == others
