"""Graphics cards beside processors: bits of all robots, speed of a block and of whole runs, kills in the middle.

- `python -m benchmarks.cards bits [ROBOT ...]`: blocks of each robot in both precisions, with series, reactions,
  matrices and metrics, in a small motion and in one that leaves the workspace; numbers whose bits differ
- `python -m benchmarks.cards blocks`: blocks with metrics alone: samples a second, share of the card's peak, first call
- `python -m benchmarks.card_peers`: an arm of seven joints beside MuJoCo's MJX on the same card
- `python -m benchmarks.cards runs [--samples N]`: whole runs of the Delta beside all cores
- `python -m benchmarks.cards kills`: a run that is killed twice and resumed, beside one that is not
- `python -m benchmarks.cards pair`: two processes on one card, each beside a run alone

Needs a card of NVIDIA and the extra `gpu`; on another machine it prints that and ends with status 2.
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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from ruamel.yaml import YAML

from applications.commands.template import sweep_text
from benchmarks.counts import peak as counts
from benchmarks.counts.counting import PASSES, counted, kinds
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
from tasks.kernels.device import CardKernel, Residents
from tasks.kernels.kernel import Kernel
from tasks.kernels.keys import Arrays

SMALL, LARGE = 1.0, 6.0
"""Shares of the first motion of a robot; the larger one leaves most workspaces."""
ASKED = {
    SMALL: (["actuator_force", "actuator_power", "joint_position"], ["peak_force", "rms_power"]),
    LARGE: (["actuator_force", "joint_reaction", "mass_matrix"], ["peak_force", "peak_reaction"]),
}
METRICS = ("peak_force", "rms_force")
CHAINS, TIMES = 8, 128
"""Chains of multiply-adds by which the peak is measured, and samples of a case there."""


class Case(NamedTuple):
    """A sweep of a design length of which metrics are asked alone."""

    robot: str
    length: tuple[str, float, float]
    """Name of the length, and its least and greatest value [m]."""
    designs: int
    motion: dict[str, Any]
    metrics: tuple[str, ...]

    def block(self, designs: int, precision: str) -> Block:
        """Return so many designs at 512 times as one block."""
        name, start, stop = self.length
        sweep = {
            "robot": self.robot,
            "design": {"grid": {name: {"start": start, "stop": stop, "num": designs}}},
            "trajectories": {"motion": self.motion},
            "time": {"stop": 1.0, "step": 1.0 / 511},
            "metrics": list(self.metrics),
            "precision": precision,
        }
        return whole_block(sweep)


SWING = {"kind": "harmonic", "amplitude": 0.1, "period": 1.0}
CASES = {
    "Delta": Case("delta_3rr2rrr", ("upper_arm", 0.22, 0.3), 1 << 16, {"kind": "circle", "radius": 0.1}, METRICS),
    "hexapod with reactions": Case(
        "hexapod_6rrrprr", ("base_radius", 0.27, 0.33), 1 << 14, {"kind": "circle", "radius": 0.05},
        ("peak_force", "peak_reaction"),
    ),
    "arm of seven joints": Case("panda", ("link_1_origin_z", 0.3, 0.36), 1 << 16, SWING, METRICS),
}  # fmt: skip
FEW = 4
"""Designs of which operations are counted."""

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


def blocks() -> Iterator[str]:
    """Yield speeds of blocks of which metrics are asked alone, the best of three, in both precisions."""
    for single in (False, True):
        precision = "single" if single else "double"
        limit = peak(single)
        yield f"peak of the card, {precision}: {limit:.3g} operations a second"
        for name, case in CASES.items():
            operations = arithmetic(case.block(FEW, precision))
            yield f"{name}, {precision}: {_speed(case.block(case.designs, precision), operations, limit)}"


def peak(single: bool) -> float:
    """Return the operations a second of a card in chains of multiply-adds that wait for nothing else."""
    run = CardKernel(counts.program(CHAINS), single=single)
    cases = card().processors * 256
    inputs = {"factor": np.full((cases, 3), [0.5, 1.0, 0.0]), "x": np.zeros((1, CHAINS, TIMES))}
    residents, out = Residents(), run.reserve(cases, TIMES)
    residents.send(inputs.values())
    residents.place(out.values())

    def finished() -> None:
        run(inputs, TIMES, out)
        card().wait()

    seconds = best(finished)
    residents.close()
    return cases * TIMES * (counts.LENGTH // CHAINS) * CHAINS / seconds


def best(call: Callable[[], object]) -> float:
    """Return the shortest of three times [s], after a first call."""
    call()
    times = []
    for _ in range(3):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def _speed(block: Block, operations: float, limit: float) -> str:
    """Return the time of a block on the card, and the rate of operations beside the card's largest rate."""
    asked = replace(block, device="gpu")
    root, _ = motions(asked), card().most_bytes()
    start = time.perf_counter()
    first = Assembly(asked, root, None)
    first.run()
    whole = time.perf_counter() - start
    seconds = best(lambda: Assembly(asked, root, None).run())
    rate = asked.samples / seconds
    return (
        f"{rate:.3g} samples/s, {operations:.0f} products and sums a sample: {100.0 * rate * operations / limit:.1f} % "
        f"of the peak; first call {whole:.1f} s; {card().most_bytes() / 2**20:.1f} MiB of the card"
    )


def arithmetic(block: Block) -> float:
    """Return the products and sums of a sample of a block, loops as often as they run."""
    done = 0.0

    class Counting(Kernel):
        """Kernel that adds up its operations."""

        def __call__(self, inputs: Arrays, samples: int, *given: Any, **more: Any) -> Arrays:
            """Run on all cases and samples, and count."""
            nonlocal done
            out, passes = super().__call__(inputs, samples, *given, **more), 1.0
            if self.program.loops:
                passes = Kernel(counted(self.program))(inputs, samples)[PASSES][..., :samples].mean()
            done += counts.arithmetic(kinds(self.program, passes)) * self._cases(inputs) * samples
            return out

    with mock.patch.object(Block, "kernel", lambda self, program: Counting(program)):
        work.whole(block)
    return done / block.samples


def runs(samples: int, folder: Path) -> Iterator[str]:
    """Yield times of whole runs on the card, and on all cores where that takes less than a minute."""
    text = delta(max(1, samples // 500), 500)
    _timed(delta(200, 500), folder / "first.zarr", "gpu")  # translates the kernels
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
    for seconds in (5.0, 6.0):
        process = _started(sweep, store)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        size = sum(file.stat().st_size for file in store.rglob("*") if file.is_file())
        yield f"killed after {seconds:.0f} s, {size} bytes stored"
    yield f"run again: exit {_started(sweep, store).wait()}"
    yield f"same bits: {_alike(store, folder / 'whole.zarr')}"


def _started(sweep: Path, store: Path) -> subprocess.Popen[bytes]:
    """Start a run on the card in a process of its own."""
    words = [sys.executable, "-m", "limbsweep", "run", str(sweep), "--store", str(store), "--device", "gpu"]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def pair(folder: Path) -> Iterator[str]:
    """Yield whether two processes that use the card at the same time have the bits of one alone, and their times."""
    sweep = folder / "sweep.yaml"
    sweep.write_text("limbsweep: 1\n" + delta(100_000, 5001))
    times = []
    for names in (["alone"], ["first", "second"]):
        start = time.perf_counter()
        codes = [process.wait() for process in [_started(sweep, folder / f"{name}.zarr") for name in names]]
        times.append(time.perf_counter() - start)
        yield f"{' and '.join(names)}: {times[-1]:.1f} s, exit {codes}"
    alike = [_alike(folder / f"{name}.zarr", folder / "alone.zarr") for name in ("first", "second")]
    yield f"same bits: {all(alike)}; two at a time take {times[1] / times[0]:.2f} of the time of one"


def main() -> int:
    """Print the lines of a part."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cards", description="Graphics cards.")
    parser.add_argument("part", choices=["bits", "blocks", "runs", "kills", "pair"])
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
        "blocks": blocks,
        "pair": lambda: pair(folder),
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
