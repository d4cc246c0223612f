"""Metrics of the fastest motion of each design along the path of each trajectory.

`cycle_time` ignores the time law of a trajectory except its rests: legs from rest to rest follow each other, each in
the shortest time (`tasks.dynamics.fastest`). `speed_factor` keeps the time law: at k times the speed the forces are
C + k^2 (u - C), where C are the forces that hold the robot at rest; the metric is the largest k that keeps all limits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robots.limits import Capacity
from robots.model import Robot
from robots.quantities import names
from robots.status import Status
from robots.trajectories.cycles import cycle_times
from robots.trajectories.trajectory import Trajectory
from tasks.blocks.block import Block
from tasks.blocks.pool import Arrays
from tasks.dynamics.fastest import fastest_along
from tasks.dynamics.inverse import inverse_dynamics, inverse_kinematics
from tasks.dynamics.paths.forces import PathForces
from tasks.dynamics.paths.path import RobotPath, TimedMotion, legs, pose_of
from tasks.dynamics.paths.power import Curves, Intervals, PathLimits, intersected, kept_speeds
from tasks.dynamics.records import Moving
from tasks.dynamics.resolution import resolved_motion
from tasks.kernels.advance import tell
from tasks.sources.commanded import commanded, moving, moving_of
from tasks.sources.prescribed import ISO_9283
from tasks.stages.metrics.poses import characteristic_length

POINTS = 101
"""Least number of points of each leg at which limits are kept."""
SOUND = (Status.OK, Status.ACTUATOR_LIMIT)
"""Statuses with a duration. The duration is infinite if no motion keeps the limits."""
POINTS_OF_A_PIECE = 4
"""Least number of points for each piece on which a path is smooth."""


def cycle_metrics(block: Block) -> Arrays:
    """Return the path metrics that a block needs, (design, trajectory) each; NaN if a sample of the motion fails."""
    wanted = [name for name in names("path") if name in block.metrics]
    out = {name: np.full((len(block.designs), len(block.trajectories)), np.nan) for name in wanted}
    for j, trajectory in enumerate(block.trajectories):
        paths: list[RobotPath] | None = None
        for i in range(len(block.designs)):
            tell(j * len(block.designs) + i, len(block.trajectories) * len(block.designs))
            if np.isnan(block.designs.parameters[i]).any():
                continue  # a formula of the limits has no number for this design
            robot = Robot.of(block.family, block.numbers_of(i))
            limits = path_limits(block, robot, i)
            gravity = block.designs.gravity_of(i)
            if not _reached(block, robot, trajectory, i):
                continue
            if "cycle_time" in out:
                if paths is None or robot.mechanism.resolved:  # else the same for all designs
                    paths = _legs(block, trajectory, robot)
                motions = [fastest_along(robot, path, limits, _points(path), gravity) for path in paths]
                sound = all(np.isin(motion.status, SOUND).all() for motion in motions)
                out["cycle_time"][i, j] = sum(motion.duration for motion in motions) if sound else math.nan
            if "speed_factor" in out:
                out["speed_factor"][i, j] = _speed_factor(block, robot, trajectory, limits, gravity)
    return out


def path_limits(block: Block, robot: Robot, design: int) -> PathLimits:
    """Return the limits of actuators and the rates of joints for motions along paths, with those of a supply."""
    mechanism, limits_of_design = block.family.reference, block.limits_of(design)
    rows = [limits_of_design.actuators.get(k, Capacity()) for k in range(len(mechanism.actuators))]
    force, velocity, acceleration, power, jerk = (
        np.array([getattr(row, name) for row in rows])
        for name in ("force", "velocity", "acceleration", "power", "jerk")
    )
    limits = PathLimits(force, velocity, acceleration, power, jerk, joints=_joint_table(block, design, "velocity"))
    motors = [
        replace(motor, voltage=min(motor.voltage, row.voltage), current=min(motor.current, row.current))
        for motor, row in zip(robot.mechanism.motors, rows, strict=False)  # empty for a robot without motors
    ]
    return limits.supplied(motors)


def _joint_table(block: Block, design: int, kind: str) -> np.ndarray | None:
    """Return a limit of all joints (limb, joint), infinite without a limit; None if no joint has one."""
    mechanism = block.family.reference
    sign = -1.0 if kind == "low" else 1.0
    known = {place: getattr(limit, kind) for place, limit in block.limits_of(design).joints.items()}
    if not any(map(math.isfinite, known.values())):
        return None
    most = max(len(limb.joints) for limb in mechanism.limbs)
    result = np.full((len(mechanism.instances), most), sign * np.inf)
    for place, size in known.items():
        result[place] = size
    return result


def _points(path: RobotPath) -> int:
    return max(POINTS, 1 + POINTS_OF_A_PIECE * (len(path.breaks) - 1))


def _legs(block: Block, trajectory: Trajectory, robot: Robot) -> list[RobotPath]:
    """Return a trajectory's paths over the block's times, from one rest to the next, in all freedoms of a robot."""
    family = block.family
    mechanism, times = family.reference, block.times
    weights = np.ones(len(mechanism.freedoms))
    if not mechanism.is_chain:
        length = characteristic_length(mechanism)
        weights = np.array([length] * 3 + [1.0] * 3)

    def at(instants: np.ndarray) -> Moving:
        flat = commanded(family, trajectory, instants, block.origin)[:, : len(instants)]
        return resolved_motion(robot, moving_of(family, flat.T))

    motion = TimedMotion(at, weights, mechanism.is_chain)
    return legs(motion, float(times[0]), float(times[-1]), _knots(trajectory))


def _knots(trajectory: Trajectory) -> list[float]:
    """Return the times of reduced smoothness of a trajectory: points of splines, ends of motions to a point."""
    turn = trajectory.turn
    tables = [points for points in (trajectory.points, None if turn is None else turn.points) if points is not None]
    kinds = [(trajectory.kind, trajectory.values)] + ([(turn.kind, turn.values)] if turn is not None else [])
    ends = [float(values["duration"]) for kind, values in kinds if kind == "quintic"]
    for kind, values in kinds:
        if kind == "pick_and_place":
            rising, travel, begin = (float(x) for x in cycle_times(**values))
            half = 0.5 * float(values["duration"])
            there = [0.0, rising, begin, begin + travel, half - rising]
            ends += [*there, *(half + t for t in there), 2.0 * half]
        if kind == "iso_9283":
            ends += [float(values["duration"]) * k / len(ISO_9283) for k in range(len(ISO_9283) + 1)]
    return [*ends, *(float(t) for points in tables for t in points[:, 0])]


def _reached(block: Block, robot: Robot, trajectory: Trajectory, design: int) -> bool:
    """Return whether all samples of a trajectory are OK, with joints within their ranges."""
    motion = _moving(block, trajectory, robot)
    if robot.mechanism.resolved and np.isnan(np.asarray(motion["q"], dtype=float)).any():
        return False
    joints, status = inverse_kinematics(robot, **motion), inverse_dynamics(robot, **motion).status
    if (joints.status != Status.OK).any() or (status != Status.OK).any():
        return False
    low, high = (_joint_table(block, design, kind) for kind in ("low", "high"))
    within = [low is None or not (joints.position < low).any(), high is None or not (joints.position > high).any()]
    return all(within)


def _moving(block: Block, trajectory: Trajectory, robot: Robot) -> Moving:
    return resolved_motion(robot, moving(block.family, trajectory, block.times, block.origin))


def _speed_factor(
    block: Block, robot: Robot, trajectory: Trajectory, limits: PathLimits, gravity: Sequence[float]
) -> float:
    """Return the largest speed factor at which no sample exceeds a limit of force, velocity, power or joint rate.

    Infinite for a robot at rest, and zero where nothing is slow enough.
    """
    motion = _moving(block, trajectory, robot)
    moved = inverse_dynamics(robot, gravity=gravity, **motion)
    held = inverse_dynamics(robot, **pose_of(motion), gravity=gravity).force
    joints = inverse_kinematics(robot, **motion).velocity
    with np.errstate(divide="ignore", invalid="ignore"):
        top = (limits.velocity / np.abs(moved.velocity)).min()
        if limits.joints is not None:
            top = np.fmin(top, np.nanmin(limits.joints / np.abs(joints)))
    none, free = np.zeros_like(held), np.full(len(held), np.inf)
    forces = PathForces(none, moved.force - held, held, moved.velocity, free, moved.status)
    straight = Curves.of(forces.push, forces.sweep, forces.hold, most=limits.force)
    curves = Curves.joined([straight, *forces.curves(limits)])
    factors: Intervals = [(0.0, float(top))]
    for point in range(len(held)):
        factors = intersected(factors, kept_speeds(curves, point, float(top)))
    return factors[-1][1] if factors else 0.0
