"""Time and peak memory of one run in a process of its own: of that which coordinates and schedules, and of its worker.

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
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from pipeline.execution.graph import Granularity

KILOBYTE = 1024


def footprint(text: str, granularity: Granularity = "limb") -> dict[str, float]:
    """Return the peak bytes, `coordinator` and `worker`, for this text's sweep on a local cluster of one worker.

    `seconds` are those from the cluster being there to the end. Raises CalledProcessError where the run fails; its
    message is on stderr.
    """
    root = str(Path(__file__).parents[2])
    known = os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, known] if known else [root])}
    with tempfile.TemporaryDirectory(prefix="limbsweep-bench-") as folder:
        file = Path(folder) / "sweep.yaml"
        file.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "benchmarks.runs.footprint", str(file), granularity]
        done = subprocess.run(command, env=environment, cwd=folder, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def _measure(file: Path, granularity: Granularity) -> dict[str, float]:
    from benchmarks.runs.sweeps import Stopwatch
    from pipeline.cluster.file import ClusterConfig
    from pipeline.execution.run import run
    from pipeline.sweep.model import Sweep

    watch = Stopwatch()
    # named, or small work would be done in this process
    run(Sweep.from_yaml(file), file.with_suffix(".zarr"), ClusterConfig.of("local", n_workers=1), [watch], granularity)
    watch.require_undisturbed()
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * KILOBYTE
    return {"coordinator": _own_peak(), "worker": worker, "seconds": watch.finished - watch.started}


def _own_peak() -> int:
    """Return this program's peak bytes; the system's count for the process includes the program before it."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * KILOBYTE


if __name__ == "__main__":
    print(json.dumps(_measure(Path(sys.argv[1]), cast("Granularity", sys.argv[2]))))
