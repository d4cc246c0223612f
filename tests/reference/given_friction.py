"""Dry friction whose normal loads are reactions, along a motion that is given: its solutions, from free bodies.

Friction tau of passive joints and forces of driven ones act along axes of joints of free bodies. The driven ones are
what the accelerations ask for, an affine function of tau, and so is what bearings carry. Normal loads are lengths of
that, and tau = c N(tau) sign(v). Solutions are looked for by Newton's method from many places.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .free_bodies import Response
from .loaded_friction import Bearing

Array = NDArray[np.float64]

STEPS = 40
SOLVED = 1e-11
SHORTEST = 1e-2


@dataclass(frozen=True)
class GivenMotion:
    """Joints with dry friction of one coefficient that move at `rates` (joint,), of which `driven` follow the motion.

    `free` (freedom,) are the components of the platform's acceleration that `wanted` (freedom,) says.
    """

    response: Response
    bearing: Bearing
    coefficient: float
    rates: Array
    driven: Array
    free: Array
    wanted: Array

    @cached_property
    def passive(self) -> Array:
        """Numbers of the joints that are not driven."""
        return np.setdiff1d(np.arange(len(self.rates)), self.driven)

    @cached_property
    def forces(self) -> tuple[Array, Array]:
        """Return forces of driven joints without their own friction: those without friction, and their slopes by it."""
        start, slope = self.response.platform.start[self.free], self.response.platform.slope[self.free]
        inverse = np.linalg.inv(slope[:, self.driven])
        return inverse @ (self.wanted - start), inverse @ slope[:, self.passive]

    @cached_property
    def carried(self) -> tuple[Array, Array]:
        """Return loads of bearings without friction (joint, 5), and their slopes by friction of passive joints."""
        (first, by_tau), carried = self.forces, self.response.carried
        slope = np.einsum("jcx,xp->jcp", carried.slope[:, :, self.driven], by_tau) - carried.slope[:, :, self.passive]
        return carried.start + carried.slope[:, :, self.driven] @ first, slope

    def loads(self, tau: Array) -> tuple[Array, Array]:
        """Normal loads (joint,) of all joints and how they change with friction of passive ones (joint, passive)."""
        start, slope = self.carried
        parts = start + slope @ tau
        lengths = [_length(parts[:, rows], slope[:, rows]) for rows in (slice(0, 2), slice(2, 4), slice(4, 5))]
        arms = self.bearing
        turning = (arms.pin_radius / arms.bending_arm, arms.pin_radius, arms.friction_arm)
        sliding = (1.0 / arms.bending_arm, 1.0, 1.0 / arms.friction_arm)
        by_kind = np.where(arms.slides[:, None], sliding, turning)
        whole = sum(by_kind[:, k] * size for k, (size, _) in enumerate(lengths))
        return np.asarray(whole), np.asarray(sum(by_kind[:, [k]] * change for k, (_, change) in enumerate(lengths)))

    def residual(self, tau: Array) -> tuple[Array, Array]:
        """Return the difference of friction of passive joints from the law at its loads, and its Jacobian."""
        loads, slope = self.loads(tau)
        signs = self.coefficient * np.sign(self.rates[self.passive])
        return tau - signs * loads[self.passive], np.eye(len(tau)) - signs[:, None] * slope[self.passive]

    def newton(self, start: Array) -> Array | None:
        """A solution from there; None where Newton's method does not come to any."""
        tau = np.array(start, dtype=float)
        for _ in range(STEPS):
            value, jacobian = self.residual(tau)
            if np.abs(value).max() <= SOLVED * np.abs(tau).max():
                return tau
            step, share, size = np.linalg.lstsq(jacobian, -value, rcond=1e-12)[0], 1.0, np.linalg.norm(value)
            while share > SHORTEST and np.linalg.norm(self.residual(tau + share * step)[0]) >= size:
                share *= 0.5
            tau = tau + (share if share > SHORTEST else 1.0) * step
        return None

    def solutions(self, starts: int, seed: int = 0) -> list[Array]:
        """Friction of passive joints in all solutions that are found, the smallest first."""
        random, none = np.random.default_rng(seed), np.zeros(len(self.passive))
        size = self.coefficient * self.loads(none)[0].mean()
        found: list[Array] = []
        for k in range(starts):
            spread = random.exponential(size=len(none)) * size * 10.0 ** random.uniform(-1.0, 2.0)
            tau = self.newton(np.sign(self.rates[self.passive]) * spread if k else none)
            if tau is not None and not any(np.abs(tau - x).max() < 1e-6 * np.abs(x).max() for x in found):
                found.append(tau)
        return sorted(found, key=lambda x: float(np.abs(x).sum()))

    def driving(self, tau: Array) -> Array:
        """Forces of the driven joints with their own friction."""
        first, by_tau = self.forces
        own = self.coefficient * self.loads(tau)[0][self.driven] * np.sign(self.rates[self.driven])
        return np.asarray(first + by_tau @ tau + own)


def _length(parts: Array, slope: Array) -> tuple[Array, Array]:
    """Length of vectors (joint, 2 or 1) and how it changes."""
    size = np.sqrt((parts**2).sum(axis=1))
    return size, np.einsum("jc,jcp->jp", parts / np.maximum(size, 1e-300)[:, None], slope)
