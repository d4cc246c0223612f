"""A chain with friction as a system of differential equations for a batch: states, modes, rates, and what ends a mode.

Arrays are (size, padded samples). A state holds q, q', the memory of friction laws, and two integrals: the work that
friction has taken, and the work that actuators have done. All of it is column by column, so that the bits of a case do
not depend on its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robots.model import Robot
from robots.status import Status
from tasks import inputs
from tasks.chain_programs import motion_program
from tasks.friction_forward import bristles, sticks
from tasks.friction_input import FrictionInput
from tasks.kernels.cache import kernel

Array = Any
Force = Callable[[np.ndarray], np.ndarray]
"""Actuator forces (actuator, samples) at states (size, samples)."""

ROUNDING = 1e-12
"""Share of a limit, or of a velocity, that counts as none."""


@dataclass(frozen=True)
class Layout:
    """Where the parts of a state are."""

    free: int
    joints: int
    actuators: int

    def _parts(self) -> dict[str, slice]:
        sizes = {"q": self.free, "qd": self.free, "memory": self.joints, "loss": self.joints, "work": self.actuators}
        ends = np.cumsum([0, *sizes.values()])
        return {name: slice(int(a), int(b)) for name, a, b in zip(sizes, ends[:-1], ends[1:], strict=True)}

    @cached_property
    def at(self) -> dict[str, slice]:
        """Rows of `q`, `qd`, `memory`, `loss` and `work`."""
        return self._parts()

    @property
    def size(self) -> int:
        """Length of a state."""
        return 2 * self.free + 2 * self.joints + self.actuators


@dataclass(frozen=True)
class Modes:
    """Which joints are stuck (joint, samples), and the direction in which the others move: 1 or -1, 0 without modes."""

    stuck: np.ndarray
    direction: np.ndarray

    def of(self, columns: np.ndarray) -> Modes:
        """Those of some samples."""
        return Modes(self.stuck.take(columns, axis=1), self.direction.take(columns, axis=1))


@dataclass(frozen=True)
class Rates:
    """What a chain does at a state: `rate` of the state, and of its joints what `chain_programs` says."""

    rate: np.ndarray
    braking: np.ndarray
    velocity: np.ndarray
    change: np.ndarray
    limit: np.ndarray
    remembered: np.ndarray
    kept_speed: np.ndarray
    status: np.ndarray

    def of(self, columns: np.ndarray) -> Rates:
        """Those of some samples."""
        return Rates(*(getattr(self, name).take(columns, axis=-1) for name in self.__dataclass_fields__))


class ChainSystem:
    """A chain, its friction, and gravity."""

    def __init__(self, robot: Robot, friction: FrictionInput, gravity: Array):
        self.robot, self.groups = robot, friction.groups
        self.constants = {
            "parameters": inputs.parameters(robot),
            "mount": inputs.mounts(robot)[0],
            "gravity": inputs.gravity_input(gravity),
            "friction": friction.values if friction.groups else np.zeros((1, 0)),
        }
        group_of = [group for group in friction.groups for _ in group.places]
        self.layout = Layout(len(robot.mechanism.freedoms), len(group_of), len(robot.mechanism.actuators))
        self.sticking = np.array([sticks(group) for group in group_of], dtype=bool)
        self.bristling = np.array([bristles(group) for group in group_of], dtype=bool)

    def rates(
        self,
        state: np.ndarray,
        modes: Modes,
        force: np.ndarray,
        stage: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
    ) -> Rates:
        """Everything at a state; `stage` is that of `chain_forward.Stage`. NaN rates where a sample has no motion."""
        at, width = self.layout.at, state.shape[1]
        given = {name: state[None, at[name]] for name in ("q", "qd", "memory")}
        given |= {"force": force[None], "stuck": modes.stuck[None], "direction": modes.direction[None]}
        if stage is not None:
            given |= dict(zip(("scale", "less_rate", "less_memory"), (x[None] for x in stage), strict=True))
        run = kernel(motion_program(self.robot.family, self.groups, stage is not None))
        made = {name: value[0] for name, value in run(self.constants | given, width).items()}
        power = made["braking"] * made["velocity"]
        driving = force * made["actuator_velocity"]
        rate = np.concatenate([state[at["qd"]], made["acceleration"], made["memory_rate"], power, driving])
        status = made["status"][0]
        rate[:, status != Status.OK] = np.nan
        names = ("braking", "velocity", "change", "limit", "remembered", "kept_speed")
        return Rates(rate, *(made[name] for name in names), status)

    def first_modes(self, state: np.ndarray, force: np.ndarray) -> Modes:
        """The modes with which a motion starts: joints without velocity are stuck until `settled` says otherwise."""
        none = np.zeros((self.layout.joints, state.shape[1]))
        velocity = self.rates(state, Modes(none, none), force).velocity
        still = np.abs(velocity) <= ROUNDING * np.abs(velocity).max(axis=0, initial=0.0)
        return Modes(
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

        Joints that stop are stuck, and velocities those that this allows. Then the joint that is furthest beyond its
        limit breaks away, one after the other, until all that are stuck hold, and all that move have a force that
        moves them; one that has none is stuck again.
        """
        modes = Modes(np.where(stopping, 1.0, modes.stuck), np.where(stopping, 0.0, modes.direction))
        state, found = state.copy(), self.rates(state, modes, force(state))
        speed = self.layout.at["qd"]
        state[speed] = np.where(stopping.any(axis=0), found.kept_speed, state[speed])
        state[self.layout.at["memory"]] = found.remembered
        push = force(state)
        fresh = np.zeros_like(stopping)
        for _ in range(3 * self.layout.joints + 3):
            found = self.rates(state, modes, push)
            change = self._change(modes, found, fresh)
            if not change.any():
                break
            fresh = fresh | (change & (modes.stuck > 0.5))
            loose = change & (modes.stuck > 0.5)
            modes = Modes(
                np.where(change, 1.0 - modes.stuck, modes.stuck),
                np.where(loose, np.sign(found.braking), np.where(change, 0.0, modes.direction)),
            )
        return state, modes, found

    def _change(self, modes: Modes, found: Rates, fresh: np.ndarray) -> np.ndarray:
        """The joint of each sample that changes its mode first, (joint, samples)."""
        beyond = np.abs(found.braking) / (found.limit + np.finfo(float).tiny) - 1.0
        urgency = np.where((modes.stuck > 0.5) & (beyond > ROUNDING), beyond, 0.0)
        back = fresh & (modes.stuck < 0.5) & (modes.direction * found.change < 0.0)
        urgency = np.where(back, np.inf, urgency)
        urgency[~self.sticking] = 0.0
        first = np.zeros(urgency.shape, dtype=bool)
        if len(urgency):
            first[np.argmax(urgency, axis=0), np.arange(urgency.shape[1])] = True
        return first & (urgency > 0.0)
