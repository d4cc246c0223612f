"""Conservative motion that lasts: every parallel robot in a well of its potential energy, about which it swings.

Constant forces of the actuators are conservative, with the potential -u q. Where they pull the right way, that
potential has a minimum, held in its place by a constant load on the platform.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from robots.model import Robot
from robots.types import TWIST
from tasks import equations_of_motion
from tasks.dynamics.inverse import actuator_positions

GRAVITY = (0.0, 0.0, -9.81)


class Pull(NamedTuple):
    """Height of the well over the reference position [m], force of each actuator [N m or N], speed at the start."""

    height: float
    force: float
    speed: float


PULLS = {
    "delta_3rr2rrr": Pull(-0.20, -10.0, 0.4),
    "delta_4rr2rrr": Pull(-0.20, -10.0, 0.4),
    "delta_3r2us": Pull(-0.20, -10.0, 0.4),
    "delta_rl5_1450": Pull(-0.25, -150.0, 0.1),
    "irsbot2": Pull(-0.22, -10.0, 0.3),
    "five_bar": Pull(0.0, -20.0, 0.3),
    "gough_stewart": Pull(0.0, -2e4, 0.5),
    "hexapod_6rrrprr": Pull(0.0, -100.0, 0.2),
}


class Well(NamedTuple):
    """Constant forces (actuator,) and load (6,) with an equilibrium at `position`, and a speed at which to leave it."""

    robot: Robot
    position: np.ndarray
    force: np.ndarray
    load: np.ndarray
    speed: float

    def start(self, count: int, seed: int = 7) -> dict[str, Any]:
        """Keyword arguments of a simulation of `count` cases that leave the bottom in random directions."""
        twist = np.zeros((count, 6))
        free = [TWIST.index(name) for name in self.robot.mechanism.platform.mobility]
        twist[:, free] = self.speed * np.random.default_rng(seed).uniform(-1.0, 1.0, (count, len(free)))
        return {"position": self.position, "twist": twist, "force": self.force, "load": self.load}

    def energy(self, position: np.ndarray, rotation: np.ndarray, twist: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Kinetic energy, and the sum of all energies from the bottom of the well, (*batch)."""
        turned = {} if self.robot.mechanism.platform.mobility[0] in TWIST[3:] else {"rotation": rotation}
        made = equations_of_motion(self.robot, position=position, twist=twist, **turned)
        work = (
            actuator_positions(self.robot, position=position, **turned).position @ self.force + position @ self.load[3:]
        )
        return made.kinetic_energy, made.kinetic_energy + made.potential_energy - work


def well(robot: Robot) -> Well:
    """The well of a robot of the catalogue."""
    pull = PULLS[robot.name]
    position = np.array(robot.mechanism.platform.home.position) + np.array([0.0, 0.0, pull.height])
    made = equations_of_motion(robot, position=position)
    force = np.full(made.jacobian.shape[0], pull.force)
    load, rest = np.zeros(6), made.gravity - made.jacobian.T @ force
    for name, value in zip(robot.mechanism.platform.mobility, rest, strict=True):
        if name in TWIST[3:]:
            load[TWIST.index(name)] = value
        else:  # a constant moment would not be conservative
            assert abs(value) < 1e-9 * np.abs(rest).max()
    return Well(robot, position, force, load, pull.speed)
