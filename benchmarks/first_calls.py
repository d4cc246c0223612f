"""Processor time of first calls with an empty cache: `python -m benchmarks.first_calls [--job JOB ...] [ROBOT ...]`.

A job is a function as users call it, at 16 states of a robot of the catalogue; with `--features` it is a feature of the
table of composition, a small sweep computed in memory. Each call is made in a process that has made it for another
small robot, so that imports are not counted, and that has compiled nothing of this one. The last lines tell how many
calls take longer than 1 s and 3 s, and the longest. `--root DIR` makes the same calls by the packages of another
checkout, job by job.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
STATES = 16
"""States of a first call."""
SMALL = ("five_bar", "ur5e")
"""Robots that pay for imports: a platform and a chain."""
INSTANTS = (0.0, 1e-3, 2e-3)
"""Instants of a motion [s]."""
LIMITS = (1.0, 3.0)
"""Limit [s]; the number of calls that take longer is printed."""
WORST = 10
"""Calls that are printed once more."""
FAILED = "refused"

RUBBING: Mapping[str, Any] = {"law": "coulomb_viscous", "coulomb": 0.1, "viscous": 0.1, "joints": "all"}
LOADED: Mapping[str, Any] = {**RUBBING, "coulomb": 0.05, "load": "reaction", "pin_radius": 0.01}
TOGETHER: Sequence[Mapping[str, str]] = (
    {"motion": "controller", "friction": "lugre"},
    {"motion": "controller", "friction": "load dependent"},
    {"motion": "controller", "loads": "bushing"},
    {"motion": "controller", "motors": "inductance"},
    {"motion": "controller", "motors": "current controller"},
    {"motion": "stops", "friction": "viscous"},
    {"outputs": "derivatives", "friction": "load dependent"},
    {"outputs": "reactions", "friction": "load dependent"},
)
"""Costly features that meet; each other feature is beside the plainest of all other axes."""


def _forces(robot: Any, states: Mapping[str, Any]) -> None:
    from tasks import inverse_dynamics

    inverse_dynamics(robot, **states)


def _reactions(robot: Any, states: Mapping[str, Any]) -> None:
    from tasks import inverse_dynamics, joint_reactions

    inverse_dynamics(robot, **states)
    joint_reactions(robot, **states)


def _matrix(robot: Any, states: Mapping[str, Any]) -> None:
    from tasks import inertia_matrix

    inertia_matrix(robot, **_still(states, "twist", "qd"))


def _regressor(robot: Any, states: Mapping[str, Any]) -> None:
    from tasks import regressor

    regressor(robot, **states)


def _linearisation(robot: Any, states: Mapping[str, Any]) -> None:
    from tasks import linearisation
    from tasks.dynamics.records import Forces

    still = [[0.0] * len(robot.mechanism.actuators)] * STATES
    linearisation(robot, **_still(states), forces=Forces(actuator=still))


def _frequencies(robot: Any, states: Mapping[str, Any]) -> None:
    from robots.criteria.elasticity import Elasticity
    from tasks import natural_frequencies

    elasticity = Elasticity.of(robot.mechanism, actuators={"all": 1e5})
    natural_frequencies(robot, elasticity, **_still(states, "twist", "qd"))


def _rubbing(law: Mapping[str, Any]) -> Callable[[Any, Mapping[str, Any]], None]:
    """Return a job: forces with friction in all joints, and accelerations under these."""

    def job(robot: Any, states: Mapping[str, Any]) -> None:
        from tasks import forward_dynamics, inverse_dynamics
        from tasks.dynamics.records import Forces

        forces = Forces(friction=law)
        actuator = inverse_dynamics(robot, **states, forces=forces).force
        forward_dynamics(robot, **_still(states), forces=replace(forces, actuator=actuator))

    return job


def _motion(**options: Any) -> Callable[[Any, Mapping[str, Any]], None]:
    """Return a job: two steps of a simulation without forces of actuators."""

    def job(robot: Any, states: Mapping[str, Any]) -> None:
        import limbsweep as ls

        ls.simulate(robot, ls.State(**_still(states)), ls.Forces(friction=options.get("law")), INSTANTS)

    return job


def _still(states: Mapping[str, Any], *more: str) -> dict[str, Any]:
    """Return states without accelerations, and without the keys `more`."""
    return {key: part for key, part in states.items() if key not in ("acceleration", "qdd", *more)}


JOBS: Mapping[str, Callable[[Any, Mapping[str, Any]], None]] = {
    "forces": _forces,
    "forces and reactions": _reactions,
    "inertia matrix": _matrix,
    "regressor": _regressor,
    "linearisation": _linearisation,
    "friction in all joints": _rubbing(RUBBING),
    "friction from reactions": _rubbing(LOADED),
    "simulation": _motion(),
    "simulation with friction": _motion(law=RUBBING),
}


def job_of(title: str) -> Callable[[str], None]:
    """Return the function that makes a call for a robot: that of a job, or a sweep of features `AXIS: FEATURE, ...`."""
    if title in JOBS:
        from benchmarks import regions
        from robots import catalog

        def call(name: str) -> None:
            robot = catalog.build(name)
            JOBS[title](robot, regions.states(robot, STATES))

        return call
    from benchmarks.composition.case import Case
    from benchmarks.composition.features import PLAIN

    levels = dict(part.split(": ") for part in title.split(", ")) if title != "plain" else {}

    def swept(name: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            _ = Case.of({"robot": name, **PLAIN, **levels}, Path(folder)).results

    return swept


def titles(*, features: bool) -> Iterator[str]:
    """Yield the names of all jobs, or of all features and of their pairs."""
    if not features:
        yield from JOBS
        return
    from benchmarks.composition.features import AXES, PLAIN

    yield "plain"
    for axis, rows in AXES.items():
        yield from (f"{axis}: {name}" for name in rows if name != PLAIN[axis])
    for levels in TOGETHER:
        yield ", ".join(f"{axis}: {name}" for axis, name in levels.items())


def work(title: str, names: Sequence[str]) -> None:
    """Print the seconds of the first call of a job for each robot, as lines of JSON; null where it is refused."""
    call = job_of(title)
    for small in SMALL:
        if small not in names:
            _attempt(call, small)
    for name in names:
        begin = time.process_time()
        done = _attempt(call, name)
        print(json.dumps([name, time.process_time() - begin if done else None]), flush=True)


def _attempt(call: Callable[[str], None], name: str) -> bool:
    """Make a call; return whether it was not refused, nor for a robot that the table of composition lacks."""
    from pipeline.errors import InputError

    try:
        call(name)
    except (InputError, ValueError, TypeError, KeyError):
        return False
    return True


def apart(title: str, names: Sequence[str], root: Path) -> Iterator[tuple[str, float | None]]:
    """Yield the robots and their seconds, from processes that have the packages of a checkout."""
    small = [[name] for name in names if name in SMALL]
    for part in ([name for name in names if name not in SMALL], *small):
        yield from _process(title, part, root) if part else ()


def _process(title: str, names: Sequence[str], root: Path) -> Iterator[tuple[str, float | None]]:
    # -P: the folder of this file has a module `robots` too
    words = [sys.executable, "-P", str(Path(__file__)), "--worker", title, *names]
    environment = {
        **os.environ,
        "PYTHONPATH": str(root),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "LIMBSWEEP_CACHE": "off",
        "LIMBSWEEP_COMPILE": "",
    }
    with subprocess.Popen(words, cwd=root, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield tuple(json.loads(line))


def table(names: Sequence[str], jobs: Sequence[str], root: Path | None) -> Iterator[str]:
    """Yield the lines of the table."""
    found: dict[tuple[str, str], float] = {}
    for title in jobs:
        others = apart(title, names, root.resolve()) if root is not None else iter(())
        for name, seconds in apart(title, names, ROOT):
            _, other = next(others, (name, None))  # robots in the same order
            if seconds is not None:
                found[name, title] = seconds
            beside = f"{other:8.2f} s{other / seconds:7.2f}" if other is not None and seconds else ""
            yield f"{title:46s} {name:22s}" + (f"{seconds:8.2f} s" if seconds is not None else f" {FAILED}") + beside
    for limit in LIMITS:
        yield f"above {limit:g} s: {sum(seconds > limit for seconds in found.values())} of {len(found)} calls"
    for (name, title), seconds in sorted(found.items(), key=lambda item: -item[1])[:WORST]:
        yield f"longest: {seconds:8.2f} s  {title}, {name}"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_calls", description="Time of first calls.")
    parser.add_argument("robots", nargs="*", metavar="ROBOT", help="robots of the catalogue")
    parser.add_argument("--job", action="append", help="a job, or features as AXIS: FEATURE, AXIS: FEATURE")
    parser.add_argument("--features", action="store_true", help="features of the table of composition")
    parser.add_argument("--root", type=Path, help="another checkout")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        work(options.worker, options.robots)
        return 0
    if options.features or any(":" in title or title == "plain" for title in options.job or ()):
        from benchmarks.composition.machines import MACHINES

        names = options.robots or tuple(MACHINES)
    else:
        from robots import catalog

        names = options.robots or tuple(catalog.FAMILIES)
    for line in table(names, options.job or tuple(titles(features=options.features)), options.root):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
