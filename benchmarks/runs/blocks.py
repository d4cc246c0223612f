"""The speed of a run against the length of its blocks: why a block has as many samples as it has."""

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

from benchmarks.figures import Figure, Size, surroundings
from benchmarks.runs.pipeline import Setting, kernel_seconds, metrics_run
from benchmarks.runs.sweeps import text
from pipeline.plan import plan
from pipeline.sweep.model import Sweep

LENGTHS = tuple(1 << power for power in (16, 17, 18, 19, 20))


def blocks(size: Size) -> Iterator[Figure]:
    """Time runs with metrics only in blocks of several lengths, both granularities, against kernels in all threads.

    Raises CheckError for a wrong metric.
    """
    cores = surroundings()["cores"]
    sweep = Sweep.from_text(text(100, 50, 10_001, series=False) if size.full else text(3, 4, 5001, series=False))
    ideal = cores / kernel_seconds(size)
    for length in LENGTHS if size.full else LENGTHS[:1]:
        for setting in (Setting("limb", "local", cores), Setting("block", "local", cores)):
            # no option of a run: results do not depend on it
            with mock.patch.object(plan, "BLOCK_SAMPLES", length):
                made, watch = plan.plan(sweep), metrics_run(sweep, setting)
            remark = f"{made.blocks} blocks of {made.block_samples:,} samples, of kernel speed x {cores}"
            name = f"{length >> 10} Ki samples, {setting.granularity} tasks"
            yield Figure(name, 100.0 * watch.steady / ideal, "%", remark)
