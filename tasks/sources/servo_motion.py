"""States of a robot that follows a servo in constant steps, by the loop over time in machine code if available.

The bits are the same as with `tasks.dynamics.simulate.simulate`, which replaces the loop where a case ends or has parts
that the loop does not support.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from robots.model import Robot
from robots.status import Status
from tasks.dynamics.drive_model import InverseModel, case_rows
from tasks.dynamics.forward import opened
from tasks.dynamics.motion_system import MotionSystem
from tasks.dynamics.records import DrivenKeywords, records_of
from tasks.dynamics.servo import Servo
from tasks.mechanics.structure import with_parameters
from tasks.sources.drives import Controlled, StepForces, Tracks
from tasks.sources.fused_step import SMALL
from tasks.sources.plants import MovingRobots
from tasks.sources.time_loop import time_loop

KNOWN = frozenset(("q", "qd", "position", "twist", "friction", "gravity"))
"""Parts of a simulation that the loop takes."""

MOVES_FREELY = 1e300
"""Rate of a freedom that no motion is stopped at."""


class StatesOfMotion(NamedTuple):
    """Status (*batch), and states at all steps: q and qd (step, *batch, freedom), or position and twist."""

    status: np.ndarray
    q: np.ndarray | None = None
    qd: np.ndarray | None = None
    position: np.ndarray | None = None
    twist: np.ndarray | None = None


def simulate_states(
    robot: Robot, servo: object, step: float, steps: int, parts: Mapping[str, Any]
) -> StatesOfMotion | None:
    """Return the states; None if the loop does not support the parts of a simulation, or a case ends.

    parts: keywords of `tasks.dynamics.simulate.simulate`, which has to be called where the result is None.
    """
    present = {name: part for name, part in parts.items() if part is not None}
    usual = present.pop("method", "rk4") == "rk4" and not present.pop("start", 0.0)
    if not isinstance(servo, Servo) or not present.keys() <= KNOWN or not usual:
        return None
    state, forces, environment = records_of(servo, cast(DrivenKeywords, present))
    once = MotionSystem.of(robot, forces.friction, environment.gravity)
    if once.layout.platform and once.instant.structure.motion_size != SMALL:
        return None
    cases = opened(robot, once, state, forces, environment)
    width = cases.state.shape[1]
    system = _of_each(once, width)
    drive = _drive(robot, servo, step, steps, width, environment.gravity)
    plant = MovingRobots(system, cases.state, step, "rk4")
    moved = run_in_loop(plant, drive, steps, alone=math.prod(cases.batch) == 1)
    return None if moved is None or not np.isfinite(moved[0]).all() else _states(system, moved[0], cases.batch)


def run_in_loop(
    plant: MovingRobots, drive: Controlled, steps: int, *, alone: bool = False
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return motion inputs of kernels (steps + 1, size, samples) and forces (steps, actuator, samples) of a servo.

    alone: all samples are of one case. NaN after the end of a case; None if there is no loop for these robots.
    """
    loop = time_loop(plant, drive, plant.step, MOVES_FREELY, alone=alone)
    if loop is None:
        return None
    with np.errstate(all="ignore"):  # a case that ends holds NaN
        motions = [plant.motion()]
        push = drive.at(0, motions[0]).push
        plant.begin(push)
        forces = [push.begin]
        live = np.ones(len(push.begin[0]), dtype=bool)
        while len(motions) <= steps:
            number = len(motions) - 1
            live &= (plant.status == Status.OK) & np.isfinite(push.begin).all(axis=0)
            push = StepForces(*(np.where(live, force, np.nan) for force in push))
            stretch = loop.advance(number, steps - number, push, live, rates=False)
            if stretch is not None:
                motions += [np.where(live, motion, np.nan) for motion in stretch.ends.sample["motion"]]
                forces += list(stretch.ends.force)
                push = stretch.push
                continue
            plant.advance(number, push)
            motions.append(np.where(live, plant.motion(), np.nan))
            push = drive.at(number + 1, motions[-1]).push
            forces.append(push.begin)
    return np.stack(motions), np.stack(forces[:steps])


def _of_each(system: MotionSystem, width: int) -> MotionSystem:
    """Return the equations with a case for every sample."""
    constants, instant = system.instant.constants, system.instant
    parameters, friction = (np.repeat(part, width, axis=0) for part in (constants.parameters, constants.friction))
    return MotionSystem.of_cases(instant.family, parameters, instant.groups, friction, constants.gravity[0])


def _drive(robot: Robot, servo: Servo, step: float, steps: int, width: int, gravity: ArrayLike) -> Controlled:
    """Return the drive of `width` samples that a servo controls."""
    x, y, z = (float(part) for part in np.asarray(gravity, dtype=float))
    parameters = np.repeat(with_parameters(robot.family, robot.values), width, axis=0)
    model = InverseModel(robot.family, case_rows(robot.family, parameters, (x, y, z)))
    reference = np.stack([servo.reference.at(number * step) for number in range(steps + 2)], axis=1)
    tracks = Tracks(reference[None], np.zeros(width, dtype=np.int64))
    return Controlled(model, tracks, servo.controller, np.repeat(servo.values[:, None], width, axis=1), step, step)


def _states(system: MotionSystem, motions: np.ndarray, batch: tuple[int, ...]) -> StatesOfMotion:
    """Return states from motion inputs (step, size, samples) of a chain, or of a platform that does not turn."""
    samples = int(np.prod(batch, dtype=int))
    rows = np.moveaxis(motions[..., :samples], 1, -1).reshape(len(motions), *batch, motions.shape[1])
    status = np.full(batch, Status.OK, dtype=np.int8)
    if not system.layout.platform:
        free = system.layout.free
        return StatesOfMotion(status, q=rows[..., :free], qd=rows[..., free : 2 * free])
    twist = np.concatenate([np.zeros_like(rows[..., :3]), rows[..., 3:6]], axis=-1)
    return StatesOfMotion(status, position=rows[..., :3], twist=twist)
