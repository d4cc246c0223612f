"""Figures kept from run to run, one file for each machine, and which of a new run stand out from the earlier ones.

A file is of one processor, number of cores and kind of vectors, so figures in it can be compared. A line of it is a
figure as `limbsweep bench --json` prints it, with the commit and the moment. A figure stands out if it lies further
from the median of the earlier runs than four standard deviations, and by more than `LEAST`, since repeats of one run
may agree by chance. The standard deviation is estimated from the median of deviations, so that a single disturbed run
has no effect.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import platformdirs

Line = Mapping[str, Any]
Names = tuple[str, str]
"""Case and figure."""

ENOUGH = 5
"""Earlier runs without which nothing is said to stand out."""
LEAST = 0.02
WIDTH = 4.0 * 1.4826
"""Four standard deviations of a normal distribution, in medians of absolute deviations."""


def path(machine: Line) -> Path:
    """Return the file of a machine, given as `benchmarks.figures.surroundings`, in the folder of the user's state."""
    words = f"{machine['cpu']} {machine['cores']} cores {machine['vectors']}".lower()
    name = re.sub(r"[^a-z0-9]+", "-", words).strip("-")
    return Path(platformdirs.user_state_dir("limbsweep", appauthor=False)) / "bench" / f"{name}.jsonl"


def append(file: Path, lines: Sequence[Line]) -> None:
    """Add figures to a file, which is made where it is not there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as stream:
        stream.writelines(json.dumps(line) + "\n" for line in lines)


def earlier(file: Path) -> dict[Names, list[float]]:
    """Return the values of each figure, oldest first; skip a last line that a lost machine left unfinished."""
    values: dict[Names, list[float]] = {}
    try:
        texts = file.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return values
    for text in texts:
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            continue
        if line["value"] is not None:
            values.setdefault((line["case"], line["name"]), []).append(line["value"])
    return values


def direction(unit: str) -> int:
    """Return 1 if larger is worse (times, memory), -1 if smaller is worse (rates), 0 if it is not known."""
    word = unit.split()[0] if unit.split() else ""
    if word.endswith("/s"):
        return -1
    return 1 if word.partition("/")[0] in ("s", "ms", "us", "ns", "B", "KiB", "MiB", "GiB") else 0


def verdict(ratio: float, unit: str) -> str:
    """Judge the ratio of a figure to the one before."""
    sense = direction(unit)
    return "changed" if sense == 0 else "worse" if (ratio > 1.0) == (sense > 0) else "better"


def stands_out(value: float, before: Sequence[float], unit: str) -> str:
    """Return a line in words where a value stands out from the earlier ones, else nothing."""
    if len(before) < ENOUGH or (middle := statistics.median(before)) == 0.0:
        return ""
    spread = WIDTH * statistics.median(abs(earlier_value - middle) for earlier_value in before)
    if abs(value - middle) <= max(spread, LEAST * abs(middle)):
        return ""
    ratio = value / middle
    return f"{verdict(ratio, unit)}: {ratio:.3g} of the median of {len(before)} runs"
