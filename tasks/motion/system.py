"""A chain with friction as a system of differential equations for a batch: states, modes, rates, and what ends a mode.

Arrays are (size, padded samples). A state holds q, q', the memory of friction laws, and two integrals: the work that
friction has taken, and the work that actuators have done. All of it is column by column, so that the bits of a case do
not depend on its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robots.friction.laws import LAWS
from robots.model import Robot
from robots.status import Status
from tasks.arrays import inputs
from tasks.friction.forward import bristles
from tasks.friction.given import Friction, FrictionInput, friction_input, without_zero_width
from tasks.kernels.cache import kernel
from tasks.kernels.kernel import Kernel
from tasks.motion.programs import Layout, layout, motion_program

Force = Callable[[np.ndarray], np.ndarray]
"""Actuator forces (actuator, samples) at states (size, samples)."""

ROUNDING = 1e-12
"""Share of a limit, or of a velocity, that counts as none."""


@dataclass(frozen=True)
class Modes:
    """Which joints are stuck (joint, samples), and where the others move: 1 or -1, 0 without modes; one array."""

    both: np.ndarray

    @classmethod
    def of(cls, stuck: np.ndarray, direction: np.ndarray) -> Modes:
        """From the two."""
        return cls(np.concatenate([stuck, direction]))

    @property
    def stuck(self) -> np.ndarray:
        """1 where a joint is stuck."""
        return self.both[: len(self.both) // 2]

    @property
    def direction(self) -> np.ndarray:
        """1 or -1 where a joint moves."""
        return self.both[len(self.both) // 2 :]


@dataclass(frozen=True)
class Rates:
    """What a chain does at a state: its `rate`, of its `joints` what OF_JOINTS says, what speed stuck joints allow."""

    layout: Layout
    rate: np.ndarray
    joints: np.ndarray
    kept_speed: np.ndarray
    status: np.ndarray

    def __getattr__(self, name: str) -> np.ndarray:
        """One of OF_JOINTS, (joint, samples)."""
        return self.joints[self.layout.of_joints[name]]


class ChainSystem:
    """A chain, its friction, and gravity."""

    def __init__(self, robot: Robot, friction: FrictionInput, gravity: ArrayLike):
        self.robot, self.groups = robot, friction.groups
        self._kernels: dict[bool, Kernel] = {}
        self.constants = {
            "parameters": inputs.parameters(robot),
            "mount": inputs.mounts(robot)[0],
            "gravity": inputs.gravity_input(gravity),
            "friction": friction.values if friction.groups else np.zeros((1, 0)),
        }
        group_of = [group for group in friction.groups for _ in group.places]
        self.layout = layout(robot.family, friction.groups)
        self.sticking = np.array([group.sticks for group in group_of], dtype=bool)
        self.bristling = np.array([bristles(group) for group in group_of], dtype=bool)
        self.stiff = np.array([group.stiff for group in group_of], dtype=bool)

    @classmethod
    def of(cls, robot: Robot, friction: Friction, gravity: ArrayLike) -> ChainSystem:
        """From friction as callers give it, of any law. Raises ParameterError."""
        return cls(robot, without_zero_width(friction_input(robot, friction, LAWS)), gravity)

    def rates(self, state: np.ndarray, modes: Modes, force: np.ndarray, stage: np.ndarray | None = None) -> Rates:
        """Everything at a state; `stage` as in `chain_programs`. NaN rates where a sample has no motion."""
        arrays = {**self.constants, "state": state[None], "modes": modes.both[None], "force": force[None]}
        if stage is not None:
            arrays["stage"] = stage[None]
        outputs = self._run(stage is not None)(arrays, state.shape[1])
        rate, status = outputs["rate"][0], outputs["status"][0, 0]
        if status.any():
            rate[:, status != Status.OK] = np.nan
        return Rates(self.layout, rate, outputs["joints"][0], outputs["kept_speed"][0], status)

    def _run(self, implicit: bool) -> Kernel:
        if implicit not in self._kernels:
            self._kernels[implicit] = kernel(motion_program(self.robot.family, self.groups, implicit))
        return self._kernels[implicit]

    def first_modes(self, state: np.ndarray, force: np.ndarray) -> Modes:
        """The modes with which a motion starts: joints without velocity are stuck until `settled` says otherwise."""
        none = np.zeros((self.layout.joints, state.shape[1]))
        velocity = self.rates(state, Modes.of(none, none), force).velocity
        still = np.abs(velocity) <= ROUNDING * np.abs(velocity).max(axis=0, initial=0.0)
        return Modes.of(
            np.where(self.sticking[:, None] & still, 1.0, 0.0),
            np.where(self.sticking[:, None] & ~still, np.sign(velocity), 0.0),
        )

    def margins(self, start: Rates, modes: Modes, end: Rates) -> np.ndarray:
        """How far each joint is from the end of its mode (joint, samples), relative; negative: it is past it.

        A joint that moves stops where its velocity changes its sign, one that is stuck breaks away beyond its limit.
        """
        size = np.maximum(np.abs(start.velocity), np.abs(end.velocity)) + np.finfo(float).tiny
        moving = modes.direction * end.velocity / size + ROUNDING
        holding = 1.0 - np.abs(end.braking) / (end.limit + np.finfo(float).tiny) + ROUNDING
        result = np.where(modes.stuck > 0.5, holding, moving)
        result[~self.sticking] = np.inf
        return result

    def settled(
        self, state: np.ndarray, modes: Modes, stopping: np.ndarray, force: Force
    ) -> tuple[np.ndarray, Modes, Rates]:
        """State, modes and rates after joints (joint, samples) have come to a stop: which stay, which move on.

        Joints that stop are stuck at first. Then the joint that is furthest beyond its limit breaks away, one after the
        other, until all that are stuck hold, and all that move have a force that moves them; one that has none is stuck
        again. At last velocities are those that stuck joints allow. A joint that only turns round, because the loop
        that it is in makes it, cannot hold and goes on.
        """
        modes = Modes.of(np.where(stopping, 1.0, modes.stuck), np.where(stopping, 0.0, modes.direction))
        state, push, fresh = state.copy(), force(state), np.zeros_like(stopping)
        rates = self.rates(state, modes, push)
        state[self.layout.at["memory"]] = rates.remembered
        for _ in range(3 * self.layout.joints + 3):
            rates = self.rates(state, modes, push)
            change = self._change(modes, rates, fresh)
            if not change.any():
                break
            loose = change & (modes.stuck > 0.5)
            fresh = fresh | loose
            modes = Modes.of(
                np.where(change, 1.0 - modes.stuck, modes.stuck),
                np.where(loose, np.sign(rates.braking), np.where(change, 0.0, modes.direction)),
            )
        staying = (stopping & (modes.stuck > 0.5)).any(axis=0)
        if staying.any():
            speed = self.layout.at["qd"]
            state[speed] = np.where(staying, rates.kept_speed, state[speed])
            rates = self.rates(state, modes, force(state))
        return state, modes, rates

    def _change(self, modes: Modes, rates: Rates, fresh: np.ndarray) -> np.ndarray:
        """The joint of each sample that changes its mode first, (joint, samples)."""
        beyond = np.abs(rates.braking) / (rates.limit + np.finfo(float).tiny) - 1.0
        urgency = np.where((modes.stuck > 0.5) & (beyond > ROUNDING), beyond, 0.0)
        back = fresh & (modes.stuck < 0.5) & (modes.direction * rates.change < 0.0)
        urgency = np.where(back, np.inf, urgency)
        urgency[~self.sticking] = 0.0
        first = np.zeros(urgency.shape, dtype=bool)
        if len(urgency):
            first[np.argmax(urgency, axis=0), np.arange(urgency.shape[1])] = True
        return first & (urgency > 0.0)
