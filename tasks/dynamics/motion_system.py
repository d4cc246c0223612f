"""A robot with friction as a system of differential equations, for a batch: its rates at a state in given modes.

Arrays are (size, padded samples). A state holds position and speed, of a chain q and q' of its independent joints, of a
parallel robot the pose of its platform, with a unit quaternion, and the free components of its twist; the memory of
friction laws; and integrals: the work of friction, of actuators, and of the load on a platform. All operations work
column by column, so that the bits of a case do not depend on its neighbours. Samples may be cases, each with its own
design and friction.

`tasks.dynamics.resting_joints` decides the modes, `tasks.dynamics.integration` takes steps in time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robots.criteria.elasticity import Elasticity
from robots.friction.groups import FrictionGroup
from robots.friction.laws import LAWS
from robots.model import Family, Robot
from robots.status import Status
from tasks.dynamics import inputs
from tasks.dynamics.criteria_inputs import reaction_criteria
from tasks.dynamics.instant.decisions import OPEN, decide
from tasks.dynamics.instant.layout import POSE
from tasks.dynamics.instant.moments import UNIT, JointModes, StateRates
from tasks.dynamics.instant.programs import Constants, Instant
from tasks.dynamics.step_methods import METHODS, Step
from tasks.features.friction.inputs import Friction, friction_input, without_zero_width
from tasks.features.friction.joints import bristles
from tasks.kernels.keys import Arrays, whole_lanes
from tasks.mathematics import rotations


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
