"""Blocks that share limbs are computed together, whatever the order of the keys of a grid: counts, bits, failures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster

from pipeline.cluster.file import ClusterConfig
from pipeline.execution import shared_blocks, work
from pipeline.execution.blocks import block_of
from pipeline.execution.run import run
from pipeline.execution.shared_blocks import together
from pipeline.plan import plan as planning
from pipeline.sweep.model import Sweep
from storage.integrity import receipts_of
from storage.ledger import Receipt
from storage.manifest import Manifest
from storage.places.access import locate
from tasks.blocks import assembly, limb_results
from tasks.blocks.assembly import Assembly
from tasks.blocks.block import Block, motions
from tasks.blocks.limb_results import OncePerInput
from tasks.blocks.motions import Motions
from tasks.blocks.pool import Arrays

TEXT = """
limbsweep: 1
robot: delta_rl5_1450
design: {grid: {KEYS}}
trajectories: {line: {kind: line_sine, amplitude: [0.1, 0, 0.04]}, circle: {kind: circle, radius: 0.05}}
time: {stop: 1.0, samples: 9}
outputs: OUTPUTS
metrics: [peak_force, condition]
"""
PAYLOAD, ARM = "payload_mass: [0, 2, 4, 6]", "upper_arm: {start: 0.34, stop: 0.42, num: 12}"
FIRST, LAST = f"{PAYLOAD}, {ARM}", f"{ARM}, {PAYLOAD}"


def sweep(keys: str, outputs: str = "[]") -> Sweep:
    return Sweep.from_text(TEXT.replace("KEYS", keys).replace("OUTPUTS", outputs))


@pytest.fixture(autouse=True)
def _nothing_is_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of these tests are so short that they would not look for limbs that blocks share."""
    monkeypatch.setattr(shared_blocks, "LITTLE", 0.0)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of twelve designs on one trajectory, and strips of four."""
    monkeypatch.setattr(planning, "SMALL_BLOCK", 12 * 9)
    monkeypatch.setattr(planning, "WANTED_BLOCKS", 8)
    monkeypatch.setattr(Assembly, "STRIP", 4 * 16)
    monkeypatch.setattr("pipeline.execution.preparation.cores", lambda: 2)


@pytest.fixture
def client() -> Iterator[Client]:
    """A cluster of two threads in this process, where counts can be seen."""
    listening: Any = {"processes": False, "dashboard_address": "127.0.0.1:0"}
    with (
        dask.config.set(scheduler=None),
        LocalCluster(n_workers=1, threads_per_worker=2, **listening) as cluster,
        Client(cluster, set_as_default=False) as made,
    ):
        yield made


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Provide the numbers of cases for which limbs and platforms are computed."""
    sizes: list[int] = []
    run = OncePerInput.run

    def count(self: OncePerInput, kernel: Any, values: Any, *others: Any, **more: Any) -> Any:
        first, _ = self._different(self._stage.inputs(values))
        sizes.append(len(first))
        return run(self, kernel, values, *others, **more)

    def one_by_one(strip: Any, kernel: Any, count: int) -> None:
        for k in range(count):
            strip(kernel, k)

    monkeypatch.setattr(OncePerInput, "run", count)
    monkeypatch.setattr(assembly.strips, "run", one_by_one)
    return sizes


def test_a_payload_as_first_key_costs_what_it_costs_as_last_key(counted: list[int]) -> None:
    threads = ClusterConfig.of("threads")
    first, once = run(sweep(FIRST), cluster=threads), sum(counted)
    counted.clear()
    last = run(sweep(LAST), cluster=threads)
    assert once == sum(counted) == 2 * (3 * 12 + 48)  # trajectories x (limbs x arms, and a platform for each design)
    for name in first.data_vars:
        turned = last[name].values.reshape(12, 4, *last[name].shape[1:]).swapaxes(0, 1)
        assert np.array_equal(first[name].values, turned.reshape(last[name].shape), equal_nan=True)
    counted.clear()
    block = block_of(planning.plan(sweep(FIRST)), 0)
    alone = work.computed(block)  # on one trajectory with one payload
    assert sum(counted) == 3 * 12 + 1  # a platform for all
    assert np.array_equal(alone["peak_force"], first["peak_force"].values[:12, :, :1])


def test_designs_of_one_block_may_stand_in_any_order(counted: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "SMALL_BLOCK", 1 << 14)
    plan = planning.plan(sweep(FIRST, "[actuator_force, joint_reaction]"))
    assert plan.blocks == 1
    arrays = work.computed(block_of(plan, 0))
    assert sum(counted) == 2 * (3 * 12 + 48)
    monkeypatch.setattr(assembly, "sharing", lambda block: np.arange(len(block.designs)))
    plain = work.computed(block_of(plan, 0))
    assert arrays.keys() == plain.keys()
    for name, array in plain.items():
        assert np.array_equal(arrays[name], array, equal_nan=True)


def test_a_run_on_a_cluster_stores_the_blocks_of_the_plan_with_the_same_bits(
    tmp_path: Path, client: Client, counted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planning.plan(sweep(FIRST))
    assert (together(plan).count, together(plan).period, together(plan, threads=4).count) == (4, 12, 2)
    assert list(together(plan).groups(range(8))) == [(0, 2, 4, 6), (1, 3, 5, 7)]
    stored = run(sweep(FIRST), tmp_path / "a.zarr", client)
    check = 4  # one case: its limbs, and the rest
    assert sum(counted) == check + 2 * (3 * 12 + 48)
    here = run(sweep(FIRST), tmp_path / "b.zarr", ClusterConfig.of("synchronous"))
    assert stored.load().equals(here.load())
    assert ledger(tmp_path / "a.zarr") == ledger(tmp_path / "b.zarr")

    with monkeypatch.context() as patched:
        patched.setattr(shared_blocks, "SECONDS", 1e-6)
        assert together(plan).count == 1  # blocks that take long are tasks of their own
    failed: list[int] = []

    def fails(blocks: list) -> None:
        failed.append(len(blocks))
        raise ValueError(len(blocks))

    monkeypatch.setattr(work, "computed_together", fails)  # of a block by itself too, which limbs do not go through
    monkeypatch.setattr(work, "computed", lambda block: assembly.assembled(*_by_limbs(block)).arrays)
    again = run(sweep(FIRST), tmp_path / "c.zarr", client)
    assert failed == [4, 4]
    assert again.load().equals(here)


def _by_limbs(block: Block) -> tuple[Block, Motions, list[Arrays]]:
    root = motions(block)
    return block, root, [limb_results.limb_arrays(block, root, k) for k in range(3)]


def ledger(store: Path) -> list[Receipt]:
    manifest = Manifest.load(locate(store))
    return sorted(receipts_of(locate(store), range(manifest.layout.blocks)).values(), key=lambda r: r.block)


@pytest.mark.parametrize(
    ("keys", "count"),
    [(LAST, 1), (f"base_radius: [0.3, 0.32], {ARM}", 1), (f"{PAYLOAD}, platform_mass: [2, 3], {ARM}", 4)],
)
def test_keys_that_limbs_depend_on_leave_blocks_alone(keys: str, count: int) -> None:
    assert together(planning.plan(sweep(keys))).count == count
    assert not limb_results.shares_limbs(block_of(planning.plan(sweep(keys)), 0))


def test_a_short_run_does_not_look_for_limbs_that_blocks_share(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planning.plan(sweep(FIRST))
    monkeypatch.setattr(shared_blocks, "LITTLE", 1.01 * plan.work.computing)
    monkeypatch.setattr(shared_blocks, "shares_limbs", lambda block: 1 / 0)
    assert together(plan).count == 1
    monkeypatch.setattr(shared_blocks, "LITTLE", 0.99 * plan.work.computing)
    with pytest.raises(ZeroDivisionError):
        together(plan)
