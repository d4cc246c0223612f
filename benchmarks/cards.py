"""Graphics cards beside processors: bits of all robots, speed of a block and of whole runs, kills in the middle.

- `python -m benchmarks.cards bits [ROBOT ...]`: blocks of each robot in both precisions, with series, reactions,
  matrices and metrics, in a small motion and in one that leaves the workspace; numbers whose bits differ
- `python -m benchmarks.cards block`: samples a second of a block of the Delta, metrics alone
- `python -m benchmarks.cards runs [--samples N]`: whole runs of the Delta beside all cores
- `python -m benchmarks.cards kills`: a run that is killed twice and resumed, beside one that is not

Needs a card of NVIDIA and the extra `gpu`; on another machine it says so and ends with status 2.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from ruamel.yaml import YAML

from applications.commands.template import sweep_text
from benchmarks.simulate import whole_block
from pipeline.cluster.file import ClusterConfig
from pipeline.execution import work
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep
from robots import catalog
from storage import open_results
from tasks.blocks.assembly import Assembly
from tasks.blocks.block import Block, motions
from tasks.kernels.cards import CardError, card

SMALL, LARGE = 1.0, 6.0
"""Shares of the first motion of a robot; the larger one leaves most workspaces."""
ASKED = {
    SMALL: (["actuator_force", "actuator_power", "joint_position"], ["peak_force", "rms_power"]),
    LARGE: (["actuator_force", "joint_reaction", "mass_matrix"], ["peak_force", "peak_reaction"]),
}
METRICS = ("peak_force", "rms_force")
DELTA = """
robot: delta_3rr2rrr
design: {{grid: {{upper_arm: {{start: 0.22, stop: 0.3, num: {designs}}}}}}}
trajectories: {{circle: {{kind: circle, radius: 0.1}}}}
time: {{stop: 1.0, step: {step}}}
metrics: [peak_force, rms_force]
precision: {precision}
"""


def delta(designs: int, times: int, precision: str = "double") -> str:
    """Return a sweep of so many designs and times."""
    return DELTA.format(designs=designs, step=1.0 / (times - 1), precision=precision)


def bits(robots: Sequence[str]) -> Iterator[str]:
    """Yield a line for each robot: numbers, failed samples, and how many numbers differ."""
    for name in robots:
        count = failed = different = 0
        for share, (outputs, metrics) in ASKED.items():
            for precision in ("double", "single"):
                block = _block(name, share, outputs, metrics, precision)
                here, there = work.whole(block), work.whole(replace(block, device="gpu"))
                count += sum(array.size for array in here.values())
                failed += int(here["failed_samples"].sum())
                different += sum(_different(here[key], there[key]) for key in here)
        yield f"{name:<26} {count:>10} numbers, {failed:>6} samples failed, {different} differ"


def _block(name: str, share: float, outputs: Sequence[str], metrics: Sequence[str], precision: str) -> Block:
    """Return the first sweep of a robot as one block, without outputs that it has not."""
    sweep = YAML(typ="safe").load(sweep_text(catalog.family(name), share=share))
    if catalog.family(name).reference.is_chain:
        metrics = [metric for metric in metrics if metric != "peak_reaction"]
    return whole_block(sweep | {"outputs": list(outputs), "metrics": list(metrics), "precision": precision})


def first_block(name: str) -> Block:
    """Return a small block of a robot with all that is compared."""
    return _block(name, SMALL, *ASKED[SMALL], "double")


def _different(here: np.ndarray, there: np.ndarray) -> int:
    """Return how many numbers have other bits; all NaN are alike."""
    arrays = (here.astype(float), there.astype(float))
    left, right = (np.where(np.isnan(array), np.nan, array).view(np.int64) for array in arrays)
    return int((left != right).sum())


def block() -> Iterator[str]:
    """Yield the speed of the kernels of a block, in both precisions, the best of three."""
    for precision in ("double", "single"):
        asked = replace(whole_block(YAML(typ="safe").load(delta(1 << 16, 512, precision))), device="gpu")
        root, best = motions(asked), np.inf
        for _ in range(4):
            assembly = Assembly(asked, root, None)
            start = time.perf_counter()
            assembly.run()
            best = min(best, time.perf_counter() - start)
        programs = [*(share.program for share in assembly.computed), assembly.assembly.program]
        operations = sum(sum(program.operations().values()) for program in programs)
        rate = asked.samples / best
        yield f"{precision}: {rate:.3g} samples/s, {operations} operations a sample: {operations * rate:.3g} a second"


def runs(samples: int, folder: Path) -> Iterator[str]:
    """Yield times of whole runs on the card, and on all cores where that takes less than a minute."""
    text = delta(max(1, samples // 500), 500)
    _timed(text, folder / "first.zarr", "gpu")
    gpu = _timed(text, folder / "gpu.zarr", "gpu")
    yield f"{samples:.3g} samples on the card: {gpu:.2f} s, {samples / gpu:.3g} samples/s"
    if samples <= 2e8:
        cpu = _timed(text, folder / "cpu.zarr", "cpu")
        alike = _alike(folder / "gpu.zarr", folder / "cpu.zarr")
        yield f"{os.cpu_count()} cores: {cpu:.2f} s, ratio {cpu / gpu:.1f}, same bits: {alike}"


def _timed(text: str, store: Path, device: str) -> float:
    threads = 4 if device == "gpu" else os.cpu_count()
    start = time.perf_counter()
    run(Sweep.from_text(text), store, ClusterConfig.of("threads", threads_per_worker=threads, device=device))
    return time.perf_counter() - start


def _alike(first: Path, second: Path) -> bool:
    """Return whether the metrics of two stores have the same bits."""
    left, right = open_results(first), open_results(second)
    return all(not _different(left[name].to_numpy(), right[name].to_numpy()) for name in METRICS)


def kills(folder: Path) -> Iterator[str]:
    """Yield whether a run that is killed twice and resumed has the same bits."""
    sweep = folder / "sweep.yaml"
    sweep.write_text("limbsweep: 1\n" + delta(200_000, 5001))
    _timed(sweep.read_text(), folder / "whole.zarr", "gpu")
    store = folder / "killed.zarr"
    words = [sys.executable, "-m", "limbsweep", "run", str(sweep), "--store", str(store), "--device", "gpu"]
    for seconds in (5.0, 6.0):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        size = sum(file.stat().st_size for file in store.rglob("*") if file.is_file())
        yield f"killed after {seconds:.0f} s, {size} bytes stored"
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield f"same bits: {_alike(store, folder / 'whole.zarr')}"


def main() -> int:
    """Print the lines of a part."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cards", description="Graphics cards.")
    parser.add_argument("part", choices=["bits", "block", "runs", "kills"])
    parser.add_argument("robots", nargs="*", default=list(catalog.FAMILIES))
    parser.add_argument("--samples", type=lambda text: int(float(text)), default=100_000_000)
    given = parser.parse_args()
    try:
        print(card().name, flush=True)
    except CardError as error:
        print(error, file=sys.stderr)
        return 2
    folder = Path(tempfile.mkdtemp())
    parts = {
        "bits": lambda: bits(given.robots),
        "block": block,
        "runs": lambda: runs(given.samples, folder),
        "kills": lambda: kills(folder),
    }
    try:
        for line in parts[given.part]():
            print(line, flush=True)
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
