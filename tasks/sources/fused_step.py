"""A Runge-Kutta step of a batch between events in one call of machine code.

`FusedStep` does the same as `rk4` of `tasks.dynamics.integration.Stepper` while no event occurs: no joint comes to rest
or breaks away, no status but OK, no memory that changes. It reports an event, and the stepper takes that step instead.
All bits are the same, because the code between programs is traced without fused products, as NumPy computes it. Its
parts make up the loop of many steps as well, see `tasks.sources.time_loop`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from robots.friction.groups import FrictionGroup
from robots.model import Family
from tasks.dynamics.forces_over_step import Parabola
from tasks.dynamics.instant.layout import layout
from tasks.dynamics.instant.moments import ROUGH, ROUNDING, STILL, UNIT, Moment, StateRates
from tasks.dynamics.instant.programs import Instant
from tasks.kernels.expression import Array, Mask, Scalar
from tasks.kernels.kernel import has_compiler
from tasks.kernels.keys import indexed
from tasks.kernels.lanes import ProgramSequence, Slot, Slots, empty
from tasks.kernels.like_calls import LikeCalls
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import either, sqrt, where
from tasks.mechanics.families import structure_of

KEPT = ("rate", "joints", "kept_speed", "dependent", "status")
"""Outputs of the end of a step that the next one, or its events, need."""

TINY = float(np.finfo(float).tiny)


SMALL = 9
"""Size of a motion input of a platform that does not turn."""


def fill_accelerations(instant: Instant, motion: np.ndarray, change: np.ndarray) -> None:
    """Write accelerations of the freedoms (step, freedom, samples) into motion inputs (step, size, samples)."""
    structure = instant.structure
    if not instant.layout.platform:
        motion[:, -instant.layout.free :] = change
        return
    small = structure.motion_size == SMALL
    places = [k - 3 for k in structure.positions] if small else structure.positions
    motion[:, -(3 if small else 6) :][:, places] = change


def in_one_call(instant: Instant, method: str) -> bool:
    """Return whether steps can be one call: of `rk4`, with loads in the axes of the world."""
    return method == "rk4" and has_compiler() and instant.in_lanes


class FusedStep:
    """Steps of `step` [s] of a batch whose samples are cases of their own."""

    def __init__(self, instant: Instant, step: float):
        self._instant, self._step, parts = instant, step, instant.layout
        family, groups = instant.family, instant.groups
        self._sequence = sequence = ProgramSequence()
        self._state, self._modes = sequence.wide(parts.size), sequence.wide(2 * parts.joints)
        self._length = sequence.wide(1)
        names = {"force": "force"} | ({"load": "load"} if parts.platform else {})
        names |= {"signals": "signals"} if parts.signals else {}
        names |= {"gravity": "base"} if instant.base else {}
        rows = {name: parts.acting[row] for name, row in names.items()}
        sizes = {name: row.stop - row.start for name, row in rows.items()}
        self._acting = [{name: sequence.wide(size) for name, size in sizes.items()} for _ in range(3)]
        self._rows = rows
        begin, middle, end = self._acting
        evaluate = Evaluation(sequence, instant, self._modes)
        first = evaluate(self._state, begin)
        rates, evaluated = [first["rate"]], [first]
        for share, acting in ((0.5, middle), (0.5, middle), (1.0, end)):
            stage = {"state": self._state, "rate": rates[-1], "length": self._length}
            at = sequence.add(part_program(parts.size, share), stage, {})["at"]
            evaluated.append(evaluate(at, acting))
            rates.append(evaluated[-1]["rate"])
        ways = indexed_rates(rates)
        self._results: dict[Any, Slot] = {"state": sequence.wide(parts.size)}
        ended = sequence.add(
            end_program(family, groups), {"before": self._state, "length": self._length, **ways},
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
        sequence.add(event_program(family, groups, len(evaluated)), inputs, {"event": self._results["event"]})

    def __call__(self, now: Moment, acting: Parabola, length: float | None = None) -> tuple[Moment, np.ndarray]:
        """Return the end of the step from a moment, and a mask of unusable samples (samples,); length [s]: a part."""
        width, length = now.state.shape[1], self._step if length is None else length
        arrays = {self._state: now.state, self._modes: now.modes.both, self._length: np.full((1, width), length)}
        middle = acting(np.full(width, 0.5), now.state)
        for slots, values in zip(self._acting, (acting.begin, middle, acting(np.ones(width), now.state)), strict=True):
            arrays |= {slot: values[self._rows[name]] for name, slot in slots.items()}
        results = empty(self._results, width)
        self._sequence(arrays | {slot: results[key] for key, slot in self._results.items()}, width)
        scalars = (results[name][0] for name in ("dependent", "status"))
        rates = StateRates(self._instant.layout, *(results[name] for name in KEPT[:3]), *scalars)
        return Moment(results["state"], now.modes, rates), results["event"][0] > 0.5


def indexed_rates(rates: list[Slot]) -> dict[Any, Slot]:
    """Return the rates of the stages of a step as inputs of `end_program`."""
    return {key: slot for k, slot in enumerate(rates) for key, slot in indexed(k, {"rate": slot}).items()}


class Evaluation:
    """Sequence of calls for a robot at a state; limbs use the same arrays each time.

    alone: all samples are of one case, so that like limbs are computed at once.
    """

    def __init__(self, sequence: ProgramSequence, instant: Instant, modes: Slot, *, alone: bool = False):
        self._sequence, self._instant, self._modes = sequence, instant, modes
        runs = instant.limb_kernels() if instant.layout.platform else []
        self._calls = LikeCalls(sequence, runs, alone=alone)
        self._limbs: list[dict[Any, Slot]] = [{} for _ in runs]
        self._of_limbs: dict[Any, Slot] = {}

    @property
    def sizes(self) -> dict[Any, int]:
        """Number of rows of each output."""
        outputs = self._instant.whole_kernel().program.outputs
        return {name: len(nodes) for name, (_, nodes) in outputs.items()}

    def __call__(
        self, state: Slot, acting: Slots, outputs: Slots | None = None, *, same_limbs: bool = False
    ) -> dict[Any, Slot]:
        """Return outputs named as in `tasks.dynamics.instant.programs.outputs_of_motion`; `outputs`: places for some.

        same_limbs: limbs are unchanged since the evaluation before; only forces of actuators differ.
        """
        if self._instant.layout.platform and not same_limbs:
            self._of_limbs = self._evaluated_limbs(state, acting)
        inputs: dict[Any, Slot] = {"state": state, "modes": self._modes, **acting, **self._of_limbs}
        chosen = {name: slot for name, slot in (outputs or {}).items() if name in KEPT}
        return self._instant.whole_kernel().add_to(self._sequence, inputs, chosen)

    def _evaluated_limbs(self, state: Slot, acting: Slots) -> dict[Any, Slot]:
        """Call the limbs of a platform; their outputs and the motion, as the program of the whole takes them."""
        instant, sequence = self._instant, self._sequence
        motion = sequence.add(
            motion_program(instant.family), {"state": state.rows(slice(0, instant.layout.moving))}, {}
        )["motion"]
        inputs: dict[Any, Slot] = {"motion": motion}
        field = {name: slot for name, slot in acting.items() if name in ("gravity", "signals")}
        self._limbs = self._calls.add({"motion": motion, **field}, self._limbs)
        for k, results in enumerate(self._limbs):
            inputs |= indexed(k, {str(name): slot for name, slot in results.items()})
        return inputs


@functools.cache
def motion_program(family: Family) -> Program:
    """Return the motion input of limbs of a platform's state, without acceleration; see `Instant.seen`."""
    structure = structure_of(family)
    parts = layout(family, ())

    def one_sample(state: Array) -> dict[str, Any]:
        x, y, z, *turn = state[parts.at["q"]]
        twist = np.zeros(6, dtype=object)
        twist[structure.positions] = state[parts.at["qd"]]
        none = [0.0] * 3
        if structure.motion_size == SMALL:
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
def part_program(size: int, share: float) -> Program:
    """Return the state after a share of a step at a rate."""

    def one_sample(state: Array, rate: Array, length: Array) -> dict[str, Any]:
        return {"at": state + rate * (share * length[0])}

    sample = {"state": (size,), "rate": (size,), "length": (1,)}
    return trace(f"step.{size}.{share}", one_sample, case={}, sample=sample, fuse=False)


@functools.cache
def end_program(family: Family, groups: tuple[FrictionGroup, ...]) -> Program:
    """Return a program for the state after a step of `step_methods.rk4`, and whether it was too rough."""
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
def event_program(family: Family, groups: tuple[FrictionGroup, ...], stages: int) -> Program:
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
