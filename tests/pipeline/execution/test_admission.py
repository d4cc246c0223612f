"""Workers are admitted one by one when they join; a fake scheduler tells who is there, and fake workers answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import dask
import pytest
from distributed.scheduler import NoValidWorkerError

from pipeline.errors import ClusterLostError, InputError, RunStoppedError
from pipeline.execution import admission
from pipeline.execution.admission import MOST_ENDED, Membership
from pipeline.execution.policy.memory_restarts import MEMORY_EVENTS
from pipeline.execution.policy.workers import FULL, worker_table
from pipeline.execution.versions import SOURCE, identity
from pipeline.monitor.log import Event, ResultsSent, Waiting, WorkerRefused, WorkersJoined, WorkersLeft
from pipeline.plan.memory import BASE_MEMORY
from pipeline.plan.plan import plan
from storage.places.access import locate
from storage.places.reach import Mark
from tests.pipeline.runs import FEW, sweep

GIB = 1 << 30
SOUND = {"identity": identity(), "memory": BASE_MEMORY, "bits": {"x": 1, "y": 2}, "place": ""}


class Answers(list[Any]):
    """Futures that are done, as `as_completed` gives them."""

    def add(self, future: Any) -> None:
        self.append(future)

    def has_ready(self) -> bool:
        return any(future.value is not None for future in self)

    def __next__(self) -> Any:
        future = next(future for future in self if future.value is not None)
        self.remove(future)
        return future, future.value


class Cluster:
    """A scheduler whose workers answer what `answers` says; None: not yet."""

    loop, scheduler = None, SimpleNamespace(identity=None)

    def __init__(self, **answers: Any) -> None:
        self.answers, self.rows, self.cancelled, self.calls = answers, {name: row() for name in answers}, 0, 0
        self.ended: list[tuple[float, dict[str, Any]]] = []

    def get(self, graph: Any, key: Any, workers: Any = None, **options: Any) -> Any:
        if workers is None:  # the task that waits for any worker
            self.calls += 1
            return SimpleNamespace(status="pending")
        value = self.answers[workers[0]]
        status = "error" if isinstance(value, Exception) else "finished"
        return SimpleNamespace(status=status, value=("error", value, None) if status == "error" else value)

    def sync(self, function: Any, n_workers: int) -> Any:
        return {"workers": self.rows}

    def get_events(self, topic: str) -> Any:
        assert topic == MEMORY_EVENTS
        return self.ended

    def end(self, old: str, new: str, answer: Any = None) -> None:
        """End a worker for its memory, and start another one in its place."""
        self.ended.append((len(self.ended) + 1.0, {"worker": old, "rss": 136 << 20}))
        self.rows = {new: row(143 << 20)}
        self.answers[new] = answer

    def cancel(self, futures: list[Any], force: bool) -> None:
        self.cancelled += len(futures)


def row(limit: int = 4 * GIB, **more: Any) -> dict[str, Any]:
    return {"nthreads": 2, "memory_limit": limit, "host": "h", "name": "n", "resources": {}, **more}


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("distributed.as_completed", lambda **options: Answers())
    monkeypatch.setattr(admission, "examined", lambda payload: SOUND)
    monkeypatch.setattr(admission, "examination_graph", lambda *words: ({}, ("check", 0)))


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def members(cluster: Any) -> Membership:
    return Membership(cluster, plan(sweep(FEW)), "c.yaml", Clock())


def begun(cluster: Any) -> tuple[Membership, list[Event]]:
    made = members(cluster)
    made.begin(lambda event: None)
    return made, made.news()


def test_workers_that_agree_are_admitted() -> None:
    made, news = begun(Cluster(a=SOUND, b=SOUND))
    assert made.addresses() == ["a", "b"]
    assert made.threads == 4
    assert news == [WorkersJoined(2, 4, "a, b")]
    assert {name: each["base"] for name, each in made.rows().items()} == dict.fromkeys("ab", made.plan.base_memory)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (SOUND | {"bits": {"x": 1, "y": 3}}, "got other results than this machine in y; expected the same bits"),
        (
            SOUND | {"bits": "OSError: no cc"},
            r"got other results than this machine \(OSError: no cc\); expected the same bits",
        ),
        (
            SOUND | {"memory": 4 * GIB},
            "got a memory limit of 4 GiB; expected at least 5[.].* one case does not",
        ),
        (SOUND | {"identity": identity() | {SOURCE: "0"}}, "got source of limbsweep 0; expected.*the same commit"),
        (SOUND | {"place": "no credentials"}, "got no credentials; expected a store that it reaches"),
        (ModuleNotFoundError("No module named 'pipeline'"), "without an answer.*expected limbsweep to be installed"),
    ],
)
def test_one_that_differs_is_refused_in_a_line_and_the_others_go_on(wrong: Any, words: str) -> None:
    made, news = begun(Cluster(a=SOUND, b=wrong))
    assert made.addresses() == ["a"]
    (refused,) = (event for event in news if isinstance(event, WorkerRefused))
    assert refused.worker == "b"
    assert "\n" not in refused.reason
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(refused.reason)
    if "same bits" not in words:  # of one worker alone nobody knows
        with pytest.raises(InputError, match=words):
            begun(Cluster(b=wrong))


def test_one_that_does_not_see_the_folder_sends_its_results_and_few_are_on_their_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = Cluster(a=SOUND, b=SOUND | {"place": "a machine that does not see it"})
    made = members(cluster)
    made.mark = Mark(locate("a.zarr"), ("beside", "inside"))
    made.begin(lambda event: None)
    assert made.news() == [WorkersJoined(2, 4, "a, b"), ResultsSent(1, "b", "a machine that does not see it")]
    monkeypatch.setattr(admission, "RESULT_BYTES", 5 * made.plan.layout.block_bytes(0))
    assert made.most == 5
    del cluster.rows["b"]
    made.look(now=True)
    assert made.most > 1000


def test_of_two_that_disagree_this_machine_tells_which_is_wrong() -> None:
    wrong = SOUND | {"bits": {"x": 0, "y": 2}}
    made, news = begun(Cluster(a=wrong, b=SOUND))
    assert made.addresses() == ["b"]
    assert [event.worker for event in news if isinstance(event, WorkerRefused)] == ["a"]
    cluster = Cluster(a=wrong, b=SOUND)
    late = cluster.rows.pop("b")
    made, _ = begun(cluster)
    cluster.rows["b"] = late
    with pytest.raises(RunStoppedError, match=r"workers a get other results than this machine in x; .*verify --recomp"):
        made.look(now=True)


def test_who_joins_later_is_checked_then_and_who_goes_is_told() -> None:
    cluster = Cluster(a=SOUND, b=SOUND, c=SOUND | {"bits": {}})
    late = {name: cluster.rows.pop(name) for name in "bc"}
    made, _ = begun(cluster)
    cluster.rows |= late
    made.look(now=True)
    assert made.addresses() == ["a", "b"]
    del cluster.rows["a"]
    made.look(now=True)
    refused, joined, left = made.news()
    assert isinstance(refused, WorkerRefused)
    assert (refused.worker, joined, left) == ("c", WorkersJoined(1, 2, "b"), WorkersLeft(1, "a"))
    assert made.addresses() == ["b"]


def test_a_worker_that_ends_while_it_is_checked_has_gone_and_is_not_wrong() -> None:
    cluster = Cluster(a=None, b=SOUND)
    made = members(cluster)
    made.look(now=True)
    del cluster.rows["a"]
    made.begin(lambda event: None)
    assert made.news() == [WorkersJoined(1, 2, "b")]
    assert cluster.cancelled == 1


def test_the_start_does_not_wait_long_for_one_that_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission.time, "sleep", lambda seconds: None)
    told: list[Event] = []
    made = members(Cluster(a=None, b=SOUND))
    made.begin(told.append)
    assert made.addresses() == ["b"]
    with pytest.raises(InputError, match="got no answer within 300 s from a; expected a worker that answers"):
        members(Cluster(a=None)).begin(told.append)
    assert any(isinstance(event, Waiting) and event.what.startswith("a have not answered") for event in told)


def test_workers_that_are_paused_from_the_start_are_told_with_their_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission.time, "sleep", lambda seconds: None)
    told: list[Event] = []
    cluster = Cluster(a=None)
    cluster.rows["a"] = row(status="paused", metrics={"memory": 3 * GIB})
    made = members(cluster)
    words = (
        "got no answer from workers that are paused, because their memory is full: a with 3 GiB of 4 GiB; expected w"
    )
    with pytest.raises(InputError, match=rf"{words}orkers that answer, of at least 2\d\d MiB each\. Give workers more"):
        made.begin(told.append)
    assert made._clock.now < 100  # type: ignore[attr-defined]
    assert any(isinstance(event, Waiting) and "paused" in event.what and "3 GiB" in event.what for event in told)


def test_a_worker_that_comes_late_and_stays_paused_is_told_by_name() -> None:
    """Between two checks, because Dask withdraws those of paused workers, it was told without a name after minutes."""
    cluster = Cluster()
    made, _ = begun(cluster)
    cluster.answers["a"] = NoValidWorkerError(("check", 1), set(), {"a"}, {}, 300.0)
    cluster.rows = {"a": row(status="paused", metrics={"memory": 3 * GIB})}
    start = made._clock()
    with pytest.raises(RunStoppedError, match="are paused, because their memory is full: a with 3 GiB of 4 GiB; exp"):
        [made.news() for _ in range(400)]
    assert made._clock() - start < 110.0


def test_one_whose_check_dask_withdraws_because_it_is_paused_is_checked_again() -> None:
    cluster = Cluster(a=SOUND, b=NoValidWorkerError(("check", 1), set(), {"b"}, {}, 300.0))
    made, news = begun(cluster)
    assert not any(isinstance(event, WorkerRefused) for event in news)
    cluster.answers["b"] = SOUND
    [made.look(now=True) for _ in range(3)]
    assert made.addresses() == ["a", "b"]


def test_resources_that_nobody_has_are_told_at_once() -> None:
    with dask.annotate(resources={"LIC": 2}):
        with pytest.raises(
            InputError, match="got 1 workers, none with LIC=2; expected a worker that may take the blocks"
        ):
            begun(Cluster(a=SOUND))
        cluster = Cluster(a=SOUND, b=SOUND)
        cluster.rows["b"] = row(resources={"LIC": 2.0})
        assert begun(cluster)[0].addresses() == ["b"]
    with dask.annotate(workers=["b"]):
        assert begun(Cluster(a=SOUND, b=SOUND))[0].addresses() == ["b"]


def test_without_workers_that_is_told_within_seconds_and_ends() -> None:
    cluster = Cluster()
    made, _ = begun(cluster)
    assert not made.addresses()
    with dask.config.set({"distributed.scheduler.no-workers-timeout": "60s"}):
        news = [event for _ in range(10) for event in made.news()]
        assert isinstance(news[0], Waiting)
        assert news[0].what == "no worker may compute: the cluster has no worker; a task waits for one"
        assert cluster.calls == 1
        with pytest.raises(ClusterLostError, match="there are no workers"):
            [made.news() for _ in range(100)]


def test_workers_that_are_ended_for_their_memory_while_they_are_checked_end_the_run() -> None:
    cluster = Cluster(w0=None)
    cluster.ended = [(0.5, {"worker": "of another run", "rss": 1})] * MOST_ENDED
    made = members(cluster)
    made.look(now=True)
    for number in range(MOST_ENDED - 1):
        cluster.end(f"w{number}", f"w{number + 1}")
        made.look(now=True)
    cluster.end("w5", "w6")
    said = (
        rf"c.yaml: workers were ended {MOST_ENDED} times .* before one had computed a case; the last, w5, held 136 MiB"
    )
    with pytest.raises(RunStoppedError, match=f"{said} of a memory limit of 143 MiB; .* needs at least 2.. MiB: give"):
        made.look(now=True)


def test_one_that_only_needs_longer_is_admitted_and_the_count_begins_again() -> None:
    cluster = Cluster(w0=None)
    made = members(cluster)
    for _ in range(3):  # as when machine code is compiled bit by bit
        made.look(now=True)
        for number in range(MOST_ENDED - 1):
            cluster.end(f"w{number}", f"w{number + 1}")
            made.look(now=True)
        cluster.answers["big"], cluster.rows = SOUND, {"big": row()}
        made.look(now=True)
        assert made.addresses() == ["big"]
        cluster.rows = {"w0": row()}


def test_one_in_place_of_an_ended_one_that_is_too_small_as_well_ends_the_run() -> None:
    cluster = Cluster(w0=None)
    made = members(cluster)
    made.look(now=True)
    cluster.rows = {}
    made.begin(lambda event: None)
    cluster.end("w0", "w1", SOUND)
    said = r"worker w1: got a memory limit of 143 MiB; expected at least .* are kept"
    with pytest.raises(RunStoppedError, match=said):
        [made.news() for _ in range(30)]


def test_one_that_stands_still_after_the_start_ends_the_run() -> None:
    cluster = Cluster()
    made, _ = begun(cluster)
    cluster.rows, cluster.answers = {"a": row()}, {"a": None}
    with (
        dask.config.set({"distributed.scheduler.no-workers-timeout": "60s"}),
        pytest.raises(RunStoppedError, match="got no answer within 300 s from a; expected a worker that answers"),
    ):
        [made.news() for _ in range(1000)]


def test_blocks_fit_into_the_smallest_worker() -> None:
    cluster = Cluster(a=SOUND, b=SOUND)
    made = members(cluster)
    cluster.rows["b"]["memory_limit"] = int((made.plan.base_memory + made.plan.task_memory + 1000) / FULL) + 1
    assert made.begin(lambda event: None).room == pytest.approx(made.plan.task_memory + 1000, abs=2)


def test_a_scheduler_that_goes_is_named() -> None:
    for client in (SimpleNamespace(scheduler=None), Cluster()):
        client.sync = lambda function, n_workers: {"type": "Scheduler"}  # type: ignore[attr-defined]
        with pytest.raises(ClusterLostError, match="the scheduler has gone"):
            worker_table(client)  # type: ignore[arg-type]
