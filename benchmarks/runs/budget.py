"""Core hours, wall time, files, bytes and money of sweeps of 1e12 samples on a thousand cores, from measured rates.

A program: `python -m benchmarks.runs.budget [--cores 1000] [--busy 0.95] [--price 0.085] [--only NAME ...]`. Each row
is planned as `limbsweep check` plans it, and a few of its cases are measured here, on one core of this machine. The
share of busy threads is that of a thousand simulated threads (`limbsweep bench thousand`). The default price is that
of c5.24xlarge on demand, 4.08 USD an hour for 48 cores; spot 1.555 USD (table of prices in the user guide of Amazon EC2
Auto Scaling, "Spot price per unit hour example", US East, read in November 2026). Storage is priced by the month at
0.023 USD a GB, the first price of Amazon S3 Standard.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.campaigns.lines import print_lines
from pipeline.execution.measured_time import measured_time
from pipeline.plan.cost import duration
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep

DELTA = """\
limbsweep: 1
robot: delta_3rr2rrr
design:
  grid:
    upper_arm: {{start: 0.2, stop: 0.3, num: {designs}}}
    base_radius: {{start: 0.12, stop: 0.18, num: 10000}}
trajectories: {{circle: {{kind: circle, radius: 0.1, period: 0.5}}}}
time: {{stop: 0.5, samples: 1000}}
"""
FRICTION = """\
friction:
  law: coulomb_viscous
  joints: actuated
  grid: {viscous: {start: 0.0, stop: 0.05, num: 10}}
"""
HEXAPOD = """\
limbsweep: 1
robot: hexapod_6rrrprr
design:
  grid:
    payload_mass: {start: 0.0, stop: 20.0, num: 100000}
    base_radius: {start: 0.28, stop: 0.32, num: 10000}
trajectories: {circle: {kind: circle, radius: 0.02, period: 1.0}}
time: {stop: 1.0, samples: 1000}
metrics: [peak_force, rms_force]
"""
SWEEPS: Mapping[str, str] = {
    "delta": DELTA.format(designs=100_000) + "metrics: [peak_force, rms_force]\n",
    "delta, ten sets of friction": DELTA.format(designs=10_000) + FRICTION + "metrics: [peak_force, rms_force]\n",
    "delta, peaks of reactions": DELTA.format(designs=100_000) + "metrics: [peak_force, peak_reaction]\n",
    "delta, forces over time": DELTA.format(designs=100_000) + "outputs: [actuator_force]\nmetrics: [peak_force]\n",
    "hexapod": HEXAPOD,
}
"""Sweeps of 1e12 samples each, by their names in the table."""

PRICE, SPOT = 4.08 / 48, 1.555 / 48
"""USD for an hour of a core, on demand and spot."""
STORAGE = 0.023
"""USD for a month of a GB."""


@dataclass(frozen=True)
class Budget:
    """Cost of a sweep: samples, seconds of a core, files and bytes before compression."""

    samples: int
    seconds: float
    files: int
    stored: int

    @property
    def core_hours(self) -> float:
        """Hours of one core."""
        return self.seconds / 3600.0

    def wall(self, cores: int, busy: float) -> float:
        """Return the seconds from the first block to the last on so many cores of which a share is busy."""
        return self.seconds / (cores * busy)


def budget(text: str) -> Budget:
    """Plan a sweep and measure a few of its cases."""
    sweep = Sweep.from_text(text)
    whole, measured = plan(sweep), measured_time(sweep)
    samples = whole.cases * len(sweep.times)
    return Budget(samples, measured.first + measured.seconds, whole.files, whole.stored)


def table(names: Sequence[str], cores: int, busy: float, price: float) -> Iterator[str]:
    """Yield the lines of the table; those of each sweep as they come."""
    heads = "samples/s of a core", "core hours", f"on {cores} cores", "files", "stored", "USD", "spot", "USD a month"
    yield f"| 1e12 samples | {' | '.join(heads)} |"
    yield "|---" * (1 + len(heads)) + "|"
    for name in names:
        each = budget(SWEEPS[name])
        paid = each.core_hours / busy
        cells = [
            name,
            f"{each.samples / each.seconds / 1e6:.2f} M",
            f"{each.core_hours:,.0f}",
            duration(each.wall(cores, busy)),
            f"{each.files:,}",
            f"{each.stored / 1e9:,.0f} GB",
            f"{paid * price:,.2f}",
            f"{paid * SPOT:,.2f}",
            f"{each.stored / 1e9 * STORAGE:,.2f}",
        ]
        assert each.samples == 10**12, f"{name}: {each.samples:,} samples"
        yield f"| {' | '.join(cells)} |"


def main(words: list[str] | None = None) -> int:
    """Print the table; 1 where a sweep has another number of samples."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.budget", description=__doc__)
    parser.add_argument("--cores", type=int, default=1000)
    parser.add_argument("--busy", type=float, default=0.95)
    parser.add_argument("--price", type=float, default=PRICE)
    parser.add_argument("--only", nargs="+", choices=list(SWEEPS), default=list(SWEEPS))
    options = parser.parse_args(words)
    return print_lines(table(options.only, options.cores, options.busy, options.price))


if __name__ == "__main__":
    sys.exit(main())
