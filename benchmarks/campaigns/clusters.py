"""Clusters that are started by hand, disturbed in each way that happens to one; every store has to be the same.

Scheduler and workers are processes of Dask's own commands on this machine, over TLS. Each step of `STEPS` runs the
same sweep and disturbs it: workers join late, with another source, without the package, leave, stand still, are killed
while they are checked; the client restarts the cluster or cancels everything; two clients run at once; the scheduler
dies. A step prints one line: seconds, the longest silence, events of the log, and how it ended. Exit status 1 where
the digest of a store differs, an event that has to come is missing, or a run is silent for a minute:
`python -m benchmarks.campaigns.clusters [--quick] [--only STEP ...]`. Linux only.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dask import annotate  # type: ignore[attr-defined]

from benchmarks.campaigns.chaos import Campaign
from benchmarks.campaigns.hand_started import ROOT, HandStarted, end
from benchmarks.campaigns.lines import print_lines
from pipeline.cluster.arguments import ClusterLike
from pipeline.cluster.connection import ClusterConfig
from pipeline.errors import InputError, RunStoppedError
from pipeline.execution.digest import results_digest
from pipeline.execution.run import run
from pipeline.execution.versions import PACKAGES
from pipeline.monitor.log import BlockDone, BlocksRecalled, Event, WorkerRefused, WorkersJoined, WorkersLeft
from pipeline.sweep.model import Sweep
from pipeline.sweep.user_metrics import with_metrics
from storage import open_results

SILENCE = 60.0
"""Longest time without any event [s]."""

WAIT = 240.0
"""Longest wait for something that a step needs [s]."""

CASE_SECONDS = 0.05
DESIGNS = 20
"""Designs of a block."""

SHARED_THREADS = 8
"""Threads of the worker that two runs share."""


def slow(actuator_force: Any) -> float:
    """Return the largest force of a case, late: blocks take a second, of which the machine has nothing to do."""
    time.sleep(CASE_SECONDS)
    return float(abs(actuator_force).max())


@dataclass
class Watched:
    """Events of a run with their times, and the time without any."""

    events: list[tuple[float, Event]] = field(default_factory=list)
    begin: float = field(default_factory=time.monotonic)
    finish: float | None = None

    def __call__(self, event: Event) -> None:
        """Note an event."""
        self.events.append((time.monotonic(), event))

    def times(self, kind: type[Event]) -> list[float]:
        """Return the times of the events of a kind."""
        return [at for at, event in self.events if isinstance(event, kind)]

    def count(self, kind: type[Event]) -> int:
        """Return the number of events of a kind."""
        return len(self.times(kind))

    def silence(self) -> float:
        """Return the longest time without an event, from the call of the run to its end [s]."""
        times = [self.begin, *(at for at, _ in self.events), self.finish or time.monotonic()]
        return max(after - before for before, after in itertools.pairwise(times))

    def wait_for(self, kind: type[Event], count: int = 1) -> None:
        """Wait until there are so many events of a kind. Raises AssertionError where they do not come."""
        until(lambda: self.count(kind) >= count, f"{count} events {kind.__name__}")


def until(condition: Callable[[], object], what: str) -> None:
    """Wait until a condition holds. Raises AssertionError where it does not."""
    deadline = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < deadline, f"no {what} within {WAIT:g} s"
        time.sleep(0.02)


@dataclass
class Scene:
    """A cluster, the blocks to compute, the digest that every store has to have, and lines of the step."""

    folder: Path
    campaign: Campaign
    expected: str
    hand: HandStarted
    watched: Watched = field(default_factory=Watched)
    said: list[str] = field(default_factory=list)

    @property
    def sweep(self) -> Sweep:
        """The sweep that every step runs."""
        return with_metrics(self.campaign.sweep(), {"slow": slow})

    def begin(
        self, cluster: ClusterLike = None, name: str = "run", watched: Watched | None = None, weight: float = 1.0
    ) -> Future[None]:
        """Begin a run in a thread; the file of the cluster is the default."""
        sweep, store, listen = self.sweep, self.folder / f"{name}.zarr", watched or self.watched
        chosen = self.hand.config if cluster is None else cluster
        pool = ThreadPoolExecutor(1)
        listen.begin = time.monotonic()

        def complete() -> None:
            with annotate(weight=weight):
                run(sweep, store, chosen, [listen])
            listen.finish = time.monotonic()

        future = pool.submit(complete)
        pool.shutdown(wait=False)
        return future

    def compare(self, name: str = "run") -> None:
        """Compare the digest of a store. Raises AssertionError."""
        digest = results_digest(open_results(self.folder / f"{name}.zarr"))
        assert digest == self.expected, f"{name}: the digest differs from that of an undisturbed store"

    def after(self, blocks: int) -> None:
        """Wait until so many blocks are done."""
        self.watched.wait_for(BlockDone, blocks)

    def must_tell(self, kind: type[Event], text: str = "") -> None:
        """Require an event of a kind with a text. Raises AssertionError."""
        texts = [str(event) for _, event in self.watched.events if isinstance(event, kind)]
        assert any(text in each for each in texts), f"no {kind.__name__} with {text!r} among {texts}"


Step = Callable[[Scene], None]


def tls(scene: Scene) -> None:
    """Run on two workers, undisturbed."""
    _two(scene)
    scene.begin().result(WAIT)


def annotated(scene: Scene) -> None:
    """Run with priority, retries and a resource of dask.annotate; one of two workers has the resource."""
    scene.hand.scheduler()
    scene.hand.worker("--resources", "BIG=1")
    scene.hand.worker()
    with scene.hand.client() as client:
        client.wait_for_workers(2)
        with annotate(resources={"BIG": 1}, priority=5, retries=2):
            run(scene.sweep, scene.folder / "run.zarr", client, [scene.watched])
        start = time.monotonic()
        with annotate(resources={"HUGE": 1}):
            message = _refusal(lambda: run(scene.sweep, scene.folder / "never.zarr", client))
        assert "HUGE" in message, message
        assert time.monotonic() - start < 10.0, "a resource that no worker has is reported late"
        assert not (scene.folder / "never.zarr").exists(), "a refused run has written"
    scene.said.append("a resource that no worker has is refused")


def killed_in_checks(scene: Scene) -> None:
    """Stop one of two workers while it is checked, then kill it."""
    _, second = _two(scene)
    with scene.hand.client() as client:
        client.wait_for_workers(2)
    os.killpg(second.pid, signal.SIGSTOP)
    future = scene.begin()
    time.sleep(3.0)
    end(second)
    future.result(WAIT)


def restart(scene: Scene) -> None:
    """Call client.restart() in the middle."""
    _two(scene)
    future = scene.begin()
    scene.after(scene.campaign.blocks // 4)
    with scene.hand.client() as client:
        client.restart()
    future.result(WAIT)
    scene.must_tell(BlocksRecalled, "restart")


def cancel(scene: Scene) -> None:
    """Cancel all that is on workers, from another client."""
    _two(scene)
    with scene.hand.client() as client:
        future = scene.begin()
        scene.after(scene.campaign.blocks // 4)
        keys = [key for tasks in client.processing().values() for key in tasks]
        client.cancel([client.futures.get(key) or _future(client, key) for key in keys], force=True)
        future.result(WAIT)
    scene.said.append(f"{len(keys)} tasks cancelled")


def late(scene: Scene) -> None:
    """Run with no worker at first; one joins after some seconds, a second in the middle."""
    scene.hand.scheduler()
    future = scene.begin()
    time.sleep(2.0)
    scene.hand.worker()
    scene.after(scene.campaign.blocks // 4)
    scene.hand.worker()
    scene.watched.wait_for(WorkersJoined, 2)
    future.result(WAIT)


def foreign(scene: Scene) -> None:
    """Let workers with another source, and without the package, join in the middle."""
    scene.hand.scheduler()
    scene.hand.worker()
    changed, absent = _other_source(scene.folder / "other"), _broken_source(scene.folder / "without")
    future = scene.begin()
    scene.after(1)
    scene.hand.worker(source=changed)
    scene.hand.worker(source=absent)
    scene.watched.wait_for(WorkerRefused, 2)
    future.result(WAIT)
    scene.must_tell(WorkerRefused, "source of limbsweep")
    scene.must_tell(WorkerRefused, "limbsweep to be installed there")


def killed(scene: Scene) -> None:
    """Kill one of two workers with its nanny in the middle; another one takes its place."""
    _, second = _two(scene)
    future = scene.begin()
    scene.after(scene.campaign.blocks // 4)
    end(second)
    scene.hand.worker()
    future.result(WAIT)
    scene.must_tell(WorkersLeft)


def stands_still(scene: Scene) -> None:
    """Stop one of two workers in the middle and continue it later."""
    _, second = _two(scene)
    future = scene.begin()
    scene.after(scene.campaign.blocks // 4)
    os.killpg(second.pid, signal.SIGSTOP)
    with suppress(TimeoutError):
        future.result(45.0)
    os.killpg(second.pid, signal.SIGCONT)
    future.result(WAIT)


def lifetime(scene: Scene) -> None:
    """Run on workers that live for some seconds and come again."""
    scene.hand.scheduler()
    scene.hand.worker("--lifetime", "20s", "--lifetime-restart")
    scene.hand.worker("--lifetime", "27s", "--lifetime-restart")
    scene.begin().result(WAIT)


def adaptive(scene: Scene) -> None:
    """Run on a cluster of this machine that adapts from one worker to three."""
    scene.begin(ClusterConfig.of(adapt={"minimum": 1, "maximum": 3}, threads_per_worker=1)).result(WAIT)


def two_clients(scene: Scene) -> None:
    """Run from two clients at the same time, into two stores, with weights 1 and 3."""
    scene.hand.scheduler()
    scene.hand.worker(threads=SHARED_THREADS)
    second = Watched()
    with scene.hand.client() as client:
        client.wait_for_workers(1)
    futures = [scene.begin(), scene.begin(name="second", watched=second, weight=3.0)]
    for future in futures:
        future.result(WAIT)
    scene.compare("second")
    begin = max(watched.events[0][0] for watched in (scene.watched, second))
    until = min(watched.finish or 0.0 for watched in (scene.watched, second))
    done = [sum(begin < at < until for at in watched.times(BlockDone)) for watched in (scene.watched, second)]
    scene.said.append(f"blocks while both computed: {done[0]} and {done[1]}")
    assert done[1] > 1.8 * done[0], f"weights 1 and 3, blocks {done}"


def scheduler_restarted(scene: Scene) -> None:
    """Kill the scheduler in the middle; the run ends with a line, and the next one continues."""
    scheduler = scene.hand.scheduler()
    workers = [scene.hand.worker() for _ in range(2)]
    future = scene.begin()
    scene.after(scene.campaign.blocks // 4)
    start = time.monotonic()
    end(scheduler)
    message = _refusal(lambda: future.result(WAIT))
    scene.said.append(f"after {time.monotonic() - start:.0f} s: {message}")
    for worker in workers:
        end(worker)
    _two(scene)
    scene.begin().result(WAIT)


STEPS: Mapping[str, Step] = {
    step.__name__.replace("_", "-"): step
    for step in (
        tls, annotated, killed_in_checks, restart, cancel, late, foreign, killed, stands_still, lifetime, adaptive,
        two_clients, scheduler_restarted,
    )
}  # fmt: skip


def _two(scene: Scene) -> list[Any]:
    scene.hand.scheduler()
    return [scene.hand.worker() for _ in range(2)]


def _future(client: Any, key: Any) -> Any:
    from distributed import Future

    return Future(key, client=client)


def _refusal(action: Callable[[], object]) -> str:
    """Return the one line with which an action ends. Raises AssertionError where it does not."""
    try:
        action()
    except (InputError, RunStoppedError) as error:
        return " ".join(str(error).split())
    raise AssertionError("a run that has to end with a sentence went on")


def _other_source(folder: Path) -> Path:
    """Return a copy of the packages in which one line is different."""
    for name in PACKAGES:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    with (folder / "tasks" / "__init__.py").open("a", encoding="utf-8") as file:
        file.write("\n# another commit\n")
    return folder


def _broken_source(folder: Path) -> Path:
    """Return a folder that stands for a machine without the packages."""
    for name in PACKAGES:
        (folder / name).mkdir(parents=True)
        text = f"raise ModuleNotFoundError(\"No module named '{name}'\")\n"
        (folder / name / "__init__.py").write_text(text, encoding="utf-8")
    return folder


def line(name: str, step: Step, campaign: Campaign, expected: str) -> str:
    """Make a step and return its line. Raises AssertionError."""
    with _folder() as folder, HandStarted(folder) as hand:
        scene = Scene(folder, campaign, expected, hand)
        start = time.monotonic()
        try:
            step(scene)
            scene.compare()
        except Exception as error:
            events = "\n".join(f"  {at - start:6.1f} s {event}" for at, event in scene.watched.events[-12:])
            raise AssertionError(f"{name}: {type(error).__name__}: {error}; the last events:\n{events}") from error
        silence = scene.watched.silence() if name != "scheduler-restarted" else 0.0
        counts = Counter(type(event).__name__ for _, event in scene.watched.events)
        assert not counts["BlockFailed"], f"{name}: a block was given up"
        assert not counts["CaseFailed"], f"{name}: an innocent case was flagged"
        assert silence < SILENCE, f"{name}: {silence:.0f} s without an event"
        counted = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
        said = f"; {'; '.join(scene.said)}" if scene.said else ""
        return (
            f"{name}: {time.monotonic() - start:.0f} s, silent for {silence:.1f} s at most; {counted}{said}; identical"
        )


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="limbsweep-clusters-") as folder:
        yield Path(folder)


def steps(campaign: Campaign, names: Sequence[str]) -> Iterator[str]:
    """Yield a line for each step. Raises AssertionError where one fails."""
    with _folder() as folder:
        store = folder / "alone.zarr"
        sweep = with_metrics(campaign.sweep(), {"slow": slow})
        run(sweep, store, ClusterConfig.of("threads", threads_per_worker=8), granularity="block")
        expected = results_digest(open_results(store))
    yield f"{campaign.blocks} blocks of {campaign.designs} designs; digest {expected}"
    for name in names:
        yield line(name, STEPS[name], campaign, expected)


def main(words: list[str] | None = None) -> int:
    """Make the steps; 1 where one fails."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.campaigns.clusters",
        description=__doc__,
    )
    parser.add_argument("--quick", action="store_true", help="a third of the blocks")
    parser.add_argument("--only", nargs="+", choices=list(STEPS), default=list(STEPS))
    options = parser.parse_args(words)
    campaign = Campaign(30 if options.quick else 90, DESIGNS, 0)
    return print_lines(steps(campaign, options.only))


if __name__ == "__main__":
    sys.exit(main())
