"""Solutions of dry friction whose normal loads are reactions, for many states and starts side by side.

The equations and Newton's method of `loaded_friction`, which is the slow twin, with a batch of problems (problem,
joint): each a state and a start of its own. Problems that are solved leave the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .loaded_friction import SHORTEST, SOLVED, STEPS, LoadedFriction

Array = NDArray[np.float64]

CONDITION = 1e8
"""Condition number up to which linear equations are solved by elimination, not by singular values."""

ALIKE = 1e-6
"""Difference of accelerations up to which two solutions are one."""


class Batch(NamedTuple):
    """Problems: responses of joints (problem, ...), rates, arms by which loads count, and the coefficient."""

    start: Array
    slope: Array
    carried: Array
    carried_slope: Array
    rates: Array
    arms: Array
    coefficient: float

    @classmethod
    def of(cls, states: Sequence[LoadedFriction]) -> Batch:
        """From states of one robot, a problem each."""
        bearing = states[0].bearing
        along = [1.0 / bearing.bending_arm, 1.0, 1.0 / bearing.friction_arm]
        turning = [bearing.pin_radius / bearing.bending_arm, bearing.pin_radius, bearing.friction_arm]
        return cls(
            np.stack([s.response.acceleration.start for s in states]),
            np.stack([s.response.acceleration.slope for s in states]),
            np.stack([s.response.carried.start for s in states]),
            np.stack([s.response.carried.slope for s in states]),
            np.stack([s.rates for s in states]), np.where(bearing.slides[:, None], along, turning),
            states[0].coefficient,
        )  # fmt: skip

    def of_problems(self, chosen: NDArray[np.int64]) -> Batch:
        """Return some of the problems, also several times."""
        start, slope, carried, carried_slope, rates = (part[chosen] for part in self[:5])
        return Batch(start, slope, carried, carried_slope, rates, self.arms, self.coefficient)

    def lengths(self, tau: Array) -> tuple[Array, Array]:
        """Return what joints carry (problem, joint, 5), and the lengths of moment, force across and along it."""
        count, joints = tau.shape
        flat = self.carried_slope.reshape(count, joints * 5, joints) @ tau[..., None]
        carried = self.carried - flat.reshape(count, joints, 5)
        across = [np.hypot(carried[..., k], carried[..., k + 1]) for k in (0, 2)]
        return carried, np.stack([*across, np.abs(carried[..., 4])], axis=-1)

    def loads(self, tau: Array) -> Array:
        """Return normal loads (problem, joint)."""
        return np.asarray(np.einsum("pjc,jc->pj", self.lengths(tau)[1], self.arms))

    def sides(self, tau: Array, limits: Array) -> tuple[Array, Array]:
        """Return the friction that joints at rest would go on with, and their side: 0 within the limits."""
        going = tau + self._rate * (self.start - (self.slope @ tau[..., None])[..., 0])
        at_rest = np.where(going > limits, 1.0, np.where(going < -limits, -1.0, 0.0))
        return going, np.where(self.rates != 0.0, np.sign(self.rates), at_rest)

    @property
    def _rate(self) -> Array:
        return 1.0 / np.maximum(np.abs(np.diagonal(self.slope, axis1=1, axis2=2)), 1e-9)

    def residual(self, tau: Array) -> tuple[Array, Array]:
        """Return what is missing of the equations (problem, joint), and the largest friction or limit (problem,)."""
        limits = self.coefficient * self.loads(tau)
        going, side = self.sides(tau, limits)
        size = np.maximum(np.abs(tau).max(axis=1), limits.max(axis=1))
        return tau - np.where(side == 0.0, going, side * limits), np.maximum(size, 1e-30)

    def jacobian(self, tau: Array) -> Array:
        """Return the slope of what is missing (problem, joint, joint)."""
        carried, lengths = self.lengths(tau)
        unit = carried / np.maximum(lengths, 1e-300)[..., [0, 0, 1, 1, 2]] * self.arms[:, [0, 0, 1, 1, 2]]
        by_load = -np.einsum("pjc,pjck->pjk", unit, self.carried_slope)
        limits = self.coefficient * np.einsum("pjc,jc->pj", lengths, self.arms)
        _, side = self.sides(tau, limits)
        one = np.eye(tau.shape[1])
        ahead = one - self._rate[..., None] * self.slope
        return np.asarray(one - np.where((side == 0.0)[..., None], ahead, side[..., None] * self.coefficient * by_load))


def steps_of(jacobian: Array, value: Array) -> Array:
    """Return Newton's steps (problem, joint), of least squares where equations are nearly singular."""
    with np.errstate(all="ignore"):
        try:
            inverse = np.linalg.inv(jacobian)
        except np.linalg.LinAlgError:
            inverse = np.full_like(jacobian, np.inf)
        condition = np.abs(jacobian).sum(axis=2).max(axis=1) * np.abs(inverse).sum(axis=2).max(axis=1)
        result = -(inverse @ value[..., None])[..., 0]
    poor = ~(condition < CONDITION)
    if poor.any():
        result[poor] = -(np.linalg.pinv(jacobian[poor], rcond=1e-10) @ value[poor][..., None])[..., 0]
    return np.asarray(result)


def solved(batch: Batch, starts: Array) -> Array:
    """Return friction (problem, joint) that meets the equations, from starts; NaN where there is none."""
    result, tau, left = np.full_like(starts, np.nan), starts.copy(), np.arange(len(starts))
    for _ in range(STEPS):
        value, size = batch.residual(tau)
        done = np.abs(value).max(axis=1) <= SOLVED * size
        result[left[done]] = tau[done]
        if done.all():
            break
        batch, tau, value, left = batch.of_problems(np.flatnonzero(~done)), tau[~done], value[~done], left[~done]
        step, largest = steps_of(batch.jacobian(tau), value), np.abs(value).max(axis=1)
        share, waits = np.ones(len(tau)), np.arange(len(tau))
        while len(waits):
            part = batch if len(waits) == len(tau) else batch.of_problems(waits)
            trial = tau[waits] + share[waits, None] * step[waits]
            waits = waits[np.abs(part.residual(trial)[0]).max(axis=1) >= largest[waits]]
            share[waits] *= 0.5
            waits = waits[share[waits] > SHORTEST]
        tau = tau + np.where(share > SHORTEST, share, 1.0)[:, None] * step
    return result


def places(loaded: LoadedFriction, starts: int, seed: int = 0) -> Array:
    """Return starts (start, joint) of all sizes, as those of `LoadedFriction.solutions`."""
    random, none = np.random.default_rng(seed), np.zeros(len(loaded.rates))
    size, result = loaded.coefficient * loaded.loads(none)[0].mean(), []
    for k in range(starts):
        spread = random.exponential(size=len(none)) * size * 10.0 ** random.uniform(-1.0, 2.0)
        side = np.where(loaded.rates == 0.0, random.choice([-1.0, 1.0], len(none)), np.sign(loaded.rates))
        result.append(side * spread if k else none)
    return np.stack(result)


def solutions(states: Sequence[LoadedFriction], starts: int) -> list[list[Array]]:
    """Return friction (joint,) of the solutions of each state that differ in their accelerations."""
    batch = Batch.of(states).of_problems(np.repeat(np.arange(len(states)), starts))
    found = solved(batch, np.concatenate([places(state, starts) for state in states]))
    return [_different(state, taus) for state, taus in zip(states, found.reshape(len(states), starts, -1), strict=True)]


def _different(state: LoadedFriction, taus: Array) -> list[Array]:
    result, changes = [], list[Array]()
    for tau in taus[np.isfinite(taus).all(axis=1)]:
        seat = state.response.platform(-tau) if len(state.response.platform.start) else np.zeros(len(tau))
        change = np.concatenate([seat, state.response.acceleration(-tau)])
        if not any(np.abs(change - x).max() < ALIKE * (1.0 + np.abs(x).max()) for x in changes):
            result.append(tau)
            changes.append(change)
    return result
