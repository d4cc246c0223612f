"""Rotopod, six rods from carriages on one circular track: every reachable pose is found, and rods with little to spare.

Rods of a fixed length l go from points of a circle of radius R to points p of the platform:
cos(theta - atan2(p_y, p_x)) = (p^2 + R^2 - l^2) / (2 R hypot(p_x, p_y)), with the branch of the reference pose.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

import limbsweep as ls
from robots.model import Robot
from tasks.mathematics.rotations import roll_pitch_yaw

TRACK, TOP, SPREAD, POSES = 0.7, 0.2, math.radians(20.0), 3301

LEG = """
limbsweep: 1
name: rotopod
title: Six rods between carriages on one circular track and a platform
parameters:
  rod: {default: ROD, unit: m, lower: 0.1, upper: 2, text: length of a rod}
  ahead: {default: AHEAD, unit: rad, lower: 0.1, upper: 3, text: angle at the platform from a carriage to its rod's end}
derived:
  across: sqrt(0.7 * 0.7 + 0.2 * 0.2 - 2 * 0.7 * 0.2 * cos(ahead))
  height: sqrt(rod * rod - across * across)
limbs:
  leg:
    links:
      - {joint: track, body: carriage, parent: base, kind: revolute, axis: z,
         inertia: {mass: 1, centre: [0.7, 0, 0], moments: [0.01, 0.01, 0.01]}}
      - {joint: first, body: cross, parent: carriage, kind: revolute, axis: z, placement: {position: [0.7, 0, 0]},
         inertia: {mass: 0}}
      - {joint: second, body: bar, parent: cross, kind: revolute, axis: "y",
         inertia: {mass: 0.3, centre: [-0.2, 0, 0.2], moments: [0.01, 0.01, 0.01]}}
    tips:
      - {joint: ball, kind: spherical, a: bar, frame_a: {position: [0.2 * cos(ahead) - 0.7, 0.2 * sin(ahead), height]}}
    actuated: [track]
instances:
LEGS
platform:
  mobility: [wx, wy, wz, vx, vy, vz]
  home: {position: [0, 0, height]}
  inertia: {mass: 2, moments: [0.01, 0.01, 0.02]}
"""


def legs() -> list[tuple[float, float]]:
    """Angles of the six carriages at the reference pose, and the side to which their rods go."""
    return [(math.radians(120.0) * k + side * SPREAD, side) for k in range(3) for side in (1.0, -1.0)]


def rotopod(folder: Path, rod: float, ahead: float) -> Robot:
    """Return the robot with rods of a length, whose ends are so far ahead of their carriages."""
    rows = []
    for k, (angle, side) in enumerate(legs()):
        turn, mirror = f"turn: {{z: {math.degrees(angle)!r}}}", "" if side > 0.0 else " mirror: y,"
        x, y = (f"0.2 * {f}({angle!r} {'+' if side > 0.0 else '-'} ahead)" for f in ("cos", "sin"))
        rows.append(f"  leg{k}: {{limb: leg,{mirror} base: {{{turn}}}, platform: {{{turn}, position: [{x}, {y}, 0]}}}}")
    file = folder / "rotopod.yaml"
    file.write_text(LEG.replace("LEGS", "\n".join(rows)).replace("ROD", repr(rod)).replace("AHEAD", repr(ahead)))
    return ls.robots.read(file)


def reached(
    rod: float, ahead: float, position: np.ndarray, rotation: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mask of poses that can be reached, how far carriages have moved (pose, leg), and the least 1 - |cosine|."""
    moved, least = [], np.full(len(position), np.inf)
    for angle, side in legs():
        at = TOP * np.array([math.cos(angle + side * ahead), math.sin(angle + side * ahead), 0.0])
        p = position + rotation @ at
        cosine = ((p * p).sum(axis=1) + TRACK**2 - rod**2) / (2.0 * TRACK * np.hypot(p[:, 0], p[:, 1]))
        least = np.minimum(least, 1.0 - np.abs(cosine))
        way = np.arctan2(p[:, 1], p[:, 0]) - side * np.arccos(np.clip(cosine, -1.0, 1.0)) - angle
        moved.append(side * ((way + math.pi) % (2.0 * math.pi) - math.pi))  # a mirrored motor turns the other way
    return least > 0.0, np.stack(moved, axis=1), least


def poses(count: int, reach: float, turn: float) -> tuple[np.ndarray, np.ndarray]:
    """Random displacements from the reference pose, and rotations."""
    generator = np.random.default_rng(3301)
    away, angles = generator.uniform(-reach, reach, (count, 3)), generator.uniform(-turn, turn, (count, 3))
    return away, roll_pitch_yaw(angles).rotation


def test_none_of_3301_reachable_poses_is_lost(tmp_path: Path) -> None:
    rod, ahead = 0.81, 1.1
    robot = rotopod(tmp_path, rod, ahead)
    home = np.array(robot.mechanism.platform.home.position, dtype=float)
    away, rotation = poses(60000, 0.3, 0.7)
    can, moved, least = reached(rod, ahead, home + away, rotation)
    chosen = np.flatnonzero(can & (np.abs(moved).max(axis=1) < 1.5))[:POSES]
    assert len(chosen) == POSES
    assert least[chosen].min() < 2e-3  # some are hardly reached
    found = ls.actuator_positions(robot, position=(home + away)[chosen], rotation=rotation[chosen])
    assert (found.status == ls.Status.OK).all()
    np.testing.assert_allclose(found.position, moved[chosen], rtol=0, atol=1e-9)


def test_a_rod_with_27_mm_to_spare_is_accepted_and_moves(tmp_path: Path) -> None:
    rod = 0.81
    across = rod - 0.027
    ahead = math.acos((TRACK**2 + TOP**2 - across**2) / (2.0 * TRACK * TOP))
    robot = rotopod(tmp_path, rod, ahead)
    home = np.array(robot.mechanism.platform.home.position, dtype=float)
    assert abs(home[2] - math.sqrt(rod**2 - across**2)) < 1e-12
    away, rotation = poses(4000, 0.05, 0.1)
    can, moved, _ = reached(rod, ahead, home + away, rotation)
    found = ls.actuator_positions(robot, position=home + away, rotation=rotation)
    assert ((found.status == ls.Status.OK) == can).mean() > 0.999
    good = can & (found.status == ls.Status.OK)
    np.testing.assert_allclose(found.position[good], moved[good], rtol=0, atol=1e-8)
    forces = ls.inverse_dynamics(robot, position=(home + away)[good][:200], rotation=rotation[good][:200])
    assert (forces.status == ls.Status.OK).all()
