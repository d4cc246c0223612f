"""Positions, rates and forces of drives at the motions of a batch, as controllers and simulations read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from robots.model import Family
from robots.status import Status
from tasks.kernels.keys import Indexed, Values
from tasks.mechanics.families import structure_of
from tasks.stages.parts import VELOCITY


class DriveModel(Protocol):
    """The inverse model of a robot for a batch: `tasks.dynamics.drive_model.InverseModel`."""

    @property
    def family(self) -> Family:
        """The family of the robot."""

    @property
    def freedoms(self) -> Sequence[int]:
        """Positions of the freedoms among the components of a twist."""

    def signals_at(self, time: float, width: int) -> np.ndarray:
        """Return the signals of loads at a time [s], the same for all samples (signal, samples)."""

    def run(self, motion: np.ndarray, *, forces: bool = True, signals: np.ndarray | None = None) -> Inverse:
        """Compute the values at a motion input (size, samples); without `forces` positions and J_IK alone."""


class Inverse:
    """Results of `InverseModel.run`, with the `signals` (signal, samples) of loads."""

    def __init__(self, values: Values, limbs: int, forces: bool, signals: np.ndarray):
        self.values, self._limbs, self._forces, self.signals = values, range(limbs), forces, signals

    @property
    def position(self) -> np.ndarray:
        """Positions of the actuators (actuator, samples)."""
        return np.concatenate([self.values[Indexed("actuator_position", k)][0] for k in self._limbs])

    def of_limbs(self, name: str) -> list[np.ndarray]:
        """Return a series of each limb (joint, samples)."""
        return [self.values[Indexed(name, k)][0] for k in self._limbs]

    @property
    def velocity(self) -> np.ndarray:
        """Their rates."""
        return self.values[VELOCITY][0]

    @property
    def force(self) -> np.ndarray:
        """Forces of the motion (actuator, samples)."""
        return self.values["force"][0]

    @property
    def jacobians(self) -> Values:
        """J_IK of each limb, as programs take it."""
        return {Indexed("jacobian", k): self.values[Indexed("jacobian", k)] for k in self._limbs}

    @property
    def status(self) -> np.ndarray:
        """Status (samples,)."""
        if self._forces:
            return self.values["status"][0, 0]
        worst = [self.values[Indexed("status", k)][0, 0] for k in self._limbs]
        return np.asarray(np.max(worst, axis=0), dtype=float)


def is_ok(status: np.ndarray) -> np.ndarray:
    """Return a mask of the samples with status OK."""
    return np.asarray(status == float(Status.OK))


Seen = Sequence[np.ndarray]
"""A state: q and qd (freedom, samples) of a chain; position (3,), rotation (3, 3), twist (6, samples) of a platform."""


def motion_input(family: Family, seen: Seen) -> np.ndarray:
    """Return the motion input of kernels (size, samples) of a state, without accelerations."""
    if family.reference.is_chain:
        q, qd = seen
        return np.concatenate([q, qd, np.zeros_like(q)])
    position, rotation, twist = seen
    none = np.zeros_like(position)
    if structure_of(family).motion_size == 9:
        return np.concatenate([position, twist[3:], none])
    return np.concatenate([position, rotation.reshape(9, -1), twist, none, none])
