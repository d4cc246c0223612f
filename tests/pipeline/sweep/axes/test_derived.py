from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.sweep.axes import derived
from pipeline.sweep.axes.derived import CHUNK, Derived, Filtered, Sliced
from pipeline.sweep.axes.kinds import Axis, ExplicitValues, Grid, Product, Range
from robots.expressions.expression import parse

GRID = Grid(("a", "b", "c"), (Range(0.0, 1.0, 7), ExplicitValues((3.0, 1.0, 2.0)), Range(-1.0, 1.0, 11)))
SUM = parse("a + c > 0.1", "condition")
KEPT = Filtered(GRID.names, GRID, (SUM, parse("b < limit", "condition")), (("limit", 2.5),))
DERIVED = Derived((*GRID.names, "d", "e"), GRID, (("d", parse("2 * a", "number")), ("e", parse("7", "number"))), ())


def all_rows(axis: Axis) -> list[tuple[float, ...]]:
    return list(zip(*axis.values().values(), strict=True))


def test_kept_sets_are_those_that_meet_all_conditions_in_their_order() -> None:
    expected = [(a, b, c) for a, b, c in all_rows(GRID) if a + c > 0.1 and b < 2.5]
    assert all_rows(KEPT) == expected
    assert KEPT.size == len(expected)


@given(st.lists(st.integers(0, KEPT.size - 1), max_size=30))
def test_kept_sets_are_found_in_any_order(indices: list[int]) -> None:
    whole = KEPT.values()["c"]
    again: Filtered = pickle.loads(pickle.dumps(KEPT))
    assert again.take(np.array(indices, np.int64))["c"].tolist() == whole[indices].tolist()


@pytest.mark.parametrize("chunk", [8, 16, 1 << 17])
@given(st.data())
def test_parts_of_a_kept_axis_do_not_depend_on_chunks(chunk: int, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derived, "CHUNK", chunk)
        axis = Filtered(GRID.names, GRID, KEPT.conditions, KEPT.fixed)
        start = data.draw(st.integers(0, axis.size))
        stop = data.draw(st.integers(start, axis.size))
        assert (
            axis.values(start, stop)["a"].tolist()
            == [a for a, b, c in all_rows(GRID) if a + c > 0.1 and b < 2.5][start:stop]
        )


def test_chunks_have_whole_bytes() -> None:
    assert CHUNK % 8 == 0


def test_derived_parameters_follow_from_the_others() -> None:
    values = DERIVED.values(3, 9)
    assert values["d"].tolist() == (2 * GRID.values(3, 9)["a"]).tolist()
    assert values["e"].tolist() == [7.0] * 6
    assert (DERIVED.size, list(values)) == (GRID.size, ["a", "b", "c", "d", "e"])


def test_a_part_takes_every_so_many() -> None:
    part = Sliced(GRID.names, GRID, 4, 20, 3)
    assert all_rows(part) == all_rows(GRID)[4:20:3]
    assert part.size == 6


def test_a_product_combines_the_sets_of_its_parts_the_last_fastest() -> None:
    axis = Product(("x", *GRID.names), (Grid(("x",), (ExplicitValues((5.0, 6.0)),)), KEPT))
    assert all_rows(axis) == [(x, *row) for x in (5.0, 6.0) for row in all_rows(KEPT)]


def test_equal_descriptions_are_equal_axes() -> None:
    others = [GRID, KEPT, DERIVED, Sliced(GRID.names, GRID, 0, 20), Sliced(GRID.names, GRID, 0, 20, 2)]
    others.append(Filtered(GRID.names, GRID, (SUM,), ()))
    assert len({str(axis.describe()) for axis in others}) == len(others)


def test_a_large_axis_with_conditions_takes_a_bit_for_each_set() -> None:
    grid = Grid(tuple("ab"), (Range(0.0, 1.0, 1000), Range(0.0, 1.0, 2000)))
    axis = Filtered(grid.names, grid, (parse("a < b", "condition"),), ())
    tracemalloc.start()
    size = axis.size
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.99e6 < size < 1.01e6
    assert held < grid.size / 8 * 1.2
    assert peak < 30e6
