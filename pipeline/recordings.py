"""Recordings of one robot from the results of a sweep: motions as `tasks` takes them, and forces.

The motion of a chain is measured; that of a platform is the commanded one, as encoders do not see it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robots.model import Robot
from storage.errors import StoreError
from tasks.identification.fit import Recording

if TYPE_CHECKING:
    from xarray import Dataset

PLATFORM = ("platform_position", "platform_twist", "platform_acceleration")
MEASURED = ("measured_position", "measured_velocity", "measured_acceleration")


def needed(robot: Robot, clean: bool) -> tuple[str, ...]:
    """Variables that an identification reads. Raises StoreError for chains whose clean accelerations are not stored."""
    force = "actuator_force" if clean else "measured_force"
    if not robot.mechanism.is_chain:
        return (force, *PLATFORM)
    if clean:
        return (force, "joint_position", "joint_velocity", "joint_acceleration")
    return (force, *MEASURED)


def require(data: Dataset, robot: Robot, clean: bool, store: str) -> None:
    """Refuses results without what an identification reads, by StoreError."""
    if missing := [name for name in needed(robot, clean) if name not in data]:
        raise StoreError(
            f"{store}: has no {', '.join(missing)}; expected them among the outputs of the sweep; run it with them"
        )
    mechanism = robot.mechanism
    if mechanism.is_chain and not clean and mechanism.actuators != mechanism.freedoms:
        raise StoreError(
            f"{store}: {robot.name} is not given by its actuators {mechanism.actuators} alone; expected the same "
            "joints actuated as independent; use clean signals"
        )


def recordings(robot: Robot, data: Dataset, clean: bool) -> list[Recording]:
    """One for each trajectory of a design with a friction set."""
    names = needed(robot, clean)
    # read here, in this task, not in tasks of its own
    arrays = {name: data[name].compute(scheduler="synchronous").values for name in names}
    return [
        _one(robot, {name: each[j] for name, each in arrays.items()}, names) for j in range(data.sizes["trajectory"])
    ]


def _one(robot: Robot, arrays: dict[str, np.ndarray], names: tuple[str, ...]) -> Recording:
    forces, *motion = (arrays[name] for name in names)
    if not robot.mechanism.is_chain:
        position, twist, acceleration = motion
        return Recording({"position": position, "twist": twist, "acceleration": acceleration}, forces)
    if motion[0].ndim == 3:  # of all joints of the one limb
        limb = robot.mechanism.limbs[0]
        chosen = [limb.index(name) for name in robot.mechanism.freedoms]
        motion = [each[:, 0, chosen] for each in motion]
    q, qd, qdd = motion
    return Recording({"q": q, "qd": qd, "qdd": qdd}, forces)
