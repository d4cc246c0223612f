"""Loops of a whole robot whose actuators stand still, closed numerically."""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.transform import Rotation

from robots.formats.assembly import Setting
from robots.formats.modes.asked import CLOSED
from robots.formats.tree import rows, vector
from robots.model import Frame, Limb, Mechanism

STEPS = 60


def driven(limb: Limb) -> set[str]:
    """Names of the joints that the actuators of a limb hold."""
    return {*limb.actuated, *(joint for drive in limb.drives for joint, _ in drive.ratios)}


class Forward:
    """A robot whose actuators stand still: all closures over the platform's freedoms and the other joints.

    `released` is a driven joint that is free all the same, as (limb, joint).
    """

    def __init__(self, mechanism: Mechanism, released: tuple[int, int] | None = None):
        self.mechanism, self.home = mechanism, mechanism.platform.home
        self.freedoms = mechanism.platform.mobility
        self.limbs = [mechanism.limbs[instance.limb] for instance in mechanism.instances]
        self.free = [
            [k for k, link in enumerate(limb.links) if link.joint not in driven(limb) or (number, k) == released]
            for number, limb in enumerate(self.limbs)
        ]
        lengths = [np.array(instance.base.position, dtype=float) for instance in mechanism.instances]
        self.size = max(float(np.linalg.norm(np.array(self.home.position, dtype=float) - at)) for at in lengths) or 1.0
        turning = [limb.links[k].joint_kind.turns for limb, own in zip(self.limbs, self.free, strict=True) for k in own]
        self.unit = np.array([1.0 if name[0] == "w" else self.size for name in self.freedoms])
        self.units = np.concatenate([self.unit, np.where(turning, 1.0, self.size)])

    def pose(self, x: np.ndarray) -> Frame:
        """The platform where its freedoms have gone some way."""
        ways = dict(zip(self.freedoms, x, strict=False))
        turn = Rotation.from_rotvec([ways.get(name, 0.0) for name in ("wx", "wy", "wz")]).as_matrix()
        place = np.array(self.home.position, dtype=float) + [ways.get(name, 0.0) for name in ("vx", "vy", "vz")]
        return Frame(rows(turn @ np.array(self.home.rotation, dtype=float)), vector(place))

    def joints(self, x: np.ndarray) -> list[np.ndarray]:
        """Positions of all joints of each limb."""
        result, first = [], len(self.freedoms)
        for limb, own in zip(self.limbs, self.free, strict=True):
            values = np.zeros(len(limb.links))
            values[own] = x[first : first + len(own)]
            first += len(own)
            result.append(values)
        return result

    def facing(self, x: np.ndarray) -> bool:
        """Whether axes of all joints point as they do when assembled."""
        limbs = zip(self.mechanism.instances, self.limbs, self.joints(x), strict=True)
        return all(
            Setting(limb, instance, self.pose(x), counted=True).facing(values) for instance, limb, values in limbs
        )

    def slopes(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What is open, and its slopes over the freedoms, then the joints that are free."""
        count, first = len(self.freedoms), len(self.freedoms)
        open_by, parts = [], []
        for instance, limb, own, values in zip(
            self.mechanism.instances, self.limbs, self.free, self.joints(x), strict=True
        ):
            setting = Setting(limb, instance, self.pose(x), counted=True)
            residual = setting.residual(values)
            part = np.zeros((len(residual), len(x)))
            part[:, first : first + len(own)] = setting.slopes(values)[:, own]
            for k in range(count):
                step = np.zeros(count)
                step[k] = 1e-6 * self.unit[k]
                ends = [Setting(limb, instance, self.pose(x[:count] + s * step), counted=True) for s in (1, -1)]
                part[:, k] = (ends[0].residual(values) - ends[1].residual(values)) / (2.0 * step[k])
            first += len(own)
            open_by.append(residual)
            parts.append(part)
        return np.concatenate(open_by), np.vstack(parts)

    def closed(self, x: np.ndarray) -> np.ndarray | None:
        """Where all closes near a guess: Levenberg's steps; None where it does not."""
        damping = 1e-3
        residual, slopes = self.slopes(x)
        for _ in range(STEPS):
            if np.abs(residual).max() < CLOSED:
                return x
            scaled = slopes * self.units
            whole = np.vstack([scaled, math.sqrt(damping) * np.eye(len(x))])
            step = np.linalg.lstsq(whole, np.concatenate([-residual, np.zeros(len(x))]), rcond=None)[0] * self.units
            trial = x + step * min(1.0, 0.5 / float(np.abs(step / self.units).max()))
            after, following = self.slopes(trial)
            if after @ after < residual @ residual:
                x, residual, slopes, damping = trial, after, following, max(0.1 * damping, 1e-18)
            elif damping > 1e6:
                return None
            else:
                damping *= 10.0
        return None
