"""Robots of the catalogue as URDF, SDF and MJCF, read back: `python -m benchmarks.imports.round_trips [ROBOT ...]`.

A row for each robot, with the largest difference of forces between the robot and the one that is read back, relative
to the largest force, at motions of the whole workspace; or the reason why a format cannot say the robot. The exit
status is 1 where one differs, or is not read back.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks import COMPILE, regions
from pipeline.errors import InputError
from pipeline.robot_files.files import write
from pipeline.robot_files.importing import ImportedRobot, import_robot
from robots import catalog
from robots.formats.exporting import WRITERS
from robots.model import Robot
from tasks import inverse_dynamics, inverse_kinematics

LARGEST = 1e-10
"""Difference from which on a robot counts as another one."""

STATES = 4


def difference(robot: Robot, imported: ImportedRobot, states: int = STATES) -> float:
    """Return the difference of forces between a robot and the one that was read back.

    It is relative to the largest force. A robot with a platform is a closed chain there, whose joints are moved as
    those of the robot. Infinite where actuators have other names, or a state fails.
    """
    chain = Robot.of(imported.description.family, {})
    if sorted(chain.mechanism.actuators) != sorted(robot.mechanism.actuators):
        return float("inf")
    motion: Any = regions.states(robot, states)
    ours, joints = inverse_dynamics(robot, **motion), inverse_kinematics(robot, **motion)
    places = _places(robot)
    rows = np.array([places[freedom] for freedom in chain.mechanism.freedoms]).T
    q, qd, qdd = (values[:, rows[0], rows[1]] for values in joints[:3])
    theirs = inverse_dynamics(chain, q=q, qd=qd, qdd=qdd)
    good = np.asarray(ours.status == 0)
    if not good.any() or theirs.status[good].any():
        return float("inf")
    order = [chain.mechanism.actuators.index(actuator) for actuator in robot.mechanism.actuators]
    size = np.abs(ours.force[good]).max()
    return float(np.abs(theirs.force[good][:, order] - ours.force[good]).max() / (size or 1.0))


def _places(robot: Robot) -> dict[str, tuple[int, int]]:
    """Return limb and number of each joint of a robot by its name in a chain."""
    instances = robot.mechanism.instances
    prefixes = [""] if robot.mechanism.is_chain else [f"{instance.name}." for instance in instances]
    return {
        f"{prefix}{link.joint}": (k, n)
        for k, (prefix, instance) in enumerate(zip(prefixes, instances, strict=True))
        for n, link in enumerate(robot.mechanism.limbs[instance.limb].links)
    }


def outcome(name: str, ending: str, folder: Path) -> tuple[str, str]:
    """Return the outcome of a robot in a format (equal, differs, lost or refused), and its number or reason."""
    robot, path = catalog.build(name), folder / f"{name}{ending}"
    try:
        write(robot, path)
    except InputError as error:
        return "refused", str(error).splitlines()[0].partition(": got ")[2].partition("; expected")[0]
    try:
        apart = difference(robot, import_robot(path, parameters=False))
    except InputError as problem:
        return "lost", str(problem).splitlines()[0][:200]
    return ("equal" if apart <= LARGEST else "differs"), f"{apart:.1e}"


def table(names: list[str]) -> Iterator[str]:
    """Yield the table, and a line of counts for each format."""
    counts = {ending: Counter[str]() for ending in WRITERS}
    yield f"| robot | {' | '.join(WRITERS)} |"
    yield f"|---|{'---|' * len(WRITERS)}"
    for name in names:
        cells = []
        with TemporaryDirectory() as folder:
            for ending in WRITERS:
                verdict, text = outcome(name, ending, Path(folder))
                counts[ending][verdict] += 1
                cells.append(text if verdict == "equal" else f"{verdict}: {text}")
        yield f"| {name} | {' | '.join(cells)} |"
    yield ""
    for ending, count in counts.items():
        yield f"{ending}: {len(names)} robots, {', '.join(f'{number} {verdict}' for verdict, number in count.items())}"


def main(arguments: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.imports.round_trips", description=__doc__)
    parser.add_argument("robots", nargs="*", help="robots of the catalogue; default: all")
    options = parser.parse_args(arguments)
    os.environ[COMPILE] = ""  # states are few: programs run as bytecode
    wrong = False
    for line in table(options.robots or [*catalog.FAMILIES]):
        wrong |= "differs: " in line or "lost: " in line
        print(line, flush=True)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
