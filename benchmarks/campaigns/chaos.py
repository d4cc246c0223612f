"""Campaigns of kill -9 against whole runs: of workers, and of the coordinator; every store has to end bit-identical.

A program: `python -m benchmarks.campaigns.chaos [--blocks 500] [--designs 4] [--kills 50] [--granularity limb]
[--coordinator-kills 20] [--every 1] [--seed N]` prints its seed and the figures, and ends with status 1 where a store
differs or a block has failed. Deaths of the coordinator at its numbered steps are in `benchmarks.campaigns.crashes`,
`--every 10` takes a tenth of them; several coordinators on one store in `benchmarks.campaigns.races`. Linux only.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np
import psutil

from benchmarks.runs.sweeps import text
from pipeline.cluster.connection import ClusterConfig
from pipeline.execution.graph import Granularity
from pipeline.execution.run import run
from pipeline.monitor.log import BlockDone, BlockFailed, BlockRetried, CaseFailed, Event, Finished
from pipeline.plan import plan as planning
from pipeline.sweep.model import Sweep
from storage import open_results
from storage.places.location import LocationLike

SAMPLES = 2001
WORKERS = 2


@dataclass(frozen=True)
class Campaign:
    """Settings of a campaign: blocks of `designs` designs each, and the seed of all random choices."""

    blocks: int
    designs: int
    seed: int

    @property
    def text(self) -> str:
        """The sweep as a file."""
        return text(self.blocks, self.designs, SAMPLES, series=False)

    def sweep(self) -> Sweep:
        """Return a sweep that a plan cuts into that many blocks."""
        planning.SMALL_BLOCK, planning.WANTED_BLOCKS = self.designs * SAMPLES, 10**9
        return Sweep.from_text(self.text)


def content(store: LocationLike) -> str:
    """Return a hash over the bits of all variables of a finished store. Raises StoreError if it is not finished."""
    data, digest = open_results(store), blake2b(digest_size=16)
    for name in sorted(map(str, data.data_vars)):
        digest.update(name.encode() + np.ascontiguousarray(data[name].values).tobytes())
    return digest.hexdigest()


class Killer(threading.Thread):
    """Kills workers of this process's local cluster at random while blocks are done."""

    def __init__(self, kills: int, blocks: int, chance: random.Random) -> None:
        super().__init__(daemon=True)
        self.marks = sorted(chance.sample(range(1, blocks), kills))
        self.chance, self.killed, self.done = chance, 0, 0
        self.over = threading.Event()

    def run(self) -> None:
        """Kill one worker for each mark that the run has passed."""
        while not self.over.wait(0.01):
            if self.killed < len(self.marks) and self.done >= self.marks[self.killed] and (found := _workers()):
                os.kill(self.chance.choice(found), signal.SIGKILL)
                self.killed += 1


def _workers() -> list[int]:
    """Return the worker processes below this one: processes that multiprocessing has spawned."""
    workers = []
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):  # it has ended since it was listed
            if any("spawn_main" in argument for argument in child.cmdline()):
                workers.append(child.pid)
    return workers


def workers_killed(campaign: Campaign, kills: int, granularity: Granularity, folder: Path) -> Iterator[str]:
    """Kill workers during a run; yield lines of figures. Raises AssertionError if the store differs."""
    expected = folder / "undisturbed.zarr"
    config = ClusterConfig.of(n_workers=WORKERS, threads_per_worker=1)
    run(campaign.sweep(), expected, ClusterConfig.of("threads", threads_per_worker=2), granularity="block")
    killer = Killer(kills, campaign.blocks, random.Random(campaign.seed))
    events: list[Event] = []

    def listen(event: Event) -> None:
        events.append(event)
        killer.done += isinstance(event, BlockDone)

    killer.start()
    start = time.perf_counter()
    run(campaign.sweep(), folder / "killed.zarr", config, [listen], granularity)
    seconds = time.perf_counter() - start
    killer.over.set()
    killer.join()
    count = {kind: sum(isinstance(each, kind) for each in events) for kind in (BlockDone, BlockRetried, CaseFailed)}
    yield f"{killer.killed} workers killed in {campaign.blocks} blocks, {seconds:.0f} s"
    yield f"  {count[BlockDone]} blocks done, {count[BlockRetried]} isolated or tried again by the coordinator"
    assert not any(isinstance(each, BlockFailed) for each in events), "a block was given up"
    assert not count[CaseFailed], "an innocent case was flagged"
    assert killer.killed == kills, "the run was over before all kills"
    assert content(folder / "killed.zarr") == content(expected), "the store differs from an undisturbed one"
    yield "  the store is bit-identical to an undisturbed one"


def coordinators_killed(campaign: Campaign, kills: int, folder: Path) -> Iterator[str]:
    """Kill the coordinator of a run again and again, then continue; yield lines of figures."""
    expected, store = folder / "whole.zarr", folder / "resumed.zarr"
    run(campaign.sweep(), expected, ClusterConfig.of("threads", threads_per_worker=2), granularity="block")
    chance, computed, killed = random.Random(campaign.seed), 0, 0
    for _ in range(kills):
        lines = _killed_after(campaign, store, chance.randint(0, max(1, campaign.blocks // (kills + 1))), chance)
        computed, killed = computed + lines, killed + 1
    events: list[Event] = []
    run(campaign.sweep(), store, ClusterConfig.of("threads", threads_per_worker=2), [events.append], "block")
    computed += sum(isinstance(each, BlockDone) for each in events)
    yield f"{killed} coordinators killed in {campaign.blocks} blocks"
    yield f"  {computed - campaign.blocks} blocks computed more than once, as far as was told"
    assert content(store) == content(expected), "the store differs from an undisturbed one"
    assert any(isinstance(each, Finished) for each in events) or not events
    yield "  the store is bit-identical to an undisturbed one"


def _killed_after(campaign: Campaign, store: Path, blocks: int, chance: random.Random) -> int:
    """Run in a process of its own until it has reported a number of blocks, and a moment more; return the number."""
    words = [sys.executable, "-m", "benchmarks.campaigns.chaos", "--victim", str(store)]
    words += ["--blocks", str(campaign.blocks), "--designs", str(campaign.designs)]
    told = 0
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while told < blocks and process.stdout.readline():
            told += 1
        time.sleep(chance.uniform(0.0, 0.2))
        process.kill()
        told += len(process.stdout.read().splitlines())
    return told


def _victim(campaign: Campaign, store: Path) -> None:
    def say(event: Event) -> None:
        if isinstance(event, BlockDone):
            print(event.block, flush=True)

    run(campaign.sweep(), store, ClusterConfig.of("threads", threads_per_worker=2), [say], "block")


def main(words: list[str] | None = None) -> int:
    """Run the campaigns that the command line asks for; 1 where one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("blocks", 500), ("designs", 4), ("kills", 50), ("coordinator-kills", 20), ("every", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--granularity", choices=("limb", "block"), default="limb")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--victim", type=Path)
    given = parser.parse_args(words)
    campaign = Campaign(given.blocks, given.designs, given.seed)
    if given.victim:
        _victim(campaign, given.victim)
        return 0
    print(f"seed {campaign.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="limbsweep-chaos-") as folder:
        try:
            for line in workers_killed(campaign, given.kills, given.granularity, Path(folder)):
                print(line, flush=True)
            small = replace(campaign, blocks=min(campaign.blocks, 200))
            for line in coordinators_killed(small, given.coordinator_kills, Path(folder)):
                print(line, flush=True)
        except AssertionError as error:
            print(f"FAILED: {error}", flush=True)
            return 1
    seed = ("--seed", str(campaign.seed))
    return _forks("crashes", "--every", str(given.every), *seed) or _forks("races", *seed)


def _forks(module: str, *words: str) -> int:
    """Return the exit status of a campaign that forks, and so runs in a process without threads."""
    return subprocess.run([sys.executable, "-m", f"benchmarks.campaigns.{module}", *words], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
