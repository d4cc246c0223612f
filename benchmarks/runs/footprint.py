"""Time, peak memory and shares of the cores of one run: of a process that coordinates and schedules, and of its worker.

Linux only. A program: `python -m benchmarks.runs.footprint FILE GRANULARITY` runs the sweep in FILE and prints one JSON
object.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from pipeline.execution.graph import Granularity

KILOBYTE = 1024


@dataclass(frozen=True)
class Footprint:
    """Peak bytes of both processes, seconds from the cluster being there to the end, shares of cores by name [%]."""

    coordinator: int
    worker: int
    seconds: float
    shares: Mapping[str, float]


def footprint(text: str, granularity: Granularity = "limb") -> Footprint:
    """Return the footprint of a run of this text's sweep on a local cluster of one worker.

    The names of shares are those of `benchmarks.runs.lost`. Raises CalledProcessError where the run fails; its message
    is on stderr.
    """
    root = str(Path(__file__).parents[2])
    known = os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, known] if known else [root])}
    with tempfile.TemporaryDirectory(prefix="limbsweep-bench-") as folder:
        file = Path(folder) / "sweep.yaml"
        file.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "benchmarks.runs.footprint", str(file), granularity]
        done = subprocess.run(command, env=environment, cwd=folder, stdout=subprocess.PIPE, check=True)
    return Footprint(**json.loads(done.stdout))


def _measure(file: Path, granularity: Granularity) -> Footprint:
    from benchmarks.figures import surroundings
    from benchmarks.runs.lost import Lost
    from benchmarks.runs.sweeps import Stopwatch
    from pipeline.cluster.connection import ClusterConfig, connect
    from pipeline.execution.run import run
    from pipeline.sweep.model import Sweep

    sweep, watch, begin = Sweep.from_yaml(file), Stopwatch(), time.perf_counter()
    with connect(ClusterConfig.of("local", n_workers=1)) as client:
        assert client is not None
        lost = Lost(client, begin)
        run(sweep, file.with_suffix(".zarr"), client, [watch, lost], granularity)
        shares = lost.shares(surroundings()["cores"])
    watch.require_undisturbed()
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * KILOBYTE
    return Footprint(_own_peak(), worker, watch.finished - watch.started, shares)


def _own_peak() -> int:
    """Return this program's peak bytes; the system's count for the process includes the program before it."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * KILOBYTE


if __name__ == "__main__":
    print(json.dumps(asdict(_measure(Path(sys.argv[1]), cast("Granularity", sys.argv[2])))))
