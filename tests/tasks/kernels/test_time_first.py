"""Rows of kernels in the order of the dataset: every bit that of NumPy, alone and in strips."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tasks.kernels import strips, time_first
from tasks.kernels.kernel import kernel, padded
from tasks.kernels.time_first import fill

SHAPES = [(1, 1, (1,)), (3, 7, (5,)), (2, 8, (2, 3)), (5, 9, ()), (4, 33, (3, 6)), (3, 40, (17,))]


def given(cases: int, times: int, after: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, statuses of which some are not zero, and results with gaps between cases and instants."""
    random, count = np.random.default_rng(cases * times), int(np.prod(after))
    rows = random.normal(size=(cases, count, padded(times)))
    rows[0, 0, 0] = np.inf
    status = random.integers(0, 3, size=(cases, 1, padded(times))).astype(float)
    out = np.full((cases, 2, times + 1, *after[:-1], *(n + 2 for n in after[-1:])), -7.0)[:, 1, :times]
    return rows, status, out[..., : after[-1]] if len(after) == 1 else np.full((cases, times, *after), -7.0)


def expected(rows: np.ndarray, status: np.ndarray | None, out: np.ndarray) -> np.ndarray:
    times = out.shape[1]
    result = np.ascontiguousarray(rows[..., :times].swapaxes(1, 2)).reshape(out.shape)
    if status is not None:
        result[status[:, 0, :times] != 0.0] = np.nan
    return result


@pytest.mark.parametrize("has_compiler", [True, False])
@pytest.mark.parametrize(("cases", "times", "after"), SHAPES)
def test_bits_are_those_of_numpy(
    cases: int, times: int, after: tuple[int, ...], has_compiler: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_compiler:
        monkeypatch.setattr(time_first, "has_compiler", lambda: False)
    rows, status, out = given(cases, times, after)
    for known in (None, status):
        fill(kernel, out, rows, times, known)
        assert out.tobytes() == expected(rows, known, out).tobytes()
    one = rows[:1]
    fill(kernel, out, one, times, status)
    assert out.tobytes() == expected(np.repeat(one, cases, axis=0), status, out).tobytes()
    whole = np.full((cases, times), -7, dtype=np.int8)
    fill(kernel, whole, status, times)
    assert (whole == status[:, 0, :times]).all()


def test_nothing_beside_the_results_is_written() -> None:
    rows, status, _ = given(3, 13, (2,))
    whole = np.full((3, 15, 4), -7.0)
    fill(kernel, whole[:, 1:14, 1:3], rows, 13, status)
    whole[:, 1:14, 1:3] = -7.0
    assert (whole == -7.0).all()


def test_strips_are_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, status, _ = given(12, 13, (2,))
    out, made = np.full((12, 13, 2), -7.0), []

    def strip(way: Any, k: int) -> None:
        made.append(k)
        part = slice(2 * k, 2 * k + 2)
        fill(way, out[part], rows[part], 13, status[part])

    strips.run(strip, kernel, 6)
    assert made == [0, 1, 5]
    assert out.tobytes() == expected(rows, status, out).tobytes()


@pytest.mark.parametrize(
    ("rows", "out"),
    [
        (np.zeros((2, 3, 16)), np.zeros((2, 9, 4))),
        (np.zeros((2, 3, 9)), np.zeros((2, 9, 3))),
        (np.zeros((3, 3, 16)), np.zeros((2, 9, 3))),
        (np.zeros((2, 3, 32))[..., ::2], np.zeros((2, 9, 3))),
        (np.zeros((2, 3, 16)), np.zeros((2, 9, 6))[..., ::2]),
    ],
)
def test_arrays_that_do_not_fit_are_refused(rows: np.ndarray, out: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"rows: got \(.*\); expected components of results"):
        fill(kernel, out, rows, 9)
