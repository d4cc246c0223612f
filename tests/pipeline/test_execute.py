from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import dask
import pytest
from dask._task_spec import Task

from pipeline.cluster import ClusterConfig, connect
from pipeline.errors import InputError
from pipeline.execute import check_versions, in_process, on_cluster, run_all, window


def work(count: int, made: list[int] | None = None, seconds: float = 0.0) -> Iterator[tuple[dict[Any, Any], Any]]:
    """Graphs of one task each, which note when they are asked for."""
    for index in range(count):
        if made is not None:
            made.append(index)
        key = ("square", index)
        yield {key: Task(key, square, index, seconds)}, key


def square(index: int, seconds: float) -> int:
    time.sleep(seconds)
    if index == 7:
        raise ValueError("seven")
    return index * index


def values(results: Iterator[tuple[Any, Any, float]]) -> dict[int, Any]:
    return {key[1]: str(value) if isinstance(value, Exception) else value for key, value, _ in results}


EXPECTED = {index: "seven" if index == 7 else index * index for index in range(20)}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with connect(ClusterConfig.of(n_workers=1, threads_per_worker=2)) as made:
        yield made


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_results_of_this_process_and_errors_as_values(scheduler: str) -> None:
    with dask.config.set(scheduler=scheduler):
        assert values(in_process(work(20))) == EXPECTED
        assert values(run_all(None, work(20))) == EXPECTED


def test_work_in_this_process_is_made_one_by_one() -> None:
    made: list[int] = []
    with dask.config.set(scheduler="synchronous"):
        results = in_process(work(10**9, made, 0.001))
        (_, _, seconds), *_ = itertools.islice(results, 3)
    assert made == [0, 1, 2]
    assert 0.001 <= seconds < 1.0


def test_results_of_a_cluster_and_errors_as_values(client: Any) -> None:
    assert values(run_all(client, work(20))) == EXPECTED
    assert values(on_cluster(client, iter(()), 3)) == {}


def test_no_more_than_a_window_is_on_its_way(client: Any) -> None:
    made: list[int] = []
    with closing(on_cluster(client, work(10**9, made), 3)) as results:
        for count in range(1, 60):
            next(results)
            assert len(made) <= count + 2
            assert len(client.futures) <= 9, "the loop of the client lets go a little later"


def test_what_is_on_its_way_is_cancelled_when_nobody_waits_for_it(client: Any) -> None:
    with closing(on_cluster(client, work(100, seconds=0.2), 10)) as results:
        next(results)
    deadline = time.monotonic() + 10
    while left := [*client.futures, *client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.tasks.keys())]:
        assert time.monotonic() < deadline, f"still there: {left}"
        time.sleep(0.05)


def test_the_window_follows_the_threads_of_the_cluster(client: Any) -> None:
    assert window(client) == 4
    assert window(client, parallel=4) == 3


def test_workers_with_the_versions_of_this_process_pass(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    check_versions(client, "c.yaml")
    monkeypatch.setattr("pipeline.provenance.COMPUTES", ("numpy", "pytest"))
    with pytest.raises(InputError, match=r"c\.yaml worker tcp://127\.0\.0\.1:\d+: got pytest not installed; expected"):
        check_versions(client, "c.yaml")
