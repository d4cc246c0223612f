"""Poses of a platform for the same positions of its actuators, on curves along which one of these moves.

While all actuators but one stand still a mechanism has one freedom: its configurations are a curve, which passes
singularities of the platform and of limbs without a break. Where the actuator that moves is back at its own position
there is another pose. Loops inside limbs stay as they are assembled, as the curve ends where they become singular;
guesses far away would fold most parallelograms over. Source: continuation by arc length with a tangent step and
Newton's steps across it, Allgower, Georg 2003, chapters 2 and 6.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from robots.formats.assembly import Setting
from robots.formats.modes.asked import CLOSED
from robots.formats.modes.forward import Forward, driven
from robots.formats.modes.limb_modes import regular_part

LEAST, LONGEST = 1e-4, 0.25
"""Steps along a curve [rad, or sizes]."""
POINTS = 400
"""Steps of a curve, at most."""
ROUNDS = 6
"""Newton's steps back to a curve, at most."""
BENT = 0.9
"""Least cosine between the directions of a curve at both ends of a step, and between determinants of loops there."""


class Loops:
    """The loops inside the limbs of a robot, which are not to fold over on the way.

    Where a parallelogram is flat, all determinants of its conditions over some of its joints are zero, and have other
    signs behind. So from one point of a curve to the next, these keep their proportions nearly.
    """

    def __init__(self, forward: Forward):
        self.forward = forward
        self.moving, self.rows = dict[int, np.ndarray](), dict[int, list[int]]()
        usual = forward.joints(np.zeros(len(forward.units)))
        for k in (k for k, limb in enumerate(forward.limbs) if limb.loops):
            slopes = self._slopes(k, usual[k])
            self.moving[k] = np.flatnonzero(np.abs(slopes).max(axis=0) > 0.0)
            self.rows[k] = regular_part(slopes)[0]

    def _slopes(self, k: int, joints: np.ndarray) -> np.ndarray:
        """Derivatives of the conditions of a limb's loops over its joints."""
        limb, mechanism = self.forward.limbs[k], self.forward.mechanism
        return Setting(replace(limb, tips=()), mechanism.instances[k], self.forward.home, counted=True).slopes(joints)

    def determinants(self, x: np.ndarray) -> list[np.ndarray]:
        """For each limb with loops: over every choice of as many joints as there are independent conditions."""
        joints, result = self.forward.joints(x), list[np.ndarray]()
        for k, rows in self.rows.items():
            slopes = self._slopes(k, joints[k])[rows]
            choices = itertools.combinations(self.moving[k], len(rows))
            result.append(np.array([np.linalg.det(slopes[:, choice]) for choice in choices]))
        return result


def _alike(before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> bool:
    """Whether determinants are in nearly the same proportions."""
    pairs = ((a @ b, np.linalg.norm(a) * np.linalg.norm(b)) for a, b in zip(before, after, strict=True))
    return all(product > BENT * size for product, size in pairs)


def on_curves(forward: Forward) -> Iterator[np.ndarray]:
    """Other poses for the same positions of all actuators, one actuator after the other moving on the way."""
    for number, limb in enumerate(forward.limbs):
        for joint in (k for k, link in enumerate(limb.links) if link.joint in driven(limb)):
            curve = Forward(forward.mechanism, (number, joint))
            column = len(forward.freedoms) + sum(map(len, curve.free[:number])) + curve.free[number].index(joint)
            for sense in (1.0, -1.0):
                for x in _returns(curve, column, sense):
                    there = forward.closed(np.delete(x, column))
                    if there is not None:
                        yield there


def _returns(curve: Forward, column: int, sense: float) -> Iterator[np.ndarray]:
    """Points of a curve near to where one of its variables comes back to zero."""
    loops, x = Loops(curve), np.zeros(len(curve.units))
    before = loops.determinants(x)
    ahead, step = sense * _direction(curve.slopes(x)[1] * curve.units), 0.1 * LONGEST
    for _ in range(POINTS):
        reached, slopes = _corrected(curve, x + step * ahead * curve.units)
        direction = _direction(slopes)
        if reached is not None:
            after = loops.determinants(reached)
        if reached is None or abs(cosine := float(ahead @ direction)) < BENT or not _alike(before, after):
            step *= 0.5
            if step < LEAST:
                return
            continue
        if x[column] * reached[column] < 0.0:
            yield x + x[column] / (x[column] - reached[column]) * (reached - x)
        x, before, ahead = reached, after, direction if cosine > 0.0 else -direction
        if np.abs(x / curve.units).max() < 0.5 * step:
            return  # all the way round
        step = min(1.5 * step, LONGEST)


def _direction(slopes: np.ndarray) -> np.ndarray:
    """The unit tangent of a curve from what its conditions change by with variables that have no unit."""
    tangent: np.ndarray = np.linalg.svd(slopes)[2][-1]
    return tangent


def _corrected(curve: Forward, x: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """The point of a curve near another one, None where Newton's steps find none; slopes there, without unit."""
    for _ in range(ROUNDS):
        open_by, slopes = curve.slopes(x)
        slopes = slopes * curve.units
        if np.abs(open_by).max() < CLOSED:
            return x, slopes
        x = x - np.linalg.lstsq(slopes, open_by, rcond=1e-9)[0] * curve.units
    return None, slopes
