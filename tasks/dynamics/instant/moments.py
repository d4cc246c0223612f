"""State of a batch at one time: friction modes, rates, and when these count as changed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from robots.data_classes import dataclass
from tasks.dynamics.instant.layout import StateLayout

ROUNDING = 1e-12
"""Share of a limit, or of a velocity, that counts as none."""


UNIT = 1e-15
"""Largest deviation of the length of a quaternion from one."""


LOOSE = 2.0
"""Value in place of 1 in `JointModes.rest`: at rest, after friction has been exceeded."""


@dataclass(frozen=True)
class JointModes:
    """Friction modes: joints at rest (joint, samples), and the direction of the others (1, -1, or 0 without modes)."""

    both: np.ndarray

    @classmethod
    def of(cls, resting: np.ndarray, direction: np.ndarray) -> JointModes:
        """Return the modes of joints from the rows of `resting` and `direction`."""
        return cls(np.concatenate([resting, direction]))

    @property
    def rest(self) -> np.ndarray:
        """1 where a joint is at rest, LOOSE where it may hold no more than the friction of motion."""
        return self.both[: len(self.both) // 2]

    @property
    def direction(self) -> np.ndarray:
        """Direction of moving joints (joint, samples): 1 or -1."""
        return self.both[len(self.both) // 2 :]


@dataclass(frozen=True)
class StateRates:
    """Rates of a robot at a state: its `rate`, values OF_JOINTS of its `joints`, speeds that joints at rest allow.

    dependent, status (samples,): as of the program.
    """

    layout: StateLayout
    rate: np.ndarray
    joints: np.ndarray
    kept_speed: np.ndarray
    dependent: np.ndarray
    status: np.ndarray

    def __getattr__(self, name: str) -> np.ndarray:
        """Return one of OF_JOINTS, (joint, samples)."""
        return self.joints[self.layout.of_joints[name]]


@dataclass(frozen=True)
class Moment:
    """State, friction modes and rates of a batch at one time."""

    state: np.ndarray
    modes: JointModes
    rates: StateRates

    def arrays(self) -> tuple[np.ndarray, ...]:
        """Return the arrays of state, modes and rates."""
        r = self.rates
        return self.state, self.modes.both, r.rate, r.joints, r.kept_speed, r.dependent, r.status

    def like(self, arrays: Iterable[np.ndarray]) -> Moment:
        """Return a moment of the same system from its arrays."""
        state, modes, *rates = arrays
        return Moment(state, JointModes(modes), StateRates(self.rates.layout, *rates))

    def of(self, columns: np.ndarray) -> Moment:
        """Return the moment of some samples."""
        return self.like(each.take(columns, axis=-1) for each in self.arrays())

    def replaced(self, columns: np.ndarray, part: Moment) -> Moment:
        """Return the same with other values for some samples."""
        result = self.like(each.copy() for each in self.arrays())
        for target, source in zip(result.arrays(), part.arrays(), strict=True):
            target[..., columns] = source
        return result


ROUGH = 0.1
"""Difference of the two accelerations in the middle of a step, relative to the largest, from which it is too long."""


STILL = 1e-6
"""Acceleration [m/s^2, rad/s^2] below which differences are rounding."""
