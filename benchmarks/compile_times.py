"""Processor time to compile robots: `python -m benchmarks.compile_times [--forces] [--root DIR] [ROBOT ...]`.

All programs of a robot with all outputs that need nothing but the robot, or with `--forces` the actuator forces alone:
traced in Python, written as text of LLVM, read by LLVM, made machine code, loaded. The cache on disk is not used, and
equal limbs share their programs, as in a run. `--root` measures the packages of another checkout after those of this
one, robot by robot, in a process of its own; the last column is its time over ours.

A robot is one of the catalogue or a file of one, such as `limbsweep import` writes. First calls as users have them
begin with bytecode: `benchmarks.first_calls`.
`tree_78` is a tree of 78 revolute joints in general position, as large as a humanoid with hands: inverse dynamics and
inertia matrix.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
COMPILE = "LIMBSWEEP_COMPILE"
PHASES = ("trace", "text", "read", "code", "load")
TREE, JOINTS = "tree_78", 78
SECTIONS = (
    "actuator limits", "rated currents", "saturation", "joint ranges", "joint rates", "workspace", "controller",
    "tolerance", "friction", "elasticity", "clearances", "errors", "elastic turns", "test load", "capsules",
    "path limits", "supply",
)  # fmt: skip
"""Needs that a sweep has to say more for than the name of the robot."""
MOST = 8
"""Passes of LLVM that are printed."""
STAGES = ("limb", "assembly", "actuation", "reactions")


class Clock:
    """Seconds of processor time by phase; a call of another phase counts for that phase."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PHASES, 0.0)

    def timed(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, its time added to a phase."""

        def call(*arguments: Any, **named: Any) -> Any:
            begin = time.process_time()
            try:
                return function(*arguments, **named)
            finally:
                self.seconds[phase] += time.process_time() - begin

        return call


def outputs(family: Any) -> tuple[str, ...]:
    """Return the quantities that a robot has without further sections of a sweep."""
    from robots.quantities import QUANTITIES

    mechanism = family.reference
    lacks = set(SECTIONS)
    lacks |= set() if mechanism.motors else {"motors"}
    lacks |= set() if len(mechanism.actuators) == len(mechanism.freedoms) else {"as many actuators as freedoms"}
    lacks |= {"constraints", "platform"} if mechanism.is_chain else set()
    return tuple(name for name, row in QUANTITIES.items() if row.stage in STAGES and not lacks & {*row.needs})


def makers(name: str, *, forces: bool) -> Iterator[Callable[[], Any]]:
    """Return the functions that trace the programs of a robot."""
    from tasks.dynamics.inertia import matrix_program
    from tasks.features.table import request
    from tasks.stages.stages import stages

    if name == TREE:
        from benchmarks.peers.made import made_tree

        family, forces = made_tree(TREE, JOINTS, branches=True), True
        yield functools.partial(matrix_program, family)
    else:
        family = family_of(name)
    for stage in stages(request(family, ("actuator_force",) if forces else outputs(family))):
        yield functools.partial(getattr, stage, "program")


def family_of(name: str) -> Any:
    """Return the family of a robot of the catalogue, or of a robot file."""
    from pipeline.robot_files.reader import read_robot
    from robots import catalog

    return read_robot(os.path.abspath(name)).family if name.endswith((".yaml", ".yml")) else catalog.family(name)


def measured(name: str, *, forces: bool) -> dict[str, float]:
    """Return the seconds of processor time by phase, lines of text and number of programs."""
    module: Any = importlib.import_module("tasks.kernels.llvm")
    binding: Any = importlib.import_module("llvmlite.binding")
    clock, lines = Clock(), 0
    write, programs = module.source, list[Any]()

    def source(*arguments: Any, **named: Any) -> str:
        nonlocal lines
        text: str = write(*arguments, **named)
        lines += text.count("\n")
        return text

    module.source = clock.timed("text", source)
    binding.parse_assembly = clock.timed("read", binding.parse_assembly)
    binding.TargetMachine.emit_object = clock.timed("code", binding.TargetMachine.emit_object)
    for make in makers(name, forces=forces):
        program = clock.timed("trace", make)()
        if any(program is other for other in programs):
            continue
        programs.append(program)
        before, begin = sum(clock.seconds.values()), time.process_time()
        module.compile_program(program, keep=False)
        clock.seconds["load"] += time.process_time() - begin - (sum(clock.seconds.values()) - before)
    return clock.seconds | {"lines": lines, "programs": len(programs)}


def apart(name: str, root: Path, *options: str) -> dict[str, float]:
    """Return the same in a process of its own, by the packages of a checkout; this module is that of this one."""
    # -P: the folder of this file has a module `robots` too
    words = [sys.executable, "-P", str(Path(__file__)), "--worker", name, *options]
    environment = {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1", "LIMBSWEEP_CACHE": "off", COMPILE: ""}
    done = subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def row(name: str, found: dict[str, float], other: dict[str, float] | None) -> str:
    """Return a line of the table."""
    total = sum(found[phase] for phase in PHASES)
    shares = "".join(f"{found[phase]:8.2f}{found[phase] / total:5.0%}" for phase in PHASES)
    text = f"{name:22s}{shares}{total:8.2f}{found['lines']:8.0f}{found['programs']:5.0f}"
    if other is not None:
        seconds = sum(other[phase] for phase in PHASES)
        text += f"{seconds:8.2f}{seconds / total:7.2f}"
    return text


def passes(name: str, *, forces: bool) -> None:
    """Print the time of LLVM's passes for all programs of a robot, in this process, and its share."""
    module: Any = importlib.import_module("tasks.kernels.llvm")
    binding: Any = importlib.import_module("llvmlite.binding")
    binding.set_time_passes(True)
    for program in {id(program): program for program in (make() for make in makers(name, forces=forces))}.values():
        module.compile_program(program, keep=False)
    seconds: defaultdict[str, float] = defaultdict(float)
    for line in binding.report_and_reset_timings().splitlines():
        if found := re.fullmatch(r".* ([0-9.]+) \( *[0-9.]+%\)  (.*?)(?: #\d+)?", line):
            seconds[found[2]] += float(found[1])
    whole = seconds.pop("Total")
    print(f"{name}: {whole:.2f} s in passes of LLVM")
    for title, part in sorted(seconds.items(), key=lambda item: -item[1])[:MOST]:
        print(f"  {title:50s}{part:8.2f}{part / whole:7.1%}")


def main() -> int:
    """Print the table."""
    from robots import catalog

    parser = argparse.ArgumentParser(prog="python -m benchmarks.compile_times", description="Time to compile.")
    parser.add_argument("robots", nargs="*", metavar="ROBOT", help=f"robots of the catalogue, robot files, or {TREE}")
    parser.add_argument("--forces", action="store_true", help="actuator forces alone")
    parser.add_argument("--root", type=Path, help="another checkout")
    parser.add_argument("--passes", action="store_true", help="times of LLVM's passes for each robot, longest first")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.robots or (*catalog.FAMILIES, TREE)
    if options.worker:
        print(json.dumps(measured(names[0], forces=options.forces)))
        return 0
    if options.passes:
        for name in names:
            passes(name, forces=options.forces)
        return 0
    head = "".join(f"{phase:>8s}    %" for phase in PHASES)
    other = f"{'other':>8s}{'ratio':>7s}" if options.root else ""
    print(f"{'robot, CPU seconds':22s}{head}{'sum':>8s}{'lines':>8s}{'kern':>5s}{other}", flush=True)
    for name in names:
        words = ["--forces"] if options.forces else []
        ours = apart(name, ROOT, *words)
        theirs = apart(name, options.root.resolve(), *words) if options.root else None
        print(row(name, ours, theirs), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
