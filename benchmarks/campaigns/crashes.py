"""Kill -9 at every numbered step of a coordinator on a store; the resumed work has to end with the same results.

A step is a call to the system that can change a store: making, writing, forcing, renaming, removing, locking. A fork of
this process dies before or after one of them, or in the middle of a line of a journal; then it is gone on with here,
often after a second death, and every file has to be the one of an undisturbed store. Linux only, and only in a process
of a single thread: `python -m benchmarks.campaigns.crashes [--scenario NAME] [--every N] [--seed N]`.
"""

from __future__ import annotations

import argparse
import fcntl
import io
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from applications.studies.populations.search import search
from pipeline.cluster.connection import ClusterConfig
from pipeline.errors import InputError, RunStoppedError
from pipeline.execution.run import run
from pipeline.plan import plan
from pipeline.plan import plan as planning
from pipeline.stores.append import append
from pipeline.stores.verify import verify
from pipeline.sweep.model import Sweep
from storage import open_results
from storage.errors import StoreError
from storage.manifest import Manifest
from storage.places.local import is_draft

TEXT = """\
limbsweep: 1
robot: delta_3rr2rrr
design: {{grid: {{upper_arm: {{values: {arms}}}}}}}
friction: {{law: coulomb_viscous, parameters: {{coulomb: 0.2}}, grid: {{viscous: {{values: [0.0, 0.05]}}}}}}
trajectories: {{line: {{kind: line_sine, amplitude: [0.1, 0.15, 0.05], period: 1.0}}}}
time: {{stop: 0.8, step: 0.02}}
outputs: [actuator_force, joint_position]
metrics: [peak_force]
"""
SIMULATION = """\
limbsweep: 1
robot: planar_3r
seed: 1
trajectories: {move: {kind: quintic, end: 0.1, duration: 0.02}}
simulation:
  controller: {kind: pd, parameters: {kd: 5.0}}
  gains: {grid: {kp: [100.0, 150.0, 200.0, 250.0]}}
  step: 0.002
time: {stop: 0.126, step: 0.002}
outputs: [actuator_position, actuator_force, measured_position]
metrics: [rms_tracking_error]
measurement: {position_noise: 1.0e-5}
"""
SEARCHED = """\
limbsweep: 1
robot: five_bar
design:
  sample: {method: sobol, seed: 1, count: 1, parameters: {proximal_length: {low: 0.5, high: 0.56}}}
trajectories: {circle: {kind: circle, radius: 0.05, normal: [0, 1, 0], period: 1.0}}
metrics: [peak_force]
"""
SEARCH = f"{SEARCHED}time: {{stop: 0.4, step: 0.05}}\n"
STOPS = """\
limbsweep: 1
robot: five_bar
design: {grid: {proximal_length: [0.5, 0.53, 0.56]}}
simulation: {step: 0.005, stops: {left.1: {low: -0.4, high: 0.3, restitution: 0.5}}}
time: {stop: 0.3, step: 0.05}
outputs: [platform_position, actuator_position]
metrics: [dissipated_energy]
"""
SHAPES = """\
limbsweep: 1
robot: delta_3rr2rrr
variables: {rod: {default: 0.02, unit: m, lower: 0.005, upper: 0.06, text: diameter of the rods}}
design: {grid: {upper_arm: [0.24, 0.26, 0.28], rod: [0.016, 0.02]}}
shapes:
  arm: {tube: [2 * rod, 1.8 * rod], material: aluminium}
  'rod_*': {tube: [rod, rod - 0.004], density: 1600, young: 120.0e+9}
trajectories: {line: {kind: line_sine, amplitude: [0.1, 0.15, 0.05], period: 1.0}}
time: {stop: 0.8, step: 0.02}
outputs: [{derivative: peak_force, of: [upper_arm, rod]}]
metrics: [peak_force]
"""
SAMPLES = 41
HERE = ClusterConfig.of("synchronous")

When = Literal["before", "after", "within"]
CALLS: tuple[tuple[Any, str], ...] = (
    *((os, name) for name in ("mkdir", "rename", "replace", "unlink", "rmdir", "pwrite", "ftruncate", "fsync", "open")),
    (fcntl, "flock"),
    (io, "open"),
)
"""Calls to the system that a coordinator makes: module and name by which each is looked up."""

SURVIVED = 3
MOST_ALIVE = 0.1
"""Share of runs that may end before their step: the log and the ledger have more of them where work was slower."""
NOT_OF_RESULTS = ("coordinator.lock", "log.jsonl", "limbsweep.json", "zarr.json")
"""Files with times and owners; their statements about results are read through the dataset."""


def sweep(arms: int) -> Sweep:
    """Return a sweep of so many designs, each with two blocks, one for each friction set."""
    planning.SMALL_BLOCK, planning.WANTED_BLOCKS, planning.FRICTION_SAMPLES = SAMPLES, 10**9, SAMPLES
    return Sweep.from_text(TEXT.format(arms=[0.22 + 0.03 * k for k in range(arms)]))


# processes to kill


@dataclass(frozen=True)
class Scenario:
    """Work of a coordinator: making of the store before it, the work itself, and its continuation."""

    name: str
    before: Callable[[Path], None]
    act: Callable[[Path], None]
    resume: Callable[[Path], None]


def is_finished(store: Path) -> bool:
    """Return whether a run has finished this store; False where another process writes it, or no store exists."""
    try:
        return Manifest.load(store).state == "finished"
    except StoreError:
        return False


def _nothing(store: Path) -> None:
    """Do nothing: there is no store."""


def _small(store: Path) -> None:
    run(sweep(2), store, HERE)


def _larger(store: Path) -> None:
    append(store, sweep(3), HERE)


def _damaged(store: Path) -> None:
    _small(store)
    (store / "peak_force" / "c.0.0.0.0").unlink()
    shard = store / "joint_position" / "c.1.0.0.0.0"
    data = bytearray(shard.read_bytes())
    data[100] ^= 1
    shard.write_bytes(data)


def _simulated(store: Path) -> None:
    """Run a sweep of simulations over gains alone, two in each block."""
    plan.FEW_CASES = plan.BLOCK_CASES = 2
    run(Sweep.from_text(SIMULATION), store, HERE)


def _searched(store: Path) -> None:
    """Search for three generations, each appended to the store of the previous ones."""
    search(Sweep.from_text(SEARCH), store, generations=3, population=4, objectives=("peak_force",), cluster=HERE)


def _stopped(store: Path) -> None:
    """Run simulations of the spanning tree with stops, one in each block."""
    plan.FEW_CASES = plan.BLOCK_CASES = 1
    run(Sweep.from_text(STOPS), store, HERE)


def _shaped(store: Path) -> None:
    """Run with masses from shapes, a variable, and derivatives as outputs, one design in each block."""
    planning.SMALL_BLOCK, planning.WANTED_BLOCKS = SAMPLES, 10**9
    run(Sweep.from_text(SHAPES), store, HERE)


def _learnt(store: Path) -> None:
    """Search for three generations by Gaussian processes."""
    options = {"generations": 3, "population": 4, "objectives": ("peak_force",), "method": "gp", "cluster": HERE}
    search(Sweep.from_text(SEARCH), store, **options)  # type: ignore[arg-type]


def _repair(store: Path) -> None:
    verify(store, repair=True, cluster=HERE)


def _repair_and_run(store: Path) -> None:
    """Repair a store, which makes it unfinished, and run it."""
    _repair(store)
    _small(store)


Campaign = Callable[[Scenario, Path, int, int], Iterator[str]]
"""Function that fails a scenario at every n-th step, with a seed, in a folder, and yields lines of figures."""

SCENARIOS: dict[str, Scenario] = {
    each.name: each
    for each in (
        Scenario("run", _nothing, _small, _small),
        Scenario("simulation", _nothing, _simulated, _simulated),
        Scenario("search", _nothing, _searched, _searched),
        Scenario("append", _small, _larger, _larger),
        Scenario("repair", _damaged, _repair, _repair_and_run),
        Scenario("stops", _nothing, _stopped, _stopped),
        Scenario("shapes", _nothing, _shaped, _shaped),
        Scenario("learning search", _nothing, _learnt, _learnt),
    )
}
FEW = ("run", "simulation", "search", "append", "repair")
"""Scenarios of which each makes other steps; the others make those of one of them."""


# steps, and death at one of them


class Steps:
    """Counts the calls to the system of the thread that makes this object, and dies at one of them."""

    def __init__(self, number: int = 0, when: When = "before") -> None:
        self.names: list[str] = []
        self.number, self.when, self.thread = number, when, threading.get_ident()

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Watches the calls meanwhile."""
        real = [(module, name, getattr(module, name)) for module, name in CALLS]
        for module, name, call in real:
            setattr(module, name, self._watched(name, call))
        try:
            yield
        finally:
            for module, name, call in real:
                setattr(module, name, call)

    def _watched(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any, **options: Any) -> Any:
            if threading.get_ident() != self.thread or not _changes(name, arguments):
                return call(*arguments, **options)
            self.names.append(name)
            here = len(self.names) == self.number
            if here and self.when == "before":
                _die()
            if here and self.when == "within" and name == "pwrite":
                call(arguments[0], arguments[1][: len(arguments[1]) // 2], *arguments[2:])
                _die()
            try:
                return call(*arguments, **options)
            finally:
                if here:
                    _die()

        return watched


def _changes(name: str, arguments: tuple[Any, ...]) -> bool:
    """Return True for a call that can change a file system: reading and opening for reading cannot."""
    if name == "open":
        how = arguments[1] if len(arguments) > 1 else "r"
        return bool(how & (os.O_CREAT | os.O_WRONLY | os.O_RDWR)) if isinstance(how, int) else how[0] in "wax"
    return True


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dies(work: Callable[[Path], None], store: Path, number: int, when: When) -> bool:
    """Do something in a fork that is killed at a step; False where it ends before that."""
    child = os.fork()
    if not child:
        try:
            with Steps(number, when).counting():
                work(store)
            os._exit(SURVIVED)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(SURVIVED + 1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return True
    assert os.waitstatus_to_exitcode(status) == SURVIVED, f"step {number}: something else has failed ({status})"
    return False


# checks of the remains


def results(store: Path) -> Mapping[str, str]:
    """Return a hash for each file of results and each variable and coordinate of a finished store."""
    files = {str(each.relative_to(store)): each for each in store.rglob("*") if each.is_file()}
    found = {key: _hash(each.read_bytes()) for key, each in files.items() if each.name not in NOT_OF_RESULTS}
    data = open_results(store)
    return found | {
        str(name): _hash(repr(data[name].dims).encode() + data[name].values.tobytes()) for name in data.variables
    }


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=12).hexdigest()


def campaign(scenario: Scenario, folder: Path, every: int = 1, seed: int = 0) -> Iterator[str]:
    """Kill at every `every`th step; yields lines of figures. Raises AssertionError at the first that ends otherwise."""
    whole = folder / "undisturbed.zarr"
    scenario.before(whole)
    scenario.act(whole)  # work of a first run alone, such as keeping machine code, is no step
    shutil.rmtree(whole)
    scenario.before(whole)
    counted = Steps()
    with counted.counting():
        scenario.act(whole)
    expected, chance, twice, deaths, alive = results(whole), random.Random(seed), 0, 0, 0
    for number, when in list(_deaths(counted.names))[chance.randrange(every) :: every]:
        store = folder / f"{number}-{when}.zarr"
        scenario.before(store)
        if dies(scenario.act, store, number, when):
            deaths += 1
            twice += dies(scenario.resume, store, chance.randrange(1, len(counted.names)), "before")
        else:
            alive += 1
        _require_same(scenario, store, expected, f"{scenario.name}, {when} step {number} ({counted.names[number - 1]})")
    yield f"{scenario.name}: {len(counted.names)} steps, {deaths} deaths at one, {twice} second deaths on going on"
    assert alive <= MOST_ALIVE * (alive + deaths), f"{scenario.name} has {alive} times ended before the step to die at"
    yield "  every store is bit-identical to an undisturbed one, and sound"


def _deaths(names: list[str]) -> Iterator[tuple[int, When]]:
    for number, name in enumerate(names, start=1):
        yield number, "before"
        yield number, "after"
        if name == "pwrite":
            yield number, "within"


def _require_same(scenario: Scenario, store: Path, expected: Mapping[str, str], what: str) -> None:
    """Go on, and see that the store ends as an undisturbed one."""
    try:
        scenario.resume(store)
        found = results(store)
    except (StoreError, InputError, RunStoppedError) as error:
        raise AssertionError(f"{what}: it cannot be gone on with: {error}") from error
    left = [each.name for each in store.parent.iterdir() if is_draft(each.name)]
    assert not left, f"{what}: {left} is left"
    other = sorted(key for key in {*found, *expected} if found.get(key) != expected.get(key))
    assert not other, f"{what}: {other} differ from an undisturbed store"
    checked = verify(store)
    assert checked.is_sound, f"{what}: {checked.findings[0]}"


def for_scenarios(campaign: Campaign, what: str, description: str | None, words: list[str] | None) -> int:
    """Run a campaign for the scenarios that the command line asks for, and print its figures; 1 where one fails."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.campaigns.{what}", description=description)
    parser.add_argument("--scenario", choices=[*SCENARIOS, "few", "all"], default="all")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args(words)
    print(f"seed {options.seed}", flush=True)
    for name, scenario in SCENARIOS.items():
        if options.scenario in (name, "all") or (options.scenario == "few" and name in FEW):
            with tempfile.TemporaryDirectory(prefix=f"limbsweep-{what}-") as folder:
                try:
                    for line in campaign(scenario, Path(folder), options.every, options.seed):
                        print(line, flush=True)
                except AssertionError as error:
                    print(f"FAILED: {error}", flush=True)
                    return 1
    return 0


def main(words: list[str] | None = None) -> int:
    """Run the campaigns that the command line asks for; 1 where one fails."""
    os.fsync = lambda fd: None  # a process that dies loses nothing that the system has; only power would
    return for_scenarios(campaign, "crashes", __doc__, words)


if __name__ == "__main__":
    sys.exit(main())
