"""A kernel benchmark that computed something else would fail."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import delta, kernels
from benchmarks.delta import Solver, Twin
from benchmarks.figures import QUICK, CheckError
from tasks.kernels import kernel


def test_the_job_takes_what_it_is_said_to_take() -> None:
    figures = {each.name: each.value for each in kernels.speed(QUICK)}
    assert figures["loops open by at most"] < 1e-14
    assert 3 <= figures["steps of a sample, mean"] <= figures["steps of a vector, mean"] <= figures["steps, most"] <= 9
    assert 3000 < figures["operations per sample"] < 5000


def test_other_numbers_from_numpy_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def nudged(self: Twin, inputs: delta.Arrays, samples: int, out: object = None, **_: object) -> delta.Arrays:
        return {name: values * (1.0 + 1e-7) for name, values in honest(self, inputs, samples).items()}

    honest = Twin.__call__
    monkeypatch.setattr(Twin, "__call__", nudged)
    with pytest.raises(CheckError, match=r"NumPy and compiled forces differ by .*; expected at most 1e-09"):
        list(kernels.speed(QUICK))


def test_open_loops_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "opening", lambda *_: 1e-9)
    with pytest.raises(CheckError, match=r"loops stay open by 1.0e-09 m; expected below 1e-12 m"):
        list(kernels.speed(QUICK))


def test_designs_that_depend_on_their_neighbours_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_count(self: Solver) -> np.ndarray:
        return honest(self) * (1.0 if self.work.designs > 1 else 1.0 + 1e-15)

    honest = Solver.all
    monkeypatch.setattr(Solver, "all", by_count)
    with pytest.raises(CheckError, match="a design by itself gives other bits than among others"):
        list(kernels.designs(QUICK))


def test_a_second_compilation_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    known = iter(({"a": 1.0}, {"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 2.0}))
    monkeypatch.setattr(kernels, "compiled", lambda: next(known))
    with pytest.raises(CheckError, match="1 programs were compiled again for other designs"):
        list(kernels.designs(QUICK))
    assert kernel.compiled()
