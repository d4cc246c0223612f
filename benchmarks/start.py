"""Start: from the start of a Python process to the first numbers of a robot, and where that time goes.

Kernels begin with bytecode, as they do for users. A first process compiles and keeps its interpreter, a second one
takes it from the disk.

A program as well: `python -m benchmarks.start ROBOT` reads states as JSON from its input, computes forces of the robot
there and prints them with its times as one line of JSON. It has only the imports that a user would need.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks import COMPILE
from benchmarks.figures import Figure, Size, require
from benchmarks.processes import environment
from tasks.kernels.stored import VARIABLE

ROBOTS = ("five_bar", "delta_3rr2rrr", "hexapod_6rrrprr", "five_axis_tree")
STATES = 16


def start(size: Size) -> Iterator[Figure]:
    """Time the first forces of some robots from process start. Raises CheckError if new processes differ."""
    for name in ROBOTS if size.full else ROBOTS[:1]:
        runs = [_both(name) for _ in range(3 if size.full else 1)]
        for which, title in enumerate(("process start to first forces", "the same in a second process")):
            best = min((run[which] for run in runs), key=lambda process: float(process["seconds"]))
            same = np.array_equal(best["force"], forces(name, _states(name)))
            require(same, f"{name}: a new process gives other forces than this one")
            parts = ", ".join(f"{what} {best[what]:.2g} s" for what in ("imports", "LLVM", "rest"))
            parts += f"; {best['cpu']:.2g} s of CPU time in all"
            yield Figure(f"{name}, {title}", best["seconds"], "s", f"inverse dynamics; {parts}")


def _both(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a process that finds no machine code on the disk, and one that finds that of the first."""
    states = json.dumps({key: value.tolist() for key, value in _states(name).items()})
    with tempfile.TemporaryDirectory() as folder:
        return _process(name, states, folder), _process(name, states, folder)


def _states(name: str) -> dict[str, np.ndarray]:
    """Return a few states of the region of a robot."""
    from benchmarks import regions
    from robots import catalog

    return regions.states(catalog.build(name), STATES)


def forces(name: str, states: Any) -> list[list[float]]:
    """Return the forces (state, actuator) of a robot."""
    from robots import catalog
    from tasks import inverse_dynamics

    found: list[list[float]] = inverse_dynamics(catalog.build(name), **states).force.tolist()
    return found


def _process(name: str, states: str, folder: str) -> dict[str, Any]:
    begin, before = time.perf_counter(), os.times()
    words = [sys.executable, "-m", "benchmarks.start", name]
    done = subprocess.run(
        words,
        env=environment(**{VARIABLE: folder, COMPILE: ""}),
        input=states,
        capture_output=True,
        text=True,
        check=True,
    )
    told: dict[str, Any] = json.loads(done.stdout)
    seconds, after = time.perf_counter() - begin, os.times()
    cpu = after.children_user - before.children_user + after.children_system - before.children_system
    return told | {"seconds": seconds, "rest": seconds - told["imports"] - told["LLVM"], "cpu": cpu}


def main(name: str) -> None:
    """Print forces, and the seconds that importing and compiling took."""
    begin = time.perf_counter()
    import tasks  # noqa: F401
    from tasks.kernels.kernel import compiled

    imports, force = time.perf_counter() - begin, forces(name, json.load(sys.stdin))
    print(json.dumps({"force": force, "imports": imports, "LLVM": sum(compiled().values())}))


if __name__ == "__main__":
    main(sys.argv[1])
