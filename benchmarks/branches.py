"""Recall and precision of inverse kinematics: `python -m benchmarks.branches [NAME ...] [--poses N] [--root DIR]`.

Random poses in a wide box around the reference pose, up to the sum of a limb's lengths, against closed forms of
`tests/reference/branches.py`, which share no code with the packages: circles and spheres, no iteration.

- recall: of the poses that the branch of the reference pose reaches, how many are found, on that branch
- precision: of the poses that are found, how many are reached, on that branch
- beyond: of those on the branch, poses that inverse dynamics refuses as beyond a singularity of the platform or near it

`--root DIR`: by the packages of another checkout. Platforms that turn do so by up to 90 degrees about any axis; their
last rows are the same robot at other sizes.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.checkout import use_packages
from tasks.arrays.inputs import Moving

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "tests" / "reference" / "branches.py"
SCALES = {"gough_stewart": (0.01, 0.1, 1.0, 10.0, 100.0)}
"""Sizes at which robots are tried; 1 for the others."""
ACCURATE = 1e-6
"""Largest difference of actuator positions that are the same [rad, or relative to the size of the robot]."""


class Score(NamedTuple):
    """What came of the poses of one robot at one size."""

    name: str
    scale: float
    reached: int
    found: int
    right: int
    beyond: int

    @property
    def row(self) -> str:
        """A line of the table."""
        recall, precision = self.right / max(1, self.reached), self.right / max(1, self.found)
        figures = f"{self.reached:8d} {self.found:8d} {recall:8.4f} {precision:10.4f} {self.beyond:8d}"
        return f"{self.name:22s} {self.scale:6g} {figures}"


HEADING = f"{'robot':22s} {'size':>6s} {'reached':>8s} {'found':>8s} {'recall':>8s} {'precision':>10s} {'beyond':>8s}"


def scores(names: Sequence[str], poses: int) -> Iterator[Score]:
    """Scores of some robots, all that have a closed form where none is named."""
    closed_forms = runpy.run_path(str(REFERENCE))["CLOSED_FORMS"]
    for name in names or closed_forms:
        for scale in SCALES.get(name, (1.0,)):
            yield score(name, scale, poses, closed_forms[name])


def score(name: str, scale: float, poses: int, closed_form: Any) -> Score:
    """The score of a robot whose lengths are multiplied by `scale`."""
    from robots import catalog
    from robots.model import Robot
    from robots.status import Status
    from tasks import inverse_dynamics
    from tasks.arrays.inverse import actuator_positions

    nominal = catalog.build(name)
    units = {p.name: p.unit for p in nominal.family.parameters}
    robot = Robot(nominal.family, {key: x * (scale if units[key] == "m" else 1.0) for key, x in nominal.values.items()})
    position, rotation = box(robot, poses)
    given: Moving = {"position": position} if rotation is None else {"position": position, "rotation": rotation}
    turned = np.broadcast_to(np.eye(3), (poses, 3, 3)) if rotation is None else rotation
    expected, reached = closed_form(robot.values, position, turned)
    actuators = actuator_positions(robot, **given)
    found = np.isfinite(actuators).all(axis=-1)
    gap, gear = actuators - expected, robot.values["gear_ratio"] if name.endswith("motors") else 1.0
    turning = robot.mechanism.actuator_kinds[0] == "revolute"
    gap = (gap / gear + np.pi) % (2.0 * np.pi) - np.pi if turning else gap / scale
    right = found & reached & (np.abs(gap).max(axis=-1) < ACCURATE)
    status = inverse_dynamics(robot, **given, full=True).status
    return Score(
        name, scale, int(reached.sum()), int(found.sum()), int(right.sum()), int((right & (status != Status.OK)).sum())
    )


def box(robot: Any, poses: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Positions, and of a platform that turns rotations, around the reference pose."""
    from scipy.spatial.transform import Rotation

    rng, platform = np.random.default_rng(1), robot.mechanism.platform
    lengths = [robot.values.get(key, 0.0) for key in ("upper_arm", "rod_length", "proximal_length", "distal_length")]
    reach, home = sum(lengths) or 0.75 * robot.values["home_height"], np.array(platform.home.position, dtype=float)
    free = np.array([name in platform.mobility for name in ("vx", "vy", "vz")], dtype=float)
    position = home + rng.uniform(-reach, reach, (poses, 3)) * free
    if "wx" not in platform.mobility:
        return position, None
    axis = rng.normal(size=(poses, 3))
    angle = rng.uniform(0.0, 0.5 * np.pi, (poses, 1))
    return position, Rotation.from_rotvec(axis / np.linalg.norm(axis, axis=1, keepdims=True) * angle).as_matrix()


def main() -> int:
    """Print the table; 1 where a pose is lost or wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.branches", description="Recall and precision.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="robots")
    parser.add_argument("--poses", type=int, default=10_000, help="of each robot and size")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout whose packages run")
    options = parser.parse_args()
    use_packages(options.root.resolve())
    print(f"{options.poses} poses each\n{HEADING}", flush=True)
    perfect = True
    for result in scores(options.names, options.poses):
        print(result.row, flush=True)
        perfect &= result.right == result.reached == result.found
    return int(not perfect)


if __name__ == "__main__":
    sys.exit(main())
