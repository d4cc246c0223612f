import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from robots.quantities import QUANTITIES
from storage.errors import StoreError
from storage.layout import METADATA_FILES, Layout
from storage.schema import lookup
from storage.variables import CHUNK_MAX, CHUNK_MIN, SPLIT, BlockGrid
from tests.storage.cases import LAYOUT, SIZES

DIMS = tuple(dict.fromkeys(dim for variable in QUANTITIES.values() for dim in variable.dims))

SERIES = ("status", "actuator_force", "actuator_power", "peak_force")


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    sizes = {dim: draw(st.integers(1, 6 if dim in SPLIT else 3), label=dim) for dim in DIMS}
    block = {dim: draw(st.integers(1, 7), label=f"block {dim}") for dim in SPLIT}
    names = draw(st.lists(st.sampled_from(sorted(QUANTITIES)), min_size=1, unique=True))
    return Layout.of(BlockGrid(sizes, block), tuple(names))


@given(layouts())
@settings(max_examples=60, deadline=None)
def test_owners_write_every_element_once(layout: Layout) -> None:
    for name in layout.variables:
        count = np.zeros(layout.variables[name].shape, dtype=int)
        for index in range(layout.blocks):
            if layout.variables[name].is_owned(index):
                count[layout.variables[name].region(index)] += 1
        assert (count == 1).all()


@given(layouts())
@settings(max_examples=60, deadline=None)
def test_no_two_owners_share_a_shard(layout: Layout) -> None:
    for name in layout.variables:
        shard, seen = layout.variables[name].shard, set()
        for index in (index for index in range(layout.blocks) if layout.variables[name].is_owned(index)):
            region = layout.variables[name].region(index)
            first = tuple(part.start // size for part, size in zip(region, shard, strict=True))
            last = tuple((part.stop - 1) // size for part, size in zip(region, shard, strict=True))
            assert first == last
            assert first not in seen
            seen.add(first)
        assert len(seen) == layout.variables[name].shards


@given(layouts())
@settings(max_examples=60, deadline=None)
def test_sums_agree(layout: Layout) -> None:
    assert sum(layout.block_bytes(index) for index in range(layout.blocks)) == layout.bytes
    assert layout.files == METADATA_FILES + sum(1 + layout.variables[name].shards for name in layout.variables)
    assert Layout.from_dict(layout.as_dict()) == layout


@given(st.integers(1, 200), st.integers(1, 3), st.integers(1, 9_000), st.sampled_from(sorted(QUANTITIES)))
@example(134, 1, 577, "link_acceleration")
@settings(max_examples=200, deadline=None)
def test_chunks_divide_shards_and_are_of_the_wanted_size(design: int, friction: int, time: int, name: str) -> None:
    sizes = {**dict.fromkeys(DIMS, 3), "design": design, "friction": friction, "time": time}
    layout = Layout.of(BlockGrid(sizes, {"design": design, "friction": friction}), (name,))
    shard, chunk = layout.variables[name].shard, layout.variables[name].chunk
    assert all(long % short == 0 for long, short in zip(shard, chunk, strict=True))
    assert all(long >= size for long, size in zip(shard, layout.variables[name].region_shape(0), strict=True))
    nbytes = math.prod(chunk) * np.dtype(lookup(name).dtype).itemsize
    row = nbytes // chunk[layout.variables[name].dims.index("time")] if "time" in layout.variables[name].dims else 1
    assert nbytes < CHUNK_MAX + row  # time is divided evenly, into whole samples
    assert nbytes >= CHUNK_MIN or layout.variables[name].bytes <= CHUNK_MAX
    # What is added to make chunks even stays below one row per chunk.
    assert math.prod(shard) < math.prod(layout.variables[name].shape) * (
        1 + math.prod(shard) / math.prod(chunk) / time + 1e-9
    )


def test_series_stay_whole_before_designs_do() -> None:
    layout = Layout.of(BlockGrid({**SIZES, "design": 1000, "time": 1001}, {"design": 1000}), ("actuator_force",))
    assert layout.variables["actuator_force"].chunk == (125, 1, 1, 1001, 3)
    layout = Layout.of(BlockGrid({**SIZES, "design": 1009, "time": 1009}, {"design": 1009}), ("actuator_force",))
    assert layout.variables["actuator_force"].chunk == (1009, 1, 1, 169, 3)
    assert layout.variables["actuator_force"].shard == (1009, 1, 1, 1014, 3)


def test_order_of_blocks() -> None:
    assert LAYOUT.grid.counts == (3, 2, 2)
    assert [LAYOUT.grid.unravel(index) for index in (0, 1, 2, 4, 11)] == [
        (0, 0, 0),
        (0, 0, 1),
        (0, 1, 0),
        (1, 0, 0),
        (2, 1, 1),
    ]
    assert LAYOUT.variables["peak_force"].region(11) == (slice(4, 5), slice(1, 2), slice(2, 3), slice(0, 3))
    assert LAYOUT.variables["platform_position"].region(11) == (slice(2, 3), slice(0, 7), slice(0, 3))
    assert list(LAYOUT.owned(0))[-1] == "status"
    assert tuple(LAYOUT.owned(11)) == ("actuator_force", "peak_force")


def test_a_huge_sweep_costs_nothing_to_lay_out() -> None:
    tracemalloc.start()
    layout = Layout.of(
        BlockGrid({**SIZES, "design": 10**13, "friction": 10**6}, {"design": 10}), ("actuator_force", "status")
    )
    assert layout.blocks == 10**12 * 10**6 * 3
    assert layout.variables["actuator_force"].region(layout.blocks - 1)[0] == slice(10**13 - 10, 10**13)
    assert layout.variables["actuator_force"].bytes == 10**13 * 10**6 * 3 * 7 * 3 * 8
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_a_block_longer_than_its_dim_is_clipped() -> None:
    layout = Layout.of(BlockGrid(SIZES, {"design": 100}), ("condition",))
    five: Any = np.int64(5)
    assert layout.block == {"design": 5, "friction": 1, "trajectory": 1}
    assert Layout.of(BlockGrid({**SIZES, "design": five}, {"design": five}), ("condition",)) == layout


@pytest.mark.parametrize("value", [0, -1, 1.5, "3", None])
def test_bad_size(value: object) -> None:
    with pytest.raises(StoreError, match=r"size of 'design' is .*; expected a whole number from 1 on"):
        Layout.of(BlockGrid({**SIZES, "design": value}, {}), ("condition",))  # type: ignore[dict-item]
    with pytest.raises(StoreError, match=r"block length along 'design' is .*; expected a whole number from 1 on"):
        Layout.of(BlockGrid(SIZES, {"design": value}), ("condition",))  # type: ignore[dict-item]


def test_missing_size() -> None:
    with pytest.raises(StoreError, match="no size for 'time'; got sizes of design, friction, trajectory"):
        Layout.of(BlockGrid({"design": 1, "friction": 1, "trajectory": 1}, {}), ("status",))


@pytest.mark.parametrize("variables", [(), ("status", "status")])
def test_bad_variables(variables: tuple[str, ...]) -> None:
    with pytest.raises(StoreError, match="expected one or more, each once"):
        Layout.of(BlockGrid(SIZES, {}), variables)


def test_shard_beyond_the_limit() -> None:
    with pytest.raises(
        StoreError, match=r"block of actuator_force holds 2400\d+ bytes; expected at most 1073741824; make blocks"
    ):
        Layout.of(BlockGrid({**SIZES, "time": 10**8}, {}), ("actuator_force",))


@pytest.mark.parametrize("index", [-1, 12])
def test_block_beyond_the_grid(index: int) -> None:
    with pytest.raises(StoreError, match=f"there is no block {index}; expected 0 to 11"):
        LAYOUT.grid.unravel(index)


def test_writing_a_block_takes_its_two_largest_variables() -> None:
    layout = Layout.of(
        BlockGrid({"design": 2, "friction": 1, "trajectory": 1, "time": 5, "actuator": 3}, {"design": 2}), SERIES
    )
    sizes = {"status": 2 * 5, "actuator_force": 2 * 5 * 3 * 8, "actuator_power": 2 * 5 * 3 * 8, "peak_force": 2 * 3 * 8}
    assert layout.block_bytes(0) == sum(sizes.values())
    assert layout.writing_bytes(0) == sizes["actuator_force"] + sizes["actuator_power"]
