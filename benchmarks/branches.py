"""Recall and precision of inverse kinematics: `python -m benchmarks.branches [NAME ...] [--poses N] [--root DIR]`.

Random poses in a wide box around the reference pose, up to the sum of a limb's lengths, against solutions that share no
code with the packages: closed forms of `tests/reference`, circles and spheres without iteration, and for every robot
the continuation solver of `tests/reference/continuation.py`, which follows paths in small steps.

- recall: of the poses that the branch of the reference pose reaches, how many are found, on that branch
- precision: of the poses that are found, how many are reached, on that branch
- beyond: of those on the branch, poses that inverse dynamics refuses as beyond a singularity of the platform or near it

`--root DIR`: by the packages of another checkout. Platforms that turn do so by up to 90 degrees about any axis that
they are free to turn about; rows of other sizes are the same robot with its lengths multiplied. Of chains those with
loops, whose independent joints are given within half a turn, slides within half the extent of the robot, the middle one
of a platform's three turns within a right angle: beyond, roll, pitch and yaw are another way to say the same.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.checkout import use_packages
from tasks.dynamics.records import Moving

ROOT = Path(__file__).parent.parent
SCALES = {"gough_stewart": (0.01, 0.1, 1.0, 10.0, 100.0)}
"""Sizes at which robots are tried; 1 for the others."""
ACCURATE = 1e-6
"""Largest difference of actuator positions that are the same [rad, or relative to the size of the robot]."""
REACH = ("upper_arm", "rod_length", "proximal_length", "distal_length")
"""Parameters whose sum is how far the box goes, of robots that have them."""


class Score(NamedTuple):
    """Counts of the poses of one robot at one size."""

    name: str
    scale: float
    reference: str
    reached: int
    found: int
    right: int
    beyond: int

    @property
    def row(self) -> str:
        """A line of the table."""
        recall, precision = self.right / max(1, self.reached), self.right / max(1, self.found)
        figures = f"{self.reached:8d} {self.found:8d} {recall:8.4f} {precision:10.4f} {self.beyond:8d}"
        return f"{self.name:22s} {self.scale:6g} {self.reference:12s} {figures}"


HEADING = (
    f"{'robot':22s} {'size':>6s} {'beside':12s} {'reached':>8s} {'found':>8s} {'recall':>8s} {'precision':>10s} "
    f"{'beyond':>8s}"
)


def scores(names: Sequence[str], poses: int, paths: int) -> Iterator[Score]:
    """Yield the scores of some robots, by default the whole catalogue, by closed forms and by continuation."""
    from robots import catalog

    first = importlib.import_module("tests.reference.branches")
    literature = importlib.import_module("tests.reference.literature_branches")
    closed_forms, chains = {**first.CLOSED_FORMS, **literature.PLATFORMS}, {**first.CHAINS, **literature.CHAINS}
    for name in names or catalog.FAMILIES:
        mechanism = catalog.build(name).mechanism
        if mechanism.is_chain and not mechanism.limbs[0].loops:
            continue
        if name in closed_forms and poses:
            for scale in SCALES.get(name, (1.0,)):
                yield score(name, scale, poses, closed_forms[name])
        if name in chains and poses:
            yield chain_score(name, poses, chains[name])
        for scale in SCALES.get(name, (1.0,)) if paths else ():
            yield continued(name, scale, paths)


def scaled(name: str, scale: float) -> Any:
    """Return a robot whose lengths are multiplied by `scale`."""
    from robots import catalog
    from robots.model import Robot

    nominal = catalog.build(name)
    units = {p.name: p.unit for p in nominal.family.parameters}
    values = {key: x * (scale if units[key] == "m" else 1.0) for key, x in nominal.values.items()}
    return Robot(nominal.family, values)


def continued(name: str, scale: float, poses: int) -> Score:
    """Return the score of a robot beside the continuation solver: all joints of its trees, limb by limb."""
    from robots.status import Status
    from tasks import inverse_dynamics, inverse_kinematics

    reference = importlib.import_module("tests.reference.continuation")
    robot = scaled(name, scale)
    nodes: tuple[np.ndarray, ...]
    if robot.mechanism.is_chain:
        q = joints(robot, poses, reference)
        motion, nodes = Moving(q=q), (q,)
    else:
        position, rotation = box(robot, poses)
        turned = np.tile(np.array(robot.mechanism.platform.home.rotation, dtype=float), (poses, 1, 1))
        motion = Moving(position=position) if rotation is None else Moving(position=position, rotation=rotation)
        nodes = (turned if rotation is None else rotation, position)
    solved = inverse_kinematics(robot, **motion)
    found = solved.status == Status.OK
    limbs = reference.branches(robot.mechanism, *nodes)
    reached, right = reference.compare(limbs, solved.position, found)
    status = inverse_dynamics(robot, **motion).status
    beyond = right & (status != Status.OK)
    return Score(name, scale, "continuation", *(int(x.sum()) for x in (reached, found, right, beyond)))


def chain_score(name: str, poses: int, closed_form: Any) -> Score:
    """Return the score of a chain with loops beside its closed form: positions of some joints."""
    from robots.status import Status
    from tasks import inverse_dynamics, inverse_kinematics

    robot = scaled(name, 1.0)
    q = joints(robot, poses, importlib.import_module("tests.reference.continuation"))
    solved, (expected, reached) = inverse_kinematics(robot, q=q), closed_form(robot.values, q)
    found, names = solved.status == Status.OK, [link.joint for link in robot.mechanism.limbs[0].links]
    right = found & reached
    for joint, value in expected.items():
        gap = solved.position[:, 0, names.index(joint)] - value
        right &= np.abs((gap + np.pi) % (2.0 * np.pi) - np.pi) < ACCURATE
    beyond = right & (inverse_dynamics(robot, q=q).status != Status.OK)
    return Score(name, 1.0, "closed form", *(int(x.sum()) for x in (reached, found, right, beyond)))


def score(name: str, scale: float, poses: int, closed_form: Any) -> Score:
    """Return the score of a robot beside its closed form: positions of its actuators."""
    from robots.status import Status
    from tasks import inverse_dynamics
    from tasks.dynamics.inverse import actuator_positions

    robot = scaled(name, scale)
    position, rotation = box(robot, poses)
    motion: Moving = {"position": position} if rotation is None else {"position": position, "rotation": rotation}
    turned = np.broadcast_to(np.eye(3), (poses, 3, 3)) if rotation is None else rotation
    expected, reached = closed_form(robot.values, position, turned)
    actuators = actuator_positions(robot, **motion).position
    found = np.isfinite(actuators).all(axis=-1)
    gap, gear = actuators - expected, robot.values["gear_ratio"] if name.endswith("motors") else 1.0
    turning = robot.mechanism.actuator_kinds[0] == "revolute"
    gap = (gap / gear + np.pi) % (2.0 * np.pi) - np.pi if turning else gap / scale
    right = found & reached & (np.abs(gap).max(axis=-1) < ACCURATE)
    status = inverse_dynamics(robot, **motion).status
    beyond = right & (status != Status.OK)
    return Score(name, scale, "closed form", *(int(x.sum()) for x in (reached, found, right, beyond)))


def box(robot: Any, poses: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Return positions, and for a platform that turns also rotations, around the reference pose."""
    from scipy.spatial.transform import Rotation

    rng, platform = np.random.default_rng(1), robot.mechanism.platform
    home, turn = (np.array(x, dtype=float) for x in (platform.home.position, platform.home.rotation))
    free = np.array([name in platform.mobility for name in ("vx", "vy", "vz")], dtype=float)
    position = home + rng.uniform(-1.0, 1.0, (poses, 3)) * reach(robot) * free
    turning = np.array([name in platform.mobility for name in ("wx", "wy", "wz")], dtype=float)
    if not turning.any():
        return position, None
    axis = rng.normal(size=(poses, 3)) * turning
    angle = rng.uniform(0.0, 0.5 * np.pi, (poses, 1))
    turned = Rotation.from_rotvec(axis / np.linalg.norm(axis, axis=1, keepdims=True) * angle)
    return position, turned.as_matrix() @ turn


def joints(robot: Any, poses: int, reference: Any) -> np.ndarray:
    """Return positions of a chain's independent joints: all turns, and slides by half the robot's extent."""
    (limb,) = robot.mechanism.limbs
    at, _ = reference.LimbPaths(limb, 1.0).bodies(np.zeros((1, len(limb.links))))
    extent = max(float(np.linalg.norm(position)) for _, position in at.values())
    kinds = {link.joint: link.kind for link in limb.links}
    turns = [name for name in limb.coordinates if kinds[name] != "prismatic"]
    most = [
        0.5 * extent if kinds[name] == "prismatic" else 0.5 * np.pi if name in turns[1:2] else np.pi
        for name in robot.mechanism.freedoms
    ]
    return np.random.default_rng(1).uniform(-1.0, 1.0, (poses, len(most))) * most


def reach(robot: Any) -> float:
    """Return the reach of the box [m]: the lengths of a limb together, or three quarters of that of its legs."""
    if lengths := [robot.values[key] for key in REACH if key in robot.values]:
        return float(sum(lengths))
    if "home_height" in robot.values:
        return 0.75 * float(robot.values["home_height"])
    home = robot.mechanism.platform.home
    spans = []
    for instance in robot.mechanism.instances:
        joint = np.array(home.rotation, dtype=float) @ np.array(instance.platform.position, dtype=float)
        span = joint + np.array(home.position, dtype=float) - np.array(instance.base.position, dtype=float)
        spans.append(float(np.linalg.norm(span)))
    return 0.75 * max(spans)


def main() -> int:
    """Print the table; 1 where a pose is lost or wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.branches", description="Recall and precision.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="robots")
    parser.add_argument("--poses", type=int, default=10_000, help="of each robot and size, beside closed forms")
    parser.add_argument("--paths", type=int, default=2_000, help="of each robot and size, beside continuation")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout whose packages run")
    options = parser.parse_args()
    use_packages(options.root.resolve())
    print(HEADING, flush=True)
    perfect = True
    for result in scores(options.names, options.poses, options.paths):
        print(result.row, flush=True)
        perfect &= result.right == result.reached == result.found
    return int(not perfect)


if __name__ == "__main__":
    sys.exit(main())
