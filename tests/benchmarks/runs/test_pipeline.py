"""Assertions of benchmarks of whole runs; test_cases runs these benchmarks."""

from __future__ import annotations

import subprocess
import time
from typing import Any

import numpy as np
import pytest

from benchmarks.figures import QUICK, CheckError
from benchmarks.runs import footprint, pipeline, series, sweeps
from benchmarks.runs.pipeline import FULL_BLOCK, Setting
from benchmarks.runs.sweeps import Stopwatch, text
from pipeline.monitor.log import BlockDone, Finished, Started
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep

SWEEP = text(2, 2, 17, series=False)
ALONE = Setting("block", "synchronous", 1)


def test_a_stopwatch_counts_from_the_cluster_and_from_the_first_block(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter((10.0, 12.0, 13.0, 14.0, 15.0))
    busy = iter((7.0, 9.5))
    monkeypatch.setattr(time, "perf_counter", lambda: next(times))
    monkeypatch.setattr(time, "process_time", lambda: next(busy))
    watch = Stopwatch()
    for event in (Started(3, 0, 100, None), *(BlockDone(k, 100, 0.1) for k in range(3)), Finished(300, 5.0, 0)):
        watch(event)
    assert (watch.whole, watch.steady, watch.busy) == (60.0, 100.0, 2.5)


def test_full_sizes_are_as_documented() -> None:
    metrics = Sweep.from_text(text(100, 100, 10_001, series=False))
    assert plan(metrics).samples == 100_010_000
    assert plan(Sweep.from_text(text(FULL_BLOCK, 50, 10_001, series=False))).blocks == 50
    assert plan(Sweep.from_text(text(FULL_BLOCK, 500, 10_001, series=False))).blocks == 500


def test_a_wrong_metric_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = sweeps.alone
    monkeypatch.setattr(sweeps, "alone", lambda sweep: honest(sweep) * (1.0 + 1e-9))
    with pytest.raises(CheckError, match=r"the peak force of the last design is off by .*; expected below 1e-12"):
        pipeline.metrics_run(Sweep.from_text(SWEEP), ALONE)


def test_failed_samples_are_seen() -> None:
    sweep = Sweep.from_text(SWEEP.replace("[0.3, 0.4, 0.1]", "[3, 4, 1]"))
    with pytest.raises(CheckError, match="some samples of the run have failed"):
        pipeline.metrics_run(sweep, ALONE)


def test_wrong_series_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = sweeps.alone
    monkeypatch.setattr(sweeps, "alone", lambda sweep: honest(sweep) * (1.0 + 1e-9))
    with pytest.raises(CheckError, match=r"forces of the last design are off by .*; expected below 1e-12"):
        list(series.series(QUICK))


def test_plain_zarr_that_stores_nothing_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def idle(array: Any, forces: np.ndarray, regions: list[Any]) -> None:
        return None

    monkeypatch.setattr(series, "_write", idle)
    with pytest.raises(CheckError, match="plain Zarr has not stored actuator_force"):
        list(series.series(QUICK))


def test_a_run_that_fails_has_no_footprint(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(subprocess.CalledProcessError, match=r"benchmarks\.runs\.footprint"):
        footprint.footprint("limbsweep: 1\nrobot: none\n")
    assert "got 'none'; expected a robot of the catalogue" in capfd.readouterr().err
