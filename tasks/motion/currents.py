"""Actuator forces from motor currents: torque constant times current. Industrial manipulators paper, section 3.

A current is given as forces are to `tasks.simulate`: an array, or a function of time, or of time, q and qd.
"""

from __future__ import annotations

import functools
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from robots.model import Robot
from tasks.kernels.batches import checked
from tasks.motion.pushes import Acting, OfState, OfTime, is_of_state


def torque_constants(robot: Robot) -> np.ndarray:
    """Torque or force per current (actuator,) [N m/A or N/A]. Raises ValueError where an actuator has no motor.

    >>> ls.torque_constants(ls.robots.build("irb6")).shape
    (5,)
    """
    mechanism = robot.mechanism
    drives = [drive for instance in mechanism.instances for drive in mechanism.limbs[instance.limb].drives]
    without = [drive.name for drive in drives if drive.motor is None]
    if without or len(drives) != len(mechanism.actuators):
        names = ", ".join(without) if drives else f"the actuators of {robot.name}"
        raise ValueError(f"current: got currents, but {names} have no motor; expected drives with one, or give forces")
    return np.array([drive.motor.torque_constant for drive in drives if drive.motor is not None], dtype=float)


def from_currents(robot: Robot, current: Acting) -> Acting:
    """What acts on a robot whose motors carry these currents (*batch, actuator) [A]. Raises ValueError, TypeError."""
    constants = torque_constants(robot)

    def torque(value: ArrayLike) -> np.ndarray:
        return checked("current", value, constants.shape) * constants

    if not callable(current):
        return torque(current)
    if is_of_state(current):
        of_state: OfState = current

        @functools.wraps(of_state)  # with its arguments, which say what it is a function of
        def torque_of_state(*state: np.ndarray) -> np.ndarray:
            return torque(of_state(*state))

        return torque_of_state
    of_time = cast(OfTime, current)
    return lambda time: torque(of_time(time))
