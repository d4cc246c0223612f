"""A controller with its numbers and a reference, as it is given to `simulate` in the place of forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robots.controllers import Controller, Space, check_space, controller_parameters
from robots.model import Family, Robot
from robots.parameters import ParameterError, nearest
from tasks.arrays.inputs import Moving, moving_input
from tasks.control.loop import ControlLoop, Settings
from tasks.control.model import InverseModel, case_rows, signal_columns
from tasks.mechanics.structure import structure_of, with_parameters

Seen = Sequence[np.ndarray]
"""A state: q and qd (freedom, samples) of a chain; position (3,), rotation (3, 3), twist (6, samples) of a platform."""


@dataclass(frozen=True, eq=False)
class Reference:
    """A motion at instants evenly spaced from zero: motion inputs of kernels (size, instant); it holds its end."""

    step: float
    motion: np.ndarray

    def at(self, time: float) -> np.ndarray:
        """The motion input (size,) at a time, which has to be one of the instants or beyond the last.

        Raises ValueError for times between the instants.
        """
        number = round(time / self.step)
        if abs(number * self.step - time) > 1e-6 * self.step:
            raise ValueError(f"reference: got the time {time!r} s; expected a multiple of its step of {self.step!r} s")
        return self.motion[:, min(number, self.motion.shape[1] - 1)]


class Servo:
    """A controller of one robot that follows a reference; make one with `servo`."""

    def __init__(self, robot: Robot, controller: Controller, values: np.ndarray, reference: Reference):
        self.robot, self.controller, self.values, self.reference = robot, controller, values, reference

    def loop(self, samples: int, step: float, gravity: ArrayLike, start: float = 0.0) -> Running:
        """The controller of so many samples from the first step on, at the time `start` [s]."""
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
        """Forces (actuator, samples) over the next step."""
        motion = motion_input(self._family, seen)
        wanted = np.repeat(self._reference.at(self._number * self._step)[:, None], motion.shape[1], axis=1)
        signals = signal_columns(self._family, self._start + self._number * self._step, motion.shape[1])
        here, there = self._model.run(motion, signals=signals), self._model.run(wanted, signals=signals)
        result = self._loop.force(self._number, motion, wanted, here, there)
        self._number += 1
        return result


def motion_input(family: Family, seen: Seen) -> np.ndarray:
    """The motion input of kernels (size, samples) of a state, without accelerations."""
    if family.reference.is_chain:
        q, qd = seen
        return np.concatenate([q, qd, np.zeros_like(q)])
    position, rotation, twist = seen
    none = np.zeros_like(position)
    if structure_of(family).motion_size == 9:
        return np.concatenate([position, twist[3:], none])
    return np.concatenate([position, rotation.reshape(9, -1), twist, none, none])


def servo(
    robot: Robot, kind: str, *, reference: Mapping[str, ArrayLike], step: float, space: str = "actuator",
    **parameters: float,
) -> Servo:  # fmt: skip
    """A controller that makes a robot follow a reference: a force for `simulate`.

    kind: one of `robots.controllers.CONTROLLERS`; space: `actuator`, `joint` or `task`; parameters: its gains, limits
    and times by name, such as `kp`, `force_limit_NAME` or `sample_time`, defaults for the others. reference: q, qd and
    qdd (instant, freedom) of a chain, or position (instant, 3), rotation (instant, 3, 3), twist and acceleration
    (instant, 6) of a platform, at instants of `step` [s] from the start on; what is absent is zero, or the reference
    pose; the last one is held. Steps of the simulation are multiples of it. Raises ParameterError and ValueError.

        >>> robot = ls.robots.build("planar_3r")
        >>> hold = ls.servo(robot, "pd", reference={"q": [[0.1, 0.2, 0.3]]}, step=0.001, kp=200.0, kd=20.0)
        >>> ls.simulate(robot, force=hold, q=[0.0, 0.2, 0.3], step=0.001, steps=100, every=100).q[-1].round(2)
        array([0.13, 0.14, 0.56])
    """
    mechanism = robot.mechanism
    chosen: Space = check_space(mechanism, kind, space)
    known = controller_parameters(mechanism, kind, chosen)
    for name, value in parameters.items():
        if name not in known:
            raise ParameterError(f"{kind} has no parameter {name!r}; {nearest(name, known)}")
        if problem := known[name].problem(float(value)):
            raise ParameterError(f"{kind}: {name} = {value!r} {problem}; expected {known[name].bounds}")
    names = tuple(name for name in known if name in parameters)
    values = np.array([float(parameters[name]) for name in names])
    if not step > 0:
        raise ValueError(f"step: got {step!r}; expected a time above zero [s]")
    return Servo(robot, Controller(kind, chosen, names), values, Reference(step, _motion(robot, reference)))


def _motion(robot: Robot, reference: Mapping[str, ArrayLike]) -> np.ndarray:
    """Motion inputs (size, instant) of a reference."""
    moving: Moving = {**reference}  # type: ignore[typeddict-item]
    batch, motion = moving_input(robot, moving)
    if len(batch) != 1:
        raise ValueError(f"reference: got batch dims {batch}; expected one, of instants")
    return np.ascontiguousarray(motion[0][:, : batch[0]])
