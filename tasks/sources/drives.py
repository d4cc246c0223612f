"""Forces on the actuators of a batch of cases over each step, and the start states of simulated cases.

Forces come from a controller on a reference, or from a force profile. Arrays are (size, samples), a case in each
column. Numbers of steps are steps of the simulation; if these are refined to estimate the error, all times stay the
same. Start states are references at time zero, moved by the offsets of initial states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from robots.controllers import Controller
from robots.data_classes import dataclass
from robots.model import Family
from tasks.dynamics.control import ControlLoop, Settings
from tasks.dynamics.drive_values import DriveModel, Inverse
from tasks.mathematics.rotations import roll_pitch_yaw


class StepForces(NamedTuple):
    """Forces (actuator, samples) at the beginning, in the middle and at the end of a step."""

    begin: np.ndarray
    middle: np.ndarray
    end: np.ndarray


class Aim(NamedTuple):
    """A reference at one instant: its motion input, and the inverse models at the state and at the reference."""

    wanted: np.ndarray
    here: Inverse
    there: Inverse

    @property
    def status(self) -> np.ndarray:
        """Status of the state, or where that is OK of the reference (samples,)."""
        return np.where(self.here.status > 0.5, self.here.status, self.there.status)


class Seen(NamedTuple):
    """Forces of a drive over a step, and its reference (aim) at the start of the step; None without a reference."""

    push: StepForces
    aim: Aim | None = None


class ForceSource(Protocol):
    """Source of actuator forces, step by step."""

    @property
    def lost(self) -> np.ndarray:
        """Samples that a limit has changed (actuator, samples)."""
        ...

    def at(self, number: int, motion: np.ndarray) -> Seen:
        """Return the forces over the step of that number, for the motion input of the state at its start."""
        ...


@dataclass(frozen=True)
class Tracks:
    """References of a batch: motion inputs (trajectory, size, steps + 1), and which each case follows."""

    motions: np.ndarray
    trajectory: np.ndarray

    def at(self, number: int) -> np.ndarray:
        """Return the motion inputs at the start of a step (size, samples)."""
        return np.ascontiguousarray(self.motions[self.trajectory, :, number].T)

    def over(self, start: int, stop: int) -> np.ndarray:
        """Return the motion inputs of consecutive steps (step, size, samples)."""
        motions = self.motions[:, :, start:stop].transpose(2, 1, 0)
        result = np.empty((*motions.shape[:2], len(self.trajectory)))
        same = (self.trajectory == self.trajectory[0]).all()
        result[...] = motions[..., self.trajectory[:1] if same else self.trajectory]
        return result


class Controlled:
    """A controller that follows references; `values` (parameter, samples) of it.

    step [s] is the step of the loop; `usual` [s] is the sample time of a controller without its own.
    """

    def __init__(
        self, model: DriveModel, tracks: Tracks, controller: Controller, values: np.ndarray, step: float,
        usual: float,
    ):  # fmt: skip
        self.model, self.tracks, self._step = model, tracks, step
        self.loop = ControlLoop(model, controller, Settings.of(model.family, controller, values), step, usual)

    @property
    def lost(self) -> np.ndarray:
        """Samples that a limit has changed (actuator, samples)."""
        return self.loop.lost

    def at(self, number: int, motion: np.ndarray) -> Seen:
        """Return the held forces."""
        target = self.tracks.at(number)
        signals = self.model.signals_at(number * self._step, motion.shape[1])
        here, there = self.model.run(motion, signals=signals), self.model.run(target, signals=signals)
        force = self.loop.force(number, motion, target, here, there)
        return Seen(StepForces(force, force, force), Aim(target, here, there))


class Profiled:
    """Forces (profile, actuator, 3, steps + 1) at the beginning, in the middle and at the end of all steps.

    profile (samples,): number of the profile of each case; scale (profile, actuator, samples or 1): factors of the
    profiles, torque constants of motors or ones.
    """

    def __init__(self, forces: np.ndarray, profile: np.ndarray, scale: np.ndarray):
        self._forces, self._profile, samples = forces, profile, np.arange(len(profile))
        wide = np.broadcast_to(scale, (*scale.shape[:2], len(profile)))
        self._scale = wide[profile, :, samples].T
        self._lost = np.zeros((forces.shape[1], len(profile)))

    @property
    def lost(self) -> np.ndarray:
        """Time lost to limits: zero, because nothing limits a profile."""
        return self._lost

    def at(self, number: int, motion: np.ndarray) -> Seen:
        """Return the forces of the profile."""
        return Seen(StepForces(*(acting[0] for acting in self.over(number, number + 1))))

    def over(self, start: int, stop: int) -> StepForces:
        """Return the forces of consecutive steps, each (step, actuator, samples)."""
        steps = np.minimum(np.arange(start, stop), self._forces.shape[3] - 1)
        acting = self._forces[..., steps][self._profile]
        of_steps = (acting[:, :, k].transpose(2, 1, 0) * self._scale for k in range(3))
        return StepForces(*(np.ascontiguousarray(each) for each in of_steps))


def moved_starts(family: Family, motion: np.ndarray, names: Sequence[str], offsets: np.ndarray) -> np.ndarray:
    """Return the motion inputs of kernels (size, case), each moved by its offsets (case, name).

    `names` are names of `robots.simulation.state_parameters`; other components do not move. Roll, pitch and yaw turn
    about the axes of the world, in this order.
    """
    offset = dict(zip(names, offsets.T, strict=True))
    result, mechanism = np.array(motion), family.reference
    if mechanism.is_chain:
        free = len(mechanism.freedoms)
        for k, name in enumerate(mechanism.freedoms):
            result[k] += offset.get(name, 0.0)
            result[free + k] += offset.get(f"{name}_rate", 0.0)
        return result
    small = len(result) == 9
    rate = 3 if small else 15
    for k, name in enumerate(("x", "y", "z")):
        result[k] += offset.get(name, 0.0)
        result[rate + k] += offset.get(f"{name}_rate", 0.0)
    if not small:
        angles = np.zeros((result.shape[1], 3))
        for k, name in enumerate(("roll", "pitch", "yaw")):
            angles[:, k] = offset.get(name, 0.0)
            result[12 + k] += offset.get(f"{name}_rate", 0.0)
        turned = roll_pitch_yaw(angles).rotation
        result[3:12] = np.einsum("nij,jkn->ikn", turned, result[3:12].reshape(3, 3, -1)).reshape(9, -1)
    return result
