from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from dask.local import get_sync

from pipeline.errors import REASON, TaskError
from pipeline.execution.blocks import block_of
from pipeline.execution.contents import create_store
from pipeline.execution.graph import block_graph, guarded_task
from pipeline.plan.model import Plan
from pipeline.plan.plan import plan
from storage.errors import StoreError
from storage.ledger import Receipt
from storage.store import StoreWriter
from tests.pipeline.runs import EVERYTHING, FEW, cut_finely, sweep


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Plan:
    cut_finely(monkeypatch)
    return plan(sweep(EVERYTHING))


@pytest.fixture
def writer(made: Plan, tmp_path: Path) -> StoreWriter:
    create_store(made, tmp_path / "s.zarr")
    return StoreWriter(tmp_path / "s.zarr")


def test_what_blocks_share_is_what_each_of_them_has(made: Plan) -> None:
    """Parameters and variables are put together once for all blocks: as for one block alone."""
    layout = made.layout
    assert made.blocks > 4
    for index in range(made.blocks):
        block, bounds = block_of(made, index), layout.grid.bounds(index)["design"]
        columns = made.sweep.designs(bounds.start, bounds.stop)
        np.testing.assert_array_equal(block.designs.parameters, np.stack(list(columns.values()), axis=1))
        assert block.designs.parameters.flags.c_contiguous
        owned = layout.owned(index)
        series = tuple(name for name in owned if "time" in layout.variables[name].dims)
        assert block.series == (*series, *made.extra)
        assert block.metrics == tuple(name for name in owned if name not in series)


def test_a_block_has_a_task_for_each_limb_and_each_stage(made: Plan, writer: StoreWriter) -> None:
    graph, key = block_graph(made, 5, writer, "r")
    limbs = {("limb1-r", 5), ("limb2-r", 5), ("limb3-r", 5)}
    root, store = ("trajectories-r", 5), ("store-r", 5)
    assert set(graph) == {root, store, *limbs}
    assert key == store
    assert len(graph) == made.tasks_per_block
    assert graph[root].dependencies == frozenset()
    assert all(graph[each].dependencies == {root} for each in limbs)
    assert graph[store].dependencies == {root, *limbs}


def test_keys_differ_between_blocks_and_runs(made: Plan, writer: StoreWriter) -> None:
    keys = [set(block_graph(made, index, writer, run)[0]) for index in (0, 1) for run in ("a", "b")]
    assert len(set().union(*keys)) == sum(map(len, keys))


def test_one_task_for_a_block_gives_the_same_receipts(made: Plan, writer: StoreWriter) -> None:
    receipts = {}
    for granularity in ("limb", "block"):
        graphs = [block_graph(made, index, writer, "r", granularity) for index in (0, 1, 2)]
        assert granularity == "limb" or all(len(graph) == 1 for graph, _ in graphs)
        receipts[granularity] = [get_sync(graph, key) for graph, key in graphs]
    assert receipts["limb"] == receipts["block"]
    assert isinstance(receipts["limb"][0], Receipt)


def test_the_graph_of_a_block_does_not_grow_with_the_sweep(made: Plan, writer: StoreWriter) -> None:
    large = plan(sweep(EVERYTHING.replace("values: [0.14, 0.15, 0.16]", "start: 0.14, stop: 0.16, num: 20000")))
    assert large.blocks > 1000 * made.blocks
    small, big = (len(pickle.dumps(block_graph(each, 0, writer, "r")[0])) for each in (made, large))
    assert big < 1.02 * small < 20_000


def test_a_block_holds_its_part_of_the_sweep(made: Plan) -> None:
    whole = made.sweep
    block = block_of(made, 3)
    assert (len(block.designs), block.friction.tolist()) == (1, [[0.2, 0.1]])
    assert [each.kind for each in block.trajectories] == ["circle"]
    assert block.samples == made.samples_of(3) == 41
    np.testing.assert_array_equal(block.designs.parameters[0], [each[0] for each in whole.designs(0, 1).values()])
    assert (block.times is whole.times, block.designs.gravity_of(0), block.origin) == (True, whole.gravity, made.origin)
    assert {*block.series, *block.metrics} == set(made.layout.owned(3))


def test_a_law_without_parameters_has_an_empty_table() -> None:
    text = EVERYTHING[: EVERYTHING.index("friction:")] + EVERYTHING[EVERYTHING.index("trajectories:") :]
    assert block_of(plan(sweep(text)), 0).friction.shape == (1, 0)


@guarded_task
def _bad(error: BaseException) -> None:
    raise error


def test_an_error_leaves_a_task_as_a_short_text_that_can_be_sent() -> None:
    class UnsendableError(ValueError):
        def __reduce__(self) -> str:
            raise TypeError("cannot be pickled")

    with pytest.raises(TaskError, match=r"^UnsendableError: x{480}") as caught:
        _bad(UnsendableError("x" * 10_000))
    assert len(str(caught.value)) == REASON + len("UnsendableError: ")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_endless_recursion_and_a_lack_of_memory_are_told() -> None:
    @guarded_task
    def deep() -> None:
        again()

    def again() -> None:
        again()

    with pytest.raises(TaskError, match="RecursionError: maximum recursion depth exceeded"):
        deep()
    with pytest.raises(TaskError, match=r"^MemoryError: no more$"):
        _bad(MemoryError("no\nmore"))


@pytest.mark.parametrize("error", [StoreError("no space"), TaskError("ValueError: told"), KeyboardInterrupt()])
def test_errors_that_say_enough_pass(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught:
        _bad(error)
    assert caught.value is error


def test_blocks_are_sent_without_what_follows_from_them(made: Plan, writer: StoreWriter) -> None:
    """The request of a block is three times its description; names of tasks are sent once for all blocks of a run."""
    reacting = plan(sweep(f"{FEW}\n".replace("[actuator_force]", "[actuator_force, joint_reaction]")))
    for each in (made, reacting):
        graphs = [block_graph(each, index, writer, "r")[0] for index in range(min(4, each.blocks))]
        roots = [graph["trajectories-r", index] for index, graph in enumerate(graphs)]
        assert all("request" not in vars(root.args[0]) for root in roots)
        names = [name for graph in graphs for name, _ in graph]
        assert len({*map(id, names)}) == len({*names})
    assert any("reactions" in name for name in names)
