"""Two checkouts side by side: a run that stores time series, one that stores metrics, and reading all that was stored.

Each turn is a process of its own with the packages of one checkout, turn by turn, so both meet the same machine; the
best of all turns counts. Time is processor time of all threads of the process, on which other load of the machine has
little effect: `python -m benchmarks.campaigns.checkouts OLD [NEW] [--turns 5]`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.checkout import use_packages

HERE = Path(__file__).parent.parent.parent
SERIES = (5, 4, 5001)
METRICS = (60, 50, 201)
"""Arms, radii, samples of each sweep."""


def texts() -> dict[str, str]:
    """Return the sweeps, by name; the first one leaves kernels behind."""
    from benchmarks.runs.sweeps import text

    sizes = {"warm": (2, 2, 101), "series": SERIES, "metrics": METRICS}
    return {name: text(*size, series=name != "metrics") for name, size in sizes.items()}


def turn(sweeps: Mapping[str, str]) -> dict[str, float]:
    """Measure runs per second of each sweep, and bytes per second of reading, with the installed packages."""
    from pipeline import Sweep, run
    from storage import open_results

    ClusterConfig: Any = _first(("pipeline.cluster.connection", "pipeline.cluster")).ClusterConfig
    rates: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="limbsweep-checkouts-") as folder:
        for name, text in sweeps.items():
            sweep = Sweep.from_text(text)
            start = time.process_time()
            run(sweep, Path(folder, name), ClusterConfig.of("threads"))
            rates[name] = 1.0 / (time.process_time() - start)
        start = time.process_time()
        data = open_results(Path(folder, "series"))
        read = sum(variable.values.nbytes for variable in data.data_vars.values())
        rates["reading"] = read / (time.process_time() - start)
    return {name: rate for name, rate in rates.items() if name != "warm"}


def _first(names: tuple[str, ...]) -> ModuleType:
    """Return the first module that there is: checkouts differ in where things are."""
    for name in names[:-1]:
        try:
            return import_module(name)
        except ImportError:
            continue
    return import_module(names[-1])


def main() -> int:
    """Print the ratios of the rates of two checkouts."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaigns.checkouts", description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path, nargs="?", default=HERE)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        use_packages(options.old.resolve())
        print(json.dumps(turn(json.load(sys.stdin))))
        return 0
    best: dict[tuple[Path, str], float] = {}
    for _ in range(options.turns):
        for root in (options.old, options.new):
            command = [sys.executable, "-m", "benchmarks.campaigns.checkouts", str(root.resolve()), "--one"]
            answer = subprocess.run(
                command, cwd=HERE, check=True, stdout=subprocess.PIPE, text=True, input=json.dumps(texts())
            )
            for name, rate in json.loads(answer.stdout.splitlines()[-1]).items():
                best[root, name] = max(rate, best.get((root, name), 0.0))
    for name in ("series", "metrics", "reading"):
        print(f"{name}: rate of new / rate of old = {best[options.new, name] / best[options.old, name]:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
