"""Progress inside blocks: samples of blocks in flight, in this process, in memory and on a cluster, and in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline import run
from pipeline.cluster.connection import ClusterConfig
from pipeline.execution import advance
from pipeline.execution.advance import RunningShares
from pipeline.monitor.log import BlockDone, BlocksAdvanced, Event, Started, records
from pipeline.monitor.progress import LineProgress, Tally
from pipeline.sweep.model import Sweep
from tasks.kernels.advance import listening, span, tell

TEXT = """\
limbsweep: 1
robot: planar_3r
trajectories: {move: {kind: quintic, end: 0.1, duration: 0.2}}
simulation: {controller: {kind: pd, parameters: {kp: 100.0, kd: 5.0}}}
time: {stop: 0.2, step: 0.002}
metrics: [rms_tracking_error]
"""


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advance, "EVERY", 0.0)


@pytest.mark.parametrize("stored", [True, False])
def test_a_run_tells_of_the_samples_of_its_only_block(tmp_path: Path, stored: bool) -> None:
    events: list[Event] = []
    store = tmp_path / "s.zarr" if stored else None
    run(Sweep.from_text(TEXT), store, ClusterConfig.of("threads"), [events.append], progress=False)
    shares = [event.samples for event in events if isinstance(event, BlocksAdvanced)]
    assert len(shares) > 2
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] < 101
    done = next(number for number, event in enumerate(events) if isinstance(event, BlockDone))
    assert not any(isinstance(event, BlocksAdvanced) for event in events[done:])
    if store is not None:
        assert [record.event for record in records(store) if isinstance(record.event, BlocksAdvanced)]


def test_samples_in_flight_count_until_their_block_is_done() -> None:
    tally = Tally.of(Started(2, 0, 100, None), 0.0).with_in_flight(60)
    assert (tally.done, tally.rate(2.0), tally.left(2.0)) == (60, 30.0, pytest.approx(140 / 30.0))
    assert tally.plus(100).done == 100
    lines: list[str] = []
    clock = iter((0.0, 20.0))
    progress = LineProgress(lines.append, lambda: next(clock))
    progress(Started(1, 0, 100, None))
    progress(BlocksAdvanced(25))
    assert lines[-1].startswith("25 %  25 of 100 samples")


def test_shares_are_told_once_they_grow() -> None:
    events: list[Event] = []
    shares = RunningShares(lambda block: 100 * (block + 1), events.append)
    shares.tell()
    shares.put(0, 0.5)
    shares.put_and_tell(1, 0.25)
    shares.put_and_tell(1, 0.1)
    shares.done(1)
    shares.put_and_tell(0, 0.75)
    assert events == [BlocksAdvanced(100), BlocksAdvanced(75)]


def test_spans_lie_in_each_other() -> None:
    heard: list[float] = []
    tell(1, 2)  # nobody listens
    with listening(heard.append), span(0.5, 1.0), span(0.0, 0.5):
        tell(1, 2)
    assert heard == [0.625]
