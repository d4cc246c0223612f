"""Covering array of the table, execution of its cases, and the outcome of each pair.

Pairs of features that no sweep can have are found first, by reading a sweep of each; they are not in the array. A case
that is refused at its door is taken apart until the pair is found that is refused, and goes on without it.
"""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import signal
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Literal

from benchmarks.composition.case import Case, NoMeaningError
from benchmarks.composition.command import RefusedError
from benchmarks.composition.doors import DOORS
from benchmarks.composition.features import AXES, PLAIN
from benchmarks.composition.machines import MACHINES
from benchmarks.figures import CheckError
from pipeline.errors import InputError
from robots.parameter_errors import ParameterError
from storage.errors import StoreError

Outcome = Literal["works", "refused", "no meaning", "wrong", "traceback", "too long"]
FAULTS = ("wrong", "traceback")
NO_ANSWER = (*FAULTS, "too long")
"""Outcomes that decide nothing about the pairs of a case."""
Levels = Mapping[str, str]
Entry = tuple[str, str]
Entries = frozenset[Entry]

REFUSALS = (InputError, StoreError, ParameterError, RefusedError)
READ = "read"
"""Door at which a sweep is read, and nothing computed."""

FACTORS: Mapping[str, Sequence[str]] = {
    "robot": tuple(MACHINES),
    "door": tuple(DOORS),
    **{axis: tuple(features) for axis, features in AXES.items()},
}

SIMPLE: Levels = {"robot": "five_bar", "door": "compute", **PLAIN}
"""The plainest case."""

VARIED = ("append", "grid", "sensitivity", "optimise", "one at a time", "morris", "search")
"""Doors that mean something where a parameter varies."""
NEEDS: Mapping[str, Levels] = {
    **{door: {"design": "grid"} for door in VARIED},
    "identify": {"sensors": "measurement"},
}
"""Features without which a door means nothing."""


def plainest(door: str) -> Levels:
    """Return the plainest case of a door."""
    return {**SIMPLE, "door": door, **NEEDS.get(door, {})}


@dataclass(frozen=True)
class Result:
    """Outcome of a case: its robot, door and features; the sentence of a refusal or error; seconds."""

    levels: Levels
    outcome: Outcome
    text: str = ""
    seconds: float = 0.0


class TooLongError(BaseException):
    """The end of the time of a case; no error of a program, so that none takes it for its own."""


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Limit the processor time of the body to `seconds`. Raises TooLongError at the limit."""
    if seconds == float("inf"):
        yield
        return

    def end(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def execute(levels: Levels, folder: Path, seconds: float = float("inf")) -> Result:
    """Pass a case through its door, in a folder that is emptied afterwards, for so many seconds of processor time."""
    place, start = Path(tempfile.mkdtemp(dir=folder)), time.perf_counter()
    try:
        with within(seconds):
            outcome, text = _outcome(levels, place)
    except TooLongError:
        outcome, text = "too long", f"no end after {seconds:g} s of processor time"
    shutil.rmtree(place, ignore_errors=True)
    return Result(dict(levels), outcome, text.replace(str(place), "."), time.perf_counter() - start)


def _outcome(levels: Levels, place: Path) -> tuple[Outcome, str]:
    try:
        case = Case.of(levels, place)
        if case.sweep is not None and levels["door"] != READ:
            DOORS[levels["door"]](case)
    except NoMeaningError as error:
        return "no meaning", str(error)
    except REFUSALS as error:
        return "refused", str(error)
    except CheckError as error:
        return "wrong", str(error)
    except Exception:
        return "traceback", traceback.format_exc()
    return "works", ""


def recorded(file: Path) -> Iterator[Result]:
    """Give the results of a record that an earlier part of the campaign has written, without its faults."""
    for text in file.read_text().splitlines() if file.exists() else ():
        result = Result(**json.loads(text))
        if result.outcome not in NO_ANSWER:
            yield result


def pairs_of(levels: Levels) -> Iterator[Entries]:
    """Give all pairs of a case."""
    for one, two in combinations(levels.items(), 2):
        yield frozenset((one, two))


def all_pairs() -> Iterator[Entries]:
    """Give all pairs of the table."""
    for one, two in combinations(FACTORS, 2):
        for first in FACTORS[one]:
            for second in FACTORS[two]:
                yield frozenset(((one, first), (two, second)))


def covering(factors: Mapping[str, Sequence[str]] = FACTORS) -> list[dict[str, str]]:
    """Return cases in which every pair occurs, the same at each call."""
    from covertable import make

    return [dict(row) for row in make({name: list(levels) for name, levels in factors.items()}, strength=2)]


def drawn(seed: int, factors: Mapping[str, Sequence[str]] = FACTORS) -> Iterator[dict[str, str]]:
    """Give cases without end in which each feature is drawn by itself, the same for the same seed."""
    rng = random.Random(seed)
    while True:
        yield {name: rng.choice(levels) for name, levels in factors.items()}


def diagonal(robot: str, doors: Sequence[str]) -> list[dict[str, str]]:
    """Return a case for each door, with the next feature of each axis: a part of the table for every day."""
    rows = [{axis: tuple(levels)[k % len(levels)] for axis, levels in AXES.items()} for k in range(len(doors))]
    return [{**SIMPLE, **row, "robot": robot, "door": door} for row, door in zip(rows, doors, strict=True)]


@dataclass
class Table:
    """Outcomes of pairs: pairs that work, and entries that together are refused or mean nothing.

    record: file to which each result is added as a line of JSON, and from which results of earlier parts are taken.
    deadline: time (`time.monotonic`) after which no case is executed. seconds: processor time that a case may take.
    """

    folder: Path
    record: Path | None = None
    deadline: float = float("inf")
    seconds: float = float("inf")
    works: set[Entries] = field(default_factory=set)
    refused: dict[Entries, Result] = field(default_factory=dict)
    faults: list[Result] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    known: dict[Entries, Result] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take the results of the record."""
        if self.record:
            self.known.update({frozenset(result.levels.items()): result for result in recorded(self.record)})

    def execute(self, levels: Levels) -> Result:
        """Execute a case once. Raises TimeoutError after the deadline."""
        key = frozenset(levels.items())
        if key not in self.known:
            if time.monotonic() > self.deadline:
                raise TimeoutError("the time is over")
            self.known[key] = result = execute(levels, self.folder, self.seconds)
            if self.record:
                with self.record.open("a") as file:
                    file.write(json.dumps(asdict(result)) + "\n")
        return self.known[key]

    def read(self) -> None:
        """Find the pairs of features, and of features and robots, that no sweep can have."""
        features = [(axis, level) for axis in AXES for level in AXES[axis] if level != PLAIN[axis]]
        takes: dict[Entry, list[str]] = {entry: [] for entry in features}
        for entry in features:
            for robot in MACHINES:
                result = self.execute({**SIMPLE, **dict([entry]), "robot": robot, "door": READ})
                if result.outcome == "works":
                    takes[entry].append(robot)
                else:
                    self._note(frozenset((entry, ("robot", robot))), result)
        for one, two in combinations(features, 2):
            both = [robot for robot in takes[one] if robot in takes[two]]
            if one[0] == two[0] or not both:
                continue
            result = self.execute({**SIMPLE, **dict((one, two)), "robot": both[0], "door": READ})
            if result.outcome != "works":
                self._note(frozenset((one, two)), result)

    def _note(self, entries: Entries, result: Result) -> None:
        if result.outcome in FAULTS:
            self.faults.append(result)
        else:
            self.refused[entries] = result

    def try_case(self, levels: Levels) -> Iterator[Result]:
        """Execute a case; find the refused levels of a refused case, and go on without them until the rest works."""
        levels = dict(levels)
        for _ in range(len(levels)):
            if (hit := self._refused_in(levels)) is None:
                result = self.execute(levels)
                self.counts[result.outcome] += 1
                yield result
                if result.outcome == "works":
                    self.works.update(pairs_of(levels))
                    return
                if result.outcome in NO_ANSWER:
                    self.faults += [result] if result.outcome in FAULTS else []
                    return
                hit = self.reason(result)
                self.refused[hit] = result
            plain = plainest(levels["door"])
            if names := sorted(name for name, level in hit if level != plain[name]):
                name = min(names, key=lambda name: name == "robot")
                levels[name] = plain[name]
            elif levels["door"] != SIMPLE["door"]:
                levels["door"] = SIMPLE["door"]
            else:
                return

    def _refused_in(self, levels: Levels) -> Entries | None:
        return next((key for key in self.refused if key <= {*levels.items()}), None)

    def reason(self, result: Result) -> Entries:
        """Return entries of a refused case that are refused by themselves: a door alone, a pair, or more."""
        levels = result.levels
        early = self.execute({**levels, "door": READ}).outcome != "works"
        door = READ if early else levels["door"]
        plain = plainest(door)
        own = [(name, level) for name, level in levels.items() if level != plain[name] and name != "door"]
        for few in [[], *([entry] for entry in own), *map(list, combinations(own, 2))]:
            if len(few) == 2 and not early:
                break
            trial = {**plain, **dict(few)}
            if self._refused_in(trial) is None and self.execute(trial).outcome == result.outcome:
                return frozenset([*few, *([] if early else [("door", door)])])
        return self.needed(result, door)

    def needed(self, result: Result, door: str) -> Entries:
        """Return the entries of a case that its outcome needs, found by leaving out one after the other."""
        levels, plain = {**result.levels, "door": door}, plainest(door)
        for name in levels:
            if levels[name] != plain[name]:
                trial = {**levels, name: plain[name]}
                if self._refused_in(trial) is None and self.execute(trial).outcome == result.outcome:
                    levels = trial
        door_too = [("door", door)] if door not in (READ, SIMPLE["door"]) else []
        return frozenset([*door_too, *((name, level) for name, level in levels.items() if level != plain[name])])

    def state(self, pair: Entries) -> str:
        """Return `works`, `refused`, `no meaning` or `not seen` of a pair."""
        if pair in self.works:
            return "works"
        return next((result.outcome for key, result in self.refused.items() if key <= pair), "not seen")

    def left(self) -> list[dict[str, str]]:
        """Return cases for the pairs that neither work nor are refused yet, several in each where they fit."""
        rows: list[dict[str, str]] = []
        for pair in all_pairs():
            if self.state(pair) != "not seen":
                continue
            for row in rows:
                both = {**row, **dict(pair)}
                if all(row.get(name, level) == level for name, level in pair) and not self._refused_in(_filled(both)):
                    row |= dict(pair)
                    break
            else:
                rows.append(dict(pair))
        return [_filled({"robot": self._taker(row), **row}) for row in rows]

    def _taker(self, row: Levels) -> str:
        """Return a robot that takes all features of a case."""
        free = (robot for robot in MACHINES if self._refused_in(_filled({**row, "robot": robot})) is None)
        return next(free, SIMPLE["robot"])


def _filled(row: Levels) -> dict[str, str]:
    """Return a row whose open entries are those of the plainest case of its door."""
    return {**plainest(row.get("door", SIMPLE["door"])), **row}
