"""Strips of cases in one call: the bits of one after another, and arrays that do not move evenly are refused."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tasks.kernels import lanes, strips
from tasks.kernels.kernel import LANES, kernel, machine_code
from tasks.kernels.program import Program, trace
from tests.waiting import PATIENCE

SAMPLES, CASES, COUNT = 2 * LANES, 3, 7
THREADS, LONG = 2, 10**6


def stretched() -> Program:
    return trace("stretched", lambda a, x: {"y": [x[0] * a[0] + a[1]]}, case={"a": (2,)}, sample={"x": (1,)})


def squared() -> Program:
    return trace("squared", lambda y: {"z": [y[0] * y[0]]}, case={}, sample={"y": (1,)})


def work() -> tuple[Callable[..., None], np.ndarray]:
    """A strip of two programs, and where its results go."""
    random = np.random.default_rng(2)
    a, x = random.uniform(1.0, 2.0, (CASES * COUNT, 2)), random.uniform(0.1, 1.0, (1, 1, SAMPLES))
    y, z = np.empty((CASES, 1, SAMPLES)), np.zeros((CASES * COUNT, 1, SAMPLES))

    def strip(way: Callable[[Program], Any], k: int) -> None:
        part = slice(k * CASES, (k + 1) * CASES)
        between = way(stretched())({"a": a[part], "x": x}, SAMPLES, {"y": y})
        way(squared())(between, SAMPLES, {"z": z[part]})

    return strip, z


def test_strips_have_their_bits() -> None:
    strip, expected = work()
    for k in range(COUNT):
        strip(kernel, k)
    strip, z = work()
    strips.run(strip, kernel, COUNT)
    assert z.tobytes() == expected.tobytes() != bytes(z.nbytes)


def test_arrays_that_move_unevenly_are_refused() -> None:
    strip, z = work()
    order = [0, 1, 2, 3, 4, 6, 5]
    with pytest.raises(RuntimeError, match="neither the same for all strips nor moves on evenly"):
        strips.run(lambda way, k: strip(way, order[k]), kernel, COUNT)
    assert not z.any()


def test_threads_that_begin_at_once_keep_the_machine_code_that_they_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each makes some, and of one it is replaced while it is at work."""
    lanes._machine.cache_clear()
    both, results = threading.Barrier(THREADS), []

    def made_by_both(text: str, signature: Any) -> Any:
        code = machine_code(text, signature)
        both.wait(PATIENCE)
        return code

    def turn() -> None:
        strip, z = work()
        strips.run(lambda way, k: strip(way, 0), kernel, LONG)
        results.append(z[:CASES].tobytes())

    monkeypatch.setattr(lanes, "machine_code", made_by_both)
    threads = [threading.Thread(target=turn) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    strip, z = work()
    strip(kernel, 0)
    assert results == [z[:CASES].tobytes()] * THREADS
