"""Prints the table of `benchmarks.estimates`, whose module its processes import by name: they never run this one."""

from __future__ import annotations

import argparse
import statistics

from benchmarks import estimates
from benchmarks.estimates import FILES, Processes, variants


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.estimates",
        description=estimates.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--workers", type=int, default=1, help="processes of the run (default: one)")
    parser.add_argument("--threads", type=int, default=1, help="threads of each (default: one)")
    options = parser.parse_args()
    ratios: list[float] = []
    print(f"{'sweep':26s}{'estimate s':>12s}{'used s':>10s}{'ratio':>8s}{'check s':>10s}")
    with Processes.begun(options.workers, options.threads) as processes:
        for name in options.names or (*FILES, *variants()):
            expected, checked = processes.estimated(name)
            seconds = processes.used(name)
            ratios.append(expected / seconds)
            print(f"{name:26s}{expected:12.2f}{seconds:10.2f}{ratios[-1]:8.2f}{checked:10.2f}", flush=True)
    within = sum(1 / 1.5 <= ratio <= 1.5 for ratio in ratios)
    print(f"{within} of {len(ratios)} within a factor of 1.5, median {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
