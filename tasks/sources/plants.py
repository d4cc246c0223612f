"""Moving robots of a batch of cases: state, step and output, by the methods of `tasks.dynamics`."""

from __future__ import annotations

import functools

import numpy as np

from robots.data_classes import dataclass
from robots.loads.family import signal_breaks
from robots.loads.signals import Breaks, Piece
from robots.status import Status
from tasks.dynamics.fed_motors import ActuatorRates, FedMotors, FedPush
from tasks.dynamics.forces_over_step import Parabola, Push, SignalSource
from tasks.dynamics.instant.moments import Moment
from tasks.dynamics.integration import Stepper, forced
from tasks.dynamics.motion_system import MotionSystem
from tasks.dynamics.resting_joints import first_modes, settled
from tasks.kernels.keys import Values, whole_lanes
from tasks.mathematics import rotations
from tasks.sources.drives import ForceSource, StepForces
from tasks.sources.fused_step import FusedStep, fill_accelerations, in_one_call

BEFORE_JUMP = "current_rate_before"
"""Rates of currents at the end of a step, before voltages change."""


@dataclass(frozen=True)
class Supply:
    """Motors of all cases with their supplies, and their rates."""

    motors: FedMotors
    rates: ActuatorRates


class MovingRobots:
    """Cases of one family with designs and friction of their own, by a method with steps of `step` [s]."""

    def __init__(
        self, system: MotionSystem, state: np.ndarray, step: float, method: str, load: ForceSource | None = None,
        field: ForceSource | None = None, supply: Supply | None = None,
    ):  # fmt: skip
        self._signals = SignalSource.of(system.instant.family) if system.layout.signals else None
        self.breaks = signal_breaks(system.instant.family) if system.layout.signals else Breaks()
        self.system, self.step, self.method, self.load, self.field = system, step, system.step_of(method), load, field
        self.supply = supply
        plain = supply is None and not system.layout.windings and not system.load_with_platform
        self._has_fused_steps = plain and in_one_call(system.instant, method)
        self._state = state
        self._now: Moment | None = None

    @classmethod
    def of(
        cls, system: MotionSystem, start: np.ndarray, step: float, method: str, load: ForceSource | None = None,
        field: ForceSource | None = None, supply: Supply | None = None,
    ) -> MovingRobots:  # fmt: skip
        """Return the robots from all cases' equations of motion, with motion inputs (size, samples) at the start.

        Time is zero at the start for loads of the robot that change with time. load: wrenches (6, samples) on the
        platform over each step, in the axes of the world, or of the platform. field (9, samples): inertial field of a
        moving base, see `tasks.mechanics.recursion`; None for a base at rest. supply: supply of the motors; None if
        motors give the commanded forces.
        """
        layout, structure = system.layout, system.instant.structure
        state = np.zeros((layout.size, start.shape[1]))
        if not layout.platform:
            state[layout.at["q"]], state[layout.at["qd"]] = start[: layout.free], start[layout.free : 2 * layout.free]
            return cls(system, state, step, method, load, field, supply)
        home = np.array(system.instant.family.reference.platform.home.rotation, dtype=float).reshape(9, 1)
        small = len(start) == 9
        turned = np.broadcast_to(home, (9, start.shape[1])) if small else start[3:12]
        pose = state[layout.at["q"]]
        pose[:3], pose[3:] = start[:3], rotations.of_rotation(np.ascontiguousarray(turned))
        twist = np.concatenate([np.zeros((3, start.shape[1])), start[3:6]]) if small else start[12:18]
        state[layout.at["qd"]] = twist[structure.positions]
        return cls(system, state, step, method, load, field, supply)

    @property
    def in_one_call(self) -> bool:
        """True if steps between events are calls of machine code at all times."""
        return self._has_fused_steps and self._signals is None

    @functools.cached_property
    def _fused(self) -> FusedStep | None:
        """Steps in one call each; None where they are not. Compiled where a step is taken alone."""
        return FusedStep(self.system.instant, self.step) if self._has_fused_steps else None

    def place(self, state: np.ndarray) -> None:
        """Put the robots into a state, which something else moves on."""
        self._state = state

    @property
    def moment(self) -> Moment:
        """State, modes and rates now, once the motion has begun."""
        assert self._now is not None
        return self._now

    @moment.setter
    def moment(self, now: Moment) -> None:
        self._now = now

    def begin(self, push: StepForces) -> None:
        """Find out which joints hold at the start."""
        first = self.part(Parabola(*self.acting(0, push)), 0.0, self.breaks.pieces(0.0, self.step)[0])
        acting = self._begun(first)
        modes = first_modes(self.system, self._state, acting)
        self._now = Moment(*settled(self.system, self._state, modes, modes.rest > 0.5, lambda state: acting))

    def advance(self, number: int, push: StepForces) -> None:
        """Take the step of that number, under forces."""
        whole = Parabola(*self.acting(number, push))
        start = number * self.step
        for piece in self.breaks.pieces(start, self.step):
            self._take(self.part(whole, (piece.start - start) / self.step, piece), piece)

    def part(self, whole: Parabola, since: float, piece: Piece) -> Parabola:
        """Return the acting forces over a piece of a step that begins at a share of it, with the load signals there."""
        if self._signals is None:
            return whole
        parts = [since + share * piece.length / self.step for share in (0.0, 0.5, 1.0)]
        others = [whole(np.full(whole.begin.shape[1], share), self.state) for share in parts]
        signals = self._signals.over(piece.start, piece.length, (whole.begin.shape[1],))
        at = self.system.layout.acting["signals"].start
        pairs = zip(others, signals, strict=True)
        return Parabola(*(np.concatenate([acting[:at], rows, acting[at:]]) for acting, rows in pairs))

    def _take(self, acting: Parabola, piece: Piece) -> None:
        """Take one piece of a step."""
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
        """Return the actual forces of the actuators for commanded forces, and a mask where both differ."""
        if self.supply is None:
            return self.system.delivered(self.state, asked)
        return self.supply.motors.given(asked, self._rates(self.state))

    def _rates(self, state: np.ndarray) -> np.ndarray:
        assert self.supply is not None
        return self.supply.rates(self.system.instant.seen(state), state[self.system.layout.at["qd"]])

    def _fed(self, acting: Parabola) -> Push:
        """Return the external inputs, with forces of motors within the limits of their supply."""
        if self.supply is None:
            return acting
        return FedPush(acting, self.supply.motors, self._rates, self.state, np.arange(self.state.shape[1]))

    def _begun(self, acting: Parabola) -> np.ndarray:
        """Return the acting forces at the start of a step."""
        if self.supply is None:
            return acting.begin
        return self._fed(acting)(np.zeros(self.state.shape[1]), self.state)

    def acting(self, number: int, push: StepForces) -> StepForces:
        """Return the rows of `StateLayout.acting` except signals: forces, platform load, terms of a moving base."""
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
        """The state in the layout of `tasks.dynamics.instant.layout.StateLayout`."""
        return self._state if self._now is None else self._now.state

    def motion(self) -> np.ndarray:
        """Return the state as a motion input of kernels, without accelerations."""
        seen = self.system.instant.seen(self.state)
        if not self.system.layout.platform:
            q, qd = seen
            return np.concatenate([q, qd, np.zeros_like(q)])
        position, rotation, twist = seen
        none = np.zeros_like(position)
        if self.system.instant.structure.motion_size == 9:
            return np.concatenate([position, twist[3:], none])
        return np.concatenate([position, rotation.reshape(9, -1), twist, none, none])

    def sample(self, number: int, push: StepForces, *, rates: bool = True) -> Values:
        """Return values of the stages of inverse dynamics at the begin of a step, under the forces from there on.

        These are the motion input, external inputs beside the actuators, and with `rates` accelerations and friction of
        all joints.
        """
        start, layout = number * self.step, self.system.layout
        whole = Parabola(*self.acting(number, push))
        begin = self._begun(self.part(whole, 0.0, self.breaks.pieces(start, self.step)[0]))
        values: Values = {"motion": self.motion()}
        if layout.platform:
            values["load"] = self._in_world(begin[layout.acting["load"]])
        if layout.signals:
            values["signals"] = begin[layout.acting["signals"]]
        if self.field is not None:
            values["gravity"] = begin[layout.acting["base"]]
        if rates:
            now = forced(self.system, self.moment, np.ascontiguousarray(begin)).rates
            fill_accelerations(self.system.instant, values["motion"][None], now.rate[None, layout.at["qd"]])
            values["given_friction"] = now.braking
            if layout.windings:
                currents = layout.at["current"]
                values |= {"current_rate": now.rate[currents], BEFORE_JUMP: self.moment.rates.rate[currents]}
        return values

    def _in_world(self, load: np.ndarray) -> np.ndarray:
        """Return a load on the platforms (6, samples) in axes of the world."""
        if not self.system.load_with_platform:
            return load
        _, rotation, _ = self.system.instant.seen(self.state)
        turned = [np.einsum("ijs,js->is", rotation.reshape(3, 3, -1), load[rows]) for rows in (slice(3), slice(3, 6))]
        return np.concatenate(turned)

    def speed(self) -> np.ndarray:
        """Return the rates of the freedoms."""
        return self.state[self.system.layout.at["qd"]]

    @property
    def status(self) -> np.ndarray:
        """Status; INTEGRATION_FAILED where rates are missing for no other reason."""
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
