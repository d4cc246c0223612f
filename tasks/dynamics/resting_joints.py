"""Joints that come to rest, stick, or break away: friction modes of a batch at a state, and when they end.

All joints at rest are solved for together, because those of a loop hold each other. The functions take any system with
friction; `tasks.dynamics.motion_system` gives the rates in given modes, `tasks.dynamics.integration` finds the time at
which a mode ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from robots.status import Status
from tasks.dynamics.instant.moments import LOOSE, ROUNDING, JointModes, StateRates
from tasks.dynamics.step_methods import RatedSystem

Force = Callable[[np.ndarray], np.ndarray]
"""Function from states (size, samples) to external inputs (rows of `StateLayout.acting`, samples)."""

STOPPED = 1e-10
"""Share of the largest velocity of a joint in a step below which one is at rest where another comes to rest."""

ANOTHER = 1e-6
"""Difference of friction that means another motion, relative to the largest friction."""

ROUNDS = 3
"""Largest number of rounds in which joints at rest are divided into sticking ones and ones that break away."""

UNDIVIDED = (float(Status.FRICTION_SEVERAL_SOLUTIONS), float(Status.FRICTION_NO_SOLUTION))
"""Statuses of samples whose joints at rest are not divided."""


class FrictionSystem(RatedSystem, Protocol):
    """The part of `tasks.dynamics.motion_system.MotionSystem` that decides which joints rest."""

    sticking: np.ndarray
    """Mask of the joints that can stick."""
    loaded: bool
    """True if reactions load the friction of a joint."""


def first_modes(system: FrictionSystem, state: np.ndarray, force: np.ndarray) -> JointModes:
    """Return the modes with which a motion starts: joints without velocity rest until `settled` says otherwise."""
    none = np.zeros((system.layout.joints, state.shape[1]))
    rates = system.rates(state, JointModes.of(none, none), force, decided=False)
    velocity = rates.velocity
    still = np.abs(velocity) <= ROUNDING * np.maximum(rates.rates, np.abs(velocity).max(axis=0, initial=0.0))
    return JointModes.of(
        np.where(system.sticking[:, None] & still, 1.0, 0.0),
        np.where(system.sticking[:, None] & ~still, np.sign(velocity), 0.0),
    )


def margins(system: FrictionSystem, start: StateRates, modes: JointModes, end: StateRates) -> np.ndarray:
    """Return the distance of each joint from the end of its mode (joint, samples), relative.

    Negative: the joint is past the end. A joint in motion stops where its velocity changes its sign. A joint at rest
    breaks away where all joints at rest together cannot hold it; this may be long after it reaches its own friction
    limit.
    """
    size = np.maximum(np.abs(start.velocity), np.abs(end.velocity)) + np.finfo(float).tiny
    moving = modes.direction * end.velocity / size + ROUNDING
    room = np.maximum(1.0 - np.abs(end.braking) / (end.limit + np.finfo(float).tiny), 0.0) + ROUNDING
    result = np.where(modes.rest > 0.5, np.where(end.breaking != 0.0, -np.abs(end.breaking), room), moving)
    result[~system.sticking] = np.inf
    return result


def settled(
    system: FrictionSystem,
    state: np.ndarray,
    modes: JointModes,
    stopping: np.ndarray,
    force: Force,
    fastest: np.ndarray | None = None,
) -> tuple[np.ndarray, JointModes, StateRates]:
    """Return state, modes and rates after joints (joint, samples) have stopped: some stick, others move on.

    All joints at rest are solved for together. Joints that do not stick move in the direction of their
    acceleration. Where friction in motion is less than at rest, the problem is solved again with the friction in
    motion of joints that break away, by which others may break away too. In a loop, several joints stop at one
    instant; `fastest` (samples,), the largest velocity of a joint before, decides which other joints count as
    stopped. Finally velocities are corrected to velocities that the joints at rest allow.
    """
    state, resting = state.copy(), stopping | (modes.rest > 0.5)
    if fastest is not None:
        rates = _rates_at_rest(system, state, resting, modes, force)
        slow = STOPPED * np.maximum(fastest, np.abs(rates.velocity).max(axis=0, initial=0.0))
        resting |= (np.abs(rates.velocity) <= slow) & system.sticking[:, None] & stopping.any(axis=0)
    for _ in range(ROUNDS):
        state, modes, rates = _divided(system, state, resting, stopping, modes, force)
        lost = (rates.breaking != 0.0).any(axis=0) & (rates.status == Status.OK)
        if not lost.any():
            break
        resting = modes.rest > 0.5
    rates.rate[:, lost], rates.status[lost] = np.nan, float(Status.FRICTION_NOT_CONVERGED)
    return state, modes, rates


def _rates_at_rest(
    system: FrictionSystem, state: np.ndarray, resting: np.ndarray, modes: JointModes, force: Force
) -> StateRates:
    trial = JointModes.of(np.where(resting, 1.0, 0.0), np.where(resting, 0.0, modes.direction))
    return system.rates(state, trial, force(state))


def _divided(
    system: FrictionSystem,
    state: np.ndarray,
    resting: np.ndarray,
    stopping: np.ndarray,
    modes: JointModes,
    force: Force,
) -> tuple[np.ndarray, JointModes, StateRates]:
    """Divide the `resting` joints (joint, samples) into sticking ones and ones that break away.

    A sample with several motions, or none, with these joints at rest keeps its status: it is not determined which
    joints break away.
    """
    state, trial = state.copy(), JointModes.of(np.where(resting, 1.0, 0.0), np.where(resting, 0.0, modes.direction))
    state[system.layout.at["memory"]] = system.rates(state, trial, force(state), decided=False).remembered
    for _ in range(system.layout.joints + 1):
        rates = system.rates(state, trial, force(state))
        breaks = (rates.breaking != 0.0) & ~np.isin(rates.status, UNDIVIDED)
        loosened = (trial.rest == 1.0) & breaks
        if not loosened.any():
            break
        trial = JointModes.of(np.where(loosened, LOOSE, trial.rest), trial.direction)
    broken = resting & breaks
    modes = JointModes.of(
        np.where(resting & ~broken, 1.0, 0.0), np.where(broken, np.sign(rates.breaking), trial.direction)
    )
    wrong = broken & (modes.direction * rates.velocity < 0.0)
    corrected = ((stopping & ~broken) | wrong).any(axis=0)
    if corrected.any():
        speed = system.layout.at["qd"]
        state[speed] = np.where(corrected, rates.kept_speed, state[speed])
    elif (modes.both == trial.both).all():
        return state, modes, rates
    before, rates = rates, system.rates(state, modes, force(state))
    return state, modes, _after_break_away(system, before, broken, rates)


def _after_break_away(system: FrictionSystem, before: StateRates, broken: np.ndarray, rates: StateRates) -> StateRates:
    """Return the rates after joints broke away; a sample whose friction differs from the break-away gets a status.

    With loads that friction causes, joints in motion may have several solutions; one of them continues the friction
    at the break-away. A joint that had no friction at rest, such as a joint that reverses while others move, broke
    away without friction. If no motion continues the break-away, this does not prove that there is no motion.
    """
    if system.loaded:
        none = broken.any(axis=0) & (rates.status == Status.FRICTION_NO_SOLUTION)
        rates.status[none] = float(Status.FRICTION_NOT_CONVERGED)
        size, held = np.abs(before.braking).max(axis=0, initial=0.0), broken & (before.braking != 0.0)
        changed = held & (np.abs(rates.braking - before.braking) > ANOTHER * size)
        lost = changed.any(axis=0) & (rates.status == Status.OK)
        rates.rate[:, lost], rates.status[lost] = np.nan, float(Status.FRICTION_SEVERAL_SOLUTIONS)
    return rates
