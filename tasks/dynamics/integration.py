"""Integration of a robot with friction for a batch: states, modes and rates, methods, and steps that are cut at events.

Arrays are (size, padded samples). A state holds position and speed, of a chain q and q' of its independent joints, of a
parallel robot the pose of its platform, with a unit quaternion, and the free components of its twist; the memory of
friction laws; and integrals: the work of friction, of actuators, and of the load on a platform. All operations work
column by column, so that the bits of a case do not depend on its neighbours. Samples may be cases, each with its own
design and friction.

A method is `step(system, state, modes, first, length, push) -> (state, rough)`: `first` are the rates at its start,
`rough` marks samples whose step was too long. `rk4`: Runge and Kutta's of order four; `euler`: industrial manipulators
paper, Eq. (22); `semi_implicit`: the same with the new velocity; `rosenbrock`: of order two and L-stable in friction
that is smooth but stiff, such as friction with bristles, after Verwer et al. 1999 (ROS2, which keeps its order with any
Jacobian).

A step in time is cut where joints come to rest or break away, and where it is too long for its method. Samples without
an event take the whole step. The others continue alone, each with its own shorter steps, until all have reached the end
of the step. A sample that needs too many steps ends there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from robots.criteria.elasticity import Elasticity
from robots.data_classes import dataclass
from robots.friction.groups import FrictionGroup
from robots.friction.laws import LAWS
from robots.model import Family, Robot
from robots.status import Status
from tasks.dynamics import inputs
from tasks.dynamics.criteria_inputs import reaction_criteria
from tasks.dynamics.forces_over_step import Push
from tasks.dynamics.instant.decisions import OPEN, decide
from tasks.dynamics.instant.layout import POSE
from tasks.dynamics.instant.moments import LOOSE, ROUGH, ROUNDING, STILL, UNIT, JointModes, Moment, StateRates
from tasks.dynamics.instant.programs import Constants, Instant
from tasks.features.friction.inputs import Friction, friction_input, without_zero_width
from tasks.features.friction.joints import bristles
from tasks.kernels.kernel import padded
from tasks.kernels.keys import Arrays
from tasks.mathematics import rotations

Force = Callable[[np.ndarray], np.ndarray]
"""Function from states (size, samples) to external inputs (rows of `StateLayout.acting`, samples)."""


STOPPED = 1e-10
"""Share of the largest velocity of a joint in a step below which one is at rest where another comes to rest."""

ANOTHER = 1e-6
"""Difference of friction that means another motion, relative to the largest friction."""

ROUNDS = 3
"""Largest number of rounds in which joints at rest are divided into sticking ones and ones that break away."""


class MotionSystem:
    """A robot, its friction, and gravity; `load_with_platform`: the load turns with the platform."""

    def __init__(self, instant: Instant, *, load_with_platform: bool = False):
        self.instant, self.load_with_platform = instant, load_with_platform
        group_of = [group for group in instant.groups for _ in group.places]
        self.layout = instant.layout
        self.loaded = any(group.load == "reaction" for group in instant.groups)
        self.sticking = np.array([group.sticks for group in group_of], dtype=bool)
        self.bristling = np.array([bristles(group) for group in group_of], dtype=bool)
        self.stiff = np.array([group.stiff for group in group_of], dtype=bool)

    @classmethod
    def of(
        cls, robot: Robot, friction: Friction, gravity: ArrayLike, *,
        base: bool = False, load_with_platform: bool = False, elasticity: Elasticity | None = None,
    ) -> MotionSystem:  # fmt: skip
        """Make the record from friction as callers give it, and elastic parts. Raises ParameterError and ValueError."""
        groups = without_zero_width(friction_input(robot, friction, LAWS))
        values = groups.values if groups.groups else np.zeros((1, 0))
        parameters, field = inputs.parameters(robot, timed=True), inputs.gravity_input(gravity)
        soft = reaction_criteria(robot, elasticity).elasticity
        soft = soft if groups.statics else None
        constants = Constants.of(robot.family, parameters, field, values, soft)
        return cls(Instant(robot.family, groups.groups, constants, base=base), load_with_platform=load_with_platform)

    @classmethod
    def of_cases(
        cls, family: Family, parameters: np.ndarray, groups: tuple[FrictionGroup, ...], friction: np.ndarray,
        gravity: ArrayLike, *, base: bool = False, load_with_platform: bool = False,
        elasticity: Elasticity | None = None,
    ) -> MotionSystem:  # fmt: skip
        """Return a system of many cases: parameters (cases or 1, parameter), friction (cases or 1, all groups).

        Sample k belongs to case k; the last case fills the last group of lanes. elasticity: elastic parts of all cases.
        """
        soft = elasticity if any(group.load == "reaction" for group in groups) else None
        constants = Constants.of(family, parameters, inputs.gravity_input(gravity), friction, soft)
        return cls(Instant(family, groups, constants, base=base), load_with_platform=load_with_platform)

    @property
    def is_stiff(self) -> bool:
        """Return whether adaptive steps are implicit."""
        return bool(self.stiff.any())

    def step_of(self, method: str) -> Step:
        """Return the step of a method of METHODS. Raises ValueError for one that the system does not have."""
        return METHODS[method]

    def begun(self, state: np.ndarray, acting: np.ndarray) -> np.ndarray:
        """Return the state with which a motion starts, under the forces that act first."""
        return state

    def delivered(self, state: np.ndarray, command: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the forces of actuators for a command (actuator, samples), and a mask of differences from it."""
        return command, np.zeros(command.shape, dtype=bool)

    def part(self, columns: np.ndarray) -> MotionSystem:
        """Return the same for some of the samples."""
        if self.instant.constants.shared:
            return self
        return MotionSystem(self.instant.of(columns), load_with_platform=self.load_with_platform)

    def rates(
        self, state: np.ndarray, modes: JointModes, acting: np.ndarray, stage: np.ndarray | None = None,
        *, decided: bool = True,
    ) -> StateRates:  # fmt: skip
        """Return all rates at a state; `acting` and `stage` as in `StateLayout`. NaN where a sample has no motion.

        decided: search for motions where friction and the reactions that load it have not converged.

        Samples of a finite state with infinite or NaN forces or loads have the status NONFINITE.
        """
        if self.load_with_platform:
            acting = self.turned(state, acting)
        outputs = self._outputs(state, modes, acting, stage)
        if stage is None and self.loaded and decided:
            self._decide(outputs, state, modes, acting)
        rate, status = outputs["rate"][0], outputs["status"][0, 0]
        status[(outputs["unbalanced"][0, 0] > 0.5) & (status == Status.OK)] = float(Status.FRICTION_NOT_CONVERGED)
        if not np.isfinite(acting).all():
            status[np.isfinite(state).all(axis=0) & ~np.isfinite(acting).all(axis=0)] = float(Status.NONFINITE)
        if status.any():
            rate[:, status != Status.OK] = np.nan
        joints, kept, dependent = outputs["joints"][0], outputs["kept_speed"][0], outputs["dependent"][0, 0]
        return StateRates(self.layout, rate, joints, kept, dependent, status)

    def _outputs(self, state: np.ndarray, modes: JointModes, acting: np.ndarray, stage: np.ndarray | None) -> Arrays:
        return self.instant(state, modes.both, acting, stage)

    def seen(self, state: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the parts of a state as functions of forces see them, `Instant.seen`."""
        return self.instant.seen(state)

    def gap(self, state: np.ndarray) -> np.ndarray:
        """Return the closure residual of limbs (samples,): zero here, as inverse kinematics closes them."""
        return np.zeros(state.shape[1])

    def _decide(self, outputs: Arrays, state: np.ndarray, modes: JointModes, acting: np.ndarray) -> None:
        """Search for the motion of samples whose friction has not settled; `outputs` become those of the motion."""
        status = outputs["status"][0, 0]
        at = np.flatnonzero(np.isin(status, OPEN))
        if not len(at):
            return
        columns = whole_lanes(at)
        where = [np.ascontiguousarray(x[:, columns]) for x in (state, modes.both, acting)]
        decided = decide(self.part(columns).instant, where, len(at))
        proven = (status[at] == Status.FRICTION_NO_SOLUTION) & (decided.status == Status.FRICTION_NOT_CONVERGED)
        status[at] = np.where(proven, status[at], decided.status)
        for name, values in decided.outputs.items():
            if name in outputs:
                outputs[name][..., at] = np.where(decided.status == Status.OK, values, outputs[name][..., at])

    def is_finite(self, state: np.ndarray) -> np.ndarray:
        """Return a mask (samples,) of finite states under finite gravity."""
        gravity = np.isfinite(self.instant.constants.gravity).all(axis=1)
        return np.isfinite(state).all(axis=0) & gravity[: state.shape[1]]

    def turned(self, state: np.ndarray, acting: np.ndarray) -> np.ndarray:
        """Return the external inputs with the load turned with the platform."""
        rows, result = self.layout.acting["load"], acting.copy()
        rotation = self.instant.seen(state)[1]
        result[rows] = np.einsum("ijn,kjn->kin", rotation, acting[rows].reshape(2, 3, -1)).reshape(6, -1)
        return result

    def going(self, state: np.ndarray, speed: np.ndarray) -> np.ndarray:
        """Return the rate of a state's position at this speed (freedom, samples)."""
        if not self.layout.platform:
            return speed
        moving = state.copy()
        moving[self.layout.at["qd"]] = speed
        twist = self.instant.seen(moving)[2]
        return np.concatenate([twist[3:], rotations.rate(state[self.layout.at["q"]][3:], twist[:3])])

    def normalised(self, state: np.ndarray) -> np.ndarray:
        """Return the state with a unit quaternion; one whose length is that to rounding keeps its bits."""
        if self.layout.platform:
            turn = state[3:POSE]
            length = np.sqrt((turn * turn).sum(axis=0))
            state[3:POSE] = np.where(np.abs(length - 1.0) > UNIT, turn / length, turn)
        return state

    def first_modes(self, state: np.ndarray, force: np.ndarray) -> JointModes:
        """Return the modes with which a motion starts: joints without velocity rest until `settled` says otherwise."""
        none = np.zeros((self.layout.joints, state.shape[1]))
        rates = self.rates(state, JointModes.of(none, none), force, decided=False)
        velocity = rates.velocity
        still = np.abs(velocity) <= ROUNDING * np.maximum(rates.rates, np.abs(velocity).max(axis=0, initial=0.0))
        return JointModes.of(
            np.where(self.sticking[:, None] & still, 1.0, 0.0),
            np.where(self.sticking[:, None] & ~still, np.sign(velocity), 0.0),
        )

    def margins(self, start: StateRates, modes: JointModes, end: StateRates) -> np.ndarray:
        """Return the distance of each joint from the end of its mode (joint, samples), relative.

        Negative: the joint is past the end. A joint in motion stops where its velocity changes its sign. A joint at
        rest breaks away where all joints at rest together cannot hold it; this may be long after it reaches its own
        friction limit.
        """
        size = np.maximum(np.abs(start.velocity), np.abs(end.velocity)) + np.finfo(float).tiny
        moving = modes.direction * end.velocity / size + ROUNDING
        room = np.maximum(1.0 - np.abs(end.braking) / (end.limit + np.finfo(float).tiny), 0.0) + ROUNDING
        result = np.where(modes.rest > 0.5, np.where(end.breaking != 0.0, -np.abs(end.breaking), room), moving)
        result[~self.sticking] = np.inf
        return result

    def settled(
        self,
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

    def _at_rest(self, state: np.ndarray, resting: np.ndarray, modes: JointModes, force: Force) -> StateRates:
        trial = JointModes.of(np.where(resting, 1.0, 0.0), np.where(resting, 0.0, modes.direction))
        return self.rates(state, trial, force(state))

    def _divided(
        self, state: np.ndarray, resting: np.ndarray, stopping: np.ndarray, modes: JointModes, force: Force
    ) -> tuple[np.ndarray, JointModes, StateRates]:
        """Divide the joints at `rest` (joint, samples) into sticking ones and ones that break away.

        A sample with several motions, or none, with these joints at rest keeps its status: it is not determined which
        joints break away.
        """
        state, trial = state.copy(), JointModes.of(np.where(resting, 1.0, 0.0), np.where(resting, 0.0, modes.direction))
        state[self.layout.at["memory"]] = self.rates(state, trial, force(state), decided=False).remembered
        for _ in range(self.layout.joints + 1):
            rates = self.rates(state, trial, force(state))
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
            speed = self.layout.at["qd"]
            state[speed] = np.where(corrected, rates.kept_speed, state[speed])
        elif (modes.both == trial.both).all():
            return state, modes, rates
        before, rates = rates, self.rates(state, modes, force(state))
        return state, modes, self._beginning(before, broken, rates)

    def _beginning(self, before: StateRates, broken: np.ndarray, rates: StateRates) -> StateRates:
        """Return the rates after joints broke away; a sample whose friction differs from the break-away gets a status.

        With loads that friction causes, joints in motion may have several solutions; one of them continues the friction
        at the break-away. A joint that had no friction at rest, such as a joint that reverses while others move, broke
        away without friction. If no motion continues the break-away, this does not prove that there is no motion.
        """
        if self.loaded:
            none = broken.any(axis=0) & (rates.status == Status.FRICTION_NO_SOLUTION)
            rates.status[none] = float(Status.FRICTION_NOT_CONVERGED)
            size, held = np.abs(before.braking).max(axis=0, initial=0.0), broken & (before.braking != 0.0)
            changed = held & (np.abs(rates.braking - before.braking) > ANOTHER * size)
            lost = changed.any(axis=0) & (rates.status == Status.OK)
            rates.rate[:, lost], rates.status[lost] = np.nan, float(Status.FRICTION_SEVERAL_SOLUTIONS)
        return rates


UNDIVIDED = (float(Status.FRICTION_SEVERAL_SOLUTIONS), float(Status.FRICTION_NO_SOLUTION))
"""Statuses of samples whose joints at rest are not divided."""

Along = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""External inputs (rows of `StateLayout.acting`, samples), from shares of the step (samples,) and states (size,
samples)."""

Step = Callable[[MotionSystem, np.ndarray, JointModes, StateRates, np.ndarray, Along], tuple[np.ndarray, np.ndarray]]


GAMMA = 1.0 - math.sqrt(0.5)


def rk4(
    system: MotionSystem, state: np.ndarray, modes: JointModes, first: StateRates, length: np.ndarray, push: Along
) -> tuple[np.ndarray, np.ndarray]:
    """Integrate with order four (Runge-Kutta) if the step is smooth."""
    rates = [first.rate]
    for share in (0.5, 0.5, 1.0):
        at = state + rates[-1] * (share * length)
        rates.append(system.rates(at, modes, push(share * np.ones_like(length), at)).rate)
    a, b, c, d = rates
    speed = system.layout.at["qd"]
    most = np.max([np.abs(each[speed]).max(axis=0) for each in rates], axis=0)
    rough = np.abs(c[speed] - b[speed]).max(axis=0) > ROUGH * most + STILL
    return state + (a + (b + c) * 2.0 + d) * (length / 6.0), rough


def euler(
    system: MotionSystem, state: np.ndarray, modes: JointModes, first: StateRates, length: np.ndarray, push: Along
) -> tuple[np.ndarray, np.ndarray]:
    """Integrate positions from velocities, and velocities from accelerations, at the start."""
    return state + first.rate * length, np.zeros(length.shape, dtype=bool)


def semi_implicit(
    system: MotionSystem, state: np.ndarray, modes: JointModes, first: StateRates, length: np.ndarray, push: Along
) -> tuple[np.ndarray, np.ndarray]:
    """Integrate positions from the velocities at the end."""
    at, following = system.layout.at, state + first.rate * length
    following[at["q"]] = state[at["q"]] + system.going(state, following[at["qd"]]) * length
    return following, np.zeros(length.shape, dtype=bool)


def rosenbrock(
    system: MotionSystem, state: np.ndarray, modes: JointModes, first: StateRates, length: np.ndarray, push: Along
) -> tuple[np.ndarray, np.ndarray]:
    """Integrate by two stages with the Jacobian of friction."""
    at, none = system.layout.at, np.zeros_like(length)
    still = np.zeros((at["memory"].stop - at["qd"].start, len(length)))
    scale, changing = (GAMMA * length)[None], slice(at["qd"].start, at["memory"].stop)
    one = system.rates(state, modes, push(none, state), np.concatenate([scale, still])).rate
    middle = state + one * length
    stage = np.concatenate([scale, one[changing] * 2.0])
    two = system.rates(middle, modes, push(none + 1.0, middle), stage).rate
    result = state + (one * 3.0 + two) * (length * 0.5)
    for name in at.keys() - {"qd", "memory"}:  # explicit parts
        result[at[name]] = state[at[name]] + (one[at[name]] + two[at[name]]) * (length * 0.5)
    return result, np.zeros(length.shape, dtype=bool)


METHODS: Mapping[str, Step] = {step.__name__: step for step in (rk4, euler, semi_implicit, rosenbrock)}
"""Methods by name."""


MOST = 200
"""Steps that one step may be cut into."""

SHORTEST = 2.0**-12
"""Share of a step that is not cut further for roughness."""

LOCATED = 1e-13
"""Share of a step to which the time of an event is found."""

TRIES, HALVED, NEARLY = 60, 6, 0.5 * ROUNDING
"""Largest number of trials, which of them are halvings, and the margin past an event that counts as none."""

SATURATED = 1e-11
"""Margin up to which a joint counts as at its limit. Such a margin does not tell the time of the event."""


def forced(system: MotionSystem, now: Moment, acting: np.ndarray) -> Moment:
    """Return the moment where a force (rows, samples) has jumped: joints at rest may break away."""
    after = Moment(now.state, now.modes, system.rates(now.state, now.modes, acting))
    after.rates.status[:] = np.where(now.rates.status > 0.5, now.rates.status, after.rates.status)
    loose = ((now.modes.rest > 0.5) & (after.rates.breaking != 0.0)).any(axis=0)
    if not loose.any():
        return after
    columns = whole_lanes(np.flatnonzero(loose))
    part, columns_of_batch = after.of(columns), np.ascontiguousarray(acting[:, columns])
    stopping = np.zeros(part.modes.rest.shape, dtype=bool)
    settled = system.part(columns).settled(part.state, part.modes, stopping, lambda state: columns_of_batch)
    return after.replaced(columns, Moment(*settled))


@dataclass(frozen=True)
class Stepper:
    """Integrator of a batch over one step of `length` [s]; `push` gives the forces at shares of it in states."""

    system: MotionSystem
    step: Step
    length: float
    push: Push

    def of(self, columns: np.ndarray) -> Stepper:
        """Return the stepper of some samples."""
        return Stepper(self.system.part(columns), self.step, self.length, self.push.of(columns))

    def taken(self, start: Moment) -> Moment:
        """Return the batch at the end of the step; NaN for a sample that did not reach it."""
        width = start.state.shape[1]
        end, rough = self._moved(start, np.zeros(width), np.ones(width))
        cut = rough | (self._margins(start, end) < 0.0).any(axis=0)
        if cut.any():
            columns = whole_lanes(np.flatnonzero(cut))
            end = end.replaced(columns, self.of(columns)._in_pieces(start.of(columns)))
        ended = ~np.isfinite(start.rates.rate).all(axis=0)
        end.rates.status[ended] = start.rates.status[ended]
        lost = ~ended & ~np.isfinite(end.state).all(axis=0)
        if lost.any():
            acting = [self.push(share * np.ones(width), start.state) for share in (0.5, 1.0)]
            end.rates.status[lost & ~np.isfinite(acting).all(axis=(0, 1))] = float(Status.NONFINITE)
        return end

    def _margins(self, start: Moment, end: Moment) -> np.ndarray:
        return self.system.margins(start.rates, start.modes, end.rates)

    def _moved(self, start: Moment, begun: np.ndarray, share: np.ndarray) -> tuple[Moment, np.ndarray]:
        """Return the end of a piece of the step in unchanged modes, and a mask of samples that it is too rough for."""
        push = self.push

        def along(part: np.ndarray, state: np.ndarray) -> np.ndarray:
            return push(begun + part * share, state)

        state, rough = self.step(self.system, start.state, start.modes, start.rates, share * self.length, along)
        state = self.system.normalised(state)
        rates = self.system.rates(state, start.modes, push(begun + share, state))
        memory = self.system.layout.at["memory"]
        if (rates.remembered != state[memory]).any():
            state[memory] = rates.remembered
            rates = self.system.rates(state, start.modes, push(begun + share, state))
        return Moment(state, start.modes, rates), rough

    def _in_pieces(self, now: Moment) -> Moment:
        """Return the same for samples that need it."""
        begun, piece = np.zeros(now.state.shape[1]), np.ones(now.state.shape[1])
        for _ in range(MOST):
            left = whole_lanes(np.flatnonzero(begun < 1.0))
            if not len(left):
                return now
            since, share, mine = begun[left], np.minimum(piece[left], 1.0 - begun[left]), self.of(left)
            there, rough = mine._moved(now.of(left), since, share)
            rough &= share > SHORTEST
            there, reached = mine._to_event(now.of(left), there, since, share, ~rough)
            good = np.flatnonzero(~rough)
            now = now.replaced(left[good], there.of(good))
            begun[left[good]] = _ended(since + reached)[good]
            piece[left] = np.where(rough, share * 0.5, np.minimum(piece[left] * 2.0, 1.0))
        now.state[:, begun < 1.0] = np.nan
        now.rates.rate[:, begun < 1.0] = np.nan
        return now

    def _to_event(
        self, start: Moment, end: Moment, begun: np.ndarray, share: np.ndarray, wanted: np.ndarray
    ) -> tuple[Moment, np.ndarray]:
        """Return the samples whose mode ends in this piece, at that moment, with the modes after it."""
        chosen = whole_lanes(np.flatnonzero((self._margins(start, end) < 0.0).any(axis=0) & wanted))
        if not len(chosen):
            return end, share
        at, since, mine = start.of(chosen), begun[chosen], self.of(chosen)
        there, reached = mine._located(at, end.of(chosen), since, share[chosen])
        stopping = (self._margins(at, there) <= 0.0) & (at.modes.rest < 0.5)
        fastest = np.abs(at.rates.velocity).max(axis=0, initial=0.0)

        def force(state: np.ndarray) -> np.ndarray:
            return mine.push(since + reached, state)

        after = mine.system.settled(there.state, at.modes, stopping, force, fastest)
        share = share.copy()
        share[chosen] = reached
        return end.replaced(chosen, Moment(*after)), share

    def _located(self, start: Moment, end: Moment, begun: np.ndarray, share: np.ndarray) -> tuple[Moment, np.ndarray]:
        """Return the moment just after each sample's first event, by parabolas through the last three margins."""
        low, high, third = np.zeros_like(share), share.copy(), share
        (_, below, held), (margin, above, _) = self._least(start, start), self._least(start, end)
        beside = above
        for k in range(TRIES):
            wide = (high - low > LOCATED * share) & (margin < -NEARLY)
            if not wide.any():
                break
            trial = _interpolated((low, high, third), (below, above, beside))
            inside = (k % HALVED != HALVED - 1) & ~held & (trial > low) & (trial < high)
            trial = np.where(wide, np.where(inside, trial, low + (high - low) * 0.5), high)
            there, _ = self._moved(start, begun, trial)
            reached, curve, holds = self._least(start, there)
            past, before = wide & (reached < 0.0), wide & ~(reached < 0.0)
            end = end.replaced(np.flatnonzero(past), there.of(np.flatnonzero(past)))
            third = np.where(past, high, np.where(before, low, third))
            beside = np.where(past, above, np.where(before, below, beside))
            low, below, held = np.where(before, (trial, curve, holds), (low, below, held))
            high, above, margin = np.where(past, (trial, curve, reached), (high, above, margin))
            held = held > 0.5
        return end, high

    def _least(self, start: Moment, end: Moment) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the least margin of each sample; the same without bounds; and a mask of joints held at their limit.

        A velocity is relative to that at the start, so that its margin is smooth.
        """
        margins, samples = self._margins(start, end), np.arange(end.state.shape[1])
        least = margins.argmin(axis=0)
        margin, rest = margins[least, samples], start.modes.rest[least, samples] > 0.5
        first, last = (np.abs(moment.rates.velocity)[least, samples] for moment in (start, end))
        faster = ~rest & (last > first) & (first > 0.0)
        curve = np.where(faster, (margin - ROUNDING) * last / np.where(faster, first, 1.0) + ROUNDING, margin)
        return margin, curve, rest & (margin <= SATURATED)


def _interpolated(places: tuple[np.ndarray, ...], margins: tuple[np.ndarray, ...]) -> np.ndarray:
    """Return where a parabola of places over margins, or a chord of the first two, is just past zero.

    Source: Brent 1973, Algorithms for Minimization without Derivatives, section 4.2 (inverse quadratic interpolation).
    """
    (a, b, c), (f, g, h) = places, (margin + 0.5 * NEARLY for margin in margins)
    chord = a + (b - a) * f / (f - g)
    curved = a * g * h / ((f - g) * (f - h)) + b * f * h / ((g - f) * (g - h)) + c * f * g / ((h - f) * (h - g))
    return np.where(np.isfinite(curved) & (curved > a) & (curved < b), curved, chord)


def _ended(begun: np.ndarray) -> np.ndarray:
    return np.where(begun >= 1.0 - LOCATED, 1.0, begun)


def whole_lanes(columns: np.ndarray) -> np.ndarray:
    """Return whole groups of lanes, filled up with the last sample."""
    if not len(columns):
        return columns
    return np.concatenate([columns, np.repeat(columns[-1:], padded(len(columns)) - len(columns))])
