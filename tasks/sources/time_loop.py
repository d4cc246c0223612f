"""The loop over time of simulated cases in machine code: steps, sensors and controllers, until something happens.

Between events a step is programs in turn: the stages of Runge and Kutta's method, the inverse model at the new state
and at the reference, the controller, and the accelerations under its forces, from which the next step starts.
`tasks.kernels.lanes` runs them for one group of lanes over many steps in one call. All results of a step are kept, in
arrays with a place for each step. A step in which an event occurs, a case ends, or a model has no solution raises a
flag and is not taken: `tasks.sources.plants` takes it, as it takes all steps where there is no compiled loop. All bits
are the same.

There is no such loop for methods other than `rk4`, for motors with limits of their supply, for loads in the axes of the
platform, and for loads of a robot that change with time.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from robots.model import Family
from robots.status import Status
from tasks.dynamics.control import ControlLoop
from tasks.dynamics.drive_model import InverseModel
from tasks.dynamics.forces_over_step import Parabola
from tasks.dynamics.instant.layout import layout
from tasks.dynamics.instant.moments import Moment, StateRates
from tasks.dynamics.motion_system import MotionSystem
from tasks.kernels.expression import Array, Mask
from tasks.kernels.keys import Indexed, Key, Values
from tasks.kernels.lanes import ProgramSequence, Slot
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import either, every, where
from tasks.mechanics.families import structure_of
from tasks.sources.drives import Controlled, ForceSource, Profiled, StepForces
from tasks.sources.fused_step import (
    KEPT,
    Evaluation,
    end_program,
    event_program,
    fill_accelerations,
    indexed_rates,
    motion_program,
    part_program,
)
from tasks.sources.runner import Instants, TakenSteps
from tasks.stages.parts import VELOCITY

SHORTEST, LONGEST = 8, 1024
"""Least and largest number of steps that are requested at once."""

NUMBERS = 1 << 21
"""Largest count of numbers in the arrays of all steps; SHORTEST steps are always allowed."""

PATIENCE = 32
"""Steps after which a loop is tried again at the latest, where there was an event at each of them."""

DELAYS = 8
"""Delays of cases that may differ."""

THIRDS = ("begin", "middle", "end")


class SteppedPlant(Protocol):
    """Robots in motion with the steps of `tasks.sources.fused_step`, such as the plants of `tasks.sources.plants`."""

    system: MotionSystem
    moment: Moment
    load: ForceSource | None
    field: ForceSource | None

    @property
    def in_one_call(self) -> bool:
        """True if steps between events are calls of machine code at all times."""
        ...

    @property
    def state(self) -> np.ndarray:
        """The state (size, samples)."""
        ...

    def acting(self, number: int, push: StepForces) -> StepForces:
        """Return the rows of the external inputs over the step of that number, except signals."""
        ...


def time_loop(
    plant: SteppedPlant, drive: ForceSource, step: float, fastest: float, *, alone: bool = False
) -> TimeLoop | None:  # fmt: skip
    """Return the loop of moving robots under a drive, with steps of `step` [s]; None if the loop does not support them.

    fastest: rate of a freedom [rad/s or m/s] above which a motion counts as diverged. alone: all samples are of one
    case.
    """
    if not isinstance(drive, Controlled | Profiled):
        return None
    apart = plant.in_one_call
    if isinstance(drive, Controlled):
        delays = np.unique(drive.loop.delays)
        modelled = isinstance(drive.model, InverseModel) and drive.model.in_one_call
        apart = apart and modelled and len(delays) <= DELAYS
    return TimeLoop(plant, drive, step, fastest, alone=alone) if apart else None


class _Places:
    """Arrays of the steps of a loop by name, and which of them the places of a sequence are."""

    def __init__(self, sequence: ProgramSequence):
        self.sequence = sequence
        self.rows: dict[str, int] = {}
        self._bound: dict[Slot, tuple[str, int]] = {}

    def at(self, name: str, rows: int, shift: int = 0) -> Slot:
        """Return the place of an array at a step; `shift`: of that many steps later."""
        slot = self.sequence.series(rows)
        self._bound[slot] = name, shift
        self.rows[name] = rows
        return slot

    def arrays(self, known: Mapping[str, np.ndarray], steps: int, samples: int) -> dict[str, np.ndarray]:
        """Return the arrays (steps + more, rows, samples): known ones, and others uninitialised."""
        more = dict.fromkeys(self.rows, 1)
        for name, shift in self._bound.values():
            more[name] = max(more[name], shift)
        return {
            name: known[name] if name in known else np.empty((steps + more[name], rows, samples))
            for name, rows in self.rows.items()
        }

    def bound(self, arrays: Mapping[str, np.ndarray]) -> dict[Slot, np.ndarray]:
        """Return the arrays of all places."""
        return {slot: arrays[name][shift:] for slot, (name, shift) in self._bound.items()}


class TimeLoop:
    """Steps of moving robots and of their drive, many in one call of machine code."""

    def __init__(
        self, plant: SteppedPlant, drive: Controlled | Profiled, step: float, fastest: float, *, alone: bool = False
    ):  # fmt: skip
        self._alone = alone
        self._plant, self._drive, self._system = plant, drive, plant.system
        self._family, parts = plant.system.instant.family, plant.system.layout
        self._width = plant.state.shape[1]
        self._length, self._waits, self._patience = SHORTEST, 0, 0
        self._sequence = sequence = ProgramSequence()
        self._places = places = _Places(sequence)
        self._same = {name: sequence.wide(rows) for name, rows in (("modes", 2 * parts.joints), ("length", 1))}
        self._same["live"] = sequence.wide(1)
        self._constants: dict[str, np.ndarray] = {"length": np.full((1, self._width), step)}
        state, following = places.at("state", parts.size), places.at("state", parts.size, 1)
        evaluate = Evaluation(sequence, self._system.instant, self._same["modes"], alone=alone)
        rates, checked, ended = self._stages(evaluate, state, following)
        if parts.joints:
            places_of_end = self._of_rates(evaluate, "end", 0)
            last = evaluate(following, self._acting("end"), places_of_end)
            checked.append(last)
        motion = self._motion(following)
        control = self._controlled(motion) if isinstance(drive, Controlled) else {}
        begin = self._of_rates(evaluate, "first", 1)
        first = evaluate(following, self._acting("begin", 1), begin, same_limbs=bool(parts.joints) and not self._field)
        checked.append(first)
        self._stop = sequence.local(1)
        self._watch(rates[0], ended, following, checked, control, fastest)
        self._carried: tuple[Moment, np.ndarray, StateRates] | None = None

    @property
    def _field(self) -> bool:
        return self._plant.field is not None

    def _of_rates(self, evaluate: Evaluation, name: str, shift: int) -> dict[Any, Slot]:
        """Return places of the outputs that events and the next step need."""
        sizes = evaluate.sizes
        return {key: self._places.at(f"{name}_{key}", sizes[key], shift) for key in KEPT}

    def _acting(self, part: str, shift: int = 0) -> dict[Any, Slot]:
        """Return the external inputs at the beginning, in the middle or at the end of a step."""
        parts, places = self._system.layout, self._places
        whole = "" if isinstance(self._drive, Controlled) else f"_{part}"
        slots: dict[Any, Slot] = {"force": places.at(f"force{whole}", parts.actuators, shift)}
        if parts.platform:
            slots["load"] = places.at(f"load_{part}", 6, shift)
        if self._field:
            rows = parts.acting["base"]
            slots["gravity"] = places.at(f"gravity_{part}", rows.stop - rows.start, shift)
        return slots

    def _stages(
        self, evaluate: Evaluation, state: Slot, following: Slot
    ) -> tuple[list[Slot], list[dict[Any, Slot]], dict[Any, Slot]]:
        """Add the stages of the step: their rates, outputs of all but the first, and the end of the step."""
        sequence, parts, length = self._sequence, self._system.layout, self._same["length"]
        rates, checked = [self._places.at("first_rate", parts.size)], []
        for share, part in ((0.5, "middle"), (0.5, "middle"), (1.0, "end")):
            stage = {"state": state, "rate": rates[-1], "length": length}
            at = sequence.add(part_program(parts.size, share), stage, {})["at"]
            checked.append(evaluate(at, self._acting(part)))
            rates.append(checked[-1]["rate"])
        ended = sequence.add(
            end_program(self._family, self._system.instant.groups),
            {"before": state, "length": length, **indexed_rates(rates)},
            {"state": following},
        )
        return rates, checked, ended

    def _motion(self, state: Slot) -> Slot:
        """Add the motion input of the new state."""
        moving = self._system.layout.moving
        program, size = seen_program(self._family), structure_of(self._family).motion_size
        place = self._places.at("motion", size, 1)
        return self._sequence.add(program, {"state": state.rows(slice(0, moving))}, {"motion": place})["motion"]

    def _controlled(self, motion: Slot) -> dict[str, Slot]:
        """Add the inverse models and the controller: their statuses."""
        assert isinstance(self._drive, Controlled)
        sequence, places, loop, model = self._sequence, self._places, self._drive.loop, self._drive.model
        assert isinstance(model, InverseModel)
        wanted = places.at("wanted", structure_of(self._family).motion_size, 1)
        values: dict[Any, Slot] = {"motion": motion, "wanted": wanted, "due": places.at("due", 1, 1)}
        status: dict[str, Slot] = {}
        for name, at in (("here", motion), ("there", wanted)):
            actuators = places.at(f"{name}_position", loop.law.actuators, 1)
            results = model.add_to(sequence, at, _positions(model, actuators), alone=self._alone)
            values |= {f"{name}_position": actuators, f"{name}_velocity": results[VELOCITY]}
            values |= {key: slot for key, slot in results.items() if name == "here" and _is_jacobian(key)}
            status[name] = results["status"]
        constants = loop.constants | {"first": np.zeros((1, self._width))}
        self._constants |= constants
        self._same |= {name: sequence.wide(len(rows)) for name, rows in constants.items()}
        values |= {name: self._same[name] for name in constants}
        past = int(loop.delays.max(initial=0))
        kept = {name: past if name == "held" else 0 for name in loop.law.sizes}
        values |= {name: places.at(name, rows, kept[name]) for name, rows in loop.law.sizes.items()}
        outputs = {f"next_{name}": places.at(name, rows, kept[name] + 1) for name, rows in loop.law.sizes.items()}

        def run(program: Program, values: Mapping[Any, Slot]) -> dict[Any, Slot]:
            return sequence.add(program, {key: values[key] for key in program.inputs}, outputs)

        def forces(moving: Slot) -> Slot:
            return model.add_to(sequence, moving, {}, alone=self._alone)["force"]

        loop.law.follow(run, forces, values)
        self._delayed(loop, past)
        return status

    def _delayed(self, loop: ControlLoop, past: int) -> None:
        """Add the forces that act after the delay of each case."""
        delays, rows = np.unique(loop.delays), loop.law.actuators
        inputs: dict[Any, Slot] = {"which": self._sequence.wide(1)}
        for k, delay in enumerate(delays.tolist()):
            inputs[Indexed("held", k)] = self._places.at("held", rows, past + 1 - delay)
        self._same["which"] = inputs["which"]
        self._constants["which"] = np.searchsorted(delays, loop.delays)[None].astype(float)
        place = self._places.at("force", rows, 1)
        self._sequence.add(delayed_program(rows, len(delays)), inputs, {"force": place})

    def _watch(
        self, first: Slot, ended: Mapping[Any, Slot], following: Slot, checked: list[dict[Any, Slot]],
        control: Mapping[str, Slot], fastest: float,
    ) -> None:  # fmt: skip
        """Add the flag of events that this loop cannot handle."""
        family, groups, places, parts = self._family, self._system.instant.groups, self._places, self._system.layout
        joints = len(parts.of_joints) * parts.joints
        inputs: dict[Any, Slot] = {"modes": self._same["modes"], "state": following, "rough": ended["rough"]}
        for k, outputs in enumerate(checked):
            inputs |= {Indexed(name, k): outputs[name] for name in ("status", "unbalanced")}
        inputs |= {Indexed("joints", 0): places.at("first_joints", joints), Indexed("rate", 0): first}
        last = checked[-2] if parts.joints else checked[-1]
        inputs |= {Indexed("joints", 1): last["joints"], Indexed("rate", 1): last["rate"]}
        event = self._sequence.add(event_program(family, groups, len(checked)), inputs, {})["event"]
        force = places.at("force" if control else "force_begin", parts.actuators, 1)
        watched: dict[Any, Slot] = {"event": event, "live": self._same["live"], "force": force, "state": following}
        watched |= {name: checked[-1][name] for name in ("rate", "joints")} | {"modes": self._same["modes"]}
        watched |= {Indexed("model", k): slot for k, slot in enumerate(control.values())}
        program = stop_program(family, groups, len(control), fastest)
        self._sequence.add(program, watched, {"stop": self._stop})

    def advance(
        self, number: int, steps: int, push: StepForces, live: np.ndarray, *, rates: bool
    ) -> TakenSteps | None:  # fmt: skip
        """Take steps, see `tasks.sources.runner.ManySteps`."""
        if self._waits > 0:
            self._waits -= 1
            return None
        count = min(steps, self._length, max(SHORTEST, NUMBERS // (self._width * sum(self._places.rows.values()))))
        now, acting = self._plant.moment, self._plant.acting(number, push).begin
        first = self._first(now, acting, live)
        taken = 0
        if first is not None:
            arrays = self._places.arrays(self._given(number, count), count, self._width)
            self._start(arrays, number, now, first, push)
            same = {**self._constants, "modes": now.modes.both, "live": live[None].astype(float)}
            bound = self._places.bound(arrays) | {slot: same[name] for name, slot in self._same.items()}
            taken = self._sequence.advance(bound, self._width, count, self._stop)
        self._plan_next(taken, count)
        return self._finish(number, taken, arrays, live, rates) if taken else None

    def _plan_next(self, taken: int, count: int) -> None:
        """Decide the number of steps of the next request, and its time."""
        if taken == count:
            self._length, self._patience = min(2 * self._length, LONGEST), 0
            return
        self._patience = 0 if taken >= SHORTEST else min(2 * self._patience + 1, PATIENCE)
        self._length, self._waits = max(SHORTEST, taken), 1 + self._patience

    def _first(self, now: Moment, acting: np.ndarray, live: np.ndarray) -> StateRates | None:
        """Return the rates with which a step starts, None where an event comes before it."""
        if self._carried is not None:
            moment, force, rates = self._carried
            if moment is now and (force == acting).all():
                return rates
        rates = self._system.rates(now.state, now.modes, np.ascontiguousarray(acting))
        good = np.isfinite(rates.rate).all(axis=0) & (rates.status == Status.OK) & np.isfinite(acting).all(axis=0)
        good &= ~((now.modes.rest > 0.5) & (rates.breaking != 0.0)).any(axis=0)
        return rates if good[live].all() else None

    def _given(self, number: int, steps: int) -> dict[str, np.ndarray]:
        """Return the arrays that do not depend on the motion."""
        arrays: dict[str, np.ndarray] = {}
        if isinstance(self._drive, Controlled):
            arrays["wanted"] = self._drive.tracks.over(number, number + steps + 1)
            arrays["due"] = self._drive.loop.due(np.arange(number, number + steps + 1))
        else:
            arrays |= _thirds("force", self._drive.over(number, number + steps + 1))
        width, parts = self._width, self._system.layout
        for name, source in (("load", self._plant.load), ("gravity", self._plant.field)):
            if isinstance(source, Profiled):
                arrays |= _thirds(name, source.over(number, number + steps + 1))
            elif name == "load" and parts.platform:
                arrays |= dict.fromkeys((f"load_{part}" for part in THIRDS), np.zeros((steps + 1, 6, width)))
        return arrays

    def _start(
        self, arrays: dict[str, np.ndarray], number: int, now: Moment, first: StateRates, push: StepForces
    ) -> None:
        """Write the initial values of the first step."""
        arrays["state"][0] = now.state
        arrays["first_rate"][0], arrays["first_joints"][0] = first.rate, first.joints
        if not isinstance(self._drive, Controlled):
            return
        loop = self._drive.loop
        arrays["force"][0] = push.begin
        for name, values in loop.memory.items():
            if name != "held":
                arrays[name][0] = values
        past = len(loop.line) - 1
        arrays["held"][: past + 1] = loop.line[np.arange(number - past, number + 1) % len(loop.line)]

    def _finish(
        self, number: int, taken: int, arrays: dict[str, np.ndarray], live: np.ndarray, rates: bool
    ) -> TakenSteps:  # fmt: skip
        """Set plant and drive to their states after these steps, and return the stored results."""
        before, plant = self._plant.moment, self._plant
        first = self._rates(arrays, "first", taken)
        last = self._rates(arrays, "end", taken - 1) if self._system.layout.joints else first
        now = Moment(arrays["state"][taken].copy(), before.modes, last)
        ended = np.flatnonzero(~live)
        plant.moment = now.replaced(ended, before.of(ended)) if len(ended) else now
        if isinstance(self._drive, Controlled):
            self._remember(self._drive.loop, number, taken, arrays)
        stretch = TakenSteps(self._ends(number, taken, arrays, rates), self._push(number, arrays, taken))
        acting = plant.acting(number + taken, stretch.push).begin
        self._carried = None if len(ended) else (now, acting, first)
        return stretch

    def _remember(self, loop: ControlLoop, number: int, taken: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Leave a controller as after these steps."""
        past = len(loop.line) - 1
        places = {name: taken + (past if name == "held" else 0) for name in loop.memory}
        loop.memory = {name: arrays[name][place].copy() for name, place in places.items()}
        numbers = np.arange(number + taken - past, number + taken + 1)
        loop.line[numbers % len(loop.line)] = arrays["held"][taken : taken + past + 1]

    def _rates(self, arrays: Mapping[str, np.ndarray], name: str, step: int) -> StateRates:
        rate, joints, kept, dependent, status = (arrays[f"{name}_{key}"][step].copy() for key in KEPT)
        return StateRates(self._system.layout, rate, joints, kept, dependent[0], status[0])

    def _push(self, number: int, arrays: Mapping[str, np.ndarray], step: int) -> StepForces:
        """Return the forces over a step."""
        if isinstance(self._drive, Controlled):
            return StepForces(*[arrays["force"][step].copy()] * 3)
        return self._drive.at(number + step, arrays["state"][step]).push

    def _ends(self, number: int, taken: int, arrays: dict[str, np.ndarray], rates: bool) -> Instants:
        """Return the record of the ends of the steps."""
        parts, of = self._system.layout, self._system.layout.of_joints["braking"]
        after = slice(1, taken + 1)
        sample: Values = {"motion": arrays["motion"][after]}
        sample |= {name: arrays[f"{name}_begin"][after] for name in ("load", "gravity") if f"{name}_begin" in arrays}
        braking = arrays["first_joints"][after][:, of]
        if rates:
            fill_accelerations(self._system.instant, sample["motion"], arrays["first_rate"][after][:, parts.at["qd"]])
            sample["given_friction"] = braking
        friction = arrays["end_joints"][:taken][:, of] if parts.joints else braking
        if not isinstance(self._drive, Controlled):
            before = arrays["force_end"][:taken]
            return Instants(number + 1, sample, arrays["force_begin"][after], before, friction)
        force = arrays["force"]
        aim = (arrays[name][after] for name in ("here_position", "there_position", "wanted"))
        return Instants(number + 1, sample, force[after], force[:taken], friction, *aim)


def _thirds(name: str, forces: StepForces) -> dict[str, np.ndarray]:
    """Return forces over steps (step, rows, samples) as a step takes them, by name."""
    whole = Parabola(*forces)
    end, middle = (whole(np.full(forces.begin.shape[2], share), forces.begin) for share in (1.0, 0.5))
    return {f"{name}_begin": forces.begin, f"{name}_middle": middle, f"{name}_end": end}


def _positions(model: InverseModel, actuators: Slot) -> dict[Key, Slot]:
    """Return the places of the positions of actuators of each limb, one limb after the other."""
    places: dict[Key, Slot] = {}
    mechanism, start = model.family.reference, 0
    for k, instance in enumerate(mechanism.instances):
        stop = start + len(mechanism.limbs[instance.limb].actuators)
        places[Indexed("actuator_position", k)] = actuators.rows(slice(start, stop))
        start = stop
    return places


def _is_jacobian(key: Key) -> bool:
    return isinstance(key, Indexed) and key.name == "jacobian"


@functools.cache
def seen_program(family: Family) -> Program:
    """Return the motion input of a state, without accelerations."""
    if not family.reference.is_chain:
        return motion_program(family)
    free = layout(family, ()).free

    def one_sample(state: Array) -> dict[str, Any]:
        return {"motion": [*state, *[0.0] * free]}

    return trace(f"{family.name}.seen", one_sample, case={}, sample={"state": (2 * free,)}, fuse=False)


@functools.cache
def delayed_program(rows: int, delays: int) -> Program:
    """Return the program that selects the forces of a case's delay, by its number, from the forces of all delays."""

    def one_sample(which: Array, held: Mapping[int, Array]) -> dict[str, Any]:
        result = list(held[0])
        for k in range(1, delays):
            result = [where(which[0] > k - 0.5, a, b) for a, b in zip(held[k], result, strict=True)]
        return {"force": result}

    sample: dict[Any, tuple[int, ...]] = {"which": (1,)} | {Indexed("held", k): (rows,) for k in range(delays)}
    return trace(f"delayed.{rows}.{delays}", one_sample, case={}, sample=sample, fuse=False)


@functools.cache
def stop_program(family: Family, groups: tuple[Any, ...], models: int, fastest: float) -> Program:
    """Return 1 where a step is not to be taken: an event, a status of a model, or numbers that are not of a motion."""
    parts = layout(family, groups)

    def one_sample(
        event: Array, live: Array, force: Array, state: Array, rate: Array, joints: Array, modes: Array,
        **model: Mapping[int, Array],
    ) -> dict[str, Any]:  # fmt: skip
        stops: Mask = event[0] > 0.5
        for rest, breaking in zip(modes, joints[parts.of_joints["breaking"]], strict=False):
            stops = either(stops, every([rest > 0.5, abs(breaking) > 0.0]))
        for status in model.get("model", {}).values():
            stops = either(stops, abs(status[0]) > 0.5)
        bounded = [(x, math.inf) for x in (*force, *rate)] + [(x, fastest) for x in state[parts.at["qd"]]]
        for x, most in bounded:
            stops = either(stops, ~(abs(x) < most))
        return {"stop": [where(every([stops, live[0] > 0.5]), 1.0, 0.0)]}

    sample: dict[Any, tuple[int, ...]] = dict.fromkeys(("event", "live"), (1,))
    sample |= {"force": (parts.actuators,), "state": (parts.size,), "rate": (parts.size,)}
    sample |= {"joints": (len(parts.of_joints) * parts.joints,), "modes": (2 * parts.joints,)}
    sample |= {Indexed("model", k): (1,) for k in range(models)}
    return trace(f"{family.name}.stop.{models}", one_sample, case={}, sample=sample, fuse=False)
