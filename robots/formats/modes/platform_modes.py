"""The other assembly mode of a platform: another pose for the same positions of the actuators.

It is the nearest at which the determinant of all closures over what the actuators leave free, the freedoms of the
platform and the other joints, has another sign. Poses are found from random guesses, always the same ones; where limbs
have loops, which most guesses fold over, on curves along which one actuator moves, and the first there is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from robots.formats.assembly import Setting
from robots.formats.modes.asked import CLOSED, BranchError, RoughConfiguration
from robots.formats.modes.curves import on_curves
from robots.formats.modes.forward import Forward
from robots.formats.modes.limb_modes import LimbSigns, regular_part
from robots.formats.modes.way import brought, way
from robots.model import Mechanism

TRIES = 60
"""Guesses from which other poses are looked for."""
ENOUGH = 4
"""Other poses of which the nearest is taken."""
APART = 1e-3
"""Difference of poses [rad, or of sizes] that are not the same."""
WAY = 12
"""Steps in which the platform is brought to another pose."""
REGULAR = 1e-3
"""Determinants relative to those at the reference pose, above which they have a sign."""


def other_assembly(mechanism: Mechanism) -> RoughConfiguration:
    """The nearest other pose for the same positions of the actuators. Raises BranchError."""
    forward = Forward(mechanism)
    usual = np.zeros(len(forward.units))
    first = forward.slopes(usual)[1]
    own_rows, columns = regular_part(first)
    if len(columns) < len(usual):
        hint = "Another reference pose is asked for by position and rotation."
        raise BranchError(("assembly",), "a reference pose at a singularity", "one whose actuators hold it", hint)
    others: list[tuple[float, np.ndarray]] = []
    begin = float(np.linalg.det(first[own_rows]))
    limbs = [
        LimbSigns(Setting(limb, instance, forward.home, counted=True), np.zeros(len(limb.links)))
        for instance, limb in zip(mechanism.instances, forward.limbs, strict=True)
    ]
    looped = any(limb.loops for limb in mechanism.limbs)
    for there in on_curves(forward) if looped else _by_chance(forward):
        moved = there[: len(forward.freedoms)] / forward.unit
        if np.abs(moved).max() <= APART or not forward.facing(there) or _singular(forward, limbs, there):
            continue
        signs = (float(np.linalg.det(forward.slopes(x)[1][own_rows])) * begin for x in _both(forward, there))
        if all(sign < -REGULAR * begin * begin for sign in signs):
            others.append((float(np.round(np.linalg.norm(moved), 6)), there))
            if looped or len(others) == ENOUGH:
                break
    if not others:
        got = "a robot without another pose for these positions of its actuators, as far as is found"
        raise BranchError(("assembly",), got, "a robot that has one", "Say where the platform is, by position.")
    x = min(others, key=lambda entry: (entry[0], tuple(np.round(entry[1], 6))))[1]
    joints = tuple(
        (instance.name, tuple((link.joint, float(v)) for link, v in zip(limb.links, values, strict=True)))
        for instance, limb, values in zip(mechanism.instances, forward.limbs, forward.joints(x), strict=True)
    )
    return RoughConfiguration(joints, forward.pose(x))


def _singular(forward: Forward, limbs: Sequence[LimbSigns], x: np.ndarray) -> bool:
    """Whether the platform does not hold the joints of a limb there, as it does at the reference pose."""
    pose = forward.pose(x)
    for signs, joints in zip(limbs, forward.joints(x), strict=True):
        for there, usual in zip(signs.at(joints, pose), signs.at(signs.usual), strict=True):
            if np.isfinite(usual) and not abs(there) > REGULAR * abs(usual):
                return True
    return False


def _both(forward: Forward, x: np.ndarray) -> Iterator[np.ndarray]:
    """A pose with its joints, and with those of limbs as they are usually assembled where actuators are at the same.

    Two joints that cross, as those of a universal joint, have two positions for one direction: determinants have
    another sign for the other, though nothing is assembled in another way.
    """
    yield x
    mechanism, usual, first = forward.mechanism, x.copy(), len(forward.freedoms)
    poses = list(way(forward.home, forward.pose(x), WAY))
    for instance, limb, own in zip(mechanism.instances, forward.limbs, forward.free, strict=True):
        joints, left = brought([Setting(limb, instance, pose, counted=True) for pose in poses])
        held = [k for k in range(len(joints)) if k not in own]
        turning = [limb.links[k].joint_kind.turns for k in held]
        moved = np.where(turning, (joints[held] + np.pi) % (2.0 * np.pi) - np.pi, joints[held])
        if left <= CLOSED and np.abs(moved).max(initial=0.0) < APART:
            usual[first : first + len(own)] = joints[own]
        first += len(own)
    yield usual


def _by_chance(forward: Forward) -> Iterator[np.ndarray]:
    """Poses near random guesses."""
    random = np.random.default_rng(20240501)
    spread = np.where(forward.units == 1.0, 1.5, forward.units)
    for _ in range(TRIES):
        there = forward.closed(random.uniform(-1.0, 1.0, len(spread)) * spread)
        if there is not None:
            yield there
