"""Cold start: from the start of a Python process to the first numbers of a robot, and where that time goes.

A program as well: `python -m benchmarks.start ROBOT` computes forces of a robot in a new process and prints them with
its times as one line of JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.figures import Figure, Size, require

ROBOTS = ("five_bar", "delta_3rr2rrr", "hexapod_6rrrprr", "five_axis_tree")
STATES = 16


def start(size: Size) -> Iterator[Figure]:
    """Seconds to the first forces of some robots. Raises CheckError where a new process gives other numbers."""
    for name in ROBOTS if size.full else ROBOTS[:1]:
        made = [_process(name) for _ in range(3 if size.full else 1)]
        best = min(made, key=lambda each: float(each["seconds"]))
        same = np.array_equal(best["force"], forces(name))
        require(same, f"{name}: a new process gives other forces than this one")
        parts = ", ".join(f"{what} {best[what]:.2g} s" for what in ("imports", "LLVM", "rest"))
        yield Figure(f"{name}, process start to first forces", best["seconds"], "s", f"inverse dynamics; {parts}")


def forces(name: str) -> list[list[float]]:
    """Forces (state, actuator) of a robot at a few states of its region."""
    from benchmarks import regions
    from robots import catalog
    from tasks import inverse_dynamics

    robot, states = catalog.build(name), regions.states
    moving: Any = states(robot, STATES)
    found: list[list[float]] = inverse_dynamics(robot, **moving).tolist()
    return found


def _process(name: str) -> dict[str, Any]:
    begin = time.perf_counter()
    words = [sys.executable, "-m", "benchmarks.start", name]
    told: dict[str, Any] = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    seconds = time.perf_counter() - begin
    return told | {"seconds": seconds, "rest": seconds - told["imports"] - told["LLVM"]}


def main(name: str) -> None:
    """Print forces, and the seconds that importing and compiling took."""
    begin = time.perf_counter()
    import tasks  # noqa: F401
    from tasks.kernels.cache import compiled

    imports, force = time.perf_counter() - begin, forces(name)
    print(json.dumps({"force": force, "imports": imports, "LLVM": sum(compiled().values())}))


if __name__ == "__main__":
    main(sys.argv[1])
