"""Controllers on a reference as sources of forces for `simulate`.

A `Servo` is a controller with its numbers and a reference; `simulate` takes it in the place of forces. Motors on a
supply are in `tasks.dynamics.supply`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import check_argument, check_arguments
from robots.controllers import Controller, Space, check_space, controller_parameters
from robots.data_classes import dataclass
from robots.model import Robot
from robots.parameter_errors import ParameterError, nearest
from tasks.dynamics.control import ControlLoop, Settings
from tasks.dynamics.drive_model import InverseModel, case_rows
from tasks.dynamics.drive_values import Seen, motion_input
from tasks.dynamics.inputs import moving_input
from tasks.dynamics.records import Moving
from tasks.mechanics.structure import with_parameters


@dataclass(frozen=True, eq=False)
class ReferenceMotion:
    """A motion at instants evenly spaced from zero: motion inputs of kernels (size, instant); it holds its end."""

    step: float
    motion: np.ndarray

    def at(self, time: float) -> np.ndarray:
        """Return the motion input (size,) at a time, which has to be one of the instants or beyond the last.

        Raises ValueError for times between the instants.
        """
        number = round(time / self.step)
        if abs(number * self.step - time) > 1e-6 * self.step:
            raise ValueError(f"reference: got the time {time!r} s; expected a multiple of its step of {self.step!r} s")
        return self.motion[:, min(number, self.motion.shape[1] - 1)]


class Servo:
    """A controller of one robot that follows a reference; make one with `servo`."""

    def __init__(self, robot: Robot, controller: Controller, values: np.ndarray, reference: ReferenceMotion):
        self.robot, self.controller, self.values, self.reference = robot, controller, values, reference

    def loop(self, samples: int, step: float, gravity: ArrayLike, start: float = 0.0) -> Running:
        """Return the controller of a number of samples from the first step on, at the time `start` [s]."""
        return Running(self, samples, step, gravity, start)


class Running:
    """A servo in a simulation, from one step to the next."""

    def __init__(self, servo: Servo, samples: int, step: float, gravity: ArrayLike, start: float = 0.0):
        family = servo.robot.family
        x, y, z = (float(g) for g in np.asarray(gravity, dtype=float))
        parameters = np.repeat(with_parameters(family, servo.robot.values), samples, axis=0)
        self._model = InverseModel(family, case_rows(family, parameters, (x, y, z)))
        settings = Settings.of(family, servo.controller, np.repeat(servo.values[:, None], samples, axis=1))
        self._loop = ControlLoop(self._model, servo.controller, settings, step)
        self._family, self._reference, self._number, self._step = family, servo.reference, 0, step
        self._start = start

    def force(self, seen: Seen) -> np.ndarray:
        """Return the forces (actuator, samples) over the next step."""
        motion = motion_input(self._family, seen)
        target = np.repeat(self._reference.at(self._number * self._step)[:, None], motion.shape[1], axis=1)
        signals = self._model.signals_at(self._start + self._number * self._step, motion.shape[1])
        here, goal = self._model.run(motion, signals=signals), self._model.run(target, signals=signals)
        result = self._loop.force(self._number, motion, target, here, goal)
        self._number += 1
        return result


@check_arguments
def servo(
    robot: Robot, kind: str, *, reference: Mapping[str, ArrayLike], step: float, space: str = "actuator",
    **parameters: float,
) -> Servo:  # fmt: skip
    """Make a controller by which a robot follows a reference: a force for `simulate`.

    kind: one of `robots.controllers.CONTROLLERS`; space: `actuator`, `joint` or `task`; parameters: its gains, limits
    and times by name, such as `kp`, `force_limit_NAME` or `sample_time`, defaults for the others. reference: q, qd and
    qdd (instant, freedom) of a chain, or position (instant, 3), rotation (instant, 3, 3), twist and acceleration
    (instant, 6) of a platform, at instants of `step` [s] from the start on; missing values are zero, or the reference
    pose; the last one is held. Steps of the simulation are multiples of it. Raises ParameterError and ValueError.

        >>> robot = ls.robots.build("planar_3r")
        >>> hold = ls.servo(robot, "pd", reference={"q": [[0.1, 0.2, 0.3]]}, step=0.001, kp=200.0, kd=20.0)
        >>> ls.simulate(robot, ls.State(q=[0.0, 0.2, 0.3]), hold, [0.0, 0.1], step=0.001).q[-1].round(2)
        array([0.13, 0.14, 0.56])
    """
    mechanism = robot.mechanism
    space_used: Space = check_space(mechanism, kind, space)
    known = controller_parameters(mechanism, kind, space_used)
    for name, value in parameters.items():
        if name not in known:
            raise ParameterError(f"{kind} has no parameter {name!r}; {nearest(name, known)}")
        check_argument(name, value, "float")
        if problem := known[name].problem(float(value)):
            raise ParameterError(f"{kind}: {name} = {value!r} {problem}; expected {known[name].bounds}")
    names = tuple(name for name in known if name in parameters)
    values = np.array([float(parameters[name]) for name in names])
    if not 0 < step < math.inf:
        raise ValueError(f"step: got {step!r}; expected a time above zero [s]")
    return Servo(robot, Controller(kind, space_used, names), values, ReferenceMotion(step, _motion(robot, reference)))


def _motion(robot: Robot, reference: Mapping[str, ArrayLike]) -> np.ndarray:
    """Return the motion inputs (size, instant) of a reference."""
    moving: Moving = {**reference}  # type: ignore[typeddict-item]
    batch, motion = moving_input(robot, moving)
    if len(batch) != 1:
        raise ValueError(f"reference: got batch dims {batch}; expected one, of instants")
    return np.ascontiguousarray(motion[0][:, : batch[0]])
