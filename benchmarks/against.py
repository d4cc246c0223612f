"""Two commits by turns: the figures of benchmark cases at another commit and in this checkout, in one run.

The other commit is written into a temporary folder by `git archive`, which leaves nothing behind in the repository. A
turn runs the cases once in either checkout, in a process of its own and with the interpreter and packages of this one;
the two take turns in beginning. So other load of the machine falls on both.

A figure differs significantly where every value of one commit is beyond every value of the other, and their medians
differ by more than `benchmarks.history.LEAST`. With five turns each, equal figures differ significantly by chance once
in 126 times; with three, once in ten.
"""

from __future__ import annotations

import io
import json
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.checkout import is_repository
from benchmarks.figures import number
from benchmarks.history import LEAST, Names, verdict
from benchmarks.processes import environment
from robots.parameter_errors import ParameterError

ROOT = Path(__file__).parent.parent
TURNS = 5


@dataclass(frozen=True)
class Pair:
    """A figure at both commits, a value for each turn."""

    case: str
    name: str
    unit: str
    before: tuple[float, ...]
    now: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """Median now over median before; not a number where that is zero."""
        middle = statistics.median(self.before)
        return statistics.median(self.now) / middle if middle else float("nan")

    @property
    def verdict(self) -> str:
        """`worse`, `better` or `changed` where the commits differ significantly, else empty."""
        apart = min(self.now) > max(self.before) or max(self.now) < min(self.before)
        return verdict(self.ratio, self.unit) if apart and abs(self.ratio - 1.0) > LEAST else ""


def pairs(revision: str, names: Sequence[str], *, turns: int = TURNS, quick: bool = False) -> list[Pair]:
    """Return the figures of cases that both commits have. Raises ParameterError for an unknown commit or case."""
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder)
        write(revision, other)
        values: dict[Names, dict[Path, list[float]]] = {}
        units: dict[Names, str] = {}
        for turn in range(turns):
            for root in (other, ROOT) if turn % 2 == 0 else (ROOT, other):
                for key, value, unit in run(root, names, quick=quick):
                    values.setdefault(key, {}).setdefault(root, []).append(value)
                    units[key] = unit
    return [
        Pair(*key, units[key], tuple(sides[other]), tuple(sides[ROOT]))
        for key, sides in values.items()
        if len(sides) == 2
    ]


def show(revision: str, names: Sequence[str], *, turns: int = TURNS, quick: bool = False) -> bool:
    """Print the table of both commits. Whether nothing has become worse."""
    figures = pairs(revision, names, turns=turns, quick=quick)
    for line in table(revision, figures):
        print(line)
    return all(pair.verdict != "worse" for pair in figures)


def write(revision: str, folder: Path) -> None:
    """Write the files of a commit into a folder. Raises ParameterError where there is no such commit."""
    if not is_repository(ROOT):
        raise ParameterError(f"--against: got {ROOT}; expected a checkout of the repository, and the program git")
    git = ["git", "-C", str(ROOT)]
    find = [*git, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}"]
    commit = subprocess.run(find, capture_output=True, text=True)
    if commit.returncode:
        raise ParameterError(f"--against: got {revision!r}; expected a commit, branch or tag of this repository")
    archive = [*git, "archive", "--format=tar", commit.stdout.strip()]
    files = subprocess.run(archive, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(files)) as tar:
        tar.extractall(folder, filter="data")


def run(root: Path, names: Sequence[str], *, quick: bool) -> Iterator[tuple[Names, float, str]]:
    """Yield names, value and unit of each figure of a checkout's cases. Raises ParameterError if they do not end."""
    command = [sys.executable, "-m", "limbsweep", "bench", "--json", *(["--quick"] if quick else []), *names]
    done = subprocess.run(command, cwd=root, env=environment(PYTHONPATH=str(root)), capture_output=True, text=True)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        place = "in this checkout" if root == ROOT else "at the other commit"
        raise ParameterError(f"limbsweep bench {' '.join(names)} {place}: {reason}")
    for line in map(json.loads, done.stdout.splitlines()):
        if line["value"] is not None:
            yield (line["case"], line["name"]), line["value"], line["unit"]


def table(revision: str, figures: Sequence[Pair]) -> Iterator[str]:
    """Yield the lines of columns: figure, median at the other commit, now, unit, ratio, verdict."""
    rows: list[tuple[str, ...]] = [("figure", revision, "now", "", "ratio", "")]
    for pair in figures:
        medians = (number(statistics.median(side)) for side in (pair.before, pair.now))
        rows.append((f"{pair.case}: {pair.name.strip()}", *medians, pair.unit, f"{pair.ratio:.3f}", pair.verdict))
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    for name, before, now, unit, ratio, meaning in rows:
        columns = f"{name:<{widths[0]}}  {before:>{widths[1]}}  {now:>{widths[2]}} {unit:<{widths[3]}}"
        yield f"{columns}  {ratio:>{widths[4]}}  {meaning}".rstrip()
