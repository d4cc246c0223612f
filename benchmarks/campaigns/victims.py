"""Kill -9 of the processes around a run, at numbered steps: worker, nanny, scheduler, and who submits a run.

A step is a call to the system that can change a store, as in `benchmarks.campaigns.crashes`, or one that sends,
receives or accepts on a socket. Scheduler and two nannies with a worker each are processes of Dask's own commands,
which load this module and count their steps; one of them dies once, before a step. Then the same sweep is run again
until it ends, on a new cluster where that died with its scheduler, and every file has to be the one of an undisturbed
store. Workers "without the folder" have an empty one in the place of that of the store, in a mount namespace of their
own (`unshare`, which root may), and send their blocks. Who submits a run is a fork, as in `crashes`. Linux only:
`python -m benchmarks.campaigns.victims [--victim NAME] [--work NAME] [--every N] [--deaths N] [--seed N]`.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from applications.studies.populations.search import search
from benchmarks.campaigns import crashes
from benchmarks.campaigns.crashes import (
    CALLS,
    SAMPLES,
    SEARCH,
    SHAPES,
    SIMULATION,
    STOPS,
    Scenario,
    is_finished,
    results,
    sweep,
)
from benchmarks.campaigns.hand_started import end
from pipeline.cluster.connection import ClusterConfig
from pipeline.errors import ClusterLostError, InputError, RunStoppedError
from pipeline.execution.run import run
from pipeline.execution.submit import peek, submit
from pipeline.plan import plan as planning
from pipeline.stores.verify import verify
from pipeline.sweep.model import Sweep
from storage.errors import StoreError

SELF = "benchmarks.campaigns.victims"
ROLE, AT, STEPS = "LIMBSWEEP_VICTIM", "LIMBSWEEP_VICTIM_AT", "LIMBSWEEP_VICTIM_STEPS"
"""Variables of the environment: class of the victim, number of its last step, file with a byte for each step."""

VICTIMS: Mapping[str, int] = {"worker": 2, "nanny": 2, "scheduler": 1}
"""Processes of each class; their steps are counted apart, and one of them dies."""

SOCKET_CALLS = ("send", "sendmsg", "recv_into", "accept", "connect")
TRIES = 6
"""Runs until one of them ends the store."""

SECONDS = 120.0
"""Time until a process is there, or a store is finished, at most [s]."""

Work = Callable[[Path, ClusterConfig], object]


def _simulated(store: Path, cluster: ClusterConfig) -> None:
    planning.FEW_CASES = planning.BLOCK_CASES = 2
    run(Sweep.from_text(SIMULATION), store, cluster)


def _searched(store: Path, cluster: ClusterConfig, method: Literal["nsga2", "gp"] = "nsga2") -> None:
    options: dict[str, Any] = {"generations": 3, "population": 4, "objectives": ("peak_force",), "method": method}
    search(Sweep.from_text(SEARCH), store, cluster=cluster, **options)


def _learnt(store: Path, cluster: ClusterConfig) -> None:
    _searched(store, cluster, "gp")


def _stopped(store: Path, cluster: ClusterConfig) -> None:
    """Run simulations of the spanning tree with stops, one in each block."""
    planning.FEW_CASES = planning.BLOCK_CASES = 1
    run(Sweep.from_text(STOPS), store, cluster)


def _in_small_blocks(text: str) -> Work:
    """Return the run of a sweep with a design and a friction set in each block."""

    def work(store: Path, cluster: ClusterConfig) -> None:
        planning.SMALL_BLOCK, planning.WANTED_BLOCKS, planning.FRICTION_SAMPLES = SAMPLES, 10**9, SAMPLES
        run(Sweep.from_text(text), store, cluster)

    return work


TIMES = """\
limbsweep: 1
robot: delta_3rr2rrr
design: {grid: {upper_arm: [0.24, 0.26, 0.28]}}
friction: {law: coulomb_viscous, parameters: {coulomb: 0.2}, grid: {viscous: {values: [0.0, 0.05]}}}
trajectories:
  short: {kind: line_sine, amplitude: [0.1, 0.15, 0.05], period: 1.0, time: {stop: 0.2, step: 0.01}}
  long: {kind: quintic, start: [0, 0, -0.1], end: [0, 0, -0.15], duration: 0.7}
time: {stop: 0.8, step: 0.02}
outputs: [actuator_force]
metrics: [peak_force, rms_force]
"""

WORKS: Mapping[str, Work] = {
    "metrics and series": lambda store, cluster: run(sweep(2), store, cluster),
    "simulations": _simulated,
    "search": _searched,
    "times of each trajectory": _in_small_blocks(TIMES),
    "derivatives and shapes": _in_small_blocks(SHAPES),
    "stops and spanning tree": _stopped,
    "learning search": _learnt,
    "without the folder": _in_small_blocks(TIMES),
    "learning search without the folder": _learnt,
}
WITHOUT = "without the folder"
"""End of the names of works whose workers do not see the folder of the store."""

HIDE = 'mount -t tmpfs none "$0" && exec "$@"'
"""Shell command that hides a folder of the namespace it runs in, and becomes another command."""


# in the victim


def dask_setup(server: Any) -> None:
    """Count the steps of the process of a server, if it is the victim. Called by Dask, which loads this module."""
    if type(server).__name__.lower() != os.environ.get(ROLE) or os.path.exists(_death()):
        return
    lock, steps = threading.Lock(), os.open(os.environ[STEPS], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    last, write, count = int(os.environ[AT]), os.write, 0

    def watched(call: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **options: Any) -> Any:
            nonlocal count
            with lock:
                count += 1
                write(steps, b".")
                if count == last:
                    with suppress(FileExistsError):  # another one of the same class has died
                        os.close(os.open(_death(), os.O_WRONLY | os.O_CREAT | os.O_EXCL))
                        os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **options)

        return step

    calls = [(module, name) for module, name in CALLS if name != "open"]  # most of which are for reading
    for module, name in (*calls, *((socket.socket, name) for name in SOCKET_CALLS)):
        setattr(module, name, watched(getattr(module, name)))


def _death() -> str:
    """Return the name of the file that is there once the victim has died, so that it dies once."""
    return os.environ[STEPS] + ".death"


# the cluster


@contextmanager
def cluster(folder: Path, environment: dict[str, str], hidden: Path | None) -> Iterator[ClusterConfig]:
    """Start scheduler and two nannies with workers, each a process of its own; all end with it.

    Workers see an empty folder in the place of a `hidden` one.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    common = ["--no-dashboard", "--preload", SELF]
    here = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment
    with ExitStack() as stack:

        def start(program: str, *words: str, before: Sequence[str] = ()) -> subprocess.Popen[bytes]:
            command = [*before, sys.executable, "-m", f"distributed.cli.{program}", *words]
            process = subprocess.Popen(
                command, env=here, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
            stack.callback(end, process)
            return process

        port = address.rpartition(":")[2]
        _require_port(start("dask_scheduler", "--host", "127.0.0.1", "--port", port, *common), int(port))
        hiding = ("unshare", "-m", "sh", "-c", HIDE, str(hidden)) if hidden else ()
        for _ in range(2):
            start("dask_worker", address, "--nthreads", "1", "--preload-nanny", SELF, *common, before=hiding)
        yield ClusterConfig.of("address", address=address)


def _require_port(process: subprocess.Popen[bytes], port: int) -> None:
    """Wait until a process listens at a port. Raises ClusterLostError where it ends before."""
    deadline = time.monotonic() + SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.05)
    raise ClusterLostError("the scheduler has ended before it listened")


def run_with(victim: str, at: int, name: str, folder: Path) -> tuple[Path, int, bool]:
    """Do some work while a victim dies at a step, until it is done; return the store, steps, and whether it died."""
    store, steps = folder / "stores" / f"{at}.zarr", folder / f"{at}.steps"
    store.parent.mkdir(exist_ok=True)
    death, hidden = steps.with_suffix(".steps.death"), store.parent if name.endswith(WITHOUT) else None
    environment = {ROLE: victim, AT: str(at), STEPS: str(steps)}
    for _ in range(TRIES):
        try:
            with cluster(folder, environment, hidden) as config:
                WORKS[name](store, config)
                return store, steps.stat().st_size if steps.exists() else 0, death.exists()
        except (ClusterLostError, RunStoppedError, InputError, StoreError):
            if not death.exists():
                raise
    raise AssertionError(f"{victim}, step {at}: {TRIES} runs have not ended {store}")


def content(store: Path) -> Mapping[str, str]:
    """Return the results of a store by file and variable, whatever the order of its receipts, which is that of time."""
    lines = {name.name: sorted({*name.read_text().splitlines()}) for name in store.glob("ledger*.jsonl")}
    return {**results(store), **{name: "\n".join(receipts) for name, receipts in lines.items()}}


def campaign(victim: str, name: str, folder: Path, every: int, most: int | None, seed: int) -> Iterator[str]:
    """Kill a victim at every `every`th step of a work, or at `most` steps; yields lines of figures.

    Raises AssertionError.
    """
    chance, alone = random.Random(seed), folder / "alone.zarr"
    WORKS[name](alone, crashes.HERE)
    expected = content(alone)
    total = run_with(victim, 0, name, folder)[1] // VICTIMS[victim]
    assert total, f"{victim} makes no step"
    every = every if most is None else max(1, total // most)
    deaths = survivals = 0
    for at in [*range(1 + chance.randrange(every), total + 1, every)][:most]:
        store, _, died = run_with(victim, at, name, folder)
        deaths, survivals = deaths + died, survivals + (not died)
        found = content(store)
        other = sorted(key for key in {*expected, *found} if found.get(key) != expected.get(key))
        assert not other, f"{victim} of {name}, step {at}: {other} differ from an undisturbed store"
        assert verify(store).is_sound, f"{victim} of {name}, step {at}: the store is not sound"
    yield f"{victim} of {name}: {total} steps, {deaths} deaths, {survivals} ends before the step"
    yield "  every store is bit-identical to an undisturbed one, and sound"


# who submits


def _submitted(store: Path) -> None:
    """Submit a run and wait for its end, also of one that was submitted before."""
    deadline = time.monotonic() + SECONDS
    while not is_finished(store):
        with suppress(StoreError):  # another run is writing
            process = submit(Sweep.from_text(SEARCH.replace("count: 1", "count: 8")), store, crashes.HERE)
            while peek(process.pid, process.output)[0] is None and not is_finished(store):
                time.sleep(0.05)
        assert time.monotonic() < deadline, f"{store} is not finished after {SECONDS:g} s"
        time.sleep(0.05)


SUBMISSION = Scenario("submit", lambda store: None, _submitted, _submitted)


def main(words: list[str] | None = None) -> int:
    """Run the campaigns that the command line asks for; 1 where one fails."""
    parser = argparse.ArgumentParser(prog=f"python -m {SELF}", description=__doc__)
    parser.add_argument("--victim", choices=[*VICTIMS, "submit", "all"], default="all")
    parser.add_argument("--work", choices=[*WORKS, "all"], nargs="+", default=["all"])
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--deaths", type=int, help="Steps of each victim and work, evenly, in place of every Nth.")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args(words)
    print(f"seed {options.seed}", flush=True)
    os.fsync = lambda fd: None
    chosen = [(victim, name) for victim in VICTIMS for name in WORKS]
    chosen = [pair for pair in chosen if options.victim in (pair[0], "all") and {pair[1], "all"} & {*options.work}]
    try:
        if options.victim in ("submit", "all"):
            with tempfile.TemporaryDirectory(prefix="limbsweep-victims-") as folder:
                os.environ["XDG_STATE_HOME"] = f"{folder}/state"
                _told(crashes.campaign(SUBMISSION, Path(folder), 1, options.seed))
        for victim, name in chosen:
            with tempfile.TemporaryDirectory(prefix="limbsweep-victims-") as folder:
                _told(campaign(victim, name, Path(folder), options.every, options.deaths, options.seed))
    except AssertionError as error:
        print(f"FAILED: {error}", flush=True)
        return 1
    return 0


def _told(lines: Iterator[str]) -> None:
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
