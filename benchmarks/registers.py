"""Kernels with registers of AVX2: `python -m benchmarks.registers [--turns N] [--peers ROBOT ...]`.

A processor with AVX-512 also runs code for AVX2: 16 registers of 4 numbers in place of 32 of 8. Kernels of the Delta,
and those of the peak, are compiled for both kinds, in processes that take turns; the last line of each kind is its
median. With `--peers`, jobs on these robots are compared with C that Pinocchio generates for them, on vectors too, all
compiled for AVX2. The clock may differ from that of a processor that has AVX2 alone.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import llvmlite.binding

from benchmarks import delta
from benchmarks.figures import FULL, QUICK, Figure, Size, best
from benchmarks.kernels import STRIP, newton_passes, operation_figures
from benchmarks.peers import loops, trees
from benchmarks.peers.compiled import compiler
from benchmarks.peers.contest import Contest
from benchmarks.peers.engines import Engine, able
from tasks.kernels.kernel import kernel

KINDS: Mapping[str, tuple[str, tuple[str, ...]] | None] = {
    "this processor": None,
    "AVX2": ("alderlake", ("avx512", "avx10", "amx", "evex")),
}
"""Kinds of processor: the name that compilers have for one, and beginnings of the features that it lacks."""

STRONGEST = "Pinocchio (generated vectors)"
"""The engine of `benchmarks.peers` that kernels are compared with."""


def features_without(beginnings: tuple[str, ...]) -> Any:
    """Return the features of this processor without some."""
    features = llvmlite.binding.get_host_cpu_features()
    for name in features:
        if name.startswith(beginnings):
            features[name] = False
    return features


@contextmanager
def instructions(kind: str) -> Iterator[None]:
    """Let everything be compiled for a kind of processor."""
    if (other := KINDS[kind]) is None:
        yield
        return
    name, missing = other
    features = features_without(missing)
    with (
        mock.patch.object(llvmlite.binding, "get_host_cpu_name", return_value=name),
        mock.patch.object(llvmlite.binding, "get_host_cpu_features", return_value=features),
        mock.patch.object(compiler, "target", f"-march={name}"),
    ):
        yield


def share(kind: str, size: Size) -> tuple[float, float]:
    """Return the microseconds of a sample and the share of the peak [%] with the instructions of a kind."""
    with instructions(kind):
        return _share(size)


def peers(names: Sequence[str], kind: str, size: Size) -> Iterator[Figure]:
    """Yield the times of jobs on trees and on robots with closed loops, and those of the strongest peer over them."""

    def strongest(job: str) -> list[Engine]:
        return [engine for engine in able(job) if engine.name == STRONGEST]

    with mock.patch.object(trees, "able", strongest), mock.patch.object(loops, "able", strongest), instructions(kind):
        for name in names:
            for contest in _contests(name):
                if contest.others:
                    yield from contest.figures(size)


def _contests(name: str) -> Iterator[Contest]:
    if name in trees.TREES:
        setting = trees.Setting(name, trees.SAMPLES)
        yield from (
            job(name, setting) for job in trees.JOBS if job is not trees.forward_dynamics or name not in trees.MASSLESS
        )
    else:
        yield from loops.inverse_dynamics(name, loops.Setting(name, loops.SAMPLES))


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
    parser.add_argument("--peers", nargs="+", choices=[*trees.TREES, *loops.ROBOTS], metavar="ROBOT")
    parser.add_argument("--kind", choices=KINDS, help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.kind:
        print(*share(options.kind, QUICK if options.quick else FULL))
        return
    if options.peers:
        for figure in peers(options.peers, "AVX2", QUICK if options.quick else FULL):
            print(f"{figure.name:70s}{figure.value:9.4f} {figure.unit}", flush=True)
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
