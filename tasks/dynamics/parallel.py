"""Motion of parallel robots with joint friction, or on a base that moves, over time: from forces and loads, in batches.

Fixed steps that are cut, for each case by itself, where a joint comes to rest or breaks away, as those of chains are
(`tasks.dynamics.chains`). The state is the pose of the platform, with a unit quaternion, and the free components of its
twist; joints follow from inverse kinematics, so that no loop comes open.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from robots.criteria.elasticity import Elasticity
from robots.model import Robot
from robots.types import LoadAxes
from tasks.dynamics import inputs
from tasks.dynamics.forces_over_step import Acting
from tasks.dynamics.forward import STILL, BaseMotion, opened, over_time, series
from tasks.dynamics.free_motion import Simulation
from tasks.dynamics.integration import Moment, MotionSystem
from tasks.dynamics.records import GRAVITY, Moving, Timed
from tasks.dynamics.servo import Servo
from tasks.features.friction.history import Friction
from tasks.kernels.kernel import Batch
from tasks.mathematics import rotations


def simulate_platform(
    robot: Robot, *, force: Acting | Servo, step: float, steps: int,
    position: ArrayLike | None = None, rotation: ArrayLike | None = None, twist: ArrayLike | None = None,
    load: Timed | None = None, load_axes: LoadAxes = "world", friction: Friction = None,
    memory: ArrayLike | None = None, gravity: ArrayLike = GRAVITY, method: str | None = None, every: int = 1,
    start: float = 0.0, base: BaseMotion = STILL, elasticity: Elasticity | None = None,
) -> Simulation:  # fmt: skip
    """Integrate the motion of a batch of cases with steps of `step` [s] from the time `start`.

    position, rotation, twist, load and load_axes as in `tasks.dynamics.free_motion.simulate`. force (*batch, actuator):
    constant, a function of time, or of time (*batch,), position, rotation and twist, as cases whose steps are cut are
    not at one time; or a servo. friction, memory, base, elasticity, method and errors as in
    `tasks.dynamics.chains.simulate_chain`.
    """
    inputs.check_load_axes(load_axes)
    system = MotionSystem.of(
        robot, friction, gravity, base=base.moves, elasticity=elasticity,
        load_with_platform=load is not None and load_axes == "platform",
    )  # fmt: skip
    cases = opened(
        robot, system, Moving(position=position, rotation=rotation, twist=twist), force=force, start=start,
        memory=memory, load=load, base=base, gravity=gravity,
    )  # fmt: skip
    history = list(over_time(system, cases, step=step, steps=steps, method=method, every=every))
    return collected(system, history, cases.batch)


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
