"""Results in memory and on demand: the same dataset and the same bits as through a store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
import xarray as xr
from distributed import Client, LocalCluster

from pipeline.cluster.file import ClusterConfig
from pipeline.errors import TaskError
from pipeline.execution import graph
from pipeline.execution import work as blocks
from pipeline.execution.preparation import lazy
from pipeline.execution.run import compute, run
from pipeline.monitor.log import BlockDone, CaseFailed, Event, Finished, ResultsSent, Started
from storage.places.reach import Mark
from tasks.blocks import limb_results
from tests.pipeline.runs import EVERYTHING, FEW, SYNCHRONOUS, cut_finely, sweep

REACTING = FEW.replace("[actuator_force]", "[actuator_force, joint_reaction]").replace(
    "[peak_force]", "[peak_reaction]"
)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    listening: Any = {"processes": False, "dashboard_address": "127.0.0.1:0"}
    with (
        dask.config.set(scheduler=None),
        LocalCluster(n_workers=2, threads_per_worker=1, **listening) as cluster,
        Client(cluster, set_as_default=False) as made,
    ):
        yield made


def undated(dataset: xr.Dataset) -> xr.Dataset:
    return dataset.assign_attrs(created="")


@pytest.mark.parametrize("text", [EVERYTHING, REACTING], ids=["everything", "reactions"])
def test_whatever_computes_gives_the_same_dataset(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = undated(run(sweep(text), cluster=SYNCHRONOUS))
    xr.testing.assert_identical(undated(compute(sweep(text))), stored)
    xr.testing.assert_identical(undated(run(sweep(text), cluster=ClusterConfig.of("threads"))), stored)
    cut_finely(monkeypatch)
    demanded = lazy(sweep(text))
    assert demanded["actuator_force"].chunks == ((1,) * 12, (2, 1), (1, 1), (41,), (3,))
    xr.testing.assert_identical(undated(demanded.load(scheduler="synchronous")), stored)


def test_a_store_and_results_in_memory_have_the_same_coordinates_and_attributes(tmp_path: Path) -> None:
    stored = run(sweep(FEW), tmp_path / "s.zarr", SYNCHRONOUS)
    xr.testing.assert_identical(undated(stored.load(scheduler="synchronous")), undated(compute(sweep(FEW))))


def test_lazy_results_compose_with_what_users_compute(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(sweep(FEW), cluster=SYNCHRONOUS)
    cut_finely(monkeypatch)
    demanded = lazy(sweep(FEW))
    assert all(variable.chunks is not None for variable in demanded.data_vars.values())
    graph = demanded["actuator_force"].mean("time").__dask_graph__()
    assert {str(key[0]).rpartition("-")[0].rpartition("-")[0] for key in graph if isinstance(key, tuple)} >= {"limb1"}
    (mean,) = dask.compute(demanded["actuator_force"].mean("time"), scheduler=client)
    np.testing.assert_allclose(mean, whole["actuator_force"].mean("time"), rtol=1e-13)
    template = demanded[["peak_force"]]
    doubled = xr.map_blocks(lambda part: 2.0 * part, template, template=template).load(scheduler=client)
    np.testing.assert_array_equal(doubled["peak_force"], 2.0 * whole["peak_force"])
    with dask.config.set(scheduler="threads"):
        demanded.drop_attrs().to_zarr(tmp_path / "mine.zarr", zarr_format=3, consolidated=False)
        mine = xr.open_zarr(tmp_path / "mine.zarr", consolidated=False).load()
    np.testing.assert_array_equal(mine["actuator_force"], whole["actuator_force"])


def test_one_chunk_computes_its_block_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_finely(monkeypatch)
    asked: list[int] = []
    right = limb_results.limb_arrays

    def counted(block: Any, *others: Any) -> Any:
        asked.append(block.index)
        return right(block, *others)

    monkeypatch.setattr(graph, "limb_arrays", counted)
    lazy(sweep(FEW))["peak_force"][3, 0, 1].load(scheduler="synchronous")
    assert len(asked) == 3
    assert len(set(asked)) == 1


def test_listeners_hear_of_blocks_in_memory() -> None:
    events: list[Event] = []
    run(sweep(FEW), cluster=ClusterConfig.of("threads"), listeners=[events.append])
    first, *middle, last = events
    assert first == Started(1, 0, 984, None, "block")
    assert [type(event) for event in middle] == [BlockDone]
    assert isinstance(last, Finished)
    assert last.samples == 984


def test_a_case_that_cannot_be_computed_is_left_out_as_in_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(block: Any) -> Any:
        raise RuntimeError("not this one")

    expected, events = undated(run(sweep(FEW), cluster=SYNCHRONOUS)), list[Event]()
    monkeypatch.setattr(blocks, "whole", fail)
    xr.testing.assert_identical(undated(compute(sweep(FEW), listeners=[events.append])), expected)
    assert not any(isinstance(event, CaseFailed) for event in events)
    monkeypatch.setattr(graph, "limb_arrays", lambda *arguments: fail(None))
    with pytest.raises(TaskError, match="RuntimeError: not this one"):
        lazy(sweep(FEW)).load(scheduler="synchronous")


def test_workers_that_share_no_disk_send_their_results(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mark, "fault", lambda mark: "another machine")
    events: list[Event] = []
    here = undated(run(sweep(FEW), client=client, listeners=[events.append]))
    sent = [event for event in events if isinstance(event, ResultsSent)]
    assert sum(event.workers for event in sent) == 2, "one event, or one for each where they answer one by one"
    assert {event.reason for event in sent} == {"another machine"}
    monkeypatch.undo()
    xr.testing.assert_identical(here, undated(run(sweep(FEW), cluster=SYNCHRONOUS)))
