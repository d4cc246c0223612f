from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.sweep.axes.kinds import NOTHING, ExplicitValues, Grid, Listed, Range, Sampled, complete

FLOATS = st.floats(-1e6, 1e6)


@given(FLOATS, FLOATS, st.integers(1, 200))
def test_a_range_is_linspace_bit_for_bit(start: float, stop: float, num: int) -> None:
    mine = Range(start, stop, num).take(np.arange(num))
    assert mine.tobytes() == np.linspace(start, stop, num).tobytes()


def test_a_range_whose_step_underflows_is_linspace_too() -> None:
    assert Range(0.0, 5e-324, 7).take(np.arange(7)).tobytes() == np.linspace(0.0, 5e-324, 7).tobytes()


def test_the_last_parameter_of_a_grid_changes_fastest() -> None:
    axis = Grid(("a", "b"), (ExplicitValues((1.0, 2.0)), ExplicitValues((10.0, 20.0, 30.0))))
    got = axis.values()
    assert list(zip(got["a"], got["b"], strict=True)) == list(itertools.product((1.0, 2.0), (10.0, 20.0, 30.0)))
    assert (axis.size, list(got)) == (6, ["a", "b"])


AXES = [
    Grid(("a", "b", "c"), (Range(0.1, 0.3, 5), ExplicitValues((3.0, 1.0)), Range(1.0, -1.0, 3))),
    Listed(("a", "b"), (ExplicitValues((1.0, 2.0, 3.0)), ExplicitValues((4.0, 5.0, 6.0)))),
    Sampled(("a", "b"), (0.0, -1.0), (1.0, 1.0), "latin_hypercube", 37, 1),
    Sampled(("a", "b"), (0.0, -1.0), (1.0, 1.0), "sobol", 37, 2**100),
    Sampled(("a", "b"), (0.0, -1.0), (1.0, 1.0), "uniform", 37, 0),
    NOTHING,
]


@pytest.mark.parametrize("axis", AXES, ids=lambda axis: str(axis)[:50])
@given(data=st.data())
def test_any_part_of_an_axis_equals_the_part_of_the_whole(axis: Grid, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, axis.size))
    stop = data.draw(st.integers(start, axis.size))
    part = pickle.loads(pickle.dumps(axis)).values(start, stop)
    for name, whole in axis.values().items():
        assert part[name].tobytes() == whole[start:stop].tobytes()


@pytest.mark.parametrize("method", ["latin_hypercube", "sobol", "uniform"])
def test_a_sample_depends_on_its_seed_alone_and_stays_in_bounds(method: str) -> None:
    axes = [Sampled(("a", "b"), (2.0, -1.0), (3.0, 1.0), method, 100, seed) for seed in (1, 2)]  # type: ignore[arg-type]
    first, second = (axis.values() for axis in axes)
    assert not np.array_equal(first["a"], second["a"])
    assert first["a"].min() >= 2.0
    assert first["a"].max() <= 3.0
    assert abs(first["b"].mean()) < 0.2


def test_a_latin_hypercube_has_one_value_in_every_slice() -> None:
    values = AXES[2].values()["a"]
    assert sorted((values * 37).astype(int)) == list(range(37))


def test_huge_axes_are_indexed_without_being_made() -> None:
    axis = Grid(tuple("abcde"), tuple(Range(0.0, 1.0, 10**5) for _ in range(5)))
    assert axis.size == 10**25
    axis = Grid(("a", "b"), (Range(0.0, 1.0, 10**5), Range(0.0, 1.0, 10**5)))
    assert axis.values(10**10 - 1)["a"].tolist() == [1.0]


def test_leaving_an_axis_is_an_error() -> None:
    with pytest.raises(IndexError, match="values 2 to 9 were asked of an axis with 3; expected 0 <= start <= stop"):
        AXES[1].values(2, 9)


def test_an_axis_is_completed_with_fixed_values_in_the_order_of_the_parameters() -> None:
    got = complete(AXES[1], {"z": 7.0, "b": 0.0, "a": 0.0}, 1, 3)
    assert {name: list(values) for name, values in got.items()} == {"z": [7.0, 7.0], "b": [5.0, 6.0], "a": [2.0, 3.0]}
    assert list(got) == ["z", "b", "a"]
    assert complete(NOTHING, {"z": 7.0}, 0, 1)["z"].tolist() == [7.0]
