"""A robot with friction as a system of differential equations for a batch: states, modes, rates, and what ends a mode.

Arrays are (size, padded samples). A state holds position and speed, of a chain q and q' of its independent joints, of a
parallel robot the pose of its platform, with a unit quaternion, and the free components of its twist; the memory of
friction laws; and integrals, the work that friction has taken, that actuators have done, and the load on a platform.
All of it is column by column, so that the bits of a case do not depend on its neighbours. Samples may be cases with
designs and friction of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robots.criteria.elasticity import Elasticity
from robots.friction.groups import FrictionGroup
from robots.friction.laws import LAWS
from robots.model import Family, Robot
from robots.status import Status
from tasks.arrays import inputs
from tasks.friction.forward import bristles
from tasks.friction.given import Friction, friction_input, without_zero_width
from tasks.mathematics import quaternions
from tasks.motion.instant.kernels import Constants, Instant
from tasks.motion.instant.layout import POSE, Layout

Force = Callable[[np.ndarray], np.ndarray]
"""What acts (rows of `Layout.acting`, samples) at states (size, samples)."""

ROUNDING = 1e-12
"""Share of a limit, or of a velocity, that counts as none."""

STOPPED = 1e-10
"""Share of the largest velocity of a joint in a step below which one is at rest where another comes to rest."""

ROUNDS = 3
"""Times that joints at rest are divided into those that hold and those that do not, until that is consistent."""

UNIT = 1e-15
"""What the length of a quaternion may be off."""

LOOSE = 2.0
"""In the place of 1 in `Modes.rest`: at rest, after friction has been exceeded."""


@dataclass(frozen=True)
class Modes:
    """Which joints are at rest (joint, samples), and where the others move: 1 or -1, 0 without modes; one array."""

    both: np.ndarray

    @classmethod
    def of(cls, resting: np.ndarray, direction: np.ndarray) -> Modes:
        """From the two."""
        return cls(np.concatenate([resting, direction]))

    @property
    def rest(self) -> np.ndarray:
        """1 where a joint is at rest, LOOSE where it may hold no more than the friction of motion."""
        return self.both[: len(self.both) // 2]

    @property
    def direction(self) -> np.ndarray:
        """1 or -1 where a joint moves."""
        return self.both[len(self.both) // 2 :]


@dataclass(frozen=True)
class Rates:
    """What a robot does at a state: its `rate`, of its `joints` what OF_JOINTS says, what speed joints at rest allow.

    dependent, status (samples,): as of the program.
    """

    layout: Layout
    rate: np.ndarray
    joints: np.ndarray
    kept_speed: np.ndarray
    dependent: np.ndarray
    status: np.ndarray

    def __getattr__(self, name: str) -> np.ndarray:
        """One of OF_JOINTS, (joint, samples)."""
        return self.joints[self.layout.of_joints[name]]


@dataclass(frozen=True)
class Moment:
    """Where a batch is: its state, modes, and rates there."""

    state: np.ndarray
    modes: Modes
    rates: Rates

    def arrays(self) -> tuple[np.ndarray, ...]:
        """All of it."""
        r = self.rates
        return self.state, self.modes.both, r.rate, r.joints, r.kept_speed, r.dependent, r.status

    def like(self, arrays: Iterable[np.ndarray]) -> Moment:
        """A moment of the same system from its arrays."""
        state, modes, *rates = arrays
        return Moment(state, Modes(modes), Rates(self.rates.layout, *rates))

    def of(self, columns: np.ndarray) -> Moment:
        """That of some samples."""
        return self.like(each.take(columns, axis=-1) for each in self.arrays())

    def replaced(self, columns: np.ndarray, part: Moment) -> Moment:
        """The same with other values for some samples."""
        result = self.like(each.copy() for each in self.arrays())
        for target, source in zip(result.arrays(), part.arrays(), strict=True):
            target[..., columns] = source
        return result


class MotionSystem:
    """A robot, its friction, and gravity; `load_with_platform`: the load turns with the platform."""

    def __init__(self, instant: Instant, *, load_with_platform: bool = False):
        self.instant, self.load_with_platform = instant, load_with_platform
        group_of = [group for group in instant.groups for _ in group.places]
        self.layout = instant.layout
        self.sticking = np.array([group.sticks for group in group_of], dtype=bool)
        self.bristling = np.array([bristles(group) for group in group_of], dtype=bool)
        self.stiff = np.array([group.stiff for group in group_of], dtype=bool)

    @classmethod
    def of(
        cls, robot: Robot, friction: Friction, gravity: ArrayLike, *,
        base: bool = False, load_with_platform: bool = False, elasticity: Elasticity | None = None,
    ) -> MotionSystem:  # fmt: skip
        """From friction as callers give it, of any law, and what gives way. Raises ParameterError and ValueError."""
        groups = without_zero_width(friction_input(robot, friction, LAWS))
        values = groups.values if groups.groups else np.zeros((1, 0))
        parameters, field = inputs.parameters(robot, timed=True), inputs.gravity_input(gravity)
        soft = inputs.reaction_criteria(robot, elasticity).elasticity
        soft = soft if groups.statics else None
        constants = Constants.of(robot.family, parameters, field, values, soft)
        return cls(Instant(robot.family, groups.groups, constants, base=base), load_with_platform=load_with_platform)

    @classmethod
    def of_cases(
        cls, family: Family, parameters: np.ndarray, groups: tuple[FrictionGroup, ...], friction: np.ndarray,
        gravity: ArrayLike, *, base: bool = False, load_with_platform: bool = False,
        elasticity: Elasticity | None = None,
    ) -> MotionSystem:  # fmt: skip
        """One sample of each of many cases: parameters (cases or 1, parameter), friction (cases or 1, of all groups).

        Sample k is of case k; the last case fills the last group of lanes. elasticity: what gives way in all of them.
        """
        soft = elasticity if any(group.load == "reaction" for group in groups) else None
        constants = Constants.of(family, parameters, inputs.gravity_input(gravity), friction, soft)
        return cls(Instant(family, groups, constants, base=base), load_with_platform=load_with_platform)

    def part(self, columns: np.ndarray) -> MotionSystem:
        """The same for some of the samples."""
        if self.instant.constants.shared:
            return self
        return MotionSystem(self.instant.of(columns), load_with_platform=self.load_with_platform)

    def rates(self, state: np.ndarray, modes: Modes, acting: np.ndarray, stage: np.ndarray | None = None) -> Rates:
        """Everything at a state; `acting` and `stage` as in `Layout`. NaN rates where a sample has no motion."""
        if self.load_with_platform:
            acting = self._turned(state, acting)
        outputs = self.instant(state, modes.both, acting, stage)
        rate, status = outputs["rate"][0], outputs["status"][0, 0]
        status[(outputs["unbalanced"][0, 0] > 0.5) & (status == Status.OK)] = float(Status.FRICTION_NOT_CONVERGED)
        if status.any():
            rate[:, status != Status.OK] = np.nan
        joints, kept, dependent = outputs["joints"][0], outputs["kept_speed"][0], outputs["dependent"][0, 0]
        return Rates(self.layout, rate, joints, kept, dependent, status)

    def _turned(self, state: np.ndarray, acting: np.ndarray) -> np.ndarray:
        rows, result = self.layout.acting["load"], acting.copy()
        rotation = self.instant.seen(state)[1]
        result[rows] = np.einsum("ijn,kjn->kin", rotation, acting[rows].reshape(2, 3, -1)).reshape(6, -1)
        return result

    def going(self, state: np.ndarray, speed: np.ndarray) -> np.ndarray:
        """Rate of the position of a state at this speed (freedom, samples)."""
        if not self.layout.platform:
            return speed
        moving = state.copy()
        moving[self.layout.at["qd"]] = speed
        twist = self.instant.seen(moving)[2]
        return np.concatenate([twist[3:], quaternions.rate(state[self.layout.at["q"]][3:], twist[:3])])

    def normalised(self, state: np.ndarray) -> np.ndarray:
        """The state with a unit quaternion; one whose length is that to rounding keeps its bits."""
        if self.layout.platform:
            turn = state[3:POSE]
            length = np.sqrt((turn * turn).sum(axis=0))
            state[3:POSE] = np.where(np.abs(length - 1.0) > UNIT, turn / length, turn)
        return state

    def first_modes(self, state: np.ndarray, force: np.ndarray) -> Modes:
        """The modes with which a motion starts: joints without velocity rest until `settled` says otherwise."""
        none = np.zeros((self.layout.joints, state.shape[1]))
        rates = self.rates(state, Modes.of(none, none), force)
        velocity = rates.velocity
        still = np.abs(velocity) <= ROUNDING * np.maximum(rates.rates, np.abs(velocity).max(axis=0, initial=0.0))
        return Modes.of(
            np.where(self.sticking[:, None] & still, 1.0, 0.0),
            np.where(self.sticking[:, None] & ~still, np.sign(velocity), 0.0),
        )

    def margins(self, start: Rates, modes: Modes, end: Rates) -> np.ndarray:
        """How far each joint is from the end of its mode (joint, samples), relative; negative: it is past it.

        A joint that moves stops where its velocity changes its sign; one at rest breaks away where all that are at rest
        cannot hold it together, although it alone may be at its limit long before.
        """
        size = np.maximum(np.abs(start.velocity), np.abs(end.velocity)) + np.finfo(float).tiny
        moving = modes.direction * end.velocity / size + ROUNDING
        room = np.maximum(1.0 - np.abs(end.braking) / (end.limit + np.finfo(float).tiny), 0.0) + ROUNDING
        result = np.where(modes.rest > 0.5, np.where(end.breaking != 0.0, -np.abs(end.breaking), room), moving)
        result[~self.sticking] = np.inf
        return result

    def settled(
        self, state: np.ndarray, modes: Modes, stopping: np.ndarray, force: Force, fastest: np.ndarray | None = None
    ) -> tuple[np.ndarray, Modes, Rates]:
        """State, modes and rates after joints (joint, samples) have come to a stop: which stay, which move on.

        All joints at rest are solved for together; those that do not hold move on the way that they are accelerated.
        Where friction of motion is less than what held, those that break away are asked again with that, which may
        loosen others. `fastest` (samples,), the largest velocity of a joint before, says which others have stopped with
        these: in a loop joints do so at one instant. At last velocities are those that joints at rest allow.
        """
        state, resting = state.copy(), stopping | (modes.rest > 0.5)
        if fastest is not None:
            rates = self._at_rest(state, resting, modes, force)
            slow = STOPPED * np.maximum(fastest, np.abs(rates.velocity).max(axis=0, initial=0.0))
            resting |= (np.abs(rates.velocity) <= slow) & self.sticking[:, None] & stopping.any(axis=0)
        for _ in range(ROUNDS):
            state, modes, rates = self._divided(state, resting, stopping, modes, force)
            lost = (rates.breaking != 0.0).any(axis=0) & (rates.status == Status.OK)
            if not lost.any():
                break
            resting = modes.rest > 0.5
        rates.rate[:, lost], rates.status[lost] = np.nan, float(Status.FRICTION_NOT_CONVERGED)
        return state, modes, rates

    def _at_rest(self, state: np.ndarray, resting: np.ndarray, modes: Modes, force: Force) -> Rates:
        trial = Modes.of(np.where(resting, 1.0, 0.0), np.where(resting, 0.0, modes.direction))
        return self.rates(state, trial, force(state))

    def _divided(
        self, state: np.ndarray, resting: np.ndarray, stopping: np.ndarray, modes: Modes, force: Force
    ) -> tuple[np.ndarray, Modes, Rates]:
        """Joints at `rest` (joint, samples) divided into those that hold and those that break away."""
        state, trial = state.copy(), Modes.of(np.where(resting, 1.0, 0.0), np.where(resting, 0.0, modes.direction))
        rates = self.rates(state, trial, force(state))
        state[self.layout.at["memory"]] = rates.remembered
        for _ in range(self.layout.joints + 1):
            rates = self.rates(state, trial, force(state))
            loosened = (trial.rest == 1.0) & (rates.breaking != 0.0)
            if not loosened.any():
                break
            trial = Modes.of(np.where(loosened, LOOSE, trial.rest), trial.direction)
        broken = resting & (rates.breaking != 0.0)
        modes = Modes.of(
            np.where(resting & ~broken, 1.0, 0.0), np.where(broken, np.sign(rates.breaking), trial.direction)
        )
        wrong = broken & (modes.direction * rates.velocity < 0.0)
        corrected = ((stopping & ~broken) | wrong).any(axis=0)
        if corrected.any():
            speed = self.layout.at["qd"]
            state[speed] = np.where(corrected, rates.kept_speed, state[speed])
        return state, modes, self.rates(state, modes, force(state))
