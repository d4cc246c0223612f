"""Moving robots of a batch of cases: state, step and output, by the methods of `tasks.dynamics`.

`FusedStep` takes a Runge-Kutta step of a batch between events in one call of machine code. It does the same as `rk4` of
`tasks.dynamics.integration.Stepper` while no event occurs: no joint comes to rest or breaks away, no status but OK, no
memory that changes. It reports an event, and the stepper takes that step instead. All bits are the same, because the
code between programs is traced without fused products, as NumPy computes it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robots.friction.groups import FrictionGroup
from robots.loads.family import signal_breaks
from robots.loads.signals import Breaks, Piece
from robots.model import Family
from robots.status import Status
from tasks.dynamics.fed_motors import ActuatorRates, FedMotors, FedPush
from tasks.dynamics.forces_over_step import Parabola, Push, SignalSource
from tasks.dynamics.instant.layout import layout
from tasks.dynamics.integration import (
    METHODS,
    ROUGH,
    ROUNDING,
    STILL,
    UNIT,
    Moment,
    MotionSystem,
    StateRates,
    Stepper,
    forced,
    whole_lanes,
)
from tasks.kernels.expression import Array, Mask, Scalar
from tasks.kernels.kernel import has_compiler
from tasks.kernels.keys import Values, indexed
from tasks.kernels.lanes import ProgramSequence, Slot, Slots, empty
from tasks.kernels.program import Program, trace
from tasks.mathematics import rotations
from tasks.mathematics.algebra import either, sqrt, where
from tasks.mechanics.structure import structure_of
from tasks.sources.drives import ForceSource, StepForces

KEPT = ("rate", "joints", "kept_speed", "dependent", "status")
"""Outputs of the end of a step that the next one, or its events, need."""

TINY = float(np.finfo(float).tiny)


def fused_step(system: MotionSystem, method: str, step: float) -> FusedStep | None:
    """The step of a method in one call; None for other methods than rk4, and for loads in the platform's axes."""
    if method != "rk4" or system.load_with_platform or not has_compiler() or not system.instant.in_lanes:
        return None
    return FusedStep(system, step)


class FusedStep:
    """Steps of `step` [s] of a batch whose samples are cases of their own."""

    def __init__(self, system: MotionSystem, step: float):
        self._system, self._step, parts = system, step, system.layout
        family, groups = system.instant.family, system.instant.groups
        self._sequence = sequence = ProgramSequence()
        self._state, self._modes = sequence.wide(parts.size), sequence.wide(2 * parts.joints)
        self._length = sequence.wide(1)
        names = {"force": "force"} | ({"load": "load"} if parts.platform else {})
        names |= {"signals": "signals"} if parts.signals else {}
        names |= {"gravity": "base"} if system.instant.base else {}
        rows = {name: parts.acting[row] for name, row in names.items()}
        sizes = {name: row.stop - row.start for name, row in rows.items()}
        self._acting = [{name: sequence.wide(size) for name, size in sizes.items()} for _ in range(3)]
        self._rows = rows
        begin, middle, end = self._acting
        evaluate = _Evaluation(sequence, system, self._modes)
        first = evaluate(self._state, begin)
        rates, evaluated = [first["rate"]], [first]
        for share, acting in ((0.5, middle), (0.5, middle), (1.0, end)):
            stage = {"state": self._state, "rate": rates[-1], "length": self._length}
            at = sequence.add(_part_program(parts.size, share), stage, {})["at"]
            evaluated.append(evaluate(at, acting))
            rates.append(evaluated[-1]["rate"])
        ways = indexed_rates(rates)
        self._results: dict[Any, Slot] = {"state": sequence.wide(parts.size)}
        ended = sequence.add(
            _end_program(family, groups), {"before": self._state, "length": self._length, **ways},
            {"state": self._results["state"]},
        )  # fmt: skip
        shapes = {name: last.size for name, last in first.items() if name in KEPT}
        self._results |= {name: sequence.wide(size) for name, size in shapes.items()}
        evaluated.append(evaluate(ended["state"], end, self._results))
        self._results["event"] = sequence.wide(1)
        inputs: dict[Any, Slot] = {"modes": self._modes, "state": ended["state"], "rough": ended["rough"]}
        for k, outputs in enumerate(evaluated):
            inputs |= indexed(k, {name: outputs[name] for name in ("status", "unbalanced")})
        for k, outputs in ((0, evaluated[0]), (1, evaluated[-1])):
            inputs |= indexed(k, {name: outputs[name] for name in ("joints", "rate")})
        sequence.add(_event_program(family, groups, len(evaluated)), inputs, {"event": self._results["event"]})

    def __call__(self, now: Moment, acting: Parabola, length: float | None = None) -> tuple[Moment, np.ndarray]:
        """The end of the step from a moment, and where it is not to be used (samples,); length [s]: of a part of it."""
        width, length = now.state.shape[1], self._step if length is None else length
        arrays = {self._state: now.state, self._modes: now.modes.both, self._length: np.full((1, width), length)}
        middle = acting(np.full(width, 0.5), now.state)
        for slots, values in zip(self._acting, (acting.begin, middle, acting(np.ones(width), now.state)), strict=True):
            arrays |= {slot: values[self._rows[name]] for name, slot in slots.items()}
        results = empty(self._results, width)
        self._sequence(arrays | {slot: results[key] for key, slot in self._results.items()}, width)
        scalars = (results[name][0] for name in ("dependent", "status"))
        rates = StateRates(self._system.layout, *(results[name] for name in KEPT[:3]), *scalars)
        return Moment(results["state"], now.modes, rates), results["event"][0] > 0.5


def indexed_rates(rates: list[Slot]) -> dict[Any, Slot]:
    """Return the rates of the stages of a step as inputs of `_end_program`."""
    return {key: slot for k, slot in enumerate(rates) for key, slot in indexed(k, {"rate": slot}).items()}


class _Evaluation:
    """Sequence of calls for a robot at a state; limbs use the same arrays each time."""

    def __init__(self, sequence: ProgramSequence, system: MotionSystem, modes: Slot):
        self._sequence, self._instant, self._modes = sequence, system.instant, modes
        self._limbs: list[dict[Any, Slot]] = []

    def __call__(self, state: Slot, acting: Slots, outputs: Slots | None = None) -> dict[Any, Slot]:
        """Outputs as `tasks.dynamics.instant.outputs.outputs_of_motion` names them; `outputs`: where to put some."""
        instant, sequence = self._instant, self._sequence
        inputs: dict[Any, Slot] = {"state": state, "modes": self._modes, **acting}
        whole = instant.whole_kernel()
        chosen = {name: slot for name, slot in (outputs or {}).items() if name in KEPT}
        if instant.layout.platform:
            moving = slice(0, instant.layout.moving)
            motion = sequence.add(_motion_program(instant.family), {"state": state.rows(moving)}, {})["motion"]
            inputs["motion"] = motion
            field = {name: slot for name, slot in acting.items() if name in ("gravity", "signals")}
            for k, limb in enumerate(instant.limb_kernels()):
                known = self._limbs[k] if k < len(self._limbs) else {}
                results = limb.add_to(sequence, {"motion": motion, **field}, known)
                self._limbs += [results] if not known else []
                inputs |= indexed(k, {str(name): slot for name, slot in results.items()})
        return whole.add_to(sequence, inputs, chosen)


@functools.cache
def _motion_program(family: Family) -> Program:
    """Return the motion input of limbs of a platform's state, without acceleration; see `Instant.seen`."""
    structure = structure_of(family)
    parts = layout(family, ())

    def one_sample(state: Array) -> dict[str, Any]:
        x, y, z, *turn = state[parts.at["q"]]
        twist = np.zeros(6, dtype=object)
        twist[structure.positions] = state[parts.at["qd"]]
        none = [0.0] * 3
        if structure.motion_size == 9:
            return {"motion": [x, y, z, *twist[3:], *none]}
        return {"motion": [x, y, z, *_rotation(turn), *twist, *none, *none]}

    return trace(f"{family.name}.seen", one_sample, case={}, sample={"state": (parts.moving,)}, fuse=False)


def _rotation(turn: list[Scalar]) -> list[Scalar]:
    """Return the rotation of a quaternion row by row, as `tasks.mathematics.rotations.rotation_matrix`."""
    w, x, y, z = turn
    length = sqrt(((w * w + x * x) + y * y) + z * z)
    w, x, y, z = w / length, x / length, y / length, z / length
    return [
        *(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        *(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        *(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    ]


@functools.cache
def _part_program(size: int, share: float) -> Program:
    """Return the state after a share of a step at a rate."""

    def one_sample(state: Array, rate: Array, length: Array) -> dict[str, Any]:
        return {"at": state + rate * (share * length[0])}

    sample = {"state": (size,), "rate": (size,), "length": (1,)}
    return trace(f"step.{size}.{share}", one_sample, case={}, sample=sample, fuse=False)


@functools.cache
def _end_program(family: Family, groups: tuple[FrictionGroup, ...]) -> Program:
    """The state at the end of a step of `tasks.dynamics.integration.rk4`, and whether it was too rough."""
    parts = layout(family, groups)

    def one_sample(before: Array, length: Array, rate: Mapping[int, Array]) -> dict[str, Any]:
        a, b, c, d = (rate[k] for k in range(4))
        state = before + (a + (b + c) * 2.0 + d) * (length[0] / 6.0)
        speed = parts.at["qd"]
        most = _largest([x for k in range(4) for x in rate[k][speed]])
        rough = _largest(list(c[speed] - b[speed])) > ROUGH * most + STILL
        if parts.platform:
            w, x, y, z = state[3:7]
            size = sqrt(((w * w + x * x) + y * y) + z * z)
            off = abs(size - 1.0) > UNIT
            state[3:7] = [where(off, part / size, part) for part in (w, x, y, z)]
        return {"state": state, "rough": [where(rough, 1.0, 0.0)]}

    sample: dict[Any, tuple[int, ...]] = {"before": (parts.size,), "length": (1,)}
    for k in range(4):
        sample |= indexed(k, {"rate": (parts.size,)})
    return trace(f"{family.name}.{parts.size}.end", one_sample, case={}, sample=sample, fuse=False)


def _largest(values: list[Scalar]) -> Scalar:
    result: Scalar = 0.0
    for value in values:
        result = where(result < abs(value), abs(value), result)
    return result


@functools.cache
def _event_program(family: Family, groups: tuple[FrictionGroup, ...], stages: int) -> Program:
    """Trace the program that detects events in a step: 1 where `Stepper` has to take the step."""
    parts = layout(family, groups)
    of, joints = parts.of_joints, range(parts.joints)
    sticks = [group.sticks for group in groups for _ in group.places]

    def one_sample(
        modes: Array, state: Array, rough: Array, status: Mapping[int, Array], unbalanced: Mapping[int, Array],
        **outputs: Mapping[int, Array],
    ) -> dict[str, Any]:  # fmt: skip
        result: Scalar = rough[0]

        def noted(mask: Mask) -> None:
            nonlocal result
            result = where(mask, 1.0, result)

        for k in range(stages):
            noted(either(abs(status[k][0]) > 0.5, unbalanced[k][0] > 0.5))
        for rate in outputs["rate"].values():
            for x in rate:
                noted(~(abs(x) < math.inf))
        begin, end = (outputs["joints"][k] for k in (0, 1))
        memory = state[parts.at["memory"]]
        for i in joints:
            rest, direction = modes[i] > 0.5, modes[parts.joints + i]
            was, now = begin[of["velocity"]][i], end[of["velocity"]][i]
            held, holds = (abs(outcome[of["breaking"]][i]) > 0.0 for outcome in (begin, end))
            noted(where(rest, where(held, 1.0, 0.0), 0.0) > 0.5)
            noted(abs(end[of["remembered"]][i] - memory[i]) > 0.0)
            if sticks[i]:
                size = where(abs(was) < abs(now), abs(now), abs(was)) + TINY
                past = direction * now / size + ROUNDING < 0.0
                noted(where(rest, where(holds, 1.0, 0.0), where(past, 1.0, 0.0)) > 0.5)
        return {"event": [result]}

    sample: dict[Any, tuple[int, ...]] = {"modes": (2 * parts.joints,), "state": (parts.size,), "rough": (1,)}
    for k in range(stages):
        sample |= indexed(k, {"status": (1,), "unbalanced": (1,)})
    for k in (0, 1):
        sample |= indexed(k, {"joints": (len(of) * parts.joints,), "rate": (parts.size,)})
    laws = "".join("1" if stick else "0" for stick in sticks)
    return trace(f"{family.name}.event.{laws}", one_sample, case={}, sample=sample, fuse=False)


SMALL = 9
"""Size of a motion input of a platform that does not turn."""


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
        self._breaks = signal_breaks(system.instant.family) if system.layout.signals else Breaks()
        self.system, self.step, self.method, self.load, self.field = system, step, METHODS[method], load, field
        self.supply = supply
        self._fused = None if supply is not None else fused_step(system, method, step)
        self._state = state
        self._now: Moment | None = None

    @classmethod
    def of(
        cls, system: MotionSystem, start: np.ndarray, step: float, method: str, load: ForceSource | None = None,
        field: ForceSource | None = None, supply: Supply | None = None,
    ) -> MovingRobots:  # fmt: skip
        """From the equations of motion of all cases, and their motion inputs (size, samples) at the start.

        Time is zero at the start for what changes in the robot's own loads. load: wrenches (6, samples) on the platform
        over each step, in the axes of the world, or of the platform; field (9, samples): what a base that moves adds,
        as `tasks.mechanics.recursion` has it; None where it stands. supply: what feeds the motors; None where these
        give what they are asked for.
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
        """Return the forces of the actuators as they are, for those that they are asked for, and where these differ."""
        if self.supply is None:
            return asked, np.zeros(asked.shape, dtype=bool)
        return self.supply.motors.given(asked, self._rates(self.state))

    def _rates(self, state: np.ndarray) -> np.ndarray:
        assert self.supply is not None
        return self.supply.rates(self.system.instant.seen(state), state[self.system.layout.at["qd"]])

    def _fed(self, acting: Parabola) -> Push:
        """Return the acting forces, those of the motors as their supply can feed them."""
        if self.supply is None:
            return acting
        return FedPush(acting, self.supply.motors, self._rates, self.state, np.arange(self.state.shape[1]))

    def _begun(self, acting: Parabola) -> np.ndarray:
        """Return the acting forces at the start of a step."""
        if self.supply is None:
            return acting.begin
        return self._fed(acting)(np.zeros(self.state.shape[1]), self.state)

    def _acting(self, number: int, push: StepForces) -> StepForces:
        """Rows of `StateLayout.acting` but the signals: forces, the load on a platform, terms of a moving base."""
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
        """The state as `tasks.dynamics.instant.layout.StateLayout` says."""
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

        The motion input, what acts beside the actuators, and with `rates` accelerations and friction of all joints.
        """
        start, layout = number * self.step, self.system.layout
        whole = Parabola(*self._acting(number, push))
        begin = self._begun(self._part(whole, 0.0, self._breaks.pieces(start, self.step)[0]))
        values: Values = {"motion": self.motion()}
        if layout.platform:
            values["load"] = self._in_world(begin[layout.acting["load"]])
        if layout.signals:
            values["signals"] = begin[layout.acting["signals"]]
        if self.field is not None:
            values["gravity"] = begin[layout.acting["base"]]
        if rates:
            assert self._now is not None
            now = forced(self.system, self._now, np.ascontiguousarray(begin)).rates
            change, structure = now.rate[layout.at["qd"]], self.system.instant.structure
            if layout.platform:
                places = structure.positions if structure.motion_size != SMALL else [k - 3 for k in structure.positions]
                values["motion"][-(3 if structure.motion_size == SMALL else 6) :][places] = change
            else:
                values["motion"][-layout.free :] = change
            values["given_friction"] = now.braking
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
