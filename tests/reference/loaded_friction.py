"""Dry friction whose normal loads are reactions, of free bodies: is a result one, and which there are.

Everything is affine in the friction forces tau of joints, but for what bearings carry: that makes normal loads N(tau)
by lengths of vectors, and limits c N. A joint in motion has tau = c N sign(v). One at rest has tau within its limits,
and at them where its acceleration s goes on that way:

    tau = the value nearest to tau + r s(tau) between -c N(tau) and c N(tau),    r > 0

These equations are solved as they stand by Newton's method for such kinks, with steps of least squares, from where a
caller says: no convex problem, no partition, no going round of loads. Source: Alart and Curnier 1991.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .free_bodies import Response

Array = NDArray[np.float64]

STEPS = 200
SOLVED = 1e-11
SHORTEST = 1e-6


class Bearing(NamedTuple):
    """Arms by which what a bearing carries becomes a normal load [m]; `slides` (joint,) says which joints do."""

    friction_arm: float
    pin_radius: float
    bending_arm: float
    slides: Array


class LoadedFriction(NamedTuple):
    """Joints with dry friction of one coefficient, their rates (joint,), where 0 is at rest, and what forces do."""

    response: Response
    bearing: Bearing
    coefficient: float
    rates: Array

    def loads(self, tau: Array) -> tuple[Array, Array]:
        """Normal loads (joint,) and how they change with tau (joint, joint)."""
        carried, slope = self.response.carried(-tau), -self.response.carried.slope
        bending, by_bending = _length(carried[:, :2], slope[:, :2])
        radial, by_radial = _length(carried[:, 2:4], slope[:, 2:4])
        along, by_along = _length(carried[:, 4:], slope[:, 4:])
        side, by_side = bending / self.bearing.bending_arm + radial, by_bending / self.bearing.bending_arm + by_radial
        wide, arm = self.bearing.pin_radius, self.bearing.friction_arm
        slides = self.bearing.slides
        loads = np.where(slides, side + along / arm, side * wide + along * arm)
        return loads, np.where(slides[:, None], by_side + by_along / arm, by_side * wide + by_along * arm)

    def residual(self, tau: Array) -> tuple[Array, Array]:
        """Return the residual of the equations (joint,), and its Jacobian."""
        loads, slope = self.loads(tau)
        limits, slopes = self.coefficient * loads, self.coefficient * slope
        rate = 1.0 / np.maximum(np.abs(np.diagonal(self.response.acceleration.slope)), 1e-9)
        going = tau + rate * self.response.acceleration(-tau)
        ahead = np.eye(len(tau)) - rate[:, None] * self.response.acceleration.slope
        moving = self.rates != 0.0
        side = np.where(
            moving, np.sign(self.rates), np.where(going > limits, 1.0, np.where(going < -limits, -1.0, 0.0))
        )
        held = side == 0.0
        value = np.where(held, going, side * limits)
        return tau - value, np.eye(len(tau)) - np.where(held[:, None], ahead, side[:, None] * slopes)

    def missing(self, tau: Array) -> float:
        """The largest of it, relative to the largest friction or limit."""
        size = max(np.abs(tau).max(initial=0.0), self.coefficient * self.loads(tau)[0].max(initial=0.0), 1e-30)
        return float(np.abs(self.residual(tau)[0]).max(initial=0.0) / size)

    def solved(self, start: Array) -> Array | None:
        """Friction (joint,) that has all of them, from there; None where Newton's method does not come to any."""
        tau = np.array(start, dtype=float)
        for _ in range(STEPS):
            value, jacobian = self.residual(tau)
            if self.missing(tau) <= SOLVED:
                return tau
            step, share, size = np.linalg.lstsq(jacobian, -value, rcond=1e-10)[0], 1.0, np.abs(value).max()
            while share > SHORTEST and np.abs(self.residual(tau + share * step)[0]).max() >= size:
                share *= 0.5
            tau = tau + (share if share > SHORTEST else 1.0) * step
        return None

    def solutions(self, starts: int, seed: int = 0) -> list[Array]:
        """Friction (joint,) of solutions that are found from places of all sizes, of different accelerations."""
        random, none = np.random.default_rng(seed), np.zeros(len(self.rates))
        size, found = self.coefficient * self.loads(none)[0].mean(), list[tuple[Array, Array]]()
        for k in range(starts):
            spread = random.exponential(size=len(none)) * size * 10.0 ** random.uniform(-1.0, 2.0)
            side = np.where(self.rates == 0.0, random.choice([-1.0, 1.0], len(none)), np.sign(self.rates))
            tau = self.solved(side * spread if k else none)
            if tau is None:
                continue
            change = self.response.platform(-tau) if len(self.response.platform.start) else none
            change = np.concatenate([change, self.response.acceleration(-tau)])
            if not any(np.abs(change - x).max() < 1e-6 * (1.0 + np.abs(x).max()) for _, x in found):
                found.append((tau, change))
        return [tau for tau, _ in found]


def _length(parts: Array, slope: Array) -> tuple[Array, Array]:
    """Length of vectors (joint, 2 or 1) and how it changes, from changes (joint, 2 or 1, joint)."""
    size = np.sqrt((parts**2).sum(axis=1))
    unit = parts / np.maximum(size, 1e-300)[:, None]
    return size, np.einsum("jc,jck->jk", unit, slope)
