"""Share of the peak of the Delta's kernels with registers of AVX2: `python -m benchmarks.registers [--turns N]`.

A processor with AVX-512 also runs code for AVX2: 16 registers of 4 numbers in place of 32 of 8. Kernels, and those of
the peak, are compiled for both kinds, in processes that take turns; the last line of each kind is its median. The clock
may differ from that of a processor that has AVX2 alone.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping
from typing import Any
from unittest import mock

import llvmlite.binding

from benchmarks import delta
from benchmarks.figures import FULL, QUICK, Size, best
from benchmarks.kernels import STRIP, newton_passes, operation_figures
from tasks.kernels.kernel import kernel

KINDS: Mapping[str, tuple[str, tuple[str, ...]] | None] = {
    "this processor": None,
    "AVX2": ("alderlake", ("avx512", "avx10", "amx", "evex")),
}
"""Kinds of processor: the name that LLVM has for one, and beginnings of the features that it lacks."""


def features_without(beginnings: tuple[str, ...]) -> Any:
    """Return the features of this processor without some."""
    features = llvmlite.binding.get_host_cpu_features()
    for name in features:
        if name.startswith(beginnings):
            features[name] = False
    return features


def share(kind: str, size: Size) -> tuple[float, float]:
    """Return the microseconds of a sample and the share of the peak [%] with the instructions of a kind."""
    other = KINDS[kind]
    if other is None:
        return _share(size)
    name, missing = other
    features = features_without(missing)
    with (
        mock.patch.object(llvmlite.binding, "get_host_cpu_name", return_value=name),
        mock.patch.object(llvmlite.binding, "get_host_cpu_features", return_value=features),
    ):
        return _share(size)


def _share(size: Size) -> tuple[float, float]:
    work = delta.work(min(size.designs, STRIP), size.samples)
    solver = delta.Solver(work, kernel, STRIP)
    delta.check(solver.all(), "compiled kernels")
    seconds = best(solver.in_strips(), size.repeats) / work.count
    figures = {figure.name: figure.value for figure in operation_figures(work, newton_passes(work), seconds, size)}
    percent = figures["achieved of the peak"]
    assert percent is not None
    return seconds * 1e6, percent


def main(words: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.registers", description=(__doc__ or "").partition(":")[0]
    )
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--kind", choices=KINDS, help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.kind:
        print(*share(options.kind, QUICK if options.quick else FULL))
        return
    found: dict[str, list[tuple[float, float]]] = {kind: [] for kind in KINDS}
    for _ in range(options.turns):
        for kind, turns in found.items():
            command = [sys.executable, "-m", "benchmarks.registers", "--kind", kind, *["--quick"] * options.quick]
            environment = {**os.environ, "LIMBSWEEP_COMPILE": "best", "OMP_NUM_THREADS": "1"}
            printed = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
            microseconds, percent = map(float, printed.split())
            turns.append((microseconds, percent))
            print(f"{kind:16s}{microseconds:9.4f} us a sample{percent:8.1f} % of the peak", flush=True)
    for kind, turns in found.items():
        middle = [statistics.median(values) for values in zip(*turns, strict=True)]
        print(f"{kind:16s}{middle[0]:9.4f} us a sample{middle[1]:8.1f} % of the peak, median")


if __name__ == "__main__":
    main()
