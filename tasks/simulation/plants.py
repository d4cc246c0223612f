"""Robots in motion as a batch of cases: state, step and what is seen of them, by the methods of `tasks.motion`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robots.criteria.elasticity import Elasticity
from robots.friction.groups import FrictionGroup
from robots.loads.family import signal_breaks
from robots.loads.signals import Breaks, Piece
from robots.model import Family
from robots.status import Status
from tasks.mathematics import quaternions
from tasks.motion.events import Stepper, forced, whole_lanes
from tasks.motion.motors import ActuatorRates, FedMotors, FedPush
from tasks.motion.pushes import Parabola, Push, SignalSource
from tasks.motion.steps import METHODS
from tasks.motion.system import Moment, MotionSystem
from tasks.simulation.drives import ForceSource, StepForces
from tasks.simulation.fused import fused_step


@dataclass(frozen=True)
class Supply:
    """Motors of all cases with what feeds them, and the rates at which they turn."""

    motors: FedMotors
    rates: ActuatorRates


class MovingRobots:
    """Cases of one family with designs and friction of their own, by a method with steps of `step` [s]."""

    def __init__(
        self, system: MotionSystem, state: np.ndarray, step: float, method: str, load: ForceSource | None = None,
        field: ForceSource | None = None, supply: Supply | None = None,
    ):  # fmt: skip
        self._signals = SignalSource.of(system.instant.family) if system.layout.signals else None
        self._breaks = signal_breaks(system.instant.family) if system.layout.signals else Breaks()
        self.system, self.step, self.method, self.load, self.field = system, step, METHODS[method], load, field
        self.supply = supply
        self._fused = None if supply is not None else fused_step(system, method, step)
        self._state = state
        self._now: Moment | None = None

    @classmethod
    def of(
        cls, family: Family, groups: tuple[FrictionGroup, ...], parameters: np.ndarray, friction: np.ndarray,
        gravity: tuple[float, float, float], start: np.ndarray, step: float, method: str,
        load: ForceSource | None = None, load_with_platform: bool = False, field: ForceSource | None = None,
        supply: Supply | None = None, elasticity: Elasticity | None = None,
    ) -> MovingRobots:  # fmt: skip
        """From parameters (samples, parameter), friction (samples, of all groups), motion inputs at the start.

        Time is zero at the start for what changes in the robot's own loads. load: wrenches (6, samples) on the platform
        over each step, in the axes of the world, or of the platform; field (9, samples): what a base that moves adds,
        as `tasks.mechanics.field` has it; None where it stands. supply: what feeds the motors; None where these give
        what they are asked for. elasticity: what shares the loads in joints; None where the least norm does.
        """
        system = MotionSystem.of_cases(
            family, parameters, groups, friction, gravity,
            base=field is not None, load_with_platform=load_with_platform, elasticity=elasticity,
        )  # fmt: skip
        layout, structure = system.layout, system.instant.structure
        state = np.zeros((layout.size, start.shape[1]))
        if not layout.platform:
            state[layout.at["q"]], state[layout.at["qd"]] = start[: layout.free], start[layout.free : 2 * layout.free]
            return cls(system, state, step, method, load, field, supply)
        home = np.array(family.reference.platform.home.rotation, dtype=float).reshape(9, 1)
        small = len(start) == 9
        turned = np.broadcast_to(home, (9, start.shape[1])) if small else start[3:12]
        pose = state[layout.at["q"]]
        pose[:3], pose[3:] = start[:3], quaternions.of_rotation(np.ascontiguousarray(turned))
        twist = np.concatenate([np.zeros((3, start.shape[1])), start[3:6]]) if small else start[12:18]
        state[layout.at["qd"]] = twist[structure.positions]
        return cls(system, state, step, method, load, field, supply)

    def begin(self, push: StepForces) -> None:
        """Find out which joints hold at the start."""
        first = self._part(Parabola(*self._acting(0, push)), 0.0, self._breaks.pieces(0.0, self.step)[0])
        acting = self._begun(first)
        modes = self.system.first_modes(self._state, acting)
        self._now = Moment(*self.system.settled(self._state, modes, modes.rest > 0.5, lambda state: acting))

    def advance(self, number: int, push: StepForces) -> None:
        """The step of that number, under forces."""
        whole = Parabola(*self._acting(number, push))
        start = number * self.step
        for piece in self._breaks.pieces(start, self.step):
            self._take(self._part(whole, (piece.start - start) / self.step, piece), piece)

    def _part(self, whole: Parabola, since: float, piece: Piece) -> Parabola:
        """What acts over a piece of a step, which begins at a share of it; with the signals of loads there."""
        if self._signals is None:
            return whole
        parts = [since + share * piece.length / self.step for share in (0.0, 0.5, 1.0)]
        others = [whole(np.full(whole.begin.shape[1], share), self.state) for share in parts]
        signals = self._signals.over(piece.start, piece.length, (whole.begin.shape[1],))
        at = self.system.layout.acting["signals"].start
        pairs = zip(others, signals, strict=True)
        return Parabola(*(np.concatenate([acting[:at], rows, acting[at:]]) for acting, rows in pairs))

    def _take(self, acting: Parabola, piece: Piece) -> None:
        """One piece of a step."""
        assert self._now is not None
        stepper = Stepper(self.system, self.method, piece.length, self._fed(acting))
        if self._fused is None:
            self._now = stepper.taken(forced(self.system, self._now, self._begun(acting)))
            return
        before, (self._now, event) = self._now, self._fused(self._now, acting, piece.length)
        if not event.any():
            return
        ended = ~np.isfinite(before.state).all(axis=0)
        if ended.any():
            columns = np.flatnonzero(ended)
            self._now = self._now.replaced(columns, before.of(columns))
        if (event & ~ended).any():
            columns = whole_lanes(np.flatnonzero(event & ~ended))
            part = stepper.of(columns)
            begun = forced(part.system, before.of(columns), np.ascontiguousarray(acting.begin[:, columns]))
            self._now = self._now.replaced(columns, part.taken(begun))

    def given(self, asked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Forces of the actuators as they are, for those that they are asked for, and where these differ."""
        if self.supply is None:
            return asked, np.zeros(asked.shape, dtype=bool)
        return self.supply.motors.given(asked, self._rates(self.state))

    def _rates(self, state: np.ndarray) -> np.ndarray:
        assert self.supply is not None
        return self.supply.rates(self.system.instant.seen(state), state[self.system.layout.at["qd"]])

    def _fed(self, acting: Parabola) -> Push:
        """What acts where motors are fed by a supply."""
        if self.supply is None:
            return acting
        return FedPush(acting, self.supply.motors, self._rates, self.state, np.arange(self.state.shape[1]))

    def _begun(self, acting: Parabola) -> np.ndarray:
        """What acts at the start of a step."""
        if self.supply is None:
            return acting.begin
        return self._fed(acting)(np.zeros(self.state.shape[1]), self.state)

    def _acting(self, number: int, push: StepForces) -> StepForces:
        """Rows of `Layout.acting` but the signals: forces, the load on a platform, what a base that moves adds."""
        sources = [self.load] if self.system.layout.platform else []
        sources += [self.field] if self.field is not None else []
        if not sources:
            return push
        none = np.zeros((6, push.begin.shape[1]))
        rows = [StepForces(none, none, none) if source is None else self._over(source, number) for source in sources]
        begin = np.concatenate([push.begin, *(row.begin for row in rows)])
        if push.begin is push.end and all(row.begin is row.end for row in rows):
            return StepForces(begin, begin, begin)
        others = (np.concatenate([push[k], *(row[k] for row in rows)]) for k in (1, 2))
        return StepForces(begin, *others)

    def _over(self, source: ForceSource, number: int) -> StepForces:
        return source.at(number, self.state).push

    @property
    def state(self) -> np.ndarray:
        """The state as `tasks.motion.instant.layout.Layout` says."""
        return self._state if self._now is None else self._now.state

    def motion(self) -> np.ndarray:
        """The state as a motion input of kernels, without accelerations."""
        seen = self.system.instant.seen(self.state)
        if not self.system.layout.platform:
            q, qd = seen
            return np.concatenate([q, qd, np.zeros_like(q)])
        position, rotation, twist = seen
        none = np.zeros_like(position)
        if self.system.instant.structure.motion_size == 9:
            return np.concatenate([position, twist[3:], none])
        return np.concatenate([position, rotation.reshape(9, -1), twist, none, none])

    def speed(self) -> np.ndarray:
        """Rates of the freedoms."""
        return self.state[self.system.layout.at["qd"]]

    @property
    def status(self) -> np.ndarray:
        """Status; INTEGRATION_FAILED where there is no rate without another reason."""
        if self._now is None:
            return np.zeros(self._state.shape[1])
        rates = self._now.rates
        ended = ~np.isfinite(rates.rate).all(axis=0)
        return np.where(ended & (rates.status < 0.5), float(Status.INTEGRATION_FAILED), rates.status)

    @property
    def friction(self) -> np.ndarray:
        """Friction of all joints of the groups."""
        assert self._now is not None
        return self._now.rates.braking

    @property
    def loss(self) -> np.ndarray:
        """Work that friction has taken."""
        return self.state[self.system.layout.at["loss"]]

    @property
    def work(self) -> np.ndarray:
        """Work of the actuators."""
        return self.state[self.system.layout.at["work"]]
