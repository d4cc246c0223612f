"""Coordinates of a spanning tree: between states of a chain or of a platform and all joints of its tree.

The tree of a robot with a platform begins with six joints that stand for its pose: slides along x, y and z from the
reference pose, and turns about z, y and x from its axes (yaw, pitch, roll). These have no unique values at a pitch of a
quarter turn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass
from robots.model import Mechanism, Robot
from robots.types import TWIST
from tasks.dynamics.motions import ChainMotion, Simulation
from tasks.mathematics import rotations

Numbers = NDArray[np.float64]

POSE = 6
"""Number of joints that stand for the pose of a platform."""


@dataclass(frozen=True)
class TreeSeries:
    """Kept values: times (kept,), angles, rates, work and load_work (kept, samples, ...), status (samples,).

    For joints with friction: friction and loss (kept, samples, joint with friction); for stops: contact, impact_loss.
    """

    time: Numbers
    angles: Numbers
    rates: Numbers
    work: Numbers
    load_work: Numbers
    status: NDArray[np.int8]
    friction: Numbers
    loss: Numbers
    contact: NDArray[np.int8]
    impact_loss: Numbers


@dataclass(frozen=True)
class TreeCoordinates(ABC):
    """Robots of one family, and the number of the robot of each sample; arrays are (samples, ...)."""

    robots: tuple[Robot, ...]
    numbers: NDArray[np.int64]

    @property
    def mechanism(self) -> Mechanism:
        """Mechanism of the first robot."""
        return self.robots[0].mechanism

    @property
    @abstractmethod
    def before_limbs(self) -> int:
        """Number of joints of the tree before the joints of the limbs."""

    @abstractmethod
    def state(self, angles: Numbers, rates: Numbers) -> tuple[Numbers, Numbers]:
        """Return q and qd of the state at these joints."""

    @abstractmethod
    def pushed(self, load: Numbers, angles: Numbers) -> Numbers:
        """Return the forces (samples, joint) of a load on the platform."""

    @abstractmethod
    def result(self, series: TreeSeries, batch: tuple[int, ...]) -> Any:
        """Return the motion as simulations have it."""


@dataclass(frozen=True)
class OfChain(TreeCoordinates):
    """A chain: some of the joints are its freedoms."""

    @property
    def before_limbs(self) -> int:
        """Number of coordinates before the joints of the limb: zero."""
        return 0

    @property
    def _free(self) -> list[int]:
        return [self.mechanism.limbs[0].index(name) for name in self.mechanism.freedoms]

    def state(self, angles: Numbers, rates: Numbers) -> tuple[Numbers, Numbers]:
        """Return the freedoms of the chain: positions and rates."""
        return angles[:, self._free], rates[:, self._free]

    def pushed(self, load: Numbers, angles: Numbers) -> Numbers:
        """Return zero forces: a chain has no load on a platform."""
        return np.zeros_like(angles)

    def result(self, series: TreeSeries, batch: tuple[int, ...]) -> ChainMotion:
        """Return the motion with all joints."""

        def shaped(values: NDArray[Any]) -> NDArray[Any]:
            return values.reshape(len(values), *batch, values.shape[-1])

        friction = shaped(series.friction)
        stuck = np.zeros(friction.shape, dtype=bool)
        return ChainMotion(
            series.time, shaped(series.angles[..., self._free]), shaped(series.rates[..., self._free]),
            friction, stuck, np.zeros(friction.shape), shaped(series.loss), shaped(series.work),
            series.status.reshape(batch), shaped(series.angles), shaped(series.contact), shaped(series.impact_loss),
            np.zeros(batch, dtype=bool),
        )  # fmt: skip


@dataclass(frozen=True)
class OfPlatform(TreeCoordinates):
    """A robot with a platform."""

    @property
    def before_limbs(self) -> int:
        """Return the number of joints of its pose."""
        return POSE

    @cached_property
    def _homes(self) -> tuple[Numbers, Numbers]:
        """Reference positions (samples, 3) and rotations (samples, 3, 3)."""
        homes = [robot.mechanism.platform.home for robot in self.robots]
        position = np.array([home.position for home in homes], dtype=float)
        return position[self.numbers], np.array([home.rotation for home in homes], dtype=float)[self.numbers]

    def _pose(self, angles: Numbers, rates: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        point, axes = self._homes
        turned = axes @ _turned(angles[:, 3:POSE])
        omega = (axes_of(axes, angles) @ rates[:, 3:POSE, None])[..., 0]
        return point + angles[:, :3], turned, np.concatenate([omega, rates[:, :3]], axis=1)

    def state(self, angles: Numbers, rates: Numbers) -> tuple[Numbers, Numbers]:
        """Return the pose as position and quaternion, and the free components of its twist."""
        position, turned, twist = self._pose(angles, rates)
        quaternion = rotations.of_rotation(turned.reshape(-1, 9).T).T
        free = [TWIST.index(name) for name in self.mechanism.platform.mobility]
        return np.concatenate([position, quaternion], axis=1), twist[:, free]

    def pushed(self, load: Numbers, angles: Numbers) -> Numbers:
        """Return the force along the slides, and the moment about the axes of the turns."""
        result = np.zeros_like(angles)
        result[:, :3] = load[:, 3:]
        result[:, 3:POSE] = np.einsum("sxc,sx->sc", axes_of(self._homes[1], angles), load[:, :3])
        return result

    def result(self, series: TreeSeries, batch: tuple[int, ...]) -> Simulation:
        """Return the motion of the platform."""
        count = len(series.time)
        poses = [self._pose(angles, rates) for angles, rates in zip(series.angles, series.rates, strict=True)]
        position, rotation, twist = (np.stack(part) for part in zip(*poses, strict=True))
        friction, loss = (x.reshape(count, *batch, x.shape[-1]) for x in (series.friction, series.loss))
        stuck, open_by = np.zeros(friction.shape, dtype=bool), np.zeros((count, *batch))
        return Simulation(
            series.time, position.reshape(count, *batch, 3), rotation.reshape(count, *batch, 3, 3),
            twist.reshape(count, *batch, 6), open_by, open_by, series.status.reshape(batch), friction, stuck,
            np.zeros(friction.shape), loss, series.work.reshape(count, *batch, series.work.shape[-1]),
            series.load_work.reshape(count, *batch), series.contact.reshape(count, *batch, series.contact.shape[-1]),
            series.impact_loss.reshape(count, *batch, series.impact_loss.shape[-1]), np.zeros(batch, dtype=bool),
        )  # fmt: skip


def axes_of(home: Numbers, pose: Numbers) -> Numbers:
    """Return axes of yaw, pitch, roll in the world (samples, 3, 3), as columns; home: axes of the reference pose."""
    yaw, pitch = pose[:, 3], pose[:, 4]
    none, one = np.zeros_like(yaw), np.ones_like(yaw)
    about = (
        (none, none, one),
        (-np.sin(yaw), np.cos(yaw), none),
        (np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), -np.sin(pitch)),
    )
    return home @ np.moveaxis(np.array(about), (0, 1, 2), (2, 1, 0))


def angles_of(turned: Numbers) -> Numbers:
    """Return yaw, pitch and roll (samples, 3) of rotations (samples, 3, 3)."""
    yaw, roll = np.arctan2(turned[:, 1, 0], turned[:, 0, 0]), np.arctan2(turned[:, 2, 1], turned[:, 2, 2])
    return np.stack([yaw, np.arctan2(-turned[:, 2, 0], np.hypot(turned[:, 0, 0], turned[:, 1, 0])), roll], axis=1)


def _turned(angles: Numbers) -> Numbers:
    """Return rotations (samples, 3, 3) from yaw, pitch and roll (samples, 3)."""
    (a, b, c), (sa, sb, sc) = np.cos(angles.T), np.sin(angles.T)
    rows = (
        (a * b, a * sb * sc - sa * c, a * sb * c + sa * sc),
        (sa * b, sa * sb * sc + a * c, sa * sb * c - a * sc),
        (-sb, b * sc, b * c),
    )
    return np.moveaxis(np.array(rows), 2, 0)
