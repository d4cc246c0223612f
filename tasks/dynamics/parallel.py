"""Motion of parallel robots with joint friction, or on a base that moves, over time: from forces and loads, in batches.

Fixed steps that are cut, for each case by itself, where a joint comes to rest or breaks away, as those of chains are
(`tasks.dynamics.chains`). The state is the pose of the platform, with a unit quaternion, and the free components of its
twist; joints follow from inverse kinematics, so that no loop comes open.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robots.model import Robot
from tasks.dynamics import inputs
from tasks.dynamics.forward import opened, over_time, series
from tasks.dynamics.free_motion import Simulation
from tasks.dynamics.integration import Moment, MotionSystem
from tasks.dynamics.records import Environment, FixedSteps, Forces, State
from tasks.kernels.kernel import Batch
from tasks.mathematics import rotations


def simulate_platform(
    robot: Robot, state: State, forces: Forces, environment: Environment, clock: FixedSteps
) -> Simulation:
    """Integrate the motion of a batch of cases in constant steps.

    state: position, rotation and twist as in `tasks.dynamics.free_motion.simulate`, and memory. forces: load and
    load_axes as there; actuator (*batch, actuator): constant, a function of time, or of time (*batch,), position,
    rotation and twist, as cases whose steps are cut are not at one time; or a servo. All else, and errors, as in
    `tasks.dynamics.chains.simulate_chain`.
    """
    system = platform_system(robot, forces, environment)
    cases = opened(robot, system, state, forces, environment, clock.start)
    return collected(system, list(over_time(system, cases, clock)), cases.batch)


def platform_system(robot: Robot, forces: Forces, environment: Environment) -> MotionSystem:
    """Return the equations of a parallel robot under forces. Raises ValueError for axes that a load does not have."""
    inputs.check_load_axes(forces.load_axes)
    return MotionSystem.of(
        robot,
        forces.friction,
        environment.gravity,
        base=bool(environment.base_parts),
        elasticity=forces.elasticity,
        load_with_platform=forces.load is not None and forces.load_axes == "platform",
    )


def collected(system: MotionSystem, history: Sequence[tuple[float, Moment]], batch: Batch) -> Simulation:
    """The result, from moments and when they were."""
    times, values = series(system, history, batch)
    pose, speed = values.pop("q"), values.pop("qd")
    twist = np.zeros((*speed.shape[:-1], 6))
    twist[..., system.instant.structure.positions] = speed
    twist[np.isnan(speed).any(axis=-1)] = np.nan
    turned = rotations.rotation_matrix(np.moveaxis(pose[..., 3:], -1, 0).reshape(4, -1))
    rotation = np.moveaxis(turned, -1, 0).reshape(*pose.shape[:-1], 3, 3)
    none = np.zeros(pose.shape[:-1])
    values["load_work"] = values["load_work"][..., 0]
    return Simulation(times, pose[..., :3], rotation, twist, drift=none, gap=none, **values)
