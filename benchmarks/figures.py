"""A measured number with all that it takes to read it: unit, remark, machine, versions; as a table or as JSON."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

USED = ("limbsweep", "numpy", "llvmlite", "dask", "distributed", "zarr", "numcodecs", "xarray")
PACKAGES = (*USED, "pin", "mujoco", "drake", "exudyn", "newton")
"""Whose versions decide the figures."""


class CheckError(AssertionError):
    """A benchmark whose result is wrong: its time means nothing."""


@dataclass(frozen=True)
class Figure:
    """One number of a case. A value of None says that it could not be measured, and the remark says why."""

    name: str
    value: float | None
    unit: str
    remark: str = ""


@dataclass(frozen=True)
class Size:
    """Size of a case and number of its repeats; the best repeat counts."""

    designs: int
    samples: int
    repeats: int
    blocks: int
    full: bool


FULL = Size(designs=1000, samples=1000, repeats=200, blocks=500, full=True)
QUICK = Size(designs=24, samples=64, repeats=1, blocks=4, full=False)
"""Runs every line and checks every result, as the tests do; its times mean nothing."""


def best(work: Callable[[], Any], repeats: int) -> float:
    """Return the shortest wall time of some repeats [s]: the time of the work without other load on the core."""
    shortest = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest


def processor_seconds(work: Callable[[], Any]) -> float:
    """Return CPU seconds of this process on all cores: others on the machine do not count, nor does a second thread."""
    start = time.process_time()
    work()
    return time.process_time() - start


def require(good: bool, message: str) -> None:
    """Raise CheckError if a result is not `good`; `message` names it, and the error."""
    if not good:
        raise CheckError(message)


def surroundings() -> dict[str, Any]:
    """Return the machine, the day and the versions: CPU, widest vectors, cores, load, system, Python, packages."""
    return {
        "cpu": _cpu("model name") or platform.processor() or platform.machine(),
        "vectors": next((name for name in ("avx512f", "avx2", "asimd") if name in _flags()), "unknown"),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.machine()}",
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        **{name: version for name in PACKAGES if (version := _version(name))},
    }


def _flags() -> list[str]:
    return (_cpu("flags") or _cpu("Features") or "").split()


def _cpu(key: str) -> str | None:
    """Return a line of the first processor in /proc/cpuinfo; None without such a line."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    pairs = (line.partition(":") for line in lines)
    return next((value.strip() for name, _, value in pairs if name.strip() == key), None)


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def json_line(case: str, figure: Figure, around: dict[str, Any]) -> str:
    """Return a figure as one JSON object that can be read without the others."""
    return json.dumps({"case": case, **asdict(figure), "machine": around})


def heading(around: dict[str, Any]) -> str:
    """Return the machine and the versions in words."""
    machine = ("cpu", "vectors", "cores", "load", "system", "date")
    versions = ", ".join(f"{name} {value}" for name, value in around.items() if name not in machine)
    cpu, vectors, cores, load, system, date = (around[name] for name in machine)
    return f"{cpu}, {vectors}, {cores} cores, load {load}, {system}, {date}\n{versions}"


def table(figures: Sequence[Figure]) -> Iterator[str]:
    """Yield the lines of columns: figure, value, unit, remark."""
    rows = [(each.name, number(each.value), each.unit, each.remark) for each in figures]
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for name, value, unit, remark in rows:
        yield f"  {name:<{widths[0]}}  {value:>{widths[1]}} {unit:<{widths[2]}}  {remark}".rstrip()


def number(value: float | None) -> str:
    """Return a value with four digits, or a dash for None."""
    return "-" if value is None else f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
