"""The table of imports: each file, its outcome, and its largest differences from another engine.

A refusal counts as right where no other engine reads the file with a joint that moves, or closes its loops from any of
several positions, or the reader gives a reason for refusing elements that the other engine ignores (STRICTER).
"""

from __future__ import annotations

import os
import re
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.imports.comparison import LARGEST_ERROR, Errors, closes_elsewhere, errors, moves_elsewhere
from benchmarks.imports.sources import Source
from pipeline.errors import InputError
from robots.formats.tree import Base

STRICTER = {
    "that takes more than": "bounds of time and memory, which no other engine has",
    "again; expected a name for each": "names that are there twice, of which other engines take one, or number them",
    "no <inertia>; expected <inertia>": "masses without moments, which other engines leave out",
    "expected a mass of at least 0 kg": "masses below zero, which other engines replace",
    "expected a body of at most": "a moment of inertia for which the body would be larger than 100 m",
    "expected at most 100 m": "a centre of mass farther away, of a file in millimetres",
    "axis 0 0 0; expected a direction": "an axis without a direction, which other engines leave at zero",
}
"""Parts of the reasons of refusals of files that other engines read, and the elements that these engines ignore."""


@dataclass(frozen=True)
class Import:
    """One file and the outcome of its import."""

    path: Path
    package: str = ""
    """The distribution or folder that has it."""
    joints: int = 0
    told: str = ""
    warnings: int = 0
    errors: Errors | None = None
    refused: str = ""
    moves: bool = False
    """Return whether another engine reads a refused file, has a moving joint in it, and closes its loops."""

    seconds: float = 0.0
    """Processor time of the import, of processes that it starts too."""

    loops: int = 0
    """Loops of the accepted robot."""

    @property
    def row(self) -> str:
        """Its row of the table."""
        name, seconds = f"{self.path.parent.name}/{self.path.name}", f"{self.seconds:.1f}"
        if self.refused:
            return f"| {name} | {self.verdict} |  |  |  | {seconds} | {self.refused} |"
        found = self.errors
        figures = ("not compared", "") if found is None else (_digits(found.forces), _digits(found.mass))
        counts = [f"{n} {what}" for n, what in ((self.loops, "loops"), (self.warnings, "warnings")) if n]
        text = ", ".join(filter(None, (self.told, *counts)))
        return f"| {name} | {self.verdict} | {self.joints} | {' | '.join(figures)} | {seconds} | {text} |"

    @property
    def verdict(self) -> str:
        """One of VERDICTS."""
        if self.refused:
            stricter = any(reason in self.refused for reason in STRICTER)
            return "refused wrongly" if self.moves and not stricter else "refused"
        return "wrong" if self.errors is not None and not self.errors.largest <= LARGEST_ERROR else "accepted"


VERDICTS = ("accepted", "wrong", "refused", "refused wrongly")


def imported(source: Source | Path, compare: bool = True) -> Import:
    """Import one file as it is, else with a floating base, and compare it."""
    source = Source(source) if isinstance(source, Path) else source
    path, package, first = source.path, source.package, ""
    choices: Sequence[tuple[str, Base]] = (("", "fixed"), ("floating base", "floating"))
    for stated, base in choices:
        start = processor_time()
        try:
            robot = source.robot(base)
        except InputError as error:
            reason = str(error).splitlines()[0].partition(": got ")[2]
            first = reason if not first or first.startswith("no joint that moves") else first
            seconds = processor_time() - start
            continue
        except Exception:  # a traceback is a finding, and no end of the table
            first = f"TRACEBACK {traceback.format_exc().splitlines()[-1][:200]}"
            return Import(path, package, refused=first, moves=True, seconds=processor_time() - start)
        seconds = processor_time() - start
        repaired = any(each.hint.startswith("They became ") for each in robot.warnings)
        left_out = any(each.hint == "It is left out." for each in robot.warnings)
        notes = (stated, "repaired" if repaired else "", "effects left out" if left_out else "")
        (limb,) = robot.description.template.limbs
        found = errors(source, base, repaired=repaired) if compare else None
        told, warnings, loops = ", ".join(filter(None, notes)), len(robot.warnings), len(limb.loops)
        return Import(path, package, len(limb.links), told, warnings, found, seconds=seconds, loops=loops)
    moves = compare and moves_elsewhere(source) and closes_elsewhere(source)
    return Import(path, package, refused=first, moves=moves, seconds=seconds)


def processor_time() -> float:
    """Return the processor time of this process and its children [s]."""
    return sum(os.times()[:4])


def has_fault(entry: Import) -> bool:
    """Return whether a file is wrong or refused wrongly."""
    return entry.verdict in ("wrong", "refused wrongly")


def is_closed(entry: Import) -> bool:
    """Return whether an accepted file has loops."""
    return entry.loops > 0


def table(results: Iterable[Import], shown: Callable[[Import], bool] = lambda entry: True) -> Iterator[str]:
    """Yield the rows of the table that are `shown`, one by one, and the sums of all."""
    yield "| file | | joints | forces | M | s | |"
    yield "|---|---|---:|---:|---:|---:|---|"
    rows: list[Import] = []
    for entry in results:
        rows.append(entry)
        if shown(entry):
            yield entry.row
    yield ""
    yield from sums(rows)
    yield ""
    for reason, count in Counter(kind_of(entry.refused) for entry in rows if entry.refused).most_common():
        yield f"{count:4d} refused: {reason}"


def sums(rows: Sequence[Import]) -> Iterator[str]:
    """Yield a row for the files of each kind in each package, and one of all."""
    names = ("files", *VERDICTS, "repaired", "left out", "floating", "compared", "closed", "forces", "M", "slowest [s]")
    yield f"| package | kind | {' | '.join(names)} |"
    yield f"|---|---|{'---:|' * len(names)}"
    groups: dict[tuple[str, str], list[Import]] = {}
    for entry in rows:
        groups.setdefault((entry.package, entry.path.suffix[1:]), []).append(entry)
    for (package, kind), group in (*groups.items(), (("all", ""), list(rows))):
        yield f"| {package} | {kind} | {' | '.join(map(str, _figures(group)))} |"


def _figures(group: Sequence[Import]) -> Iterator[int | str]:
    yield len(group)
    yield from (sum(entry.verdict == verdict for entry in group) for verdict in VERDICTS)
    yield from (sum(note in entry.told for entry in group) for note in ("repaired", "left out", "floating base"))
    compared = [entry.errors for entry in group if entry.errors is not None]
    yield len(compared)
    yield sum(each.closed for each in compared)
    yield _digits(max((each.forces for each in compared), default=float("nan")))
    yield _digits(max((each.mass for each in compared if each.mass == each.mass), default=float("nan")))
    yield f"{max((entry.seconds for entry in group), default=0.0):.1f}"


def _digits(number: float) -> str:
    return "" if number != number else f"{number:.1e}"


def kind_of(reason: str) -> str:
    """Return a reason without the names and numbers of its file."""
    plain = re.sub(r"'[^']*'|\"[^\"]*\"|\([^)]*\)", "...", reason)
    return re.sub(r"-?\d[\d.e+-]*", "N", plain)
