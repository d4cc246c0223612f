"""The other assembly mode of a platform: another pose for the same positions of the actuators.

It is the nearest at which the determinant of all closures over what the actuators leave free, the freedoms of the
platform and the other joints, has another sign. Poses are found from random guesses, always the same ones.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.transform import Rotation

from robots.formats.assembly import Setting
from robots.formats.modes.asked import CLOSED, BranchError, RoughConfiguration
from robots.formats.modes.limb_modes import regular_part
from robots.formats.tree import rows, vector
from robots.model import Frame, Limb, Mechanism

TRIES = 60
"""Guesses from which other poses are looked for."""
ENOUGH = 4
"""Other poses of which the nearest is taken."""
APART = 1e-3
"""Difference of poses [rad, or of sizes] that are not the same."""
STEPS = 60
REGULAR = 1e-3
"""Determinants relative to those at the reference pose, above which they have a sign."""


class _Forward:
    """A robot whose actuators stand still: all closures over the platform's freedoms and the other joints."""

    def __init__(self, mechanism: Mechanism):
        self.mechanism, self.home = mechanism, mechanism.platform.home
        self.freedoms = mechanism.platform.mobility
        self.limbs = [mechanism.limbs[instance.limb] for instance in mechanism.instances]
        self.free = [[k for k, link in enumerate(limb.links) if link.joint not in _driven(limb)] for limb in self.limbs]
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


def _driven(limb: Limb) -> set[str]:
    return {*limb.actuated, *(joint for drive in limb.drives for joint, _ in drive.ratios)}


def other_assembly(mechanism: Mechanism) -> RoughConfiguration:
    """The nearest other pose for the same positions of the actuators. Raises BranchError."""
    if looped := [instance.name for instance in mechanism.instances if mechanism.limbs[instance.limb].loops]:
        # loops may fold over on the way, as parallelograms do, which is no mode of the platform
        hint = "Say where the platform is, by position and rotation, and roughly where joints of each limb are."
        raise BranchError(("assembly",), f"other, with loops in limb {looped[0]}", "limbs without loops", hint)
    forward, random = _Forward(mechanism), np.random.default_rng(20240501)
    usual = np.zeros(len(forward.units))
    first = forward.slopes(usual)[1]
    own_rows, columns = regular_part(first)
    if len(columns) < len(usual):
        hint = "Another reference pose is asked for by position and rotation."
        raise BranchError(("assembly",), "a reference pose at a singularity", "one whose actuators hold it", hint)
    others: list[tuple[float, np.ndarray]] = []
    begin = float(np.linalg.det(first[own_rows]))
    for _ in range(TRIES):
        there = forward.closed(
            random.uniform(-1.0, 1.0, len(usual)) * np.where(forward.units == 1.0, 1.5, forward.units)
        )
        if there is None:
            continue
        moved = there[: len(forward.freedoms)] / forward.unit
        if np.abs(moved).max() <= APART:
            continue
        if float(np.linalg.det(forward.slopes(there)[1][own_rows])) * begin < -REGULAR * begin * begin:
            others.append((float(np.round(np.linalg.norm(moved), 6)), there))
            if len(others) == ENOUGH:
                break
    if not others:
        got = f"a robot without another pose for these positions of its actuators, in {TRIES} tries"
        raise BranchError(("assembly",), got, "a robot that has one", "Say where the platform is, by position.")
    x = min(others, key=lambda entry: (entry[0], tuple(np.round(entry[1], 6))))[1]
    joints = tuple(
        (instance.name, tuple((link.joint, float(v)) for link, v in zip(limb.links, values, strict=True)))
        for instance, limb, values in zip(mechanism.instances, forward.limbs, forward.joints(x), strict=True)
    )
    return RoughConfiguration(joints, forward.pose(x))
