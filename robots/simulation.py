"""Simulation settings of a sweep, as plain data: drive inputs, initial states, method of integration."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from robots.controllers import Controller, coordinate_turns
from robots.data_classes import dataclass, field
from robots.model import Mechanism
from robots.parameters import Parameter, unit_of
from robots.stops import Stops
from robots.types import TRANSLATION, TWIST

Method = Literal["rk4", "euler", "semi_implicit", "rosenbrock", "spanning_tree"]
"""Methods of integration with fixed steps, see `tasks.dynamics.step_methods` and `tasks.dynamics.spanning_tree`."""

TREE: Method = "spanning_tree"
"""The method in all joints of the tree, which passes singular points and knows stops."""

METHODS: tuple[str, ...] = get_args(Method)

Commanded = Literal["force", "current", "voltage", "speed"]
"""Commanded quantity of a motor: a force [N m or N], a current [A], a voltage at its terminals [V], or a speed."""

Between = Literal["linear", "steps"]
"""Interpolation of a force profile between its points."""


@dataclass(frozen=True, eq=False)
class ForceProfile:
    """Forces over time: points (points, 1 + actuators), t [s] and each actuator [N m or N]; held beyond the ends.

    `of`: quantity of the values: forces, or currents [A], voltages [V] or speeds [rad/s or m/s] of the motors. Its
    `name` has no effect on results.
    """

    points: NDArray[np.float64]
    between: Between = "linear"
    of: Commanded = "force"
    name: str = ""


@dataclass(frozen=True, eq=False)
class SimulationSettings:
    """Settings for the simulation of every case of a sweep.

    step [s] and method of the integration; the `controller` that follows the trajectories, or force `profiles`, one
    for each trajectory; without both the actuators give no force. `every`: steps from one stored sample to the next.
    `tolerance` [m or rad]: largest error of position, for which steps are halved; 0: no tolerance. With `saturation`
    the limits of currents, voltages and forces bound the forces of the motors. `stops` of joints, by name. `windings`:
    currents of motors are states, as their windings have an inductance.
    """

    step: float
    every: int
    method: Method
    controller: Controller | None = None
    profiles: tuple[ForceProfile, ...] = ()
    tolerance: float = 0.0
    saturation: bool = False
    stops: Stops = field(default_factory=dict)
    windings: bool = False

    @property
    def fed(self) -> bool:
        """Return whether the motor forces depend on the motor speeds."""
        return self.windings or self.saturation or any(profile.of == "voltage" for profile in self.profiles)


_OFFSETS = {"x": "m", "y": "m", "z": "m", "roll": "rad", "pitch": "rad", "yaw": "rad"}
_ANGLES = dict(zip(("roll", "pitch", "yaw"), TWIST[:3], strict=True))


def state_parameters(mechanism: Mechanism) -> dict[str, Parameter]:
    """Return the parameters of a simulation's initial state, by name: offsets from the reference at time zero.

    A platform has the parameters x, y, z, roll, pitch, yaw along its free components; a chain has its independent
    joints. The offset of each rate has the suffix `_rate`.
    """
    if mechanism.is_chain:
        turning = coordinate_turns(mechanism, "joint")
        units = {name: unit_of("rad or m", (angle,)) for name, angle in turning.items()}
    else:
        free = {*mechanism.platform.mobility}
        moved = dict(zip(("x", "y", "z"), TRANSLATION, strict=True)) | _ANGLES
        units = {name: unit for name, unit in _OFFSETS.items() if moved[name] in free}
    result = {
        name: Parameter(name, unit, 0.0, -1e3, 1e3, f"offset of {name} at the start") for name, unit in units.items()
    }
    rates = {
        f"{name}_rate": Parameter(f"{name}_rate", f"{unit}/s", 0.0, -1e4, 1e4, f"offset of the rate of {name}")
        for name, unit in units.items()
    }
    return result | rates
