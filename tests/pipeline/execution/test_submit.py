"""Runs that outlive their client, and what other processes learn of them and do to them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from pipeline.cluster.file import ClusterConfig
from pipeline.errors import RunStoppedError
from pipeline.execution import submit as submitting
from pipeline.execution.run import run
from pipeline.execution.run_request import RunRequest
from pipeline.monitor import follow as following
from pipeline.monitor.follow import cancel, follow
from pipeline.monitor.log import (
    CANCEL,
    EVERY,
    LOG,
    BlockDone,
    BlockFailed,
    BlocksDone,
    CaseFailed,
    Event,
    Finished,
    RunLog,
    Started,
    Stopped,
    Waiting,
    cancel_requested,
    clear_cancel,
    last_run,
    records,
    request_cancel,
)
from pipeline.monitor.status import status
from storage.errors import StoreError
from storage.ledger import Ledger
from storage.manifest import Manifest
from storage.places.access import coordinator_lock, holder, locate
from tests.pipeline.clusters import Cluster, by_hand, command, finished
from tests.pipeline.runs import FEW, SYNCHRONOUS, content_hash, cut_finely, sweep
from tests.waiting import PATIENCE, until

LONG = """\
limbsweep: 1
robot: delta_3rr2rrr
design:
  grid:
    upper_arm: {start: 0.245, stop: 0.255, num: 400}
    base_radius: {start: 0.145, stop: 0.155, num: 200}
trajectories:
  line: {kind: line_sine, amplitude: [0.3, 0.4, 0.1], period: 1.0}
time: {stop: 1.0, samples: 10001}
outputs: []
metrics: [peak_force]
"""
"""A minute or two of work."""


@pytest.fixture(scope="module")
def expected() -> str:
    return content_hash(run(sweep(FEW), cluster=SYNCHRONOUS))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with by_hand(tmp_path_factory.mktemp("cluster")) as made:
        yield made


def test_a_submitted_run_goes_on_without_its_client_and_can_be_attached_to(
    cluster: Cluster, tmp_path: Path, expected: str
) -> None:
    (tmp_path / "few.yaml").write_text(FEW)
    code, out, err = finished("submit", "few.yaml", "--cluster", cluster.file, cwd=tmp_path)
    assert (code, err) == (0, "")
    pid = int(out.split()[1])
    assert out.splitlines()[1:] == [f"  limbsweep {each} few.zarr" for each in ("status", "attach", "cancel")]
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    code, _, err = finished("attach", "few.zarr", cwd=tmp_path)
    assert code == 0
    assert "samples/s" in err.splitlines()[-1]
    until(lambda: holder(tmp_path / "few.zarr") is None)
    assert last_run(tmp_path / "few.zarr")[0].pid == pid
    assert content_hash(tmp_path / "few.zarr") == expected


@pytest.mark.slow
def test_a_run_is_cancelled_and_gone_on_with(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "long.yaml").write_text(LONG)
    store = tmp_path / "long.zarr"
    assert finished("submit", "long.yaml", "--cluster", cluster.file, cwd=tmp_path)[0] == 0
    until(lambda: status(store).done)
    code, out, _ = finished("status", store, "--json", cwd=tmp_path)
    told = json.loads(out)
    assert (code, told["state"], told["blocks"]) == (0, "running", Manifest.load(store).layout.blocks)
    with command("attach", store, cwd=tmp_path) as attached:
        code, out, err = finished("cancel", store, cwd=tmp_path)
        assert (code, err) == (0, "")
        _, err = attached.communicate(timeout=PATIENCE)
    assert attached.returncode == 130
    assert "cancelled; stored results are kept" in err
    found = status(store)
    assert (found.state, found.owner, found.news) == ("stopped", None, "stopped: cancelled; stored results are kept")
    assert 0 < found.done < found.blocks
    assert not (store / CANCEL).exists()
    with command("run", "long.yaml", "--cluster", cluster.file, cwd=tmp_path) as again:
        until(lambda: status(store).done > found.done)
        assert finished("cancel", store, cwd=tmp_path)[0] == 0
        _, err = again.communicate(timeout=PATIENCE)
    assert again.returncode == 130
    assert f"{found.done} done before" in err
    assert f"go on with: limbsweep run long.yaml --store long.zarr --cluster {cluster.file}" in err


@pytest.mark.chaos
def test_a_killed_scheduler_ends_the_run_with_the_command_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "long.yaml").write_text(LONG)
    store = tmp_path / "long.zarr"
    with by_hand(tmp_path) as made:
        with command("run", "long.yaml", "--cluster", made.file, cwd=tmp_path) as running:
            until(lambda: store.exists() and status(store).done)
            made.scheduler.kill()
            start = time.monotonic()
            _, err = running.communicate(timeout=PATIENCE)
        print(f"stopped after {time.monotonic() - start:.1f} s")
    assert running.returncode == 1
    assert "the scheduler has gone; stored results are kept" in err
    assert f"go on with: limbsweep run long.yaml --store long.zarr --cluster {made.file}" in err
    assert "Traceback" not in err
    assert status(store).state == "stopped"


@pytest.mark.slow
def test_a_run_beside_a_scheduler_has_the_device_the_weight_and_the_reach_of_the_file(tmp_path: Path) -> None:
    options: dict[str, Any] = {"device": "gpu", "weight": 3.0, "insecure": True}
    config = ClusterConfig.of("address", address="tcp://10.0.0.5:8786", **options)
    request = RunRequest(sweep(FEW), locate(tmp_path / "s.zarr"), config, None)
    section = submitting.at_address(request, "tcp://10.0.0.6:8786").cluster.cluster
    assert (section.kind, section.address) == ("address", "tcp://10.0.0.6:8786")
    assert {name: getattr(section, name) for name in options} == options


def test_without_a_cluster_file_the_run_is_a_process_here(
    tmp_path: Path, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submitting, "runs_at_once", lambda computes_here: 100)  # waits for none of other tests
    made = submitting.submit(sweep(FEW), tmp_path / "s.zarr")
    assert isinstance([*follow(tmp_path / "s.zarr")][-1], Finished)
    code = until(lambda: submitting.peek(made.pid, made.output)[0] is not None or made.pid not in submitting._CHILDREN)
    assert code
    assert content_hash(tmp_path / "s.zarr") == expected
    assert "73.8 k" not in Path(made.output).read_text()
    os.remove(made.output)


def test_what_a_run_refuses_is_told_by_submit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submitting, "runs_at_once", lambda computes_here: 100)  # waits for none of other tests
    (tmp_path / "s.zarr").mkdir()
    with pytest.raises(StoreError, match=r"not a store of limbsweep; expected a file limbsweep\.json"):
        submitting.submit(sweep(FEW), tmp_path / "s.zarr")


def test_a_run_that_does_not_begin_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submitting, "START_SECONDS", 0.0)
    monkeypatch.setattr(submitting, "launch", lambda payload, **_: submitting.SubmittedRun(1, "here", "/tmp/x.log"))
    with pytest.raises(RunStoppedError, match=r"has not begun within 0 s; /tmp/x\.log on here may say why"):
        submitting.submit(sweep(FEW), tmp_path / "s.zarr")
    monkeypatch.undo()
    monkeypatch.setattr(submitting, "peek", lambda pid, output: (-9, "killed"))
    monkeypatch.setattr(submitting, "launch", lambda payload, **_: submitting.SubmittedRun(1, "here", "/tmp/x.log"))
    with pytest.raises(RunStoppedError, match=r"the run ended at once \(status -9\): killed"):
        submitting.submit(sweep(FEW), tmp_path / "s.zarr")


# the log


def log_of(store: Path, *events: Event) -> None:
    with RunLog.open(store) as log:
        for event in events:
            log(event)


BEGIN = Started(10, 2, 100, None)


def test_a_log_counts_blocks_and_keeps_the_rest(tmp_path: Path) -> None:
    log_of(tmp_path, BEGIN, *(BlockDone(n, 100, 0.1) for n in range(5)), BlockFailed(7, "why"), Finished(500, 1.0, 1))
    events = [record.event for record in records(tmp_path)]
    assert events == [BEGIN, BlocksDone(5, 500), BlockFailed(7, "why"), Finished(500, 1.0, 1)]
    assert {record.pid for record in records(tmp_path)} == {os.getpid()}


def test_a_log_has_one_record_of_progress_in_a_while(tmp_path: Path) -> None:
    now = iter([0.1 * n for n in range(10_000)])
    journal = locate(tmp_path).journal(LOG)
    journal.open()
    with RunLog(journal, lambda: next(now)) as log:
        for number in range(1000):
            log(BlockDone(number, 1, 0.0))
        log(Finished(1000, 1.0, 0))
    progress = [record.event for record in records(tmp_path) if isinstance(record.event, BlocksDone)]
    assert sum(each.blocks for each in progress) == 1000
    assert len(progress) <= 0.1 * 1000 / EVERY + 2


def test_a_torn_or_foreign_line_of_a_log_is_passed_over(tmp_path: Path) -> None:
    assert list(records(tmp_path)) == []
    log_of(tmp_path, BEGIN)
    with (tmp_path / f"{LOG}.jsonl").open("ab") as file:
        file.write(b'{"time": 1, "pid": 1, "host": "h", "event": "Sung", "what": {}}\n{"time": 1')
    assert [record.event for record in records(tmp_path)] == [BEGIN]


# status, attach and cancel without a cluster


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of 48 blocks in which 3 are done."""
    cut_finely(monkeypatch)

    def stop(event: Event) -> None:
        if isinstance(event, BlockDone) and event.block == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(sweep(FEW), tmp_path / "s.zarr", SYNCHRONOUS, [stop])
    return tmp_path / "s.zarr"


def test_status_of_a_run_that_was_interrupted(store: Path) -> None:
    found = status(store)
    assert (found.state, found.blocks, found.done, found.remaining) == ("stopped", 48, 3, 45)
    assert (found.owner, found.left, found.news) == (None, None, "stopped: interrupted")
    rows = dict(found.rows())
    assert rows["blocks"] == "48: 3 done, 0 failed, 45 remaining"
    assert rows["run by"] == "no process now"


def test_status_of_a_run_in_trouble(store: Path) -> None:
    log_of(
        store, BEGIN, BlockFailed(2, "cured since"), BlockFailed(7, "it died"), CaseFailed(9, 1, 2, 0, "ValueError: x")
    )
    log_of(store, Waiting(75.0, "no workers"))
    with coordinator_lock(store):
        found = status(store)
        assert found.state == "running"
        assert str(os.getpid()) in str(found.owner)
        request_cancel(store)
        assert status(store).state == "cancelling"
    assert cancel_requested(store)
    clear_cancel(store)
    assert not cancel_requested(store)
    assert found.failed == {7: "it died"}
    rows = list(found.rows())
    assert ("news", "nothing came back for 0:01:15: no workers") in rows
    assert ("block 7", "given up: it died") in rows
    assert ("block 9", "design 1, friction 2, trajectory 0 holds NaN: ValueError: x") in rows


def test_rate_and_time_left_are_those_of_late(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [(1000.0, BEGIN), *((1000.0 + n, BlocksDone(2, 200)) for n in range(1, 11))]
    monkeypatch.setattr("pipeline.monitor.status.records", lambda path: [_record(*line) for line in lines])
    with coordinator_lock(store):
        found = status(store, now=1010.0)
    assert found.rate == 2.0
    assert found.left == 45 / 2.0


def _record(time: float, event: Event) -> Any:
    from pipeline.monitor.log import LogRecord

    return LogRecord(time, 1, "h", event)


def test_a_store_without_a_run_or_without_a_store_is_refused(store: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no run is writing to this store; there is nothing to cancel"):
        cancel(store)
    (store / f"{LOG}.jsonl").unlink()
    assert status(store).last is None
    with pytest.raises(StoreError, match="no run has begun; begin one with limbsweep run or submit"):
        next(follow(store))
    for name in ("status", "attach", "cancel"):
        done = CliRunner().invoke(cli, [name, str(tmp_path / "none.zarr")])
        assert (done.exit_code, "there is no store" in done.stderr) == (2, True)


def test_following_a_run_that_has_died_ends(store: Path) -> None:
    log_of(store, BEGIN, BlockDone(3, 41, 0.1))
    seen = follow(store)
    assert next(seen) == BEGIN
    assert CliRunner().invoke(cli, ["attach", str(store)]).exit_code == 1
    with pytest.raises(RunStoppedError, match="the run has died; its stored blocks stay"):
        list(seen)


@pytest.mark.parametrize(
    ("end", "code", "text"),
    [
        (Finished(41, 1.0, 0), 0, ""),
        (Finished(41, 1.0, 2), 1, "2 blocks failed; try again with: the command that began the run"),
        (Stopped("the scheduler has gone"), 1, "the scheduler has gone"),
        (Stopped("cancelled", True), 130, "cancelled"),
    ],
)
def test_attach_ends_as_the_run_does(end: Event, code: int, text: str, store: Path) -> None:
    log_of(store, BEGIN, end)
    done = CliRunner().invoke(cli, ["attach", str(store)])
    assert done.exit_code == code
    assert text in done.stderr
    assert not text or done.stderr.count(text) == 1


def test_a_run_that_does_not_heed_is_told(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.01)
    with (
        coordinator_lock(store),
        pytest.raises(RunStoppedError, match=r"has not ended within 0\.05 s; end its process"),
    ):
        cancel(store, seconds=0.05)


def test_a_request_for_an_earlier_run_is_forgotten(store: Path) -> None:
    request_cancel(store)
    run(sweep(FEW), store, SYNCHRONOUS)
    assert Ledger.read(store, 48).count == 48
    assert status(store).state == "finished"
