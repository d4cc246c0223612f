"""Processor time in turns: `python -m benchmarks.turns --root DIR [--python FILE] [ROBOT ...]`, or with `--plain`.

Inverse dynamics of random states in each robot's region, see `benchmarks.regions`, or with `--reactions` the wrenches
in all joints, by the packages of this checkout and by those of another, in one process each. They compute by turns,
so that other load of the machine falls on both; the time is that of the processor, of one thread. The ratio is the
time of this checkout over that of the other: of the least times, and the median of all pairs.

`--plain`: the other one is this checkout without continuation, where joints are the solutions of Newton's steps from
the reference pose, on any branch. States that fail there are left out, and their share is printed. So continuation has
nothing to do, and the excess of the ratio over 1 is its cost.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.regions import states

ROOT = Path(__file__).parent.parent
ROBOTS = ("delta_3rr2rrr", "five_bar", "gough_stewart")

WORKER = """
import sys, time
import numpy as np
from robots import catalog
from tasks import inverse_dynamics, joint_reactions

compute = joint_reactions if sys.argv[1:] == ["reactions"] else inverse_dynamics
for line in sys.stdin:
    name, file, solved = line.split()
    with np.load(file) as arrays:
        state = dict(arrays)
    robot = catalog.build(name)
    begin = time.process_time()
    found = compute(robot, **state)
    seconds = time.process_time() - begin
    np.save(solved, np.asarray(found.status) == 0)
    print(seconds, flush=True)
"""
"""Program of each process: in go a robot, a file of states and one for the solved ones, out come seconds.

Needs no module of the benchmarks.
"""

PLAIN = """
from tasks.mechanics import chain, limb

limb.followed = lambda problem, at, solution, converged, skip: (solution, skip)
chain.followed = lambda problem, solution, reached, converged, skip: (solution, skip)
"""
"""Statements that take continuation out, before all that."""


class Side:
    """A process with the packages of one checkout."""

    def __init__(self, root: Path, python: str, plain: bool = False, reactions: bool = False):
        threads = {"LIMBSWEEP_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(root)}
        self.process = subprocess.Popen(
            [python, "-c", f"{PLAIN}{WORKER}" if plain else WORKER, *(("reactions",) if reactions else ())],
            cwd=root,
            env=os.environ | threads,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, name: str, file: Path) -> float:
        """Return the processor time of one run. Raises RuntimeError if the process has ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{name} {file} {file.with_name('solved.npy')}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{name}: got no time from {self.process.args!r}; its own message is above")
        return float(line)

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


def ratios(
    name: str, sides: tuple[Side, Side], samples: int, turns: int, only_solved: bool = False
) -> tuple[float, float, float]:
    """Return the time ratio of this checkout to the other, by least times and by median over turns; states' share.

    only_solved: without the states that the other side does not solve.
    """
    from robots import catalog

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "states.npz"
        arrays: dict[str, Any] = dict(states(catalog.build(name), samples))
        np.savez(file, **arrays)
        for side in sides:  # kernels are compiled
            side.seconds(name, file)
        kept = np.load(file.with_name("solved.npy")) if only_solved else np.ones(samples, dtype=bool)
        np.savez(file, **{key: values[kept] for key, values in arrays.items()})
        times = [(sides[0].seconds(name, file), sides[1].seconds(name, file)) for _ in range(turns)]
    least = min(ours for ours, _ in times) / min(others for _, others in times)
    return least, statistics.median(ours / others for ours, others in times), float(kept.mean())


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.turns", description="Processor time in turns.")
    parser.add_argument("robots", nargs="*", default=ROBOTS, metavar="ROBOT", help="robots of both checkouts")
    against = parser.add_mutually_exclusive_group(required=True)
    against.add_argument("--root", type=Path, help="the other checkout")
    against.add_argument("--plain", action="store_true", help="against this checkout without continuation")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the other checkout")
    parser.add_argument("--reactions", action="store_true", help="the wrenches in all joints")
    parser.add_argument("--samples", type=int, default=100_000, help="states of each robot")
    parser.add_argument("--turns", type=int, default=15, help="runs of each checkout")
    options = parser.parse_args()
    other = ROOT if options.plain else options.root.resolve()
    sides = (
        Side(ROOT, sys.executable, reactions=options.reactions),
        Side(other, options.python, options.plain, options.reactions),
    )
    amount = f"of {options.samples} states, {options.turns} turns"
    print(f"{'robot':22s} {'least':>7s} {'median':>7s} {'share':>7s}   {amount}", flush=True)
    try:
        for name in options.robots:
            least, median, share = ratios(name, sides, options.samples, options.turns, options.plain)
            print(f"{name:22s} {least:7.3f} {median:7.3f} {share:7.4f}", flush=True)
    finally:
        for side in sides:
            side.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
